//! What came out, in a sentence or two, as a person would say it.

use maud::{Markup, html};
use stats::Estimate;

use super::machine::{Job, Part, Run, Side};
use crate::{
    Figures, Judgement, break_evens,
    terminal::{
        number::{faster_or_slower, with_interval},
        sweep,
    },
};

/// Places named one by one.
const NAMED: usize = 3;

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        @for side in &part.sides {
            p.answer {
                @if part.sides.len() > 1 { strong { (side.name) ": " } }
                (sentences(part.job(), side).join(" "))
            }
        }
    }
}

fn sentences(job: Job, side: &Side<'_>) -> Vec<String> {
    let evens = if job == Job::Sweep { even(side) } else { vec![] };
    if !evens.is_empty() {
        return evens;
    }
    let one = |run: Run<'_>| run.record.header.plan.targets.len() == 1;
    if side.runs().all(one) {
        return alone(side);
    }
    let leads: Vec<Lead<'_>> = side.runs().flat_map(|run| of_run(job, run)).collect();
    let mut groups: Vec<Vec<&Lead<'_>>> = Vec::new();
    for lead in &leads {
        match groups.iter_mut().find(|group| group[0].ahead.is_like(&lead.ahead)) {
            Some(group) => group.push(lead),
            None => groups.push(vec![lead]),
        }
    }
    groups.iter().map(|group| said(group, leads.len())).collect()
}

/// Who is ahead in one comparison.
struct Lead<'a> {
    place: String,
    baseline: &'a str,
    ahead: Ahead<'a>,
}

enum Ahead<'a> {
    /// This target, by this ratio.
    Target(&'a str, Estimate),
    /// The baseline, of all.
    Baseline,
    /// Nobody for sure.
    Nobody,
    /// It cannot be said.
    Unknown,
}

impl Ahead<'_> {
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Target(one, _), Self::Target(other, _)) => one == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

fn of_run(job: Job, run: Run<'_>) -> Vec<Lead<'_>> {
    let place = |rows: &[Figures]| {
        let name = run.case(rows[0].case);
        if job == Job::Sweep { format!("{name}, {}", sweep::varied(run.record)) } else { name }
    };
    let measured = |rows: &&[Figures]| rows.iter().any(|row| row.rounds > 0);
    let lead = |rows: &[Figures]| Lead {
        place: place(rows),
        baseline: run.baseline(),
        ahead: ahead(run, rows),
    };
    run.cases().filter(measured).map(lead).collect()
}

fn ahead<'a>(run: Run<'a>, rows: &[Figures]) -> Ahead<'a> {
    let faster = rows.iter().filter(|row| row.judgement == Judgement::Faster);
    let told = faster.filter_map(|row| Some((row.target, row.ratio?)));
    if let Some((target, ratio)) = told.min_by(|one, other| one.1.point.total_cmp(&other.1.point)) {
        return Ahead::Target(run.label(target), ratio);
    }
    let any = |judgement| rows.iter().any(|row| row.judgement == judgement);
    match (any(Judgement::NoDifference), any(Judgement::Slower)) {
        (true, _) => Ahead::Nobody,
        (false, true) => Ahead::Baseline,
        (false, false) => Ahead::Unknown,
    }
}

/// Of comparisons that came out alike, `all` being how many there are.
fn said(group: &[&Lead<'_>], all: usize) -> String {
    let baseline = group[0].baseline;
    match &group[0].ahead {
        Ahead::Target(label, _) if group.len() > NAMED => {
            let places = places(group, all);
            format!("{label} takes the least time {places}: {} than {baseline}.", extremes(group))
        }
        Ahead::Target(label, _) => {
            let each: Vec<_> = group.iter().filter_map(|lead| lead.by()).collect();
            format!("{label} takes the least time: {}.", each.join("; "))
        }
        Ahead::Baseline => format!("{baseline} takes the least time {}.", places(group, all)),
        Ahead::Nobody => {
            format!("No target is shown to be faster than {baseline} {}.", places(group, all))
        }
        Ahead::Unknown => format!(
            "It cannot be said who is faster {}: too few rounds, or promises that differ.",
            places(group, all)
        ),
    }
}

/// `in “read, warm” and “update, warm”`, `in 7 of 20 comparisons`.
fn places(group: &[&Lead<'_>], all: usize) -> String {
    if group.len() > NAMED {
        return format!("in {} of {all} comparisons", group.len());
    }
    let places: Vec<_> = group.iter().map(|lead| format!("“{}”", lead.place)).collect();
    format!("in {}", places.join(" and "))
}

/// `faster by 22 % to 3.2 × faster`.
fn extremes(group: &[&Lead<'_>]) -> String {
    let points = || group.iter().filter_map(|lead| lead.ratio()).map(|ratio| ratio.point);
    let (most, least) = (points().fold(1.0, f64::min), points().fold(0.0, f64::max));
    format!("{} to {}", faster_or_slower(least), faster_or_slower(most))
}

impl Lead<'_> {
    fn ratio(&self) -> Option<&Estimate> {
        match &self.ahead {
            Ahead::Target(_, ratio) => Some(ratio),
            _ => None,
        }
    }

    /// `in “read, warm” 3.2 × faster than files (0.31 of its time, 95 % interval 0.24 to 0.41)`.
    fn by(&self) -> Option<String> {
        let ratio = self.ratio()?;
        let (said, interval) = (faster_or_slower(ratio.point), with_interval(ratio));
        let Self { place, baseline, .. } = self;
        Some(format!("in “{place}” {said} than {baseline} (time ratio {interval})"))
    }
}

/// Break-evens, where sizes were swept.
fn even(side: &Side<'_>) -> Vec<String> {
    let run = side.runs().next();
    let baseline = run.map_or("", Run::baseline);
    let evens = break_evens(side.records());
    let named = evens.iter().take(NAMED).map(|even| {
        let place = run.map_or_else(String::new, |run| run.case(even.case));
        format!(
            "{baseline} overtakes {} in “{place}”: {}.",
            even.target,
            sweep::told(even, baseline)
        )
    });
    let more = evens.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("{more} more stand below."));
    named.chain(more).collect()
}

/// Of one target there is only its time.
fn alone(side: &Side<'_>) -> Vec<String> {
    let times = side.runs().flat_map(|run| {
        run.figures.iter().filter_map(move |row| Some((run, row, row.us_per_op.as_ref()?)))
    });
    let told = times.map(|(run, row, time)| {
        let (label, place) = (run.label(row.target), run.case(row.case));
        format!("{label} takes {} µs an operation in “{place}”.", with_interval(time))
    });
    told.take(NAMED).collect()
}
