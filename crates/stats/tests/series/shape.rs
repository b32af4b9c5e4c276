//! How the times of one target are distributed over rounds.

use std::f64::consts::PI;

use super::Random;

/// The distribution of their logarithms, which has one peak but in the last case.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    Uniform,
    Normal,
    /// Skewed: the logarithm of the logarithm has this standard deviation.
    LogNormal(f64),
    /// A long tail of slow rounds.
    Exponential,
    /// Long tails on both sides.
    Laplace,
    /// Tails so long that there is no mean.
    Cauchy,
    /// Two normal distributions.
    Two {
        /// How far, in their standard deviations.
        apart: f64,
        /// Share of the upper one.
        upper: f64,
    },
}

impl Shape {
    /// Those with one peak, by name.
    pub(crate) const ONE_PEAK: [(&str, Self); 7] = [
        ("uniform", Self::Uniform),
        ("normal", Self::Normal),
        ("log-normal, 0.5", Self::LogNormal(0.5)),
        ("log-normal, 1", Self::LogNormal(1.0)),
        ("exponential", Self::Exponential),
        ("Laplace", Self::Laplace),
        ("Cauchy", Self::Cauchy),
    ];

    /// `n` times, whose logarithms have a spread of about `sigma` around a straight line: without
    /// noise the last is `growth` times the first.
    pub(crate) fn times(self, random: &mut Random, n: usize, sigma: f64, growth: f64) -> Vec<f64> {
        let step = growth.ln() / (n - 1) as f64;
        (0..n).map(|i| (step * i as f64 + sigma * self.value(random)).exp()).collect()
    }

    fn value(self, random: &mut Random) -> f64 {
        match self {
            Self::Uniform => random.unit(),
            Self::Normal => random.normal(),
            Self::LogNormal(sigma) => (sigma * random.normal()).exp(),
            Self::Laplace if random.happens(0.5) => random.unit().ln(),
            Self::Exponential | Self::Laplace => -random.unit().ln(),
            Self::Cauchy => (PI * (random.unit() - 0.5)).tan(),
            Self::Two { apart, upper } => {
                let mode = if random.happens(upper) { apart } else { 0.0 };
                mode + random.normal()
            }
        }
    }
}
