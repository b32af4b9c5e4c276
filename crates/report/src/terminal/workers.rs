//! How several workers got on beside each other: what each did, and how often they waited.

use model::{Workload, record::Record, units::show_count};

use super::number::figure;
use crate::{Figures, Waits, together};

/// `1 thread`, `2 processes of 4 threads`.
pub(super) fn title(workload: &Workload) -> String {
    let threads = match workload.threads {
        1 => "1 thread".to_owned(),
        n => format!("{n} threads"),
    };
    match workload.processes {
        1 => threads,
        n => format!("{n} processes of {threads}"),
    }
}

/// A line for the rates and one for each kind of waiting, where there is something to tell.
pub(super) fn beneath(record: &Record, rows: &[Figures]) -> Vec<String> {
    let label = |row: &Figures| record.header.plan.targets.get(row.target).map(|t| &*t.label);
    let all: Vec<_> =
        rows.iter().filter_map(|row| Some((label(row)?, together(record, row)))).collect();
    let rates = all.iter().filter_map(|(label, figures)| {
        let rates = figures.rates.as_ref()?;
        let largest = rates.fastest.max(rates.total);
        let show = |rate| grouped(rate, largest);
        let (slowest, fastest, all) = (show(rates.slowest), show(rates.fastest), show(rates.total));
        Some(format!("{label} {slowest} to {fastest}, {all} in all"))
    });
    let waits = |what, of: fn(&Waits) -> f64| {
        let some =
            all.iter().filter_map(|(label, figures)| Some((label, of(figures.waits.as_ref()?))));
        let some = some.filter(|(_, waits)| *waits > 0.0);
        joined(what, some.map(|(label, waits)| format!("{label} {}", small(waits))))
    };
    let rates = joined("thousands of operations/s of each worker", rates);
    let locks = waits("lock waits per operation", |waits| waits.locks);
    let retries = waits("busy retries per operation", |waits| waits.retries);
    [rates, locks, retries].into_iter().flatten().collect()
}

/// Where the largest beside it takes four digits or more, whole, in groups of three.
fn grouped(rate: f64, largest: f64) -> String {
    if largest < 999.5 {
        return figure(rate);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float is cast to the nearest integer, and this one is positive"
    )]
    let whole = rate.round() as u64;
    show_count(whole)
}

/// A rare event is still one.
fn small(value: f64) -> String {
    if value < 0.001 { format!("{value:.1e}") } else { figure(value) }
}

fn joined(what: &str, said: impl Iterator<Item = String>) -> Option<String> {
    let said: Vec<_> = said.collect();
    (!said.is_empty()).then(|| format!("{what}: {}", said.join("; ")))
}
