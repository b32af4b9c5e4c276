//! The answer, in a sentence or two, as a person would say it.

use itertools::Itertools;
use maud::{Markup, html};
use stats::Estimate;

use super::part::{Part, Run, Side};
use crate::{
    Figures, Verdict, break_evens,
    figures::cases,
    number::{faster_or_slower, with_interval},
    tables::break_even,
};

/// Places named one by one.
const NAMED: usize = 3;

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        @for side in &part.sides {
            p.answer {
                @if part.sides.len() > 1 { strong { (side.name) ": " } }
                (sentences(part, side).join(" "))
            }
        }
    }
}

fn sentences(part: &Part<'_>, side: &Side<'_>) -> Vec<String> {
    let crossings = crossings(part, side);
    if !crossings.is_empty() {
        return crossings;
    }
    if part.plan().targets.len() == 1 {
        return alone(side);
    }
    let leads: Vec<Lead<'_>> = side.runs().flat_map(leads).collect();
    let mut groups: Vec<Vec<&Lead<'_>>> = Vec::new();
    for lead in &leads {
        match groups.iter_mut().find(|group| group[0].ahead == lead.ahead) {
            Some(group) => group.push(lead),
            None => groups.push(vec![lead]),
        }
    }
    groups.iter().map(|group| sentence(part.baseline(), group, leads.len())).collect()
}

/// Which target is fastest in one comparison.
struct Lead<'a> {
    place: String,
    ahead: Ahead<'a>,
    /// Its time over the baseline's.
    ratio: Option<Estimate>,
}

#[derive(PartialEq)]
enum Ahead<'a> {
    Target(&'a str),
    Baseline,
    /// No target is shown to be.
    Nobody,
    Unknown,
}

/// One for each case that was measured.
fn leads(run: Run<'_>) -> impl Iterator<Item = Lead<'_>> {
    let measured = cases(run.figures).filter(|rows| rows.iter().any(|row| row.rounds > 0));
    measured.map(move |rows| {
        let (ahead, ratio) = ahead(run, rows);
        Lead { place: run.place(rows[0].case), ahead, ratio }
    })
}

fn ahead<'a>(run: Run<'a>, rows: &[Figures]) -> (Ahead<'a>, Option<Estimate>) {
    let faster = rows.iter().filter(|row| row.verdict == Verdict::Faster);
    let ratios = faster.filter_map(|row| Some((row.target, row.ratio?)));
    let least = ratios.min_by(|one, other| one.1.point.total_cmp(&other.1.point));
    let any = |verdict| rows.iter().any(|row| row.verdict == verdict);
    match least {
        Some((target, ratio)) => (Ahead::Target(run.label(target)), Some(ratio)),
        None if any(Verdict::Same) || any(Verdict::Inconclusive) => (Ahead::Nobody, None),
        None if any(Verdict::Slower) => (Ahead::Baseline, None),
        None => (Ahead::Unknown, None),
    }
}

/// A sentence on comparisons with the same result, out of `all`.
fn sentence(baseline: &str, group: &[&Lead<'_>], all: usize) -> String {
    let places = places(group, all);
    match group[0].ahead {
        Ahead::Target(label) if group.len() > NAMED => {
            format!("{label} is fastest {places}: {} than {baseline}.", extremes(group))
        }
        Ahead::Target(label) => {
            let each = group.iter().filter_map(|lead| {
                let ratio = lead.ratio?;
                let (words, interval) = (faster_or_slower(ratio.point), with_interval(&ratio));
                let place = &lead.place;
                Some(format!("in “{place}” {words} than {baseline} (time ratio {interval})"))
            });
            format!("{label} is fastest: {}.", each.into_iter().join("; "))
        }
        Ahead::Baseline => format!("{baseline} is fastest {places}."),
        Ahead::Nobody => format!("No target is shown to be faster than {baseline} {places}."),
        Ahead::Unknown => format!(
            "It is unknown which target is fastest {places}: too few rounds, or different \
             durability."
        ),
    }
}

/// `in “read, warm” and “update, warm”`, `in 7 of 20 comparisons`.
fn places(group: &[&Lead<'_>], all: usize) -> String {
    if group.len() > NAMED {
        return format!("in {} of {all} comparisons", group.len());
    }
    format!("in {}", group.iter().map(|lead| format!("“{}”", lead.place)).join(" and "))
}

/// `faster by 22 % to 3.2 × faster`.
fn extremes(group: &[&Lead<'_>]) -> String {
    let points = || group.iter().filter_map(|lead| Some(lead.ratio?.point));
    let (most, least) = (points().fold(1.0, f64::min), points().fold(0.0, f64::max));
    format!("{} to {}", faster_or_slower(least), faster_or_slower(most))
}

/// Where the baseline overtakes, if sizes were swept.
fn crossings(part: &Part<'_>, side: &Side<'_>) -> Vec<String> {
    let (first, baseline) = (part.first(), part.baseline());
    let evens = break_evens(side.records);
    let named = evens.iter().take(NAMED).map(|even| {
        let (target, place) = (&even.target, first.case(even.case));
        format!("{baseline} overtakes {target} in “{place}”: {}.", break_even(even, baseline))
    });
    let more = evens.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| format!("{more} more are listed below."))).collect()
}

/// Of one target there is only its time.
fn alone(side: &Side<'_>) -> Vec<String> {
    let rows = side.runs().flat_map(|run| run.figures.iter().map(move |row| (run, row)));
    let sentences = rows.filter_map(|(run, row)| {
        let (label, place) = (run.label(row.target), run.case(row.case));
        let time = with_interval(row.us_per_op.as_ref()?);
        Some(format!("{label} takes {time} µs an operation in “{place}”."))
    });
    sentences.take(NAMED).collect()
}
