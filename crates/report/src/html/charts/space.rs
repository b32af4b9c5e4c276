//! What the stores take on disk.

use super::{Axis, Chart, Kind, Part, Run, Unit, join};
use crate::{StoreFigures, stores, tables};

const READ: &str = "length: of the store's files; on disk: what they occupy there.";

type Measure = (&'static str, fn(&StoreFigures) -> [Option<f64>; 2]);
const LENGTH: Measure = ("length", |store| [store.length_per_byte, store.length_mb]);
const ON_DISK: Measure = ("on disk", |store| [store.on_disk_per_byte, store.on_disk_mb]);

pub(super) fn by_state(part: &Part<'_>) -> Vec<Chart> {
    vec![chart(part, &[LENGTH, ON_DISK])]
}

/// Of a sweep: a group for each run is enough.
pub(super) fn by_run(part: &Part<'_>) -> Vec<Chart> {
    vec![chart(part, &[ON_DISK])]
}

fn chart(part: &Part<'_>, measures: &[Measure]) -> Chart {
    let all: Vec<(Run<'_>, Vec<StoreFigures>)> =
        part.runs().map(|run| (run, stores(run.record))).collect();
    let mut stores = all.iter().flat_map(|(_, stores)| stores);
    let per_byte = stores.all(|s| s.length_mb.is_none() || s.length_per_byte.is_some());
    let (title, axis) = if per_byte {
        ("Bytes on disk per byte of data", Axis::linear("bytes per byte of data", Unit::Ratio))
    } else {
        ("Bytes on disk", Axis::linear("size of the files", Unit::Bytes))
    };
    let size = |[of_byte, mb]: [Option<f64>; 2]| if per_byte { of_byte } else { Some(mb? * 1e6) };
    let mut chart = Chart::new("space", Kind::Bars, Axis::default(), axis);
    for (run, stores) in &all {
        for store in stores {
            for (name, of) in measures {
                let group = Some(run.varied()).filter(|varied| !varied.is_empty());
                let group = group.map_or_else(|| (*name).to_owned(), |v| format!("{name}, {v}"));
                chart.in_group(&run.on(group), run.label(store.target), size(of(store)));
            }
        }
    }
    let tables =
        all.iter().map(|(run, stores)| (run.on(run.varied()), tables::stores(run.record, stores)));
    chart.described(title, READ, join(tables))
}
