//! The table of the stores' space and times of filling and opening, and their settings.

use std::collections::BTreeMap;

use checks::StoreFigures;
use itertools::Itertools;
use model::{Settings, record::Record};

use super::TARGET;
use crate::{
    table::{Column, Line, Lines, Room, Table},
    words::label,
};

pub(crate) fn stores(record: &Record, stores: &[StoreFigures]) -> Table {
    let plan = &record.header.plan;
    let counted = stores.iter().all(|s| s.length_mb.is_none() || s.length_per_byte.is_some());
    let title = if counted {
        "space: bytes of the store's files per byte of data"
    } else {
        "space: the store's files"
    };
    let megabytes = if counted { Room::Wide } else { Room::Needed };
    Table::for_rows(title, stores)
        .with(TARGET, |store| label(plan, store.target))
        .with_if(counted, Column::number("length", "B/B"), |store| store.length_per_byte)
        .with_if(counted, Column::number("on disk", "B/B"), |store| store.on_disk_per_byte)
        .with(Column::number("length", "MB").room(megabytes), |store| store.length_mb)
        .with(Column::number("on disk", "MB").room(megabytes), |store| store.on_disk_mb)
        .with(Column::number("to fill", "s"), |store| store.fill_s)
        .with(Column::number("to open", "ms"), |store| store.open_ms)
        .with(Column::text("durability"), |store| store.durability.clone())
        .into_table()
}

/// Lists the settings in effect, a line for each target that has more than its label shows; `None`
/// if there are none.
pub(crate) fn settings(record: &Record, stores: &[StoreFigures]) -> Option<Lines> {
    let lines = stores.iter().filter_map(|store| {
        let label = label(&record.header.plan, store.target);
        let settings = beyond(label, &store.in_effect);
        (!settings.is_empty()).then(|| Line::dim(format!("{label}: {settings}")))
    });
    let builds = programs(record).chain(loaded(record));
    Lines::new("settings in effect", lines.chain(builds)).unless_empty()
}

/// Describes the libraries of storemark programs that were compared.
fn programs(record: &Record) -> impl Iterator<Item = Line> {
    record.header.environment.libraries.iter().filter_map(|library| {
        let program = library.program.as_ref()?;
        Some(Line::dim(format!("{library}: of storemark {program}")))
    })
}

/// Describes the loaded libraries as far as they report more than their version.
fn loaded(record: &Record) -> impl Iterator<Item = Line> {
    let libraries = record.header.environment.libraries.iter();
    libraries.filter(|library| library.loaded.is_some()).filter_map(|library| {
        let options = &library.options;
        let compiled =
            (!options.is_empty()).then(|| format!("compiled with {}", options.join(" ")));
        let known: Vec<_> = library.source.clone().into_iter().chain(compiled).collect();
        (!known.is_empty()).then(|| Line::dim(format!("{library}: {}", known.join(", "))))
    })
}

/// Lists the settings in effect, a line for each group of targets that share them.
pub(crate) fn shared_settings(record: &Record) -> Vec<Line> {
    let mut shared: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for facts in &record.stores {
        let label = label(&record.header.plan, facts.target);
        let mut settings = facts.in_effect.clone();
        settings.0.remove("style");
        let words = format!("{} durability={}", beyond(label, &settings), facts.durability);
        shared.entry(words.trim().to_owned()).or_default().push(label);
    }
    let line = |(settings, labels): (String, Vec<&str>)| {
        Line::dim(format!("{}: {settings}", labels.join(", ")))
    };
    shared.into_iter().map(line).collect()
}

/// Lists the settings that the label does not show: `journal=delete sync=full`.
fn beyond(label: &str, in_effect: &Settings) -> String {
    let words: Vec<&str> = label.split([' ', '?', '&', ',']).collect();
    let settings = in_effect.0.iter().map(|(name, value)| format!("{name}={value}"));
    settings.filter(|setting| !words.contains(&setting.as_str())).join(" ")
}
