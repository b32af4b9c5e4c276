//! What can be doubted once trials were measured.

use model::{Doubt, Durability, Finding, Sample, record::Record};

/// Processors' worth of other work that a trial may bear.
const OTHER_CPUS: f64 = 0.1;
/// Share of stolen time that a trial may bear.
const STEAL: f64 = 0.01;
/// Share of the wall time that the tool's own loop may take.
const TOOL_SHARE: f64 = 0.05;
/// Share of the measured time that may be left to the background without a word.
const BACKGROUND: f64 = 0.05;

/// Doubts that the samples raise.
pub(crate) fn after(record: &Record) -> Vec<Finding> {
    let samples = &record.samples;
    let mut findings = Vec::new();
    let load = |sample: &Sample| sample.load.other_cpus;
    if let Some((cpus, trials)) = worst(samples, load, OTHER_CPUS) {
        findings.push(Finding::run(Doubt::OtherLoad { cpus, trials }));
    }
    if let Some((share, trials)) = worst(samples, |sample| sample.load.steal, STEAL) {
        findings.push(Finding::run(Doubt::Steal { share, trials }));
    }
    if !crate::host::tells_load() {
        findings.push(Finding::run(Doubt::LoadUnknown));
    }
    let plan = &record.header.plan;
    for workload in 0..plan.workloads.len() {
        for (target, planned) in plan.targets.iter().enumerate() {
            let samples: Vec<_> = record.samples_of(workload, target).collect();
            let tool = tool_share(&samples, record.header.environment.loop_ns);
            // A durable class owes all before the clock stops; what a flush of the whole file
            // system does afterwards is not its work.
            let left = (class(record, target) < Some(Durability::Durable))
                .then(|| left_to_background(&samples))
                .flatten();
            let doubts = tool.into_iter().chain(left);
            findings.extend(
                doubts.map(|doubt| Finding::target(doubt, &planned.label).in_workload(workload)),
            );
        }
    }
    findings
}

/// The largest value above `limit`, and how many samples are above it.
fn worst(
    samples: &[Sample],
    value: impl Fn(&Sample) -> Option<f64>,
    limit: f64,
) -> Option<(f64, u32)> {
    let above: Vec<_> = samples.iter().filter_map(value).filter(|value| *value > limit).collect();
    let worst = above.iter().copied().reduce(f64::max)?;
    Some((worst, u32::try_from(above.len()).unwrap_or(u32::MAX)))
}

fn class(record: &Record, target: usize) -> Option<Durability> {
    record.stores.iter().find(|facts| facts.target == target).map(|facts| facts.durability)
}

fn sum(samples: &[&Sample], part: fn(&Sample) -> u64) -> f64 {
    samples.iter().map(|sample| part(sample) as f64).sum()
}

fn tool_share(samples: &[&Sample], loop_ns: f64) -> Option<Doubt> {
    let share = loop_ns * sum(samples, |s| s.operations) / sum(samples, |s| s.wall_ns);
    (share > TOOL_SHARE).then(|| Doubt::ToolShare { share: share.min(1.0) })
}

fn left_to_background(samples: &[&Sample]) -> Option<Doubt> {
    let share = sum(samples, |s| s.background_ns) / sum(samples, |s| s.wall_ns);
    // Not a number, where nothing was measured, is not above anything.
    (share > BACKGROUND && share.is_finite()).then_some(Doubt::LeftToBackground { share })
}
