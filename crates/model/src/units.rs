//! Sizes and durations: read as kvtest reads them, echoed resolved.

use std::time::Duration;

use crate::{Error, Result};

/// The suffixes of kvtest, which ignore case: `KiB` and its kin are powers of 1024, `KB` and `K`
/// powers of 1000.
const SUFFIXES: [(&str, i64); 11] = [
    ("", 1),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
];

/// Reads a whole number in the form of kvtest: sign, decimal or `0x` digits, suffix.
///
/// # Errors
///
/// Fails if the text is no such number. Unlike in kvtest, an unknown suffix or a value past 64 bits
/// is an error.
pub fn parse_integer(text: &str) -> Result<i64> {
    let wrong = |why: &str| {
        Error::usage(format!(
            "{text:?} {why} (accepted: a whole number like 4096, 100k, 10KiB, 2MB or 0x10)"
        ))
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (radix, body) = match unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => (10, unsigned),
    };
    let split = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
    let (digits, suffix) = body.split_at(split);
    if digits.is_empty() {
        return Err(wrong("is not a number"));
    }
    let known = SUFFIXES.iter().find(|(name, _)| name.eq_ignore_ascii_case(suffix));
    let Some((_, factor)) = known else {
        return Err(wrong(&format!("ends in {suffix:?}, which is no unit")));
    };
    let sign = if text.starts_with('-') { -1 } else { 1 };
    i128::from_str_radix(digits, radix)
        .ok()
        .and_then(|value| value.checked_mul(i128::from(*factor)))
        .and_then(|value| i64::try_from(sign * value).ok())
        .ok_or_else(|| wrong("does not fit in 64 bits"))
}

/// Reads a size in bytes: a whole number that is not negative.
///
/// # Errors
///
/// Fails if `text` is no such number.
pub fn parse_size(text: &str) -> Result<u64> {
    u64::try_from(parse_integer(text)?)
        .map_err(|_| Error::usage(format!("{text:?} is negative; a size is not")))
}

/// Returns `value`, or an error that quotes `text` and says what is accepted.
fn accepted<T>(value: Option<T>, text: &str, wrong: &str) -> Result<T> {
    value.ok_or_else(|| Error::usage(format!("{text:?} {wrong}")))
}

/// The highest rate that is accepted: an operation each nanosecond.
const FASTEST: f64 = 1e9;

/// Reads operations a second: a number with a suffix of [`parse_size`] or a fraction, with or
/// without `/s` behind it.
///
/// # Errors
///
/// Fails if `text` is no number, or the rate is not above 0 and at most 10⁹.
pub fn parse_rate(text: &str) -> Result<f64> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    let plain = number.parse().ok().filter(|rate: &f64| rate.is_finite());
    let rate = plain.or_else(|| parse_size(number).ok().map(|rate| rate as f64));
    let rate = rate.filter(|rate| *rate > 0.0 && *rate <= FASTEST);
    let wrong = "is not a rate (accepted: 100, 10k, 10k/s, 0.5/s; more than 0, at most 1G/s)";
    accepted(rate, text, wrong)
}

/// Reads an amount of money, in any currency.
///
/// # Errors
///
/// Fails if `text` is no number above 0 and up to 10⁹.
pub fn parse_amount(text: &str) -> Result<f64> {
    let amount = text.parse().ok().filter(|amount: &f64| *amount > 0.0 && *amount <= 1e9);
    accepted(
        amount,
        text,
        "is not an amount of money (accepted: 0.05, 2; more than 0, without a currency)",
    )
}

/// Shows an amount of money with two digits that count.
pub fn show_amount(amount: f64) -> String {
    let digits = if amount > 0.0 { (1.0 - amount.log10().floor()).clamp(2.0, 9.0) } else { 2.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 9")]
    let digits = digits as usize;
    format!("{amount:.digits$}")
}

/// Reads a percentage as a share: `5%` is 0.05. Digits without the sign are an error, because they
/// could be either.
///
/// # Errors
///
/// Fails if the sign is missing, or the number is not above 0 and at most 100.
pub fn parse_percentage(text: &str) -> Result<f64> {
    let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
    let percent = number.filter(|percent: &f64| *percent > 0.0 && *percent <= 100.0);
    let wrong = "is not accepted: a percentage above 0 and up to 100 is, like 5% or 0.5%";
    accepted(percent.map(|percent| percent / 100.0), text, wrong)
}

/// Reads a number out of a hundred as a share: `95` and `95%` are 0.95.
///
/// # Errors
///
/// Fails if the number is not from 0 to 100.
pub fn parse_of_a_hundred(text: &str) -> Result<f64> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let percent = number.filter(|percent: &f64| (0.0..=100.0).contains(percent));
    accepted(percent.map(|percent| percent / 100.0), text, "is not accepted: 0 to 100 is, like 95")
}

/// Reads a share from 0.01 to 1, and returns it in whole percent.
///
/// # Errors
///
/// Fails if the number is outside these bounds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 100")]
pub fn parse_share(text: &str) -> Result<u8> {
    let share = text.parse().ok().filter(|share: &f64| (0.01..=1.0).contains(share));
    let percent = share.map(|share| (share * 100.0).round() as u8);
    accepted(percent, text, "is not a share (accepted: 0.01 to 1, as in 0.5)")
}

/// Reads a whole number from 1 to `most`.
///
/// # Errors
///
/// Fails if `text` is no such number.
pub fn parse_up_to(text: &str, most: u32) -> Result<u32> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| {
        let bounds = if most == u32::MAX { "1 or more" } else { &format!("1 to {most}") };
        Error::usage(format!("accepted is a whole number, {bounds}"))
    })
}

/// Reads a duration: digits (with or without a fraction) and `us`, `ms`, `s`, `m` or `h`; digits
/// without a unit are seconds.
///
/// # Errors
///
/// Fails if the number or the unit is not understood.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "us" => Some(1e-6),
        "ms" => Some(1e-3),
        "" | "s" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = digits.parse().ok().zip(factor).map(|(value, factor): (f64, f64)| value * factor);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let wrong = "is not a duration (accepted: 500ms, 30s, 10m, 1h; bare digits are seconds)";
    accepted(duration, text, wrong)
}

/// Reads a duration above 0.
///
/// # Errors
///
/// Fails if `text` is no such duration.
pub fn parse_time(text: &str) -> Result<Duration> {
    let time = parse_duration(text)?;
    accepted((!time.is_zero()).then_some(time), text, "is no time (accepted: above 0, as 30s)")
}

/// Shows bytes for people: `1.02 GB` (powers of 1000, three digits).
pub fn show_size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{bytes} B")
    } else {
        format!("{} {}", three_digits(value), UNITS[unit])
    }
}

/// Shows a number with three significant digits, as far as that needs decimals.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Shows a share for people: `12.5 %`. Shares above ten times the whole are all shown as "more
/// than": an interval from two or three rounds may end anywhere.
pub fn show_percent(share: f64) -> String {
    if share < 10.0 { format!("{:.1} %", share * 100.0) } else { "more than 1,000 %".to_owned() }
}

/// Shows a share as it was given: `5 %`, `0.25 %`.
pub fn exact_percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// Shows operations a second for people: `2,000`, `12.5`.
pub fn show_rate(rate: f64) -> String {
    if rate < 99.95 { three_digits(rate) } else { show_count(whole(rate.round())) }
}

/// Shows a duration for people: `850 ms`, `4.2 s`, `3 min 20 s`.
pub fn show_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_secs() {
        0 if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        0 => format!("{:.0} ms", seconds * 1e3),
        s if s < 60 => format!("{seconds:.1} s"),
        s if s < 3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Shows a duration as options take it, rounded up: `45s`, `10m`.
pub fn option_duration(duration: Duration) -> String {
    const MOST_SECONDS: f64 = 180.0;
    let seconds = duration.as_secs_f64();
    if seconds <= MOST_SECONDS {
        format!("{:.0}s", seconds.ceil().max(1.0))
    } else {
        format!("{:.0}m", (seconds / 60.0).ceil())
    }
}

/// Shows a time for an option if `needed` was necessary and `given` was too short: longer than
/// both.
pub fn longer_option(needed: Duration, given: Duration) -> String {
    const LONGER: f64 = 1.25;
    // The longest time cannot be made longer.
    let longer = Duration::try_from_secs_f64(given.as_secs_f64() * LONGER);
    option_duration(needed.max(longer.unwrap_or(given)))
}

/// Converts seconds to a duration; the longest duration if they are more than that.
pub fn duration_of(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Returns the whole part of a number; 0 if it is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the nearest integer that there is"
)]
#[inline]
pub const fn whole(number: f64) -> u64 {
    number as u64
}

/// Shows a count with commas between thousands.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_read_as_kvtest_reads_them() {
        for (text, value) in [
            ("4096", 4096),
            ("100k", 100_000),
            ("10KiB", 10_240),
            ("0x10", 16),
            ("0x10KiB", 16_384),
            ("2MB", 2_000_000),
            ("1g", 1_000_000_000),
            ("-5", -5),
            ("+5", 5),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(parse_integer(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn what_kvtest_would_misread_is_an_error() {
        for text in ["", "k", "10x", "1e3", "0x", "--5", "9223372036854775808", "9999999999g"] {
            assert!(parse_integer(text).is_err(), "{text}");
        }
        assert!(parse_size("-1").is_err());
    }

    #[test]
    fn a_percentage_has_its_sign() {
        for (text, share) in [("5%", 0.05), ("0.5 %", 0.005), ("100%", 1.0), ("1e1%", 0.1)] {
            assert!((parse_percentage(text).unwrap() - share).abs() < 1e-15, "{text}");
        }
        for text in ["", "%", "5", "0.05", "0%", "-5%", "101%", "nan%", "inf%", "5%%", "five%"] {
            assert!(parse_percentage(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_read_with_and_without_a_unit() {
        assert_eq!(parse_duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_duration("10m").unwrap(), Duration::from_secs(600));
        assert_eq!(parse_duration("1.5").unwrap(), Duration::from_millis(1500));
        for text in ["", "s", "1 s", "-1s", "1d", "inf", "1e400h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(parse_time("1us").unwrap(), Duration::from_micros(1));
        assert!(parse_time("0").is_err() && parse_time("1d").is_err());
    }

    #[test]
    fn people_read_three_digits() {
        assert_eq!(show_size(999), "999 B");
        assert_eq!(show_size(1_024_512_000), "1.02 GB");
        assert_eq!(show_size(999_999), "1.00 MB");
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(12), "12");
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in "\\PC*") {
            let _ = parse_integer(&text);
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }

        #[test]
        fn every_integer_survives_printing(value: i64) {
            prop_assert_eq!(parse_integer(&value.to_string()).unwrap(), value);
        }
    }

    #[test]
    fn an_amount_has_two_digits_that_count() {
        for (amount, shown) in [
            (0.0, "0.00"),
            (0.000_123_4, "0.00012"),
            (0.05, "0.050"),
            (1.0, "1.00"),
            (12.345, "12.35"),
            (1234.5, "1234.50"),
        ] {
            assert_eq!(show_amount(amount), shown);
        }
    }
}
