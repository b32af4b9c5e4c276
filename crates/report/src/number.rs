//! Numbers as they are printed.

use model::units::{show_count, three_digits, whole};
use stats::{Estimate, SAME};

/// The text in place of a figure that is not known.
pub(crate) const NONE: &str = "–";

/// Formats three significant digits in at most six columns; from 100,000 on more columns, in groups
/// of three digits.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        _ if value.is_infinite() => "∞".to_owned(),
        v if v < 99_999.5 => three_digits(value),
        _ => grouped(value),
    }
}

fn grouped(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", show_count(whole(value.abs().round())))
}

/// Formats a count per operation with up to six decimals, without zeros at its end.
pub(crate) fn exact_figure(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a small figure with two significant digits, however many decimals that takes: a rare
/// event is still one.
pub(crate) fn small(value: f64) -> String {
    if value.abs() >= 0.001 || value == 0.0 {
        return figure(value);
    }
    let two_digits = |decimals: &u8| value.abs() >= 10.0_f64.powi(1 - i32::from(*decimals));
    let decimals = (1..=20).find(two_digits).unwrap_or(20);
    format!("{value:.0$}", usize::from(decimals))
}

/// The units of time with their microseconds.
const UNITS: [(&str, f64); 4] = [("s", 1e6), ("ms", 1e3), ("µs", 1.0), ("ns", 1e-3)];

/// Returns the microseconds of a unit of time; `None` if it is none.
pub(crate) fn us_of(unit: &str) -> Option<f64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, us)| *us)
}

/// Returns the unit in which a time has one to three digits before the point, and its microseconds.
pub(crate) fn in_unit(us: f64) -> (&'static str, f64) {
    let [.., least] = UNITS;
    UNITS.into_iter().find(|(_, each)| us >= each * 0.9995).unwrap_or(least)
}

/// Returns the unit in which all times from `least` to `most` microseconds are easy to read, `own`
/// if it suits; `None` if there is no such unit.
pub(crate) fn common_unit(own: &str, least: f64, most: f64) -> Option<(&'static str, f64)> {
    let reads = |(_, each): &&(&str, f64)| least >= each * 0.01 && most < each * 9_999.5;
    let mut all = UNITS.iter().filter(reads);
    all.clone().find(|(name, _)| *name == own).or_else(|| all.next()).copied()
}

/// Formats an estimate with its interval, `0.78 (0.76–0.80)`, with as many decimals as the interval
/// needs; for one round, which has none, `0.78 (–)`, and for an interval without bounds `0.78 (too
/// wide)`.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    near_bounds(estimate, &BOUNDS)
}

/// Formats a ratio that a gate judges, with as many decimals as show on which side of its limit the
/// ends are: it may be above 1 by `share`.
pub(crate) fn with_interval_at(estimate: &Estimate, share: f64) -> String {
    let [less, even, more] = BOUNDS;
    near_bounds(estimate, &[less, even, more, 1.0 + share])
}

fn near_bounds(estimate: &Estimate, bounds: &[f64]) -> String {
    if estimate.n < 2 {
        return format!("{} ({NONE})", figure(estimate.point));
    }
    if !estimate.has_width() {
        return format!("{} (too wide)", figure(estimate.point));
    }
    let decimals = decimals(estimate, bounds);
    let show = |value: f64| {
        if value.abs() < 99_999.5 { format!("{value:.decimals$}") } else { figure(value) }
    };
    format!("{} ({}–{})", show(estimate.point), show(estimate.low), show(estimate.high))
}

/// The bounds that decide the verdict on a ratio.
const BOUNDS: [f64; 3] = [1.0 - SAME, 1.0, 1.0 + SAME];

/// Returns the number of decimals: two digits at least, one more if the ends of the interval would
/// look the same, and more if an end would look like one of the `bounds` that it is not.
fn decimals(estimate: &Estimate, bounds: &[f64]) -> usize {
    let hides = |decimals: usize| {
        let mut ends = [estimate.low, estimate.high].into_iter();
        ends.any(|end| {
            let shown = format!("{end:.decimals$}").parse::<f64>();
            bounds.iter().any(|bound| shown == Ok(*bound) && end.total_cmp(bound).is_ne())
        })
    };
    let few = few_decimals(estimate);
    (few..few + 4).find(|decimals| !hides(*decimals)).unwrap_or(few)
}

fn few_decimals(estimate: &Estimate) -> usize {
    let (decimals, step) = match estimate.point {
        v if v >= 99.5 => (0, 1.0),
        v if v >= 9.95 => (1, 0.1),
        v if v >= 0.0995 => (2, 0.01),
        v if v >= 0.00995 => (3, 0.001),
        _ => (4, 0.0001),
    };
    decimals + usize::from(estimate.high - estimate.low < step)
}

/// Describes a ratio of times: `1.28× faster`.
pub(crate) fn faster_or_slower(ratio: f64) -> String {
    let (word, times) = if ratio < 1.0 { ("faster", 1.0 / ratio) } else { ("slower", ratio) };
    format!("{}× {word}", factor(times))
}

/// Formats two digits, and more if only 1 would be shown.
pub(crate) fn factor(value: f64) -> String {
    match value {
        v if v < 0.0995 => figure(v),
        v if (v - 1.0).abs() < 0.0095 => format!("{v:.3}"),
        v if v < 1.995 => format!("{v:.2}"),
        v if v < 9.95 => format!("{v:.1}"),
        v if v < 99_999.5 => format!("{v:.0}"),
        v => figure(v),
    }
}

/// Formats the day of a time in seconds since 1970, in UTC: `2026-03-30`.
pub(crate) fn date(seconds: u64) -> String {
    // Years start in March, so that the day that some years lack is their last (H. Hinnant, "chrono-Compatible
    // low-level date algorithms").
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, year) = (day - (153 * month + 2) / 5 + 1, year + era * 400);
    let (month, year) = if month < 10 { (month + 3, year) } else { (month - 9, year + 1) };
    format!("{year:04}-{month:02}-{day:02}")
}

/// Formats a share of 0.03 as `±3 %`.
pub(super) fn plus_minus(share: f64) -> String {
    format!("±{} %", (share * 1000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(point: f64, low: f64, high: f64) -> String {
        with_interval(&Estimate { point, low, high, n: 9 })
    }

    #[test]
    fn an_interval_shows_its_width() {
        assert_eq!(shown(0.78, 0.76, 0.80), "0.78 (0.76–0.80)");
        assert_eq!(shown(0.996, 0.994, 0.999), "0.996 (0.994–0.999)");
        assert_eq!(shown(0.0123, 0.0118, 0.0129), "0.012 (0.012–0.013)");
        assert_eq!(shown(12.34, 11.0, 14.0), "12.3 (11.0–14.0)");
        // It is slower, and the same within ±3 %.
        assert_eq!(shown(1.04, 1.002, 1.08), "1.040 (1.002–1.080)");
        assert_eq!(shown(1.01, 0.99, 1.0296), "1.0100 (0.9900–1.0296)");
        assert_eq!(shown(1.0, 0.98, 1.0), "1.00 (0.98–1.00)");
        for wide in [f64::INFINITY, 1.1e10, 800.0] {
            assert_eq!(shown(0.78, 0.6 / wide, wide), "0.780 (too wide)");
        }
        let once = Estimate { point: 0.78, low: 0.0, high: f64::INFINITY, n: 1 };
        assert_eq!(with_interval(&once), "0.780 (–)");
    }

    #[test]
    fn ratios_read_as_people_say_them() {
        for (ratio, said) in [
            (0.78, "1.28× faster"),
            (0.996, "1.004× faster"),
            (1.28, "1.28× slower"),
            (2.0, "2.0× slower"),
            (3.1, "3.1× slower"),
            (0.1, "10× faster"),
            (0.32, "3.1× faster"),
        ] {
            assert_eq!(faster_or_slower(ratio), said);
        }
    }

    #[test]
    fn figures_stay_narrow() {
        for value in [0.0, 0.01, 1.2345, 99.96, 12_345.6, 99_999.4, f64::INFINITY] {
            assert!(figure(value).len() <= 6, "{}", figure(value));
        }
    }

    #[test]
    fn no_figure_has_an_exponent() {
        assert_eq!((figure(142_857.1), figure(-1.4e6)), ("142,857".into(), "-1,400,000".into()));
        assert_eq!((small(0.000_123), small(0.5)), ("0.00012".into(), "0.500".into()));
        for power in -18..19 {
            for digit in [1.0, 3.7, 9.996] {
                let value = digit * 10.0_f64.powi(power);
                let wide = Estimate { point: value, low: value / 2.0, high: value * 2.0, n: 9 };
                for text in [figure(value), small(value), factor(value), with_interval(&wide)] {
                    assert!(!text.contains('e'), "{text}");
                }
            }
        }
    }

    #[test]
    fn times_have_the_unit_in_which_they_are_short() {
        for (us, unit) in [(0.4, "ns"), (4.0, "µs"), (1_600.0, "ms"), (1.6e6, "s")] {
            assert_eq!(in_unit(us).0, unit);
        }
        assert_eq!(common_unit("µs", 0.4, 4_000.0), Some(("µs", 1.0)));
        assert_eq!(common_unit("s", 800.0, 9_000.0), Some(("ms", 1e3)));
        assert_eq!(common_unit("µs", 0.4, 4e8), None);
    }

    #[test]
    fn a_day_is_that_of_its_first_and_last_second() {
        for (day, shown) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_453, "2025-12-31"),
        ] {
            for seconds in [day * 86_400, day * 86_400 + 86_399] {
                assert_eq!(date(seconds), shown);
            }
        }
    }

    #[test]
    fn a_share_reads_as_percent() {
        assert_eq!(plus_minus(0.03), "±3 %");
        assert_eq!(plus_minus(0.025), "±2.5 %");
    }
}
