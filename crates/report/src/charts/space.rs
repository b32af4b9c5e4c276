//! Charts of the space of the stores on disk.

use checks::StoreFigures;
use itertools::Itertools;

use super::{Axis, Chart, Group, Kind, Part, Unit, runs, table_of};
use crate::tables;

const READ: &str = "length: of the store's files; on disk: what they occupy there.";

type Measure = (&'static str, fn(&StoreFigures) -> [Option<f64>; 2]);
const LENGTH: Measure = ("length", |store| [store.length_per_byte, store.length_mb]);
const ON_DISK: Measure = ("on disk", |store| [store.on_disk_per_byte, store.on_disk_mb]);

pub(crate) fn by_state(part: &Part<'_>) -> Vec<Chart> {
    vec![chart(part, &[LENGTH, ON_DISK])]
}

/// Returns the chart of a sweep, in which a group for each run is enough.
pub(crate) fn by_run(part: &Part<'_>) -> Vec<Chart> {
    vec![chart(part, &[ON_DISK])]
}

fn chart(part: &Part<'_>, measures: &[Measure]) -> Chart {
    let mut groups = runs(part, |run| checks::stores(run.record));
    let mut stores = groups.iter().flat_map(|group| &group.figures);
    let per_byte = stores.all(|s| s.length_mb.is_none() || s.length_per_byte.is_some());
    let (title, axis) = if per_byte {
        let axis = Axis::linear("bytes per byte of data", Unit::Ratio);
        ("How much disk does a byte of data take?", axis)
    } else {
        ("How much disk does each store take?", Axis::linear("size of the files", Unit::Bytes))
    };
    let size = |[of_byte, mb]: [Option<f64>; 2]| if per_byte { of_byte } else { Some(mb? * 1e6) };
    let mut chart = Chart::new("space", Kind::Bars, Axis::default(), axis);
    for Group { name, run, figures } in &mut groups {
        let varied = run.varied();
        for store in figures {
            for (measure, of) in measures {
                let words = [measure, &*varied].into_iter().filter(|words| !words.is_empty());
                let group = run.on(words.into_iter().join(", "));
                chart.in_group(&group, run.label(store.target), size(of(store)));
            }
        }
        *name = run.on(varied);
    }
    chart.described(title, READ, table_of(&groups, tables::stores))
}
