//! What a gate says of a target of a run.

use checks::{CountedTarget, CounterChange, GatedTarget, Series, Verdict};
use model::record::Record;

use crate::{
    answer::case_name,
    number::{exact_figure, with_interval_at},
    sentences, words,
};

/// Describes what the verdict of a gate on a target of a run rests on: `read, warm: sqlite: time ÷ that
/// of files 1.10 (1.09–1.11)`.
pub fn gated_row(run: &Record, gated: &GatedTarget) -> String {
    let plan = &run.header.plan;
    let [target, baseline] = [gated.target, plan.baseline].map(|of| words::label(plan, of));
    let target = format!("{}: {target}", case_name(run, gated.case));
    match gated.ratio.filter(|_| gated.verdict.is_judged()) {
        Some(ratio) => {
            let ratio = with_interval_at(&ratio, plan.rounds.fail_above.unwrap_or_default());
            sentences::gated(target, gated.figure, baseline, ratio)
        }
        None => format!("{target}: {}", words::change_verdict(gated.verdict, None)),
    }
}

/// Describes how a counter of a target of a run differs from the baseline's: `update, warm: sqlite: flushes per
/// operation 1 → 2, in each of 3 rounds`.
pub fn counted_row(run: &Record, counted: &CountedTarget) -> String {
    let plan = &run.header.plan;
    let target = words::label(plan, counted.target);
    let target = format!("{}: {target}", case_name(run, counted.case));
    let is_tried = |of| Series::new(run, counted.case, of).is_tried();
    if [plan.baseline, counted.target].into_iter().all(is_tried) {
        counter_change(&target, &counted.change)
    } else {
        format!("{target}: {}", words::change_verdict(Verdict::NotMeasured, None))
    }
}

/// Describes how a counter of `target` changed, or why that is not known.
pub(crate) fn counter_change(target: &str, change: &CounterChange) -> String {
    let CounterChange { counter, rounds, .. } = *change;
    let count = |count: Option<f64>| exact_figure(count.unwrap_or_default());
    if change.exact().is_some() {
        return sentences::counted(target, counter, count(change.old), count(change.new), rounds);
    }
    match rounds {
        0 => sentences::not_counted(target, counter),
        1 => sentences::counted_once(target, counter),
        _ => {
            let [least, most] = [change.least, change.most].map(count);
            sentences::counted_waveringly(target, counter, least, most, rounds)
        }
    }
}
