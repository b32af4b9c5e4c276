//! Findings with what they were seen in.

use model::Plan;

use super::{listed, workload_name};
use crate::MergedFinding;

/// Things named one by one.
const NAMED: usize = 3;

/// `files, sqlite (update, round 3): the interval is …`.
pub(crate) fn finding(plan: &Plan, finding: &MergedFinding) -> String {
    // A target that was left out is not in the plan.
    let every = plan.targets.iter().all(|target| finding.targets.contains(&target.label));
    let targets: Vec<_> = finding.targets.iter().filter(|_| !every).cloned().collect();
    let (targets, during) = (listed(&targets, NAMED), during(plan, finding));
    match (targets.is_empty(), during.is_empty()) {
        (true, true) => finding.kind.to_string(),
        (true, false) => format!("{during}: {}", finding.kind),
        (false, true) => format!("{targets}: {}", finding.kind),
        (false, false) => format!("{targets} ({during}): {}", finding.kind),
    }
}

/// Workloads, cache states and rounds, unless it was seen in all.
fn during(plan: &Plan, finding: &MergedFinding) -> String {
    let every = finding.workloads.len() == plan.workloads.len();
    let workloads = finding.workloads.iter().filter(|_| !every);
    let workloads: Vec<_> = workloads.map(|workload| workload_name(plan, *workload)).collect();
    let workloads = Some(listed(&workloads, NAMED)).filter(|words| !words.is_empty());
    let every = finding.caches.len() == plan.caches.len();
    let caches = finding.caches.iter().filter(|_| !every).map(ToString::to_string);
    workloads.into_iter().chain(caches).chain(rounds(finding)).collect::<Vec<_>>().join(", ")
}

fn rounds(finding: &MergedFinding) -> Option<String> {
    let first = finding.rounds.first()?;
    Some(match finding.rounds.len() {
        1 => format!("round {}", u64::from(*first) + 1),
        n => format!("in {n} rounds"),
    })
}
