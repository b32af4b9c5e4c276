//! Runs on a made-up machine whose true ratios are known: how often are the estimates right?
//!
//! Shared by the tests and by the example that prints the tables of `docs/method.md`.
#![allow(dead_code, unused_imports, reason = "each user needs a part of it")]

mod machine;
mod plain;
mod random;

pub(crate) use machine::{Drift, Machine, Noise, Stalls};
pub(crate) use random::Random;
use storemark_stats::{Estimate, Stopping, Verdict, paired_ratio, verdict};

/// The defaults of a run.
pub(crate) const STOPPING: Stopping = Stopping { min_rounds: 5, precision: 0.03 };

/// How a run ends and what it reports.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// All rounds are run.
    Fixed,
    /// The rule and the interval of this crate.
    Storemark,
    /// For comparison: a 95 % t-interval, and stop as soon as it is within the precision.
    Plain,
}

/// Many runs of one plan on one machine.
#[derive(Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) machine: Machine,
    pub(crate) rule: Rule,
    /// Rounds after which the time budget is spent.
    pub(crate) cap: usize,
    /// Targets besides the baseline.
    pub(crate) ratios: usize,
    /// Their times over those of the baseline, stalls aside; 1 is an A/A run.
    pub(crate) truth: f64,
    pub(crate) runs: usize,
}

/// What came out, counted over all ratios of all runs.
#[derive(Default)]
pub(crate) struct Outcome {
    ratios: usize,
    covered: usize,
    differences: usize,
    rounds: usize,
}

impl Outcome {
    /// Share of intervals that contain the truth.
    pub(crate) fn coverage(&self) -> f64 {
        self.covered as f64 / self.ratios as f64
    }

    /// Share of ratios that were called faster or slower.
    pub(crate) fn differences(&self) -> f64 {
        self.differences as f64 / self.ratios as f64
    }

    pub(crate) fn mean_rounds(&self) -> f64 {
        self.rounds as f64 / self.ratios as f64
    }

    fn add(&mut self, ratio: &Estimate, truth: f64) {
        self.ratios += 1;
        self.covered += usize::from((ratio.low..=ratio.high).contains(&truth));
        self.differences += usize::from(verdict(ratio) != Verdict::NoDifference);
        self.rounds += ratio.n;
    }
}

impl Experiment {
    /// The same outcome each time: the seed is fixed.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut random = Random::new(1);
        let mut outcome = Outcome::default();
        let truth = self.truth * self.machine.long_run();
        for _ in 0..self.runs {
            for ratio in self.run(&mut random) {
                outcome.add(&ratio, truth);
            }
        }
        outcome
    }

    fn run(&self, random: &mut Random) -> Vec<Estimate> {
        let mut times = vec![Vec::new(); self.ratios + 1];
        let mut weather = self.machine.start(self.cap);
        for round in 1..=self.cap {
            weather.round(random, self.truth, &mut times);
            let may_stop = round >= STOPPING.min_rounds && !matches!(self.rule, Rule::Fixed);
            if may_stop || round == self.cap {
                let ratios = self.estimates(&times);
                if round == self.cap || self.is_met(&ratios) {
                    return ratios;
                }
            }
        }
        Vec::new()
    }

    fn estimates(&self, times: &[Vec<f64>]) -> Vec<Estimate> {
        let (baseline, others) = times.split_first().expect("there is a baseline");
        let ratios = others
            .iter()
            .map(|times| paired_ratio(times, baseline).expect("made-up times are positive"));
        match self.rule {
            Rule::Plain => ratios.map(plain::interval).collect(),
            Rule::Fixed | Rule::Storemark => ratios.collect(),
        }
    }

    fn is_met(&self, ratios: &[Estimate]) -> bool {
        match self.rule {
            Rule::Fixed => false,
            Rule::Storemark => STOPPING.is_met(ratios),
            Rule::Plain => ratios.iter().all(|ratio| ratio.half_width() <= STOPPING.precision),
        }
    }
}
