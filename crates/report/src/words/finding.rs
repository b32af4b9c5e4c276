//! Findings with what they were seen in.

use model::Plan;

use super::{listed, workload_name};
use crate::Remark;

/// Things named one by one.
const NAMED: usize = 3;

/// `files, sqlite (update, round 3): the interval is …`.
pub(crate) fn finding(plan: &Plan, remark: &Remark) -> String {
    // A target that was left out is not in the plan.
    let every = plan.targets.iter().all(|target| remark.targets.contains(&target.label));
    let targets: Vec<_> = remark.targets.iter().filter(|_| !every).cloned().collect();
    let (targets, during) = (listed(&targets, NAMED), during(plan, remark));
    match (targets.is_empty(), during.is_empty()) {
        (true, true) => remark.kind.to_string(),
        (true, false) => format!("{during}: {}", remark.kind),
        (false, true) => format!("{targets}: {}", remark.kind),
        (false, false) => format!("{targets} ({during}): {}", remark.kind),
    }
}

/// Workloads, cache states and rounds, unless it was seen in all.
fn during(plan: &Plan, remark: &Remark) -> String {
    let every = remark.workloads.len() == plan.workloads.len();
    let workloads = remark.workloads.iter().filter(|_| !every);
    let workloads: Vec<_> = workloads.map(|workload| workload_name(plan, *workload)).collect();
    let workloads = Some(listed(&workloads, NAMED)).filter(|words| !words.is_empty());
    let every = remark.caches.len() == plan.caches.len();
    let caches = remark.caches.iter().filter(|_| !every).map(ToString::to_string);
    workloads.into_iter().chain(caches).chain(rounds(remark)).collect::<Vec<_>>().join(", ")
}

fn rounds(remark: &Remark) -> Option<String> {
    let first = remark.rounds.first()?;
    Some(match remark.rounds.len() {
        1 => format!("round {}", u64::from(*first) + 1),
        n => format!("in {n} rounds"),
    })
}
