//! A figure and how far it can be trusted.

/// A figure with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub point: f64,
    /// Lower end of the interval; 0 for a single value.
    pub low: f64,
    /// Upper end of the interval; infinite for a single value.
    pub high: f64,
    /// Values it rests on, one a round.
    pub n: usize,
}

impl Estimate {
    /// The largest relative distance of an end from the point: 0.03 is ±3 %. Infinite for fewer
    /// than two values.
    pub fn half_width(&self) -> f64 {
        if self.n < 2 {
            return f64::INFINITY;
        }
        (self.high / self.point - 1.0).max(1.0 - self.low / self.point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half_width(low: f64, high: f64, n: usize) -> f64 {
        Estimate { point: 2.0, low, high, n }.half_width()
    }

    #[test]
    fn the_farther_end_counts() {
        assert!((half_width(1.9, 2.2, 5) - 0.1).abs() < 1e-12);
        assert!((half_width(1.6, 2.2, 5) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn one_value_has_no_width() {
        assert!(half_width(2.0, 2.0, 1).is_infinite());
    }
}
