//! Quantiles of Student's t distribution.
//!
//! For a whole number of degrees of freedom the distribution function is a finite series in the
//! angle `θ = atan(t / sqrt(df))`: Abramowitz and Stegun, Handbook of Mathematical Functions
//! (1964), 26.7.3 (odd) and 26.7.4 (even). Newton's method turns it round.

use std::f64::consts::FRAC_2_PI;

/// Returns the t within which a variable with `df` degrees of freedom is with probability `level`,
/// on both sides of zero.
///
/// # Panics
///
/// If `df` is 0.
pub(crate) fn two_sided_t(level: f64, df: usize) -> f64 {
    assert!(df > 0, "a spread needs two values");
    // The function is concave in the angle: from zero, Newton's steps approach the root from
    // below and cannot overshoot. Quadratic convergence needs about eight of them.
    let scale = slope_at_zero(df);
    let mut angle = 0.0_f64;
    for _ in 0..64 {
        let slope = scale * angle.cos().powf((df - 1) as f64);
        let step = (level - central_mass(angle, df)) / slope;
        angle += step;
        if step.abs() <= 1e-14 * angle {
            break;
        }
    }
    (df as f64).sqrt() * angle.tan()
}

/// Returns the probability that the variable is within the angle, on both sides of zero.
fn central_mass(angle: f64, df: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let sum = sine * cosine_series(cosine, df);
    if is_odd(df) { FRAC_2_PI * (angle + sum) } else { sum }
}

/// Sums a series up to the power `df - 2`. Even `df`: `1 + 1/2 cos² + (1·3)/(2·4) cos⁴ + …`; odd:
/// `cos + 2/3 cos³ + (2·4)/(3·5) cos⁵ + …`.
fn cosine_series(cosine: f64, df: usize) -> f64 {
    let mut term = if is_odd(df) { cosine } else { 1.0 };
    let mut sum = 0.0;
    for power in (df % 2..df - 1).step_by(2) {
        sum += term;
        term *= cosine * cosine * (power + 1) as f64 / (power + 2) as f64;
    }
    sum
}

/// Returns the derivative of the mass by the angle at zero: `2 Γ((df + 1) / 2) / (sqrt(π) Γ(df /
/// 2))`, which grows by `(df + 1) / df` from `df` to `df + 2`. Elsewhere it falls as `cos^(df -
/// 1)`.
fn slope_at_zero(df: usize) -> f64 {
    let (first, start) = if is_odd(df) { (FRAC_2_PI, 1) } else { (1.0, 2) };
    (start..df).step_by(2).fold(first, |slope, k| slope * (k + 1) as f64 / k as f64)
}

fn is_odd(df: usize) -> bool {
    df % 2 == 1
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

    /// With one and two degrees of freedom the quantile has a closed form.
    #[test]
    fn agrees_with_closed_forms() {
        for level in [0.5, 0.95, 0.965, 0.999] {
            assert_close(level, 1, (level / FRAC_2_PI).tan(), 1e-9);
            assert_close(level, 2, level * (2.0 / (1.0 - level * level)).sqrt(), 1e-9);
        }
    }

    /// The normal quantile is 1.959964; t exceeds it by about `(z³ + z) / 4 df`.
    #[test]
    fn tends_to_the_normal_quantile() {
        assert_close(0.95, 10_000, 1.959_964 + 2.372_3e-4, 1e-6);
    }
}
