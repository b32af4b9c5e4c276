//! The machine and the software, machines side by side.

use std::borrow::Cow;

use maud::{Markup, html};
use model::{Environment, units::show_size};

use super::{part::Part, table};
use crate::{
    Unlike, environment_differences,
    figures::environments::ASPECTS,
    table::{Cell, Column, Table},
};

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        section {
            h2 { "Environment" }
            (differences(part))
            (table::markup(&environments(part)))
        }
    }
}

/// What is not the same on all machines, in a word each.
pub(super) fn named(part: &Part<'_>) -> Markup {
    let words: Vec<_> = unlike(part).into_iter().map(|unlike| unlike.what).collect();
    html! {
        @if !words.is_empty() {
            p { "The environments differ in: " (words.join(", ")) "." }
        }
    }
}

fn unlike(part: &Part<'_>) -> Vec<Unlike> {
    let all: Vec<_> = part.sides.iter().map(|side| &side.records[0].header.environment).collect();
    environment_differences(&all)
}

/// What differs, with how it is on each machine.
fn differences(part: &Part<'_>) -> Markup {
    let differ = unlike(part);
    html! {
        @if part.sides.len() > 1 {
            @if differ.is_empty() {
                p { "The environments do not differ." }
            } @else {
                p { "The environments differ, so a difference between the machines may not be due to the \
                     stores:" }
                ul { @for unlike in &differ { li { (unlike) } } }
            }
        }
    }
}

type Aspect = (&'static str, fn(&Environment) -> String);

/// What is not compared: it may differ each time.
const MORE: [Aspect; 5] = [
    ("mounted at", |e| e.filesystems.iter().map(|fs| &*fs.mount).collect::<Vec<_>>().join("; ")),
    ("memory free at the start", |e| e.memory.available_bytes.map(show_size).unwrap_or_default()),
    ("libraries", |e| {
        let libraries = e.libraries.iter().map(|l| format!("{} {}", l.name, l.version));
        libraries.collect::<Vec<_>>().join(", ")
    }),
    ("two reads of the clock", |e| format!("{} ns", e.clock_ns)),
    ("storemark’s own loop", |e| format!("{:.1} ns per operation", e.loop_ns)),
];

/// A column for each machine.
fn environments(part: &Part<'_>) -> Table {
    let aspects: Vec<Aspect> = ASPECTS.into_iter().chain(MORE).collect();
    let mut table =
        Table::of("Where it was measured", &aspects).with(Column::text(""), |(name, _)| *name);
    for side in &part.sides {
        let head = Column { head: Cow::Owned(side.name.clone()), ..Column::text("") };
        table = table.with(head, |(_, of)| {
            Some(of(&side.records[0].header.environment)).filter(|value| !value.is_empty())
        });
    }
    let mut table = table.done();
    if part.sides.iter().any(|side| side.file.is_some()) {
        let files = part.sides.iter().map(|side| Cell::from(side.file.clone()));
        table.rows.insert(0, [Cell::from("record")].into_iter().chain(files).collect());
    }
    table
}
