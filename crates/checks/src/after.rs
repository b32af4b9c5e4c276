//! What can be doubted once trials were measured.

use model::{
    Durability, Finding, FindingKind, Sample,
    record::{Header, Record},
};

/// Share of the wall time that the tool's own loop may take.
const TOOL_SHARE: f64 = 0.05;
/// Share of the measured time that may be left to the background without a word.
const BACKGROUND: f64 = 0.05;

/// Medians shorter than so many times two reads of the clock are doubted. A latency holds about
/// one read, half of the two: from here on a tenth of the median or more.
const CLOCK_COARSE: u64 = 5;
/// Spread of the frequency that a run may show, as a share of the greatest.
const FREQUENCY: f64 = 0.05;

/// Doubts that the samples raise.
pub fn after(record: &Record) -> Vec<Finding> {
    let mut findings = Vec::new();
    let unknown = record.samples.iter().all(|sample| sample.load.other_cpus.is_none());
    if unknown && !record.samples.is_empty() {
        findings.push(Finding::run(FindingKind::LoadUnknown));
    }
    findings.extend(frequency_varies(&record.samples).map(Finding::run));
    let Header { environment, plan, .. } = &record.header;
    for case in plan.cases() {
        for (target, planned) in plan.targets.iter().enumerate() {
            let samples: Vec<_> = record.samples_of(case, target).collect();
            let tool = tool_share(&samples, environment.loop_ns);
            // A durable class owes all before the clock stops; what a flush of the whole file
            // system does afterwards is not its work.
            let left = (class(record, target) < Some(Durability::Durable))
                .then(|| left_to_background(&samples))
                .flatten();
            let coarse = clock_coarse(&samples, environment.clock_ns);
            let doubts = [tool, left, coarse].into_iter().flatten();
            findings.extend(doubts.map(|doubt| {
                let finding = Finding::target(doubt, &planned.label);
                finding.in_workload(case.workload).in_cache(case.cache)
            }));
        }
    }
    findings
}

fn class(record: &Record, target: usize) -> Option<Durability> {
    record.stores.iter().find(|facts| facts.target == target).map(|facts| facts.durability)
}

fn sum(samples: &[&Sample], part: fn(&Sample) -> u64) -> f64 {
    samples.iter().map(|sample| part(sample) as f64).sum()
}

fn tool_share(samples: &[&Sample], loop_ns: f64) -> Option<FindingKind> {
    let share = loop_ns * sum(samples, |s| s.operations) / sum(samples, |s| s.wall_ns);
    (share > TOOL_SHARE).then(|| FindingKind::ToolShare { share: share.min(1.0) })
}

fn left_to_background(samples: &[&Sample]) -> Option<FindingKind> {
    let share = sum(samples, |s| s.background_ns) / sum(samples, |s| s.wall_ns);
    // Not a number, where nothing was measured, is not above anything.
    (share > BACKGROUND && share.is_finite()).then_some(FindingKind::LeftToBackground { share })
}

/// The median trial speaks for all: one odd median is an odd trial.
fn clock_coarse(samples: &[&Sample], clock_ns: u64) -> Option<FindingKind> {
    let mut medians: Vec<u64> =
        samples.iter().filter_map(|sample| Some(sample.latency()?.p50_ns)).collect();
    medians.sort_unstable();
    let p50_ns = *medians.get(medians.len() / 2)?;
    (p50_ns < CLOCK_COARSE * clock_ns).then_some(FindingKind::ClockCoarse { p50_ns, clock_ns })
}

fn frequency_varies(samples: &[Sample]) -> Option<FindingKind> {
    let told = || samples.iter().filter_map(|sample| sample.load.mhz);
    let (low_mhz, high_mhz) = (told().reduce(f64::min)?, told().reduce(f64::max)?);
    (high_mhz - low_mhz > FREQUENCY * high_mhz)
        .then_some(FindingKind::FrequencyVaries { low_mhz, high_mhz })
}
