//! A test that holds however often it is made while values come in.
//!
//! The statistic t is judged by the Bayes factor of "the mean is not zero" against "it is", with a
//! normal prior for the mean in units of the spread (Gönen, Johnson, Lu and Westfall, "The Bayesian
//! two-sample t test", The American Statistician 59, 2005). The factor is a likelihood ratio of
//! what does not depend on the scale. If the mean is zero, it therefore ever exceeds 1/α with a
//! probability of α at most: a mixture sequential test (H. Robbins, "Statistical methods related to
//! the law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970; T. L. Lai, "On
//! confidence sequences", Annals of Statistics 4, 1976).

/// The weight of the prior in values: the mean is expected within half a spread of zero. More makes
/// verdicts after twenty values harder, less lets correlated values pass too soon; by simulation.
const PRIOR: f64 = 4.0;

/// Returns the |t| from which on `n` values, which need not be whole, contradict a mean of zero at
/// level `alpha`, whenever one stops. Infinite while `n` is too small for any verdict.
pub(crate) fn critical_t(alpha: f64, n: f64) -> f64 {
    let share = PRIOR / (n + PRIOR);
    // The factor as a function of u = t² / (n - 1) is sqrt(share) ((1 + u) / (1 + share u))^(n / 2).
    let bound = (alpha * share.sqrt()).powf(-2.0 / n);
    if bound * share >= 1.0 {
        return f64::INFINITY;
    }
    ((n - 1.0) * (bound - 1.0) / (1.0 - bound * share)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(t: f64, n: f64) -> f64 {
        let (share, u) = (PRIOR / (n + PRIOR), t * t / (n - 1.0));
        share.sqrt() * ((1.0 + u) / (1.0 + share * u)).powf(n / 2.0)
    }

    #[test]
    fn at_the_bound_the_factor_is_one_over_the_level() {
        for (alpha, n) in [(0.05, 12.0), (0.05, 40.0), (0.01, 25.5), (0.05, 1000.0)] {
            let found = factor(critical_t(alpha, n), n);
            assert!((found * alpha - 1.0).abs() < 1e-9, "{alpha} {n}: {found}");
        }
    }

    /// With many values the spread is known, and the bound is Robbins' for a normal mean: t² =
    /// (n + g) / n · ln((n + g) / (g α²)).
    #[test]
    fn tends_to_the_bound_for_a_known_spread() {
        let (n, alpha) = (1e6, 0.05_f64);
        let known = ((n + PRIOR) / n * ((n + PRIOR) / (PRIOR * alpha * alpha)).ln()).sqrt();
        let found = critical_t(alpha, n);
        assert!((found / known - 1.0).abs() < 1e-4, "{found} {known}");
    }

    #[test]
    fn few_values_are_never_enough_and_more_make_it_easier() {
        assert!(critical_t(0.05, 2.0).is_infinite() && critical_t(0.05, 4.0).is_infinite());
        let bounds = [12.0, 20.0, 50.0].map(|n| critical_t(0.05, n));
        assert!(bounds.is_sorted_by(|more, less| more > less), "{bounds:?}");
        assert!(critical_t(0.01, 20.0) > critical_t(0.05, 20.0));
        assert!(critical_t(0.05, 50.0) > 2.01, "more than for a single look");
    }
}
