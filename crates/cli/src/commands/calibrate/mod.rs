//! `storemark calibrate`: how often `run` calls a store different from itself, and how often it
//! finds a known difference.

mod comparison;
mod lines;
mod options;
mod page;
mod series;
mod slowing;
mod subject;
mod tally;

use std::{path::Path, time::Duration};

use lab::{Progress, Stop};
use model::{
    Blobs, Result, Rounds,
    record::Record,
    spec::{MIN_ROUNDS, Running},
};

pub(crate) use self::options::{CalibrateOptions, EXAMPLES};
use self::{
    comparison::{Comparison, Kind},
    lines::Lines,
    series::Series,
    slowing::Slowing,
    subject::Subject,
    tally::Tally,
};
use crate::{exit::Failure, listener::Listener, output};

/// More false alarms than this are too many.
const FALSE_ALARMS: f64 = 0.05;
/// Fewer detections than this are too few.
const DETECTIONS: f64 = 0.90;

pub(crate) fn run(options: &CalibrateOptions, stop: &Stop) -> Result<(), Failure> {
    let series = Series::of(options)?;
    let mut lines = Lines::open(options.json.as_deref())?;
    let listener = Listener::new(options.talk);
    let calibration = Calibration::prepare(options, series, &listener, stop)?;
    lines.begin(&calibration)?;
    let mut done = Vec::new();
    let ended = calibration.carry_out(&mut done, &mut lines, &listener, stop);
    drop(listener);
    show(options, &page::page(&calibration, &done))?;
    ended.map_err(Failure::PartWay)?;
    if options.check { check(&done) } else { Ok(()) }
}

/// All that is settled before the first comparison.
struct Calibration {
    series: Series,
    subject: Subject,
    /// A run of the subject alone: what an operation takes, and where.
    pace: Record,
    slowing: Slowing,
}

impl Calibration {
    fn prepare(
        options: &CalibrateOptions,
        series: Series,
        listener: &Listener,
        stop: &Stop,
    ) -> Result<Self> {
        let subject = Subject::ready(options, series.seed, listener, stop)?;
        listener.stage("timing an operation", None);
        let rounds = Rounds { max: Some(MIN_ROUNDS), ..rounds(Duration::ZERO) };
        let (pace, _) = subject.run(&[subject.engine], series.seed, rounds, stop)?;
        let slowing = Slowing::of(subject.engine, &pace, options.slow_down)?;
        Ok(Self { series, subject, pace, slowing })
    }

    /// Runs the comparisons; those that ended stand in `done`, whatever happens to a later one.
    fn carry_out(
        &self,
        done: &mut Vec<Comparison>,
        lines: &mut Lines,
        listener: &Listener,
        stop: &Stop,
    ) -> Result<()> {
        let all = self.series.comparisons.len();
        for (before, (kind, seed)) in self.series.comparisons.iter().enumerate() {
            let left = self.series.time_after(before);
            listener.rounds(&format!("comparison {} of {all}", before + 1), Some(left));
            let comparison = self.compare(*kind, *seed, stop)?;
            lines.comparison(&comparison)?;
            done.push(comparison);
        }
        Ok(())
    }

    fn compare(&self, kind: Kind, seed: u64, stop: &Stop) -> Result<Comparison> {
        let itself = self.subject.engine;
        let other: &'static dyn Blobs = match kind {
            Kind::Same => itself,
            Kind::Slowed => self.slowing.engine,
        };
        let rounds = rounds(self.series.time(kind));
        let (record, ended) = self.subject.run(&[itself, other], seed, rounds, stop)?;
        Comparison::of(kind, &record, ended)
    }
}

/// As many rounds as `run` needs, within the time.
fn rounds(time: Duration) -> Rounds {
    Running::default().rounds(time)
}

/// On standard output, unless that carries the lines.
fn show(options: &CalibrateOptions, page: &str) -> Result<()> {
    if options.json.as_deref() == Some(Path::new("-")) {
        output::print_aside(page);
        return Ok(());
    }
    output::print(page)
}

/// Whether chance cannot explain that the rates are not as they should be.
fn check(done: &[Comparison]) -> Result<(), Failure> {
    let alarms = Tally::of(done, Kind::Same).found_interval().0 > FALSE_ALARMS;
    let misses = Tally::of(done, Kind::Slowed).found_interval().1 < DETECTIONS;
    for (_, what) in [(alarms, "false alarms are above 5 %"), (misses, "detections are below 90 %")]
        .iter()
        .filter(|(fails, _)| *fails)
    {
        output::say(&format!("--check: {what}, the whole interval"));
    }
    if alarms || misses { Err(Failure::Gate) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use model::record::Ended;
    use report::Judgement;
    use stats::Estimate;

    use super::*;

    fn comparisons(kind: Kind, counts: &[(usize, Judgement)]) -> Vec<Comparison> {
        let one = |judgement| Comparison {
            kind,
            seed: 1,
            ratio: Estimate { point: 1.05, low: 1.0, high: 1.1, n: 5 },
            judgement,
            ended: Ended::Time,
            rounds: Vec::new(),
        };
        counts.iter().flat_map(|(n, judgement)| (0..*n).map(move |_| one(*judgement))).collect()
    }

    fn passes(kind: Kind, counts: &[(usize, Judgement)]) -> bool {
        check(&comparisons(kind, counts)).is_ok()
    }

    #[test]
    fn only_what_chance_cannot_explain_fails_the_check() {
        use Judgement::{Faster, NoDifference, Slower};
        // 11 of 100: 5.6 to 18.8 %; 10 of 100: 4.9 to 17.6 %.
        assert!(!passes(Kind::Same, &[(89, NoDifference), (6, Slower), (5, Faster)]));
        assert!(passes(Kind::Same, &[(90, NoDifference), (5, Slower), (5, Faster)]));
        // 15 of 20: up to 91.3 %; 14 of 20: up to 88.1 %. Faster is no detection.
        assert!(passes(Kind::Slowed, &[(15, Slower), (5, NoDifference)]));
        assert!(!passes(Kind::Slowed, &[(14, Slower), (5, NoDifference), (1, Faster)]));
        assert!(passes(Kind::Same, &[]));
    }

    #[test]
    fn the_truth_of_slowed_comparisons_is_their_mean() {
        let done = comparisons(Kind::Slowed, &[(3, Judgement::Slower)]);
        let tally = Tally::of(&done, Kind::Slowed);
        assert_eq!((tally.covering(), tally.len()), (3, 3));
        assert!((tally.ratio().unwrap().point - 1.05).abs() < 1e-12);
    }
}
