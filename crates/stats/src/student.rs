//! Quantiles of Student's t distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// The degrees of freedom from which on t is the normal quantile to four decimals. The quantile of the
/// library is wrong by as much for more, and does not end for the most that a number holds.
const MANY: usize = 100_000;

/// Returns the t within which a variable with `df` degrees of freedom is with probability `level`,
/// on both sides of zero; for very many the normal quantile.
///
/// # Panics
///
/// If `df` is 0.
pub(crate) fn two_sided_t(level: f64, df: usize) -> f64 {
    let up_to = f64::midpoint(level, 1.0);
    if df >= MANY {
        return Normal::standard().inverse_cdf(up_to);
    }
    let student = StudentsT::new(0.0, 1.0, df as f64).expect("a spread needs two values");
    student.inverse_cdf(up_to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2: upper critical values at
    /// 0.975 for 1 to 30 degrees of freedom.
    const NIST: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];

    fn assert_close(level: f64, df: usize, expected: f64, tolerance: f64) {
        let t = two_sided_t(level, df);
        assert!((t - expected).abs() <= tolerance, "df {df}: {t} is not {expected}");
    }

    #[test]
    fn agrees_with_the_nist_table() {
        for (df, expected) in (1..).zip(NIST) {
            assert_close(0.95, df, expected, 5.001e-4);
        }
        for (df, expected) in [(40, 2.021), (60, 2.000), (100, 1.984)] {
            assert_close(0.95, df, expected, 5.001e-4);
        }
    }

    /// The same table at 0.995.
    #[test]
    fn agrees_at_another_level() {
        for (df, expected) in [(1, 63.657), (4, 4.604), (9, 3.250), (30, 2.750), (100, 2.626)] {
            assert_close(0.99, df, expected, 5.001e-4);
        }
    }

    /// `StatSoft`, Electronic Statistics Textbook, distribution tables: five decimals.
    #[test]
    fn agrees_with_a_finer_table() {
        let table = [(3, 3.18245), (4, 2.77645), (5, 2.57058), (6, 2.44691), (9, 2.26216)];
        for (df, expected) in table {
            assert_close(0.95, df, expected, 5.001e-6);
        }
    }

    /// The normal quantile is 1.959964; t exceeds it by about `(z³ + z) / 4 df`.
    #[test]
    fn tends_to_the_normal_quantile() {
        assert_close(0.95, 10_000, 1.959_964 + 2.372_3e-4, 1e-6);
    }

    /// The spread is known then.
    #[test]
    fn with_endless_degrees_of_freedom_it_is_the_normal_quantile() {
        for df in [MANY, usize::MAX] {
            assert_close(0.95, df, 1.959_963_985, 1e-8);
            assert_close(0.99, df, 2.575_829_304, 1e-8);
        }
        assert_close(0.95, MANY - 1, 1.959_963_985, 3e-5);
    }

    /// With one and two degrees of freedom the quantile has a closed form.
    #[test]
    fn agrees_with_closed_forms() {
        for level in [0.5, 0.95, 0.965, 0.999] {
            assert_close(level, 1, (level / std::f64::consts::FRAC_2_PI).tan(), 1e-9);
            assert_close(level, 2, level * (2.0 / (1.0 - level * level)).sqrt(), 1e-9);
        }
    }
}
