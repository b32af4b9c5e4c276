//! What makes the times of a target differ from round to round.

use std::collections::VecDeque;

use super::{COPIES, Random};

/// The distribution of the logarithms of times, apart from what a round does to all targets. Each has
/// a standard deviation of about 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    Normal,
    /// Skewed.
    LogNormal,
    /// Student's t with three degrees of freedom.
    HeavyTails,
    /// Each round keeps this share of the deviation of the one before.
    Correlated(f64),
    /// Now and then four times as noisy for about three rounds.
    Bursts,
    /// The first target of a round takes longer, by this many standard deviations.
    Order(f64),
    /// Copies of a store differ by so many standard deviations of a round.
    Copies(f64),
    /// With this chance a trial of a target other than the baseline stalls, for so many standard
    /// deviations.
    Stalls(f64, f64),
}

impl Noise {
    /// All that intervals are to cover the truth with, by name.
    pub(crate) const ALL: [(&'static str, Self); 9] = [
        ("normal", Self::Normal),
        ("log-normal", Self::LogNormal),
        ("heavy tails", Self::HeavyTails),
        ("correlated, 0.3", Self::Correlated(0.3)),
        ("correlated, 0.6", Self::Correlated(0.6)),
        ("bursts", Self::Bursts),
        ("order", Self::Order(1.0)),
        ("copies, 0.3", Self::Copies(0.3)),
        ("copies, 1", Self::Copies(1.0)),
    ];

    /// What it adds to the logarithm of a target in the long run.
    pub(crate) fn mean(self) -> f64 {
        if let Self::Stalls(chance, length) = self { chance * length } else { 0.0 }
    }
}

/// The noise of one target in the course of a run.
pub(crate) struct Source {
    noise: Noise,
    is_baseline: bool,
    last: Option<f64>,
    burst: bool,
    /// What each copy adds; the first is that of the next round.
    copies: VecDeque<f64>,
}

impl Source {
    pub(crate) fn new(noise: Noise, is_baseline: bool) -> Self {
        Self { noise, is_baseline, last: None, burst: false, copies: VecDeque::new() }
    }

    pub(crate) fn next(&mut self, random: &mut Random, is_first: bool) -> f64 {
        let normal = random.normal();
        match self.noise {
            Noise::Normal => normal,
            // Its own mean and standard deviation.
            Noise::LogNormal => (normal.exp() - 0.5_f64.exp()) / 2.161,
            Noise::HeavyTails => {
                let squares: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
                normal / squares.sqrt()
            }
            Noise::Correlated(share) => {
                let now = self
                    .last
                    .map_or(normal, |last| share * last + (1.0 - share * share).sqrt() * normal);
                *self.last.insert(now)
            }
            Noise::Bursts => {
                self.burst = random.happens(if self.burst { 0.7 } else { 0.05 });
                normal * if self.burst { 4.0 } else { 1.0 } / 1.75
            }
            Noise::Order(more) => normal + if is_first { more } else { 0.0 },
            Noise::Copies(apart) => {
                if self.copies.is_empty() {
                    self.copies = (0..COPIES).map(|_| apart * random.normal()).collect();
                }
                self.copies.rotate_left(1);
                normal + self.copies[0]
            }
            Noise::Stalls(chance, length) => {
                let stalls = !self.is_baseline && random.happens(chance);
                normal + if stalls { length } else { 0.0 }
            }
        }
    }
}
