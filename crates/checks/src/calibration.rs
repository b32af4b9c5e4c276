//! Runs whose truth is known: a store with itself in several forms, and with itself slowed down.

use std::fmt;

use model::{DatasetSummary, Environment, Rounds, Settings, record::Ended, units};
use serde::Serialize;
use stats::{Estimate, SAME, geometric_mean, proportion};

use crate::{gate::Gate, verdict::Verdict};

/// The version of the form of [`CalibrationLine`]. It is raised if a reader of the old one would go
/// wrong.
pub const CALIBRATION_FORMAT: u32 = 3;

/// The largest accepted share of wrong tables or gates.
const WRONG: f64 = 0.05;
/// The smallest accepted share of slow-downs that are found.
const DETECTIONS: f64 = 0.90;
/// The smallest slow-down that has to be found so often.
const LARGE: f64 = 0.05;

/// A line of the file of a calibration: first what is compared, then the runs.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "line")]
pub enum CalibrationLine<'a> {
    /// The plan, which is the first line.
    Calibration(&'a Calibration),
    /// A run that measured.
    Run(&'a KnownRun),
    /// A run that measured nothing.
    LeftOut(&'a LeftOutRun),
}

/// The plan of a calibration: what is compared, where and how.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// Version of the form.
    pub format: u32,
    /// Seconds since 1970.
    pub started: u64,
    /// Seed of the first run.
    pub seed: u64,
    /// Label of the target.
    pub target: String,
    /// Settings of the target.
    pub settings: Settings,
    /// The data; `None` before it was generated.
    pub data: Option<DatasetSummary>,
    /// The forms, in their order.
    pub forms: Vec<Form>,
    /// Runs of each form that were asked for.
    pub runs: u32,
    /// The limits of each run.
    pub rounds: Rounds,
    /// Time for all runs in seconds.
    pub seconds: f64,
    /// Time of an operation without a wait, in nanoseconds.
    pub operation_ns: f64,
    /// The waits of the slowed targets.
    pub slow_downs: Vec<SlowDown>,
    /// The machine.
    pub environment: Environment,
}

/// A wait before each operation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SlowDown {
    /// Share of an operation's time that it adds.
    pub share: f64,
    /// The wait that was asked for.
    pub wait_ns: f64,
    /// The wait as measured over an engine that does nothing.
    pub measured_ns: f64,
}

impl SlowDown {
    /// Reports whether the measured wait is within 10 % or 10 ns of the one that was asked for.
    pub fn is_exact(&self) -> bool {
        (self.measured_ns - self.wait_ns).abs() <= (self.wait_ns / 10.0).max(10.0)
    }
}

/// A comparison whose truth is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One store as two targets, read.
    Same,
    /// Two copies of the data, read.
    Copies,
    /// One store as four targets, read.
    Table,
    /// Two copies of the data, updated.
    Updates,
    /// One store as two targets, read from the device.
    Cold,
    /// One store as two targets, read by two threads.
    Threads,
    /// One store as two targets, read; the second takes this share longer.
    Slowed(f64),
    /// Two records of one store as two targets, compared.
    Gate,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.pad("one store"),
            Self::Copies => f.pad("two copies"),
            Self::Table => f.pad("four targets"),
            Self::Updates => f.pad("updates"),
            Self::Cold => f.pad("cold reads"),
            Self::Threads => f.pad("two threads"),
            Self::Slowed(share) => f.pad(&format!("{} slower", units::exact_percent(*share))),
            Self::Gate => f.pad("gate"),
        }
    }
}

impl Form {
    /// Returns how many runs make one that is counted.
    pub fn records(self) -> u32 {
        if self == Self::Gate { 2 } else { 1 }
    }

    /// Reports whether a verdict contradicts the truth. A difference of less than 3 % may be called
    /// the same.
    fn is_wrong(self, verdict: Verdict) -> bool {
        match (self, verdict) {
            (_, Verdict::Faster) => true,
            (Self::Slowed(share), Verdict::Same) => share > SAME,
            (Self::Slowed(_), _) => false,
            (_, verdict) => verdict == Verdict::Slower,
        }
    }
}

/// A run with what it showed.
#[derive(Clone, Debug, Serialize)]
pub struct KnownRun {
    /// The form.
    pub form: Form,
    /// Seed of the run.
    pub seed: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Why it ended.
    pub ended: Ended,
    /// The ratio of each target to the first one; empty for a gate.
    pub ratios: Vec<KnownRatio>,
    /// The verdict of the gate; `None` for other forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// A run that measured nothing, mostly because it did not fit into its time.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOutRun {
    /// The form.
    pub form: Form,
    /// Seed of the run.
    pub seed: u64,
    /// The reason.
    pub why: String,
}

/// The ratio that a run showed for a target.
#[derive(Clone, Debug, Serialize)]
pub struct KnownRatio {
    /// The verdict.
    pub verdict: Verdict,
    /// The ratio; `None` if it was not measured.
    pub ratio: Option<Estimate>,
    /// Its time divided by that of the first target, by round.
    pub by_round: Vec<f64>,
}

/// The figures of the runs of a form.
pub struct Tally<'a> {
    /// The form.
    pub form: Form,
    runs: Vec<&'a KnownRun>,
}

impl<'a> Tally<'a> {
    /// Collects the runs of a form.
    pub fn new(done: &'a [KnownRun], form: Form) -> Self {
        Self { form, runs: done.iter().filter(|run| run.form == form).collect() }
    }

    /// Returns the number of runs.
    pub fn count(&self) -> u64 {
        self.runs.len() as u64
    }

    /// Counts the tables with a wrong verdict.
    pub fn wrong(&self) -> u64 {
        let is_wrong = |ratio: &KnownRatio| self.form.is_wrong(ratio.verdict);
        self.count_if(|run| run.ratios.iter().any(is_wrong))
    }

    /// Counts the slow-downs that were found; `None` if the form has none.
    pub fn found(&self) -> Option<u64> {
        let Form::Slowed(_) = self.form else { return None };
        Some(self.count_if(|run| run.ratios.iter().all(|r| r.verdict == Verdict::Slower)))
    }

    /// Counts the gates with this verdict.
    pub fn gates(&self, says: Gate) -> u64 {
        self.count_if(|run| run.gate == Some(says))
    }

    /// Returns the 95 % interval of `count` as a share of the runs.
    pub fn interval(&self, count: u64) -> (f64, f64) {
        proportion(count, self.count())
    }

    /// Counts the ratios with this verdict.
    pub fn with_verdict(&self, verdict: Verdict) -> u64 {
        self.ratios().filter(|ratio| ratio.verdict == verdict).count() as u64
    }

    /// Counts the ratios without a shown verdict.
    pub fn open(&self) -> u64 {
        self.ratios().filter(|ratio| !ratio.verdict.is_shown()).count() as u64
    }

    /// Returns the mean of all ratios; `None` without ratios.
    pub fn ratio(&self) -> Option<Estimate> {
        geometric_mean(&self.estimates().map(|ratio| ratio.point).collect::<Vec<_>>())
    }

    /// Returns the share of the intervals that contain the truth: 1, or the mean of all slowed
    /// ratios, which is the best estimate of it.
    pub fn coverage(&self) -> f64 {
        let truth = match self.form {
            Form::Slowed(_) => self.ratio().map_or(f64::NAN, |mean| mean.point),
            _ => 1.0,
        };
        let holds = |ratio: &&Estimate| ratio.low <= truth && truth <= ratio.high;
        let covering = self.estimates().filter(holds).count();
        covering as f64 / self.estimates().count() as f64
    }

    /// Returns the mean half width of the intervals.
    pub fn half_width(&self) -> f64 {
        mean(self.estimates().map(Estimate::half_width))
    }

    /// Returns the mean number of rounds.
    pub fn rounds(&self) -> f64 {
        mean(self.estimates().map(|ratio| ratio.n as f64))
    }

    /// Returns the mean seconds of a run.
    pub fn seconds(&self) -> f64 {
        mean(self.runs.iter().map(|run| run.seconds))
    }

    /// Returns what is wrong beyond chance, that is with the whole interval past the limit; `None`
    /// if nothing is.
    fn complaint(&self) -> Option<&'static str> {
        let failed = self.gates(Gate::Fail) + self.gates(Gate::Undecided);
        if self.interval(self.wrong()).0 > WRONG {
            return Some("more than 5 % of the tables have a wrong verdict");
        }
        if self.interval(failed).0 > WRONG {
            return Some("more than 5 % fail or are undecided");
        }
        let large = matches!(self.form, Form::Slowed(share) if share >= LARGE);
        let found = self.found().filter(|_| large)?;
        (self.interval(found).1 < DETECTIONS).then_some("fewer than 90 % are found")
    }

    fn count_if(&self, holds: impl Fn(&KnownRun) -> bool) -> u64 {
        self.runs.iter().filter(|run| holds(run)).count() as u64
    }

    fn ratios(&self) -> impl Iterator<Item = &KnownRatio> {
        self.runs.iter().flat_map(|run| &run.ratios)
    }

    fn estimates(&self) -> impl Iterator<Item = &Estimate> {
        self.ratios().filter_map(|ratio| ratio.ratio.as_ref())
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = figures.fold((0.0, 0.0), |(count, sum), figure| (count + 1.0, sum + figure));
    sum / count
}

/// Returns what is wrong with the runs of `forms` beyond chance, a sentence each.
pub fn wrong_rates(forms: &[Form], done: &[KnownRun]) -> Vec<String> {
    let complaint = |form: &Form| Some(format!("{form}: {}", Tally::new(done, *form).complaint()?));
    forms.iter().filter_map(complaint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Faster, Inconclusive, Same, Slower};

    fn run(form: Form, verdicts: &[Verdict], gate: Option<Gate>) -> KnownRun {
        let estimate = Estimate { point: 1.05, low: 1.0, high: 1.1, n: 12 };
        let ratio = |verdict: &Verdict| KnownRatio {
            verdict: *verdict,
            ratio: Some(estimate),
            by_round: vec![],
        };
        let ratios = verdicts.iter().map(ratio).collect();
        KnownRun { form, seed: 1, seconds: 2.0, ended: Ended::Time, ratios, gate }
    }

    fn passes(form: Form, counts: &[(usize, &[Verdict])]) -> bool {
        let runs = |(n, verdicts): &(usize, &[Verdict])| vec![run(form, verdicts, None); *n];
        wrong_rates(&[form], &counts.iter().flat_map(runs).collect::<Vec<_>>()).is_empty()
    }

    #[test]
    fn only_what_chance_cannot_explain_is_wrong() {
        // 11 of 100: 5.6 to 18.8 %; 10 of 100: 4.9 to 17.6 %.
        assert!(!passes(Form::Same, &[(89, &[Inconclusive]), (6, &[Slower]), (5, &[Faster])]));
        assert!(passes(Form::Same, &[(90, &[Same]), (5, &[Slower]), (5, &[Faster])]));
        // 15 of 20: up to 91.3 %; 14 of 20: up to 88.1 %. Faster is no detection.
        assert!(passes(Form::Slowed(0.05), &[(15, &[Slower]), (5, &[Inconclusive])]));
        assert!(!passes(Form::Slowed(0.05), &[(14, &[Slower]), (6, &[Inconclusive])]));
        assert!(passes(Form::Slowed(0.02), &[(1, &[Slower]), (19, &[Same])]), "it may be missed");
        assert!(!passes(Form::Slowed(0.02), &[(10, &[Slower]), (10, &[Faster])]));
        assert!(passes(Form::Same, &[]));
    }

    #[test]
    fn a_table_is_wrong_once_however_many_of_its_verdicts_are() {
        let done = [
            run(Form::Table, &[Same, Slower, Faster], None),
            run(Form::Table, &[Same, Inconclusive, Same], None),
            run(Form::Same, &[Slower], None),
        ];
        let tally = Tally::new(&done, Form::Table);
        assert_eq!((tally.count(), tally.wrong(), tally.open()), (2, 1, 1));
        assert_eq!((tally.with_verdict(Same), tally.found()), (3, None));
    }

    #[test]
    fn a_slow_down_of_more_than_three_percent_is_not_the_same() {
        let wrong = |share| {
            Tally::new(&[run(Form::Slowed(share), &[Same], None)], Form::Slowed(share)).wrong()
        };
        assert_eq!([wrong(0.02), wrong(0.05)], [0, 1]);
    }

    #[test]
    fn the_truth_of_slowed_runs_is_their_mean() {
        let done = [run(Form::Slowed(0.05), &[Slower], None), run(Form::Same, &[Slower], None)];
        let tally = Tally::new(&done, Form::Slowed(0.05));
        assert!((tally.coverage() - 1.0).abs() < 1e-12);
        assert!((tally.ratio().unwrap().point - 1.05).abs() < 1e-12);
        assert!((Tally::new(&done, Form::Same).coverage() - 1.0).abs() < 1e-12, "1.0 is its end");
    }

    #[test]
    fn a_gate_that_fails_or_is_undecided_too_often_is_wrong() {
        let of = |fails: usize| {
            let gate = |says, n| vec![run(Form::Gate, &[], Some(says)); n];
            let done =
                [gate(Gate::Fail, fails), gate(Gate::Undecided, 5), gate(Gate::Pass, 95 - fails)];
            wrong_rates(&[Form::Gate], &done.concat())
        };
        assert_eq!(of(5), [""; 0]);
        assert_eq!(of(6), ["gate: more than 5 % fail or are undecided"]);
    }
}
