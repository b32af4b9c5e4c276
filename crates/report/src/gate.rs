//! What a gate says of the targets of a run.

use checks::{Gate, GatedTarget, gated_targets};
use model::record::Record;

use crate::{answer::case_name, number::with_interval, sentences, words};

/// Returns the verdict of a gate on each target of each run, with what it rests on: `read, warm:
/// sqlite: time ÷ that of files 1.10 (1.09–1.11)`.
pub fn gated_rows(records: &[Record], share: f64) -> Vec<(Gate, String)> {
    let of_run =
        |run| gated_targets(run, share).into_iter().map(move |of| (of.gate, row(run, &of)));
    records.iter().flat_map(of_run).collect()
}

fn row(run: &Record, gated: &GatedTarget) -> String {
    let plan = &run.header.plan;
    let [target, baseline] = [gated.target, plan.baseline].map(|of| words::label(plan, of));
    let target = format!("{}: {target}", case_name(run, gated.case));
    match gated.ratio.filter(|_| gated.verdict.is_judged()) {
        Some(ratio) => sentences::gated(target, baseline, with_interval(&ratio)),
        None => format!("{target}: {}", words::change_verdict(gated.verdict, None)),
    }
}
