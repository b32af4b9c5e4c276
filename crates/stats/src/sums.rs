//! The ratio of two sums over rounds that do different work.

/// Returns for each round a ratio, such that the geometric mean of all is the ratio of the two sums, and
/// their spread that of the ratio of sums: its linear approximation around the mean (W. G. Cochran,
/// "Sampling Techniques", 1977, chapter 6). Returns `None` for no pairs, or for one that is not of
/// positive finite numbers.
///
/// The mean of the ratios of rounds is another figure where rounds differ: a round with one value of
/// 10 MB among small ones would count as much as a round without.
pub fn ratios_of_sums(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let positive = |figure: f64| figure > 0.0 && figure.is_finite();
    if pairs.is_empty() || !pairs.iter().all(|(above, below)| positive(*above) && positive(*below))
    {
        return None;
    }
    let above: f64 = pairs.iter().map(|(above, _)| above).sum();
    let below: f64 = pairs.iter().map(|(_, below)| below).sum();
    let (ratio, mean) = (above / below, above / pairs.len() as f64);
    let of_round = |(above, below): &(f64, f64)| ratio * ((above - ratio * below) / mean).exp();
    Some(pairs.iter().map(of_round).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometric_mean;

    #[test]
    fn the_mean_is_the_ratio_of_the_sums() {
        let pairs = [(1.0, 2.0), (3.0, 4.0), (100.0, 40.0), (2.0, 3.0)];
        let mean = geometric_mean(&ratios_of_sums(&pairs).unwrap()).unwrap();
        assert!((mean.point - 106.0 / 49.0).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn equal_ratios_have_no_spread() {
        let pairs = [(1.0, 2.0), (30.0, 60.0), (5.0, 10.0)];
        let ratios = ratios_of_sums(&pairs).unwrap();
        assert!(ratios.iter().all(|ratio| (ratio - 0.5).abs() < 1e-12), "{ratios:?}");
    }

    /// Cochran's variance of a ratio: the squares of the residuals over n (n - 1) and the square of
    /// the mean below. Here the ratio is 2, the residuals are 1, -1, 1, -1 and the mean is 5.
    #[test]
    fn the_spread_is_that_of_the_ratio() {
        let pairs = [(9.0, 4.0), (11.0, 6.0), (9.0, 4.0), (11.0, 6.0)];
        let logs: Vec<f64> = ratios_of_sums(&pairs).unwrap().iter().map(|r| r.ln()).collect();
        let mean = logs.iter().sum::<f64>() / 4.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 12.0;
        let cochran = 4.0 / 12.0 / 25.0 / 4.0;
        assert!((variance / cochran - 1.0).abs() < 1e-9, "{variance} {cochran}");
    }

    #[test]
    fn what_is_not_positive_has_no_ratio() {
        assert_eq!(ratios_of_sums(&[]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(ratios_of_sums(&[(1.0, wrong)]), None);
            assert_eq!(ratios_of_sums(&[(wrong, 1.0)]), None);
        }
    }
}
