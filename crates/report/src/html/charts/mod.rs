//! The charts of a part, by families. A chart without data is not made.

mod ages;
mod load;
mod over_time;
mod pages;
mod percentiles;
mod queue;
mod ratios;
mod rows;
mod sizes;
mod space;
mod study;
mod times;

use super::{figure::Figure, machine::Part, targets::Targets};

/// Charts that belong together.
pub(super) struct Family {
    pub(super) title: &'static str,
    pub(super) figures: Vec<Figure>,
}

type Make = fn(&Part<'_>, &Targets<'_>) -> Vec<Figure>;

const FAMILIES: [(&str, Make); 12] = [
    ("Published and here", study::figures),
    ("Time against the baseline’s", ratios::figures),
    ("Break-even over size", sizes::figures),
    ("Page size by size of blobs", pages::figures),
    ("Latency against load", load::figures),
    ("Time of an operation", times::figures),
    ("Latencies", percentiles::figures),
    ("Throughput over time", over_time::figures),
    ("Ageing", ages::figures),
    ("Rows", rows::figures),
    ("Queues of tasks", queue::figures),
    ("Space", space::figures),
];

/// Those of a part that have something to show; `prefix` makes their ids unique.
pub(super) fn families(part: &Part<'_>, targets: &Targets<'_>, prefix: &str) -> Vec<Family> {
    let all = FAMILIES.iter().map(|(title, make)| {
        let mut figures = make(part, targets);
        figures.retain(|figure| !figure.chart.form.is_empty());
        for (number, figure) in (1..).zip(&mut figures) {
            figure.chart.id = format!("{prefix}{}-{number}", figure.chart.id);
        }
        Family { title, figures }
    });
    all.filter(|family| !family.figures.is_empty()).collect()
}

/// What a group of published figures is called.
fn published(group: &str) -> String {
    format!("{group} (published)")
}
