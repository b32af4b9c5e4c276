//! The t-interval on logarithms, from which every estimate is made.

use crate::Estimate;
use crate::student::two_sided_t;

/// The level at which t is taken for an interval that is to cover 95 %. Stopping once the
/// interval is narrow prefers rounds that happened to agree, and costs up to 1.4 points of
/// coverage; the 1.5 points on top pay for that. See "When rounds stop" in `docs/method.md`.
pub(crate) const NOMINAL_LEVEL: f64 = 0.965;

/// The estimate whose logarithm is the mean of `logs`. `None` for no logs, or for one that is
/// not finite.
pub(crate) fn estimate_from_logs(logs: &[f64]) -> Option<Estimate> {
    estimate_at(NOMINAL_LEVEL, logs)
}

fn estimate_at(level: f64, logs: &[f64]) -> Option<Estimate> {
    if logs.is_empty() || !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let mean = mean(logs);
    let margin = margin(level, logs, mean);
    Some(Estimate {
        point: mean.exp(),
        low: (mean - margin).exp(),
        high: (mean + margin).exp(),
        n: logs.len(),
    })
}

/// Half of the interval's width, on the logarithmic scale: `t * s / sqrt(n)`.
fn margin(level: f64, logs: &[f64], mean: f64) -> f64 {
    let n = logs.len();
    if n < 2 {
        return f64::INFINITY;
    }
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let variance = squares / (n - 1) as f64;
    variance.sqrt() * margin_per_spread(level, n)
}

/// `t / sqrt(n)`: what the standard deviation of two or more logs is multiplied with.
pub(crate) fn margin_per_spread(level: f64, n: usize) -> f64 {
    two_sided_t(level, n - 1) / (n as f64).sqrt()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student's sleep data (Biometrika 6, 1908, after Cushny and Peebles): hours gained by ten
    /// patients with either drug, taken here as logarithms.
    const FIRST: [f64; 10] = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    const SECOND: [f64; 10] = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];

    fn gains() -> Vec<f64> {
        FIRST.iter().zip(SECOND).map(|(first, second)| first - second).collect()
    }

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 5e-8
    }

    /// R prints this interval for `t.test(paired = TRUE)` on its copy of the data, `sleep`.
    #[test]
    fn agrees_with_students_sleep_data() {
        let estimate = estimate_at(0.95, &gains()).expect("logs are finite");
        assert!(close(estimate.point.ln(), -1.58));
        assert!(close(estimate.low.ln(), -2.459_885_8), "{}", estimate.low.ln());
        assert!(close(estimate.high.ln(), -0.700_114_2), "{}", estimate.high.ln());
        assert_eq!(estimate.n, 10);
    }

    /// The two differ in t alone: with nine degrees of freedom it is 2.4799 instead of 2.2622.
    #[test]
    fn the_reported_interval_is_wider_than_a_plain_one() {
        let plain = margin(0.95, &gains(), -1.58);
        let estimate = estimate_from_logs(&gains()).expect("logs are finite");
        let ratio = (estimate.high / estimate.point).ln() / plain;
        assert!((ratio - 2.4799 / 2.2622).abs() < 1e-4, "{ratio}");
    }

    #[test]
    fn equal_values_have_no_width() {
        let estimate = estimate_from_logs(&[0.5; 4]).expect("logs are finite");
        assert!(estimate.half_width().abs() < 1e-15);
    }

    #[test]
    fn a_log_that_is_not_finite_gives_nothing() {
        assert_eq!(estimate_from_logs(&[]), None);
        assert_eq!(estimate_from_logs(&[0.0, f64::NAN]), None);
        assert_eq!(estimate_from_logs(&[0.0, f64::NEG_INFINITY]), None);
    }
}
