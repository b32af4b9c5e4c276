//! What the estimates would be without the correction for stopping.

use storemark_stats::Estimate;

/// Normal quantiles at 0.975 and, as the crate takes it, at 0.9825.
const Z_95: f64 = 1.959_964;
const Z_NOMINAL: f64 = 2.108_358;

/// The uncorrected 95 % t-interval.
pub(crate) fn interval(estimate: Estimate) -> Estimate {
    let Estimate { point, high, n, .. } = estimate;
    let narrower = student(Z_95, n) / student(Z_NOMINAL, n);
    let factor = (high / point).powf(narrower);
    Estimate { low: point / factor, high: point * factor, ..estimate }
}

/// Abramowitz and Stegun 26.7.5: within 0.1 % from four degrees of freedom on.
fn student(z: f64, n: usize) -> f64 {
    let df = (n - 1) as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / df + second / df.powi(2) + third / df.powi(3)
}
