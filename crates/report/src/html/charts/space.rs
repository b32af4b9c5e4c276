//! What the stores take on disk.

use crate::{
    Space, StoreFigures,
    html::{
        chart::{Axis, Bars, Chart, Form, Unit},
        figure::Figure,
        machine::{Job, Part, Run},
        table::{Column, Table},
        targets::Targets,
    },
    stores,
    terminal::{
        number::{NONE, figure_or_none},
        sweep,
    },
};

const READ: &str = "length: of the store's files; on disk: what they occupy there.";

type Of = fn(&StoreFigures) -> Option<Space>;
const LENGTH: (&str, Of) = ("length", |store| store.apparent);
const ON_DISK: (&str, Of) = ("on disk", |store| store.allocated);

pub(super) fn figures(part: &Part<'_>, targets: &Targets<'_>) -> Vec<Figure> {
    match part.job() {
        Job::Run => vec![figure(part, targets, &[LENGTH, ON_DISK])],
        // A group for each run is enough.
        Job::Sweep => vec![figure(part, targets, &[ON_DISK])],
        _ => vec![],
    }
}

fn figure(part: &Part<'_>, targets: &Targets<'_>, measures: &[(&str, Of)]) -> Figure {
    let all: Vec<(Run<'_>, Vec<StoreFigures>)> =
        part.runs().map(|run| (run, stores(run.record))).collect();
    let spaces = || all.iter().flat_map(|(_, stores)| stores).filter_map(|store| store.apparent);
    let counted = spaces().all(|space| space.per_byte.is_some());
    let (title, value) = if counted {
        ("Bytes on disk per byte of data", Axis::linear("bytes per byte of data", Unit::Ratio))
    } else {
        ("Bytes on disk", Axis::linear("size of the files", Unit::Bytes))
    };
    let size = |space: Space| if counted { space.per_byte } else { Some(space.mb * 1e6) };
    let groups = all.iter().flat_map(|(run, _)| {
        measures.iter().map(|(name, _)| {
            let varied = Some(sweep::varied(run.record)).filter(|varied| !varied.is_empty());
            let name =
                varied.map_or_else(|| (*name).to_owned(), |varied| format!("{name}, {varied}"));
            part.on(name, run.side)
        })
    });
    let labels = &part.first().header.plan.targets;
    let series = labels.iter().map(|target| {
        let of = |(run, stores): &(Run<'_>, Vec<StoreFigures>)| {
            let store = (0..stores.len()).find(|index| run.label(*index) == target.label);
            let store = store.map(|index| &stores[index]);
            measures.iter().map(|(_, of)| size(of(store?)?)).collect::<Vec<_>>()
        };
        Bars {
            target: targets.place(&target.label),
            name: target.label.clone(),
            values: all.iter().flat_map(of).collect(),
        }
    });
    let form = Form::Bars { value, groups: groups.collect(), series: series.collect() };
    let chart = Chart { id: "space".to_owned(), title: title.to_owned(), form };
    Figure { chart, read: READ.to_owned(), said: vec![], table: table(part, &all) }
}

fn table(part: &Part<'_>, all: &[(Run<'_>, Vec<StoreFigures>)]) -> Table {
    let mut table = Table::new("Space, filling and opening", columns());
    for (run, stores) in all {
        for store in stores {
            table.row(cells(part, *run, store));
        }
    }
    table
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("target"),
        Column::text("in"),
        Column::number("length", "MB"),
        Column::number("length", "B/B"),
        Column::number("on disk", "MB"),
        Column::number("on disk", "B/B"),
        Column::number("to fill", "s"),
        Column::number("to open", "ms"),
        Column::text("durability"),
    ]
}

fn cells(part: &Part<'_>, run: Run<'_>, store: &StoreFigures) -> Vec<String> {
    let mb = |of: Option<Space>| figure_or_none(of.map(|space| space.mb));
    let per_byte = |of: Option<Space>| figure_or_none(of.and_then(|space| space.per_byte));
    vec![
        run.label(store.target).to_owned(),
        part.on(sweep::varied(run.record), run.side),
        mb(store.apparent),
        per_byte(store.apparent),
        mb(store.allocated),
        per_byte(store.allocated),
        figure_or_none(store.fill_s),
        figure_or_none(store.open_ms),
        store.durability.map_or_else(|| NONE.to_owned(), |class| class.to_string()),
    ]
}
