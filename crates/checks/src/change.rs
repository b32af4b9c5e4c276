//! How the time of each target changed from an old record to a new one.

use model::{Case, Counter, Judge, record::Record};
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Estimate, Judgement, Values, detectable_change, judge_changes};

use crate::{counters::CounterChange, gate::Gate, series::Series, verdict::Verdict};

/// The change of a target in a case.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Change {
    /// The target's label.
    pub target: String,
    /// Microseconds per operation in the old record.
    #[serde(rename = "old_us_per_op")]
    pub old_us: Option<Estimate>,
    /// Microseconds per operation in the new record.
    #[serde(rename = "new_us_per_op")]
    pub new_us: Option<Estimate>,
    /// Time per operation, divided by the control's if there is one in this case, new over old.
    #[serde(rename = "time_ratio")]
    pub time: Option<Estimate>,
    /// The smallest change of that ratio which these records show with a probability of 90 %: 0.02
    /// is 2 %. Null if there is only one round or run, which shows none.
    #[serde(rename = "detectable_share")]
    pub detectable: Option<f64>,
    /// Whether one of the records is of one run, which does not show how runs differ.
    pub single_run: bool,
    /// Whether one side is a single record, which does not show how records differ: the interval contains
    /// what they differ by elsewhere.
    pub single_record: bool,
    /// 99th percentile of latencies, new over old.
    #[serde(rename = "p99_ratio")]
    pub p99: Option<Estimate>,
    /// The verdict on `time_ratio`: faster is better. The control has the verdict "baseline".
    pub verdict: Verdict,
    /// What an operation asks of the system, compared round by round.
    pub counters: Vec<CounterChange>,
}

impl Change {
    /// Judges whether the target takes longer than before by more than `share`, with its whole
    /// interval.
    pub fn gate(&self, share: f64) -> Gate {
        let judged = self.time.filter(|_| self.verdict.is_judged());
        judged.map_or(Gate::Undecided, |ratio| Gate::judge(&ratio, share))
    }
}

/// A case that an old record and a new one both have.
#[derive(Clone, Copy)]
pub struct CasePair<'a> {
    /// The old record and its case.
    pub old: (&'a Record, Case),
    /// The new record and its case.
    pub new: (&'a Record, Case),
    /// The indices in both plans of the control: the time of each other target is divided by its
    /// time. `None` if targets are compared by their times alone.
    pub control: Option<[usize; 2]>,
}

impl<'a> CasePair<'a> {
    /// Selects the control only if it was measured in this case of both records.
    pub fn new(
        old: (&'a Record, Case),
        new: (&'a Record, Case),
        control: Option<[usize; 2]>,
    ) -> Self {
        let pair = Self { old, new, control: None };
        let is_measured = |own: &[usize; 2]| pair.series(*own).into_iter().all(Series::is_measured);
        Self { control: control.filter(is_measured), ..pair }
    }

    fn series(self, [was, is]: [usize; 2]) -> [Series<'a>; 2] {
        [Series::new(self.old.0, self.old.1, was), Series::new(self.new.0, self.new.1, is)]
    }

    /// Returns the change of each target that was tried; `targets` has its index in both plans.
    pub fn changes(self, targets: &[[usize; 2]]) -> Vec<Change> {
        let tried =
            targets.iter().filter(|places| self.series(**places).iter().any(Series::is_tried));
        let rows: Vec<_> = tried
            .map(|places| TargetPair {
                series: self.series(*places),
                control: self.control.filter(|own| own != places),
            })
            .collect();
        let values: Vec<_> = rows.iter().map(TargetPair::values).collect();
        let changes = rows.iter().zip(&values).zip(judge_rows(&rows, &values, self.control));
        changes.map(|((row, values), judged)| row.change(values, judged)).collect()
    }
}

/// Returns the verdict on each row of a case with the interval that decides it. A row whose verdict
/// is known without its ratio does not count in the joint confidence level.
fn judge_rows(
    rows: &[TargetPair<'_>],
    values: &[[Values; 2]],
    control: Option<[usize; 2]>,
) -> Vec<(Verdict, Judgement)> {
    let is_control =
        |row: &TargetPair<'_>| control.is_some_and(|[_, is]| row.series[1].target == is);
    let known_verdict = |row: &TargetPair<'_>| {
        if is_control(row) { Some(Verdict::Baseline) } else { row.unjudged() }
    };
    let known: Vec<_> = rows.iter().map(known_verdict).collect();
    let table = known.iter().zip(values).map(|(known, [old, new])| match known {
        // A row without values does not count.
        Some(_) => Default::default(),
        None => [new.clone(), old.clone()],
    });
    let judged = judge_changes(&table.collect::<Vec<_>>());
    let verdict =
        |((known, [old, new]), judged): ((Option<Verdict>, &[Values; 2]), Judgement)| match known {
            None => (judged.verdict.into(), judged),
            Some(known) => (known, judge_changes(&[[new.clone(), old.clone()]])[0]),
        };
    known.into_iter().zip(values).zip(judged).map(verdict).collect()
}

/// A target in the old record and in the new one.
struct TargetPair<'a> {
    series: [Series<'a>; 2],
    /// The indices of the control in both plans; `None` if the target is compared by its times
    /// alone.
    control: Option<[usize; 2]>,
}

impl TargetPair<'_> {
    /// Returns the times per operation in the old and the new record, divided by the control's if
    /// there is one: one value for each round, or for each run of a record with several.
    fn values(&self) -> [Values; 2] {
        let times = |(series, control): (Series<'_>, Option<usize>)| match control {
            Some(control) => series.ratios_to(series.with_target(control)),
            None => series.unit_times(),
        };
        self.series_with_controls().map(times)
    }

    /// Returns each series with its control.
    fn series_with_controls(&self) -> [(Series<'_>, Option<usize>); 2] {
        let [old, new] = self.series;
        [(old, self.control.map(|[was, _]| was)), (new, self.control.map(|[_, is]| is))]
    }

    /// Returns the verdict that is known without the ratio, as if there are too few rounds; `None`
    /// if the ratio decides.
    fn unjudged(&self) -> Option<Verdict> {
        let [old, new] = self.series;
        let rounds = self.series_with_controls().map(|(series, control)| {
            series.rounds_with(control.map_or(series, |control| series.with_target(control)))
        });
        Verdict::without_change(old, new, rounds)
    }

    fn change(&self, [old, new]: &[Values; 2], (verdict, judged): (Verdict, Judgement)) -> Change {
        let [old_us, new_us] = self.series.map(|series| series.unit_times().mean());
        let [p99_before, p99_after] = self.series.map(|series| series.unit_figures(Judge::P99));
        let detectable = detectable_change(new, old, judged.level);
        let [before, after] = self.series;
        let plan = &after.record.header.plan;
        Change {
            target: plan
                .targets
                .get(after.target)
                .map_or_else(String::new, |own| own.label.clone()),
            old_us,
            new_us,
            time: judged.ratio,
            // Ten times as long would show at a glance.
            detectable: (detectable < 10.0).then_some(detectable),
            single_run: self.series.iter().any(|own| own.record.header.plan.rounds.runs == 1),
            single_record: self.series.iter().any(|own| own.record.records == 1),
            p99: judge_changes(&[[p99_after, p99_before]])[0].ratio,
            verdict,
            counters: Counter::ALL
                .map(|counter| CounterChange::between(counter, before, after))
                .into(),
        }
    }
}
