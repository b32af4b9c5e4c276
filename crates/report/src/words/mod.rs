//! The words for plans, workloads, findings and endings, the same in every form.

mod data;
mod workload;

pub(crate) use self::{
    data::{describe_source, describe_values, machine, sized},
    workload::{about, case_title, label, owner, target, target_as, workload},
};

use std::{collections::BTreeMap, time::Duration};

use checks::{MergedFinding, Verdict, is_cut_off, lacks_state, whole_rounds};
use itertools::Itertools;
use model::{
    Plan,
    record::{Ended, Record},
    units::{exact_percent, show_count, show_duration},
};
use spec::RunSpec;
use stats::Estimate;

use crate::number::{NONE, faster_or_slower, plus_minus};

/// Returns what varies in a sweep, with its values in this run, `size=4k threads=2`; empty if the
/// run is not of a sweep.
pub(crate) fn varied(record: &Record) -> String {
    pairs(record.header.varied(), "=", " ")
}

/// Formats pairs of names and values: `size 4k, threads 2`.
pub(crate) fn pairs(values: &BTreeMap<String, String>, equals: &str, between: &str) -> String {
    values.iter().map(|(name, value)| format!("{name}{equals}{value}")).join(between)
}

/// Counts things: `1 worker`, `2 workers`.
pub(crate) fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name}{plural}", show_count(count))
}

/// Lists at most `most` items: `a, b, c and 2 more`.
pub(crate) fn listed(items: &[String], most: usize) -> String {
    let named = items.iter().take(most).join(", ");
    match items.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Lists at most `most` items that may contain commas: `a; b, c; 2 more`.
pub(crate) fn parts(items: &[String], most: usize) -> String {
    let more = items.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("{more} more"));
    items.iter().take(most).cloned().chain(more).join("; ")
}

/// Joins the words that are not empty; `None` if there are none.
pub(crate) fn joined(
    words: impl IntoIterator<Item = impl Into<Option<String>>>,
    between: &str,
) -> Option<String> {
    let mut words = words.into_iter().filter_map(Into::into).filter(|word| !word.is_empty());
    Some(words.join(between)).filter(|words| !words.is_empty())
}

/// Describes a verdict and the ratio to the baseline: `1.28× faster`.
pub(crate) fn verdict(verdict: Verdict, ratio: Option<&Estimate>) -> String {
    match verdict {
        Verdict::Faster | Verdict::Slower => {
            return ratio.map_or_else(String::new, |ratio| faster_or_slower(ratio.point));
        }
        Verdict::Baseline => "baseline",
        Verdict::Same => "same within ±3 %",
        Verdict::Inconclusive => "inconclusive",
        Verdict::Limit => "limit of this machine",
        Verdict::Reference => "reference",
        Verdict::DurabilityDiffers => "durability differs",
        Verdict::Saturated => "saturated",
        Verdict::TooFewRounds => "too few rounds",
        Verdict::StateNotReached => "state not reached",
        Verdict::NotMeasured => NONE,
    }
    .to_owned()
}

/// Describes a verdict and the ratio to an older record: `worse: 1.10× slower`.
pub(crate) fn change_verdict(verdict: Verdict, ratio: Option<&Estimate>) -> String {
    let words = self::verdict(verdict, ratio);
    match verdict {
        Verdict::Faster => format!("better: {words}"),
        Verdict::Slower => format!("worse: {words}"),
        Verdict::Baseline => "control".to_owned(),
        Verdict::NotMeasured => "not measured".to_owned(),
        _ => words,
    }
}

/// The largest number of targets and workloads that are named one by one.
pub(crate) const NAMED: usize = 3;

/// Describes a finding and where it was seen, unless that is everywhere: `files, sqlite (update,
/// round 3): the interval is …`.
pub(crate) fn finding(plan: &Plan, finding: &MergedFinding) -> String {
    let rounds = finding.rounds.first().map(|first| match finding.rounds.len() {
        1 => format!("round {}", u64::from(*first) + 1),
        n => format!("in {n} rounds"),
    });
    let kind = advice_of(plan.command(), &finding.kind.to_string());
    joined([seen_in(plan, finding, rounds), Some(kind)], ": ").unwrap_or_default()
}

/// Lists the targets and cases of a finding and what `more` is known, `files, sqlite (update,
/// warm)`; `None` if it is about everything.
pub(crate) fn seen_in(
    plan: &Plan,
    finding: &MergedFinding,
    more: Option<String>,
) -> Option<String> {
    // A target that was left out is not in the plan.
    let all_targets = plan.targets.iter().all(|target| finding.targets.contains(&target.label));
    let all_workloads = finding.workloads.len() == plan.workloads.len();
    let all_caches = finding.caches.len() == plan.caches.len();
    let targets: Vec<_> = finding.targets.iter().filter(|_| !all_targets).cloned().collect();
    let workloads = finding.workloads.iter().filter(|_| !all_workloads);
    let workloads: Vec<_> = workloads.map(|workload| plan.workload_name(*workload)).collect();
    let caches = finding.caches.iter().filter(|_| !all_caches).map(ToString::to_string);
    let during = [listed(&workloads, NAMED)].into_iter().chain(caches).chain(more);
    match (listed(&targets, NAMED), joined(during, ", ")) {
        (targets, during) if targets.is_empty() => during,
        (targets, None) => Some(targets),
        (targets, Some(during)) => Some(format!("{targets} ({during})")),
    }
}

/// Removes from a sentence the clauses that advise an option which `command` lacks. A text in
/// backticks is a command of its own.
pub(crate) fn advice_of(command: &str, sentence: &str) -> String {
    let is_possible = |clause: &&str| {
        let own = clause.split('`').step_by(2).flat_map(|text| text.split("--").skip(1));
        let options = own.map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
        options.filter_map(|mut words| words.next()).all(|name| RunSpec::has_option(command, name))
    };
    sentence.split("; ").filter(is_possible).join("; ")
}

/// Describes how much was run and why it ended: `10 rounds in 48.2 s; the time was spent; seed 42`.
/// The runs of a sweep are counted together.
pub(crate) fn ended(runs: &[Record]) -> String {
    let rounds: usize = runs.iter().map(whole_rounds).sum();
    let seconds = runs.iter().filter_map(|run| Some(run.end.as_ref()?.seconds)).sum();
    // A record may hold any number of seconds.
    let time = Duration::try_from_secs_f64(seconds);
    let time = time.map_or_else(|_| String::new(), |time| format!(" in {}", show_duration(time)));
    let why = runs.last().map_or_else(String::new, why);
    let seed = runs.first().map_or(0, |run| run.header.plan.seed);
    match runs {
        [run] if run.header.point.as_ref().is_none() => {
            let time = run.end.as_ref().map_or("", |_| &time);
            let runs = match (run.runs(), run.header.plan.rounds.runs) {
                (_, 1) => String::new(),
                (made, asked) if made < asked => format!(" of {made} of {asked} runs"),
                (_, asked) => format!(" of {asked} runs"),
            };
            let part = if is_cut_off(run) { " and a part of one" } else { "" };
            format!("{}{part}{runs}{time}; {why}; seed {seed}", counted(rounds as u64, "round"))
        }
        _ => {
            let count = counted(runs.len() as u64, "run");
            format!("{count}, {rounds} rounds together{time}; the last: {why}; seed {seed}")
        }
    }
}

fn why(record: &Record) -> String {
    let asked = &record.header.plan.rounds;
    let Some(end) = &record.end else {
        return "cut off: what was measured is shown".to_owned();
    };
    match &end.reason {
        Ended::Precise if record.header.plan.targets.len() == 1 => {
            format!("every interval is within {}", plus_minus(asked.precision))
        }
        Ended::Precise => {
            let every =
                if lacks_state(record) { "every ratio that can be shown" } else { "every ratio" };
            let known = if let Some(share) = asked.fail_above {
                format!("is known to be within the gate's {} or above it", exact_percent(share))
            } else {
                let half = plus_minus(asked.precision / 2.0);
                format!("has a verdict or is known within {half}")
            };
            format!("{every} {known}")
        }
        Ended::Time if whole_rounds(record) < asked.min as usize => {
            "the time was spent before the least number of rounds was run".to_owned()
        }
        Ended::Time => "the time was spent".to_owned(),
        Ended::Requests => {
            "--max-requests or --max-cost was reached: what was measured is shown".to_owned()
        }
        Ended::Rounds => "as many as asked for".to_owned(),
        Ended::Interrupted => "interrupted: what was measured is shown".to_owned(),
        Ended::Failed(how) => format!("failed: {how}; what was measured is shown"),
    }
}
