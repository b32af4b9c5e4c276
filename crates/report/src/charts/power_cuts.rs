//! Each state that a power cut may leave, at the moment of the cut: what it lost, or whether it kept the
//! promise.

use std::collections::BTreeMap;

use model::{CrashModel, CrashResult, CutState, units::show_count};

use super::{Axis, Chart, Column, Kind, Table, Unit};

const READ_LOST: &str = "Each mark is a state that was checked. A mark at 0 lacks nothing that was \
                         acknowledged before its cut.";
const READ_BROKEN: &str = "Each mark is a state that was checked: further right and higher as the program \
                           went on.";

/// Returns the chart of a result, called `place`: what was lost, or which states broke the promise;
/// `None` if no state lost or broke anything.
pub(crate) fn chart(result: &CrashResult, place: &str) -> Option<Chart> {
    let states = &result.states;
    let any = |is: fn(&CutState) -> bool| states.iter().any(is);
    let chart = if any(|state| state.lost > 0) {
        lost(states)
    } else if any(|state| !state.kept) {
        broken(states)
    } else {
        return None;
    };
    Some(chart.with_place(place))
}

/// Lists the names of all series, so that each has a colour of its own.
pub(crate) fn series_names() -> Vec<&'static str> {
    let models = CrashModel::ALL.into_iter().map(CrashModel::as_str);
    models.chain([KEPT, BROKEN]).collect()
}

const KEPT: &str = "kept";
const BROKEN: &str = "broken";

fn lost(states: &[CutState]) -> Chart {
    let along = Axis::linear("commits acknowledged before the cut", Unit::Count);
    let value = Axis::linear("commits lost", Unit::Count);
    let title = "How much is lost, over the moment of the cut?";
    let series = |state: &CutState| state.model.as_str();
    let point = |state: &CutState| [state.acknowledged, state.lost];
    points(states, (along, value), (series, point)).described(
        title,
        READ_LOST,
        [table(states, "model", "commits lost", series, |state| state.lost)],
    )
}

fn broken(states: &[CutState]) -> Chart {
    let along = Axis::linear("operations before the cut", Unit::Count);
    let value = Axis::linear("acknowledgements before the cut", Unit::Count);
    let title = "At which moments does a cut break the promise?";
    let series = |state: &CutState| if state.kept { KEPT } else { BROKEN };
    let point = |state: &CutState| [state.cut, state.acknowledged];
    points(states, (along, value), (series, point)).described(
        title,
        READ_BROKEN,
        [table(states, "promise", "acknowledgements", series, |state| state.acknowledged)],
    )
}

/// How a state is shown: the name of its series, and its place.
type Shown = (fn(&CutState) -> &'static str, fn(&CutState) -> [u64; 2]);

fn points(states: &[CutState], (along, value): (Axis, Axis), (series, point): Shown) -> Chart {
    let mut chart = Chart::new("power-cuts", Kind::Points, along, value);
    for name in series_names() {
        for state in states.iter().filter(|state| series(state) == name) {
            let [at, value] = point(state).map(|number| number as f64);
            chart.point(Some(name), name, at, Some(value));
        }
    }
    chart
}

fn table(
    states: &[CutState],
    head: &'static str,
    unit: &'static str,
    series: fn(&CutState) -> &'static str,
    figure: fn(&CutState) -> u64,
) -> Table {
    let mut counts: BTreeMap<(usize, u64), u64> = BTreeMap::new();
    let names = series_names();
    for state in states {
        let place = names.iter().position(|name| *name == series(state)).unwrap_or_default();
        *counts.entry((place, figure(state))).or_default() += 1;
    }
    let rows: Vec<_> = counts.into_iter().collect();
    Table::for_rows("", &rows)
        .with(Column::text(head), |((place, _), _)| names[*place])
        .with(Column::number(unit, ""), |((_, figure), _)| show_count(*figure))
        .with(Column::number("states", ""), |(_, count)| show_count(*count))
        .into_table()
}
