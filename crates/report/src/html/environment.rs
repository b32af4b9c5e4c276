//! The machine and the software, machines side by side.

use maud::{Markup, html};
use model::{Environment, Filesystem, units::show_size};

use super::{
    machine::{Part, Side},
    table::{Column, Table},
};
use crate::{Unlike, environment_differences, terminal::number::NONE};

pub(super) fn markup(part: &Part<'_>) -> Markup {
    html! {
        section {
            h2 { "Environment" }
            (differences(part))
            (table(part).markup())
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
    let all: Vec<_> = part.sides.iter().map(|side| &side.records()[0].header.environment).collect();
    environment_differences(&all)
}

/// With how it is on each.
fn differences(part: &Part<'_>) -> Markup {
    let differ = unlike(part);
    html! {
        @if part.sides.len() > 1 {
            @if differ.is_empty() {
                p { "The environments do not differ." }
            } @else {
                p { "The environments differ, so that a difference between the machines need not come from \
                     the stores:" }
                ul { @for unlike in &differ { li { (unlike) } } }
            }
        }
    }
}

fn table(part: &Part<'_>) -> Table {
    let name = |side: &Side<'_>| Column::text(&side.name);
    let heads = [Column::text("")].into_iter().chain(part.sides.iter().map(name));
    let mut table = Table::new("Where it was measured", heads.collect());
    let files: Vec<_> = part.sides.iter().map(|side| side.file.clone()).collect();
    if files.iter().any(Option::is_some) {
        let told = files.into_iter().map(|file| file.unwrap_or_else(|| NONE.to_owned()));
        table.row(["record".to_owned()].into_iter().chain(told).collect());
    }
    let of = |side: &Side<'_>| told(&side.records()[0].header.environment);
    let columns: Vec<Vec<(&str, String)>> = part.sides.iter().map(of).collect();
    for (place, (what, _)) in columns[0].iter().enumerate() {
        let cells = columns.iter().map(|column| column[place].1.clone());
        table.row([(*what).to_owned()].into_iter().chain(cells).collect());
    }
    table
}

/// As many for each environment, in the same order.
fn told(environment: &Environment) -> Vec<(&'static str, String)> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let Environment { cpu, memory, .. } = environment;
    let build = if environment.debug_build { " (debug build)" } else { "" };
    let libraries = environment.libraries.iter().map(|l| format!("{} {}", l.name, l.version));
    let filesystems = environment.filesystems.iter().map(filesystem);
    vec![
        ("storemark", format!("{}{build}", environment.storemark)),
        ("system", environment.os.clone()),
        ("kernel", or_none(environment.kernel.clone())),
        ("processor", or_none(cpu.model.clone())),
        ("processors in use", cpu.count.to_string()),
        ("last-level cache", or_none(cpu.last_level_cache_bytes.map(show_size))),
        ("governor", or_none(cpu.governor.clone())),
        ("memory", or_none(memory.total_bytes.map(show_size))),
        ("memory free at the start", or_none(memory.available_bytes.map(show_size))),
        ("swap", or_none(memory.swap_bytes.map(show_size))),
        ("virtualised", or_none(environment.virtualised.clone())),
        ("file systems", filesystems.collect::<Vec<_>>().join("; ")),
        ("libraries", libraries.collect::<Vec<_>>().join(", ")),
        ("two reads of the clock", format!("{} ns", environment.clock_ns)),
        ("storemark’s own loop", format!("{:.1} ns per operation", environment.loop_ns)),
    ]
}

/// `/ ext4 on /dev/vda (rw,relatime), does not rotate`.
fn filesystem(one: &Filesystem) -> String {
    let rotates = match one.rotational {
        Some(true) => ", rotates",
        Some(false) => ", does not rotate",
        None => "",
    };
    let Filesystem { mount, kind, device, options, .. } = one;
    format!("{mount}: {kind} on {device} ({options}){rotates}")
}
