//! Runs on a simulated machine whose true ratios are known: how often are the verdicts of a table and
//! its intervals right?
//!
//! Shared by the tests and by the example that prints the tables of `docs/method-proof.md`.
#![allow(dead_code, unused_imports, reason = "each user needs a part of it")]

mod noise;
mod random;

use std::ops::RangeInclusive;

pub(crate) use noise::{Noise, Source};
pub(crate) use random::Random;
use storemark_stats::{
    Estimate, FIRST_LOOK, Judgement, Looks, SAME, Values, Verdict, is_look, judge, judge_at_end,
};

/// As a run of several targets looks.
pub(crate) const NARROW: f64 = SAME / 2.0;
pub(crate) const LOOKS: Looks = Looks::Planned { precision: NARROW };

/// Copies of a store that rounds take in turn.
const COPIES: u32 = 5;

/// How far what happens to all targets of a round moves from one to the next, on the logarithm.
const WALK: f64 = 0.1;

/// Tables of targets that take `truth` times as long as the baseline.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) noise: Noise,
    /// Standard deviation of a ratio's logarithm in a round.
    pub(crate) sigma: f64,
    pub(crate) truth: &'a [f64],
    pub(crate) looks: Looks,
    /// When the time is over.
    pub(crate) rounds: usize,
    pub(crate) count: u32,
}

/// A target's ratio when its run is over, and what is said of it.
struct Row {
    truth: f64,
    ratio: Estimate,
    verdict: Verdict,
}

impl Row {
    fn is_false(&self) -> bool {
        match self.verdict {
            Verdict::Faster => self.truth >= 1.0,
            Verdict::Slower => self.truth <= 1.0,
            Verdict::Same => (self.truth - 1.0).abs() >= SAME,
            Verdict::Inconclusive => false,
        }
    }

    fn is_covered(&self) -> bool {
        (self.ratio.low..=self.ratio.high).contains(&self.truth)
    }
}

/// What came out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Share of tables with a false verdict.
    pub(crate) false_tables: f64,
    /// Share of intervals that contain the truth.
    pub(crate) covered: f64,
    /// Share of ratios with a verdict, right or wrong.
    pub(crate) judged: f64,
    /// Mean number of rounds of a ratio.
    pub(crate) rounds: f64,
}

impl Tables<'_> {
    /// The same outcome each time: the seed is fixed.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut random = Random::new(7);
        let tables: Vec<_> = (0..self.count).map(|_| self.run(&mut random)).collect();
        let rows = || tables.iter().flatten();
        let of = |count: usize, all: usize| count as f64 / all as f64;
        let share =
            |holds: fn(&Row) -> bool| of(rows().filter(|row| holds(row)).count(), rows().count());
        let wrong = tables.iter().filter(|table| table.iter().any(Row::is_false)).count();
        Outcome {
            false_tables: of(wrong, tables.len()),
            covered: share(Row::is_covered),
            judged: share(|row| row.verdict != Verdict::Inconclusive),
            rounds: of(rows().map(|row| row.ratio.n).sum(), rows().count()),
        }
    }

    /// A run: a target whose verdict is shown, or whose interval is narrow, leaves.
    fn run(&self, random: &mut Random) -> Vec<Row> {
        let mut machine = Machine::new(self.noise, self.sigma, self.truth.len());
        let mut ratios = vec![Values::default(); self.truth.len()];
        let mut open = vec![true; self.truth.len()];
        for (round, copy) in (1..=self.rounds).zip((0..COPIES).cycle()) {
            let times = machine.round(random);
            for (target, ratios) in
                ratios.iter_mut().enumerate().filter(|(target, _)| open[*target])
            {
                let ratio = self.truth[target] * times[target + 1] / times[0];
                ratios.push(ratio, copy.into());
            }
            if self.looks != Looks::Once && round >= FIRST_LOOK {
                let judged = judge(&ratios, self.looks);
                let needs = |(ratios, of): (&Values, Judgement)| {
                    let is_shown = is_look(ratios.values.len()) && is_shown(&of);
                    !is_shown && !ratios.are_within(NARROW)
                };
                open = ratios.iter().zip(judged).map(needs).collect();
            }
        }
        let truths =
            self.truth.iter().map(|truth| truth * (self.noise.mean() * machine.spread).exp());
        let judged = judge_at_end(&ratios, self.looks, |_, of| is_shown(of));
        let rows = judged.into_iter().zip(truths);
        rows.map(|(of, truth)| Row {
            truth,
            ratio: of.ratio.expect("simulated times are positive"),
            verdict: of.verdict,
        })
        .collect()
    }
}

fn is_shown(of: &Judgement) -> bool {
    of.verdict != Verdict::Inconclusive
}

/// A machine in the course of a run. What it does to all targets of a round wanders.
pub(crate) struct Machine {
    spread: f64,
    sources: Vec<Source>,
    walk: f64,
}

impl Machine {
    /// `sigma` is the standard deviation of the logarithm of a ratio, to the first of the targets.
    pub(crate) fn new(noise: Noise, sigma: f64, ratios: usize) -> Self {
        let sources = (0..=ratios).map(|target| Source::new(noise, target == 0)).collect();
        Self { spread: sigma / 2.0_f64.sqrt(), sources, walk: 0.0 }
    }

    /// The times of all targets, in fresh random order.
    pub(crate) fn round(&mut self, random: &mut Random) -> Vec<f64> {
        self.walk += WALK * random.normal();
        let mut order: Vec<usize> = (0..self.sources.len()).collect();
        random.shuffle(&mut order);
        let own = |(target, source): (usize, &mut Source)| {
            (self.walk + self.spread * source.next(random, order[0] == target)).exp()
        };
        self.sources.iter_mut().enumerate().map(own).collect()
    }
}
