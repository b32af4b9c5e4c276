//! Doubts, the worst first.

use model::{Plan, Severity, record::Record};

use super::{
    page::{Page, Paint},
    times,
};
use crate::Remark;

/// Lines of doubts, unless all are asked for. Only notes are left out for it.
const FEW: usize = 6;

/// Things named one by one.
const NAMED: usize = 3;

pub(super) fn print(page: &mut Page, record: &Record, remarks: &[Remark], all: bool) {
    if remarks.is_empty() {
        return;
    }
    page.gap();
    let weighty = remarks.iter().filter(|remark| severity(remark) > Severity::Note).count();
    let shown = if all { remarks.len() } else { remarks.len().min(weighty.max(FEW)) };
    for remark in &remarks[..shown] {
        let (lead, paint) = lead(severity(remark));
        page.paragraph(lead, &sentence(&record.header.plan, remark), paint);
    }
    match remarks.len() - shown {
        0 => {}
        1 => page.paragraph("  ", "and 1 note more (--verbose shows all)", Paint::Dim),
        n => page.paragraph("  ", &format!("and {n} notes more (--verbose shows all)"), Paint::Dim),
    }
}

fn severity(remark: &Remark) -> Severity {
    remark.kind.severity()
}

pub(super) fn lead(severity: Severity) -> (&'static str, Paint) {
    match severity {
        Severity::Wrong => ("! wrong: ", Paint::Red),
        Severity::Warning => ("! ", Paint::Plain),
        Severity::Note => ("· ", Paint::Dim),
    }
}

/// `files, sqlite (update, round 3): the interval is …`.
pub(crate) fn sentence(plan: &Plan, remark: &Remark) -> String {
    // One that was left out is not of the plan.
    let targets = if plan.targets.iter().all(|target| remark.targets.contains(&target.label)) {
        String::new()
    } else {
        list(remark.targets.iter().cloned(), remark.targets.len())
    };
    let during = during(plan, remark);
    let about = match (targets.is_empty(), during.is_empty()) {
        (true, true) => return remark.kind.to_string(),
        (true, false) => during,
        (false, true) => targets,
        (false, false) => format!("{targets} ({during})"),
    };
    format!("{about}: {}", remark.kind)
}

/// Workloads and rounds, where that tells anything.
fn during(plan: &Plan, remark: &Remark) -> String {
    let every = remark.workloads.len() == plan.workloads.len();
    let workloads = remark.workloads.iter().filter(|_| !every);
    let workloads: Vec<_> = workloads.map(|workload| times::name(plan, *workload)).collect();
    let count = workloads.len();
    let workloads = (count > 0).then(|| list(workloads.into_iter(), count));
    let everywhere = remark.caches.len() == plan.caches.len();
    let caches = remark.caches.iter().filter(|_| !everywhere).map(ToString::to_string);
    workloads.into_iter().chain(caches).chain(rounds(remark)).collect::<Vec<_>>().join(", ")
}

fn rounds(remark: &Remark) -> Option<String> {
    let mut rounds = remark.rounds.iter();
    match (rounds.next(), remark.rounds.len()) {
        (None, _) => None,
        (Some(round), 1) => Some(format!("round {}", u64::from(*round) + 1)),
        (Some(_), n) => Some(format!("in {n} rounds")),
    }
}

/// `a, b, c and 2 more`.
fn list(items: impl Iterator<Item = String>, count: usize) -> String {
    let named = items.take(NAMED).collect::<Vec<_>>().join(", ");
    match count.saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
