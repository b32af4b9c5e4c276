//! The normal distribution.

use std::f64::consts::TAU;

/// Probability that a standard normal variable is farther from zero than `z`, on either side.
///
/// Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.2.17: each tail is off
/// by less than 7.5e-8.
pub(crate) fn two_sided_tail(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let z = z.abs();
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = COEFFICIENTS.iter().rfold(0.0, |sum, coefficient| (sum + coefficient) * t);
    2.0 * series * (-z * z / 2.0).exp() / TAU.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles from the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.1 and 1.3.6.7.2
    /// (last line).
    #[test]
    fn agrees_with_known_quantiles() {
        for (z, tails) in
            [(0.0, 1.0), (1.0, 0.317_311), (1.959_964, 0.05), (2.575_829, 0.01), (3.290_527, 0.001)]
        {
            for z in [z, -z] {
                let p = two_sided_tail(z);
                assert!((p - tails).abs() < 5e-7, "{z}: {p} is not {tails}");
            }
        }
    }
}
