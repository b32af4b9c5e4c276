//! The answer, in a sentence or two as a person would say it: what is fastest, what to do about it,
//! what that does not cover and what weakens it. Every form prints this one.

mod lead;
pub(crate) mod limits;
mod settle;
pub(crate) mod spoken;

use model::{Plan, record::Record, units::show_size};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Estimate;

use self::{
    lead::{Ahead, Lead, leads},
    spoken::{does, is_plural, ratio, spoken, times},
};
use crate::{
    Figures, MergedFinding, break_evens,
    number::NONE,
    tables::break_even,
    words::{self, listed},
};

/// Targets, places and findings that are named one by one.
const NAMED: usize = 3;

/// What a run, or the runs of a sweep, show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What is fastest, and by how much.
    pub says: Vec<String>,
    /// What to do, what would settle it, what it does not cover, what weakens it.
    pub more: Vec<String>,
}

/// The answer of `runs` of one plan; `figures` are those of each, `findings` those about all.
pub fn answer(runs: &[Record], figures: &[Vec<Figures>], findings: &[MergedFinding]) -> Answer {
    let Some(first) = runs.first() else { return Answer::default() };
    let plan = &first.header.plan;
    let all: Vec<Lead<'_>> =
        runs.iter().zip(figures).flat_map(|(run, rows)| leads(run, rows)).collect();
    let mut says = crossings(runs, plan);
    if says.is_empty() {
        says = if plan.targets.len() == 1 { alone(runs, figures) } else { compared(plan, &all) };
    }
    let more = [
        limits::next_step(first, &all),
        settle::settle(runs, &all),
        limits::not_covered(first),
        limits::weakened(plan, findings),
    ];
    Answer { says, more: more.into_iter().flatten().collect() }
}

/// A sentence for each result, the cases with the same result together.
fn compared(plan: &Plan, all: &[Lead<'_>]) -> Vec<String> {
    if plan.targets.iter().all(|target| target.reference) {
        return vec!["All targets are limits of this machine: there is no store to choose.".into()];
    }
    let mut groups: Vec<Vec<&Lead<'_>>> = Vec::new();
    for lead in all {
        match groups.iter_mut().find(|group| group[0].is_with(lead)) {
            Some(group) => group.push(lead),
            None => groups.push(vec![lead]),
        }
    }
    let sentences = groups.iter().map(|group| sentence(plan, group, all.len()));
    let level = all.iter().filter_map(|lead| level(plan, lead, all.len()));
    let mut said: Vec<String> = sentences.chain(level.take(NAMED)).collect();
    begin(&mut said);
    said
}

/// Says where, and starts each sentence as sentences start.
fn begin(said: &mut [String]) {
    if let Some(first) = said.first_mut() {
        *first = format!("On this machine {first}");
    }
    // The names of engines are written as they are.
    for word in ["plain ", "it ", "no ", "in "] {
        for later in said.iter_mut().filter(|text| text.starts_with(word)) {
            later.replace_range(..1, &word[..1].to_ascii_uppercase());
        }
    }
}

/// On the cases of a group, out of `all`.
fn sentence(plan: &Plan, group: &[&Lead<'_>], all: usize) -> String {
    let lead = group[0];
    let baseline = spoken(plan, plan.baseline);
    let name = lead.ahead.target(plan).map(|target| spoken(plan, target)).unwrap_or_default();
    match lead.ahead {
        _ if group.len() > NAMED => many(plan, group, all),
        Ahead::Target(_) => format!("{name} {}.", faster(&baseline, group)),
        Ahead::Baseline => format!("{name} {}.", each(group, |lead| slower_next(plan, lead))),
        Ahead::Nearest(_) => {
            let places = each(group, takes);
            let is_limit = group.iter().all(|lead| lead.ratio.is_some_and(|r| r.point >= 1.0));
            if is_limit {
                format!(
                    "{name} comes closest to the limit of this machine ({baseline}): it {places}."
                )
            } else {
                format!("{name} is fastest next to the reference {baseline}: it {places}.")
            }
        }
        Ahead::Same => format!("{} equally fast (within ±3 %).", each(group, |_| both(plan, lead))),
        Ahead::Open => {
            let each = group.iter().map(|lead| open(plan, lead));
            format!("it is open {}.", each.collect::<Vec<_>>().join("; and "))
        }
        Ahead::Unknown(why) => format!("no store can be named {}: {why}.", places(group, all)),
    }
}

/// `reads these blobs 3.7× faster than plain files (3.5 to 4.0×) and updates them 10× faster (…)`.
fn faster(baseline: &str, group: &[&Lead<'_>]) -> String {
    let parts = group.iter().enumerate().map(|(place, lead)| {
        let work = does(lead, place > 0);
        let than = if place == 0 { format!(" than {baseline}") } else { String::new() };
        let ratio = lead.ratio.map(|ratio| ratio.map(f64::recip)).map(in_order);
        let [by, interval] = ratio.map_or_else(|| [NONE, NONE].map(str::to_owned), |r| times(&r));
        format!("{work} {by} faster{than} ({interval})")
    });
    and(&parts.collect::<Vec<_>>())
}

/// Reciprocals change the ends of an interval over.
fn in_order(Estimate { point, low, high, n }: Estimate) -> Estimate {
    Estimate { point, low: low.min(high), high: low.max(high), n }
}

/// `read these blobs fastest; the next, SQLite, takes 1.7× as long (1.6 to 1.7×)`.
fn slower_next(plan: &Plan, lead: &Lead<'_>) -> String {
    let next = lead.next.map(|(target, ratio)| {
        let verb = if is_plural(plan, target) { "take" } else { "takes" };
        let [by, interval] = times(&ratio);
        format!("; the next, {}, {verb} {by} as long ({interval})", spoken(plan, target))
    });
    format!("{} fastest{}", does(lead, false), next.unwrap_or_default())
}

/// `takes 1.4× as long in “read, warm” (1.3 to 1.5×)`.
fn takes(lead: &Lead<'_>) -> String {
    let [by, interval] = lead.ratio.as_ref().map(times).unwrap_or_default();
    format!("takes {by} as long in “{}” ({interval})", lead.place)
}

/// `plain files and SQLite are in “read, warm”`.
fn both(plan: &Plan, lead: &Lead<'_>) -> String {
    let names: Vec<_> = lead.level.iter().map(|target| spoken(plan, *target)).collect();
    let names = listed(&names, NAMED);
    format!("in “{}” {} and {names} are", lead.place, spoken(plan, plan.baseline))
}

/// `whether SQLite is faster than plain files in “read, warm”: its time ratio is 0.98 (0.93 to 1.04)`.
fn open(plan: &Plan, lead: &Lead<'_>) -> String {
    let Some((target, estimate)) = lead.next else { return format!("in “{}”", lead.place) };
    let (name, baseline) = (spoken(plan, target), spoken(plan, plan.baseline));
    let verb = if is_plural(plan, target) { "are" } else { "is" };
    let ratio = ratio(&estimate);
    format!(
        "whether {name} {verb} faster than {baseline} in “{}”: the time ratio is {ratio}",
        lead.place
    )
}

/// Contenders that are not clearly apart from the fastest.
fn level(plan: &Plan, lead: &Lead<'_>, all: usize) -> Option<String> {
    let of_target = matches!(lead.ahead, Ahead::Target(_)) && !lead.level.is_empty();
    let names: Vec<_> = lead.level.iter().map(|target| spoken(plan, *target)).collect();
    let place = if all > 1 { format!(" in “{}”", lead.place) } else { String::new() };
    let names = if names.len() > NAMED { listed(&names, NAMED) } else { and(&names) };
    of_target.then(|| format!("{names} may be as fast{place}: the intervals overlap."))
}

/// Of more cases than can be named.
fn many(plan: &Plan, group: &[&Lead<'_>], all: usize) -> String {
    let places = places(group, all);
    let (baseline, ahead) = (spoken(plan, plan.baseline), group[0].ahead);
    let target = ahead.target(plan).unwrap_or(plan.baseline);
    let name = spoken(plan, target);
    let points = || group.iter().filter_map(|lead| Some(lead.ratio?.point));
    let (most, least) = (points().fold(1.0, f64::min), points().fold(0.0, f64::max));
    let verb = if is_plural(plan, target) { "are" } else { "is" };
    let fastest = format!("{name} {verb} fastest {places}");
    match ahead {
        Ahead::Target(_) => {
            let [least, most] = [least, most].map(|ratio| spoken::factor(ratio.recip()));
            let range = if least == most { most } else { format!("{least}× to {most}") };
            format!("{fastest}: {range}× faster than {baseline}.")
        }
        Ahead::Baseline => format!("{fastest}."),
        Ahead::Nearest(_) => format!("{name} comes closest to {baseline} {places}."),
        Ahead::Same => format!("no store differs from {baseline} by more than 3 % {places}."),
        Ahead::Open => format!("it is open what is fastest {places}."),
        Ahead::Unknown(why) => format!("no store can be named {places}: {why}."),
    }
}

/// `in “read, warm” and “update, warm”`, `in 7 of 20 comparisons`.
fn places(group: &[&Lead<'_>], all: usize) -> String {
    if group.len() > NAMED {
        return format!("in {} of {all} comparisons", group.len());
    }
    let places: Vec<_> = group.iter().map(|lead| format!("“{}”", lead.place)).collect();
    format!("in {}", and(&places))
}

fn each(group: &[&Lead<'_>], say: impl Fn(&Lead<'_>) -> String) -> String {
    and(&group.iter().map(|lead| say(lead)).collect::<Vec<_>>())
}

/// `a, b and c`.
pub(crate) fn and(parts: &[String]) -> String {
    match parts {
        [parts @ .., last] if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        parts => parts.join(""),
    }
}

/// Where the baseline overtakes, if sizes were swept.
fn crossings(runs: &[Record], plan: &Plan) -> Vec<String> {
    if plan.is_reference(plan.baseline) {
        return Vec::new();
    }
    let baseline = spoken(plan, plan.baseline);
    let index = |label: &str| plan.targets.iter().position(|target| target.label == label);
    let mut evens = break_evens(runs);
    evens.retain(|even| !index(&even.target).is_some_and(|target| plan.is_reference(target)));
    let named = evens.iter().take(NAMED).map(|even| {
        let place = words::about(plan, even.case, &even.others);
        let index = index(&even.target).unwrap_or(plan.baseline);
        let target = spoken(plan, index);
        let verb = if is_plural(plan, plan.baseline) { "overtake" } else { "overtakes" };
        let [least, most] = even.sizes.map(show_size);
        let is = |of| if is_plural(plan, of) { "are" } else { "is" };
        let unsure = if even.found.refuted { "" } else { ", though not shown at some sizes" };
        match (even.found.crossings.is_empty(), even.found.begins_below) {
            (false, _) if !even.found.crossings[0].upwards => {
                let found = break_even(even, &baseline);
                let verb = if is_plural(plan, plan.baseline) { "start" } else { "starts" };
                format!("{baseline} {verb} ahead of {target} in “{place}” and {found}.")
            }
            (false, _) => {
                let found = break_even(even, &baseline);
                format!("{baseline} {verb} {target} in “{place}” {found}.")
            }
            (true, true) => {
                format!(
                    "{target} {} ahead of {baseline} in “{place}” from {least} up to {most}{unsure}.",
                    is(index)
                )
            }
            (true, false) => {
                let is = is(plan.baseline);
                format!(
                    "{baseline} {is} ahead of {target} in “{place}” from {least} up to \
                     {most}{unsure}."
                )
            }
        }
    });
    let more = evens.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more are in the tables."));
    let mut said: Vec<String> = named.chain(more).collect();
    begin(&mut said);
    said
}

/// Of one target there is only its time.
fn alone(runs: &[Record], figures: &[Vec<Figures>]) -> Vec<String> {
    let rows = runs.iter().zip(figures).flat_map(|(run, rows)| rows.iter().map(move |r| (run, r)));
    let sentences = rows.filter_map(|(run, row)| {
        let plan = &run.header.plan;
        let verb = if is_plural(plan, row.target) { "take" } else { "takes" };
        let time = spoken::duration(row.us_per_op.as_ref()?);
        let (name, place) = (spoken(plan, row.target), lead::place(run, row.case));
        Some(format!("{name} {verb} {time} an operation in “{place}”."))
    });
    sentences.take(NAMED).collect()
}
