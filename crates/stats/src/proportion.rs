//! The interval of a share that was counted.

use statrs::distribution::{Beta, ContinuousCDF};

/// Returns the 95 % interval of the share that `k` of `n` shows: exact, after C. J. Clopper and E.
/// S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
/// Biometrika 26 (1934). It covers at least 95 %, whatever the share. If `n` is 0, everything is
/// possible.
///
/// # Panics
///
/// If `k` is more than `n`.
pub fn proportion(k: u64, n: u64) -> (f64, f64) {
    interval(0.95, k, n)
}

/// Returns the rule of three: what did not happen in `n` tries happens in fewer than one of so many, with
/// 95 % confidence (J. A. Hanley and A. Lippman-Hand, "If nothing goes wrong, is everything all right?",
/// Journal of the American Medical Association 249, 1983).
pub fn rule_of_three(n: u64) -> u64 {
    n / 3
}

fn interval(level: f64, k: u64, n: u64) -> (f64, f64) {
    assert!(k <= n, "a part is no more than the whole");
    let tail = (1.0 - level) / 2.0;
    // To count `k` hits is to count `n - k` misses.
    (1.0 - upper(tail, n - k, n), upper(tail, k, n))
}

/// Returns the share at which `k` or fewer of `n` happen with probability `tail`.
fn upper(tail: f64, k: u64, n: u64) -> f64 {
    if k == n {
        return 1.0;
    }
    let share = Beta::new((k + 1) as f64, (n - k) as f64).expect("both parameters are positive");
    share.inverse_cdf(1.0 - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close((low, high): (f64, f64), expected: (f64, f64), tolerance: f64) {
        let close = |value: f64, expected: f64| (value - expected).abs() <= tolerance;
        assert!(close(low, expected.0) && close(high, expected.1), "{low} to {high}");
    }

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.4, "Confidence intervals for small
    /// sample sizes": four defects in twenty, at 90 %.
    #[test]
    fn agrees_with_the_nist_handbook() {
        assert_close(interval(0.90, 4, 20), (0.071_354, 0.401_029), 1e-6);
    }

    /// What R prints for `binom.test(682, 925)`, Mendel's peas in its manual, and for
    /// `binom.test(2, 12)`.
    #[test]
    fn agrees_with_r() {
        assert_close(proportion(682, 925), (0.707_668_3, 0.765_406_6), 5e-8);
        assert_close(proportion(2, 12), (0.020_862_53, 0.484_137_75), 5e-9);
    }

    /// There the ends have a closed form.
    #[test]
    fn none_and_all_of_them() {
        let end = 0.025_f64.powf(0.1);
        assert_close(proportion(0, 10), (0.0, 1.0 - end), 1e-12);
        assert_close(proportion(10, 10), (end, 1.0), 1e-12);
    }

    /// It is on the safe side of the exact bound, of which 5 % are above.
    #[test]
    fn the_rule_of_three_is_close_to_the_exact_bound() {
        for n in [6, 40, 1000] {
            let exact = 1.0 / (1.0 - 0.05_f64.powf(1.0 / n as f64));
            let ruled = rule_of_three(n) as f64;
            assert!(ruled <= exact && ruled > exact - 2.0 - 0.01 * exact, "{n}: {ruled} {exact}");
        }
        assert_eq!(rule_of_three(40), 13);
    }

    #[test]
    fn nothing_counted_leaves_everything_possible() {
        assert_close(proportion(0, 0), (0.0, 1.0), 0.0);
    }

    #[test]
    fn hits_and_misses_mirror_each_other() {
        let (low, high) = proportion(13, 300);
        assert_close(proportion(287, 300), (1.0 - high, 1.0 - low), 1e-12);
    }

    /// The first term is 2^-20,000.
    #[test]
    fn many_are_no_trouble() {
        let (low, high) = proportion(10_000, 20_000);
        assert!((low - 0.493_05).abs() < 1e-5 && (high - 0.506_95).abs() < 1e-5, "{low} {high}");
    }
}
