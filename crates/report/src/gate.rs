//! What a gate says of a target of a run.

use checks::GatedTarget;
use model::record::Record;

use crate::{answer::case_name, number::with_interval, sentences, words};

/// Describes what the verdict of a gate on a target of a run rests on: `read, warm: sqlite: time ÷ that
/// of files 1.10 (1.09–1.11)`.
pub fn gated_row(run: &Record, gated: &GatedTarget) -> String {
    let plan = &run.header.plan;
    let [target, baseline] = [gated.target, plan.baseline].map(|of| words::label(plan, of));
    let target = format!("{}: {target}", case_name(run, gated.case));
    match gated.ratio.filter(|_| gated.verdict.is_judged()) {
        Some(ratio) => sentences::gated(target, baseline, with_interval(&ratio)),
        None => format!("{target}: {}", words::change_verdict(gated.verdict, None)),
    }
}
