//! A chart: its data, which the page's script draws, and what the page shows around it. Numbers are
//! in the units of their axes.

use maud::{Markup, html};
use serde::Serialize;
use stats::Estimate;

use super::table;
use crate::table::Table;

#[derive(Default, Serialize)]
pub(super) struct Chart {
    /// Unique in the page.
    pub(super) id: String,
    kind: Kind,
    /// The axis that the points are on.
    along: Axis,
    /// What the series of a matrix are for; their names are in the unit of `along`.
    pub(super) rows: &'static str,
    value: Axis,
    /// The value that the points are compared with.
    reference: Option<f64>,
    pub(super) series: Vec<Series>,
    pub(super) marks: Vec<Mark>,
    #[serde(skip)]
    title: String,
    /// How to read it.
    #[serde(skip)]
    read: &'static str,
    /// What it shows, if a sentence says it better.
    #[serde(skip)]
    pub(super) sentences: Vec<String>,
    /// Its figures.
    #[serde(skip)]
    tables: Vec<Table>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A dot with whiskers for each series in each group.
    #[default]
    Dots,
    /// A bar for each series in each group.
    Bars,
    /// A line for each series.
    Lines,
    /// A row of cells for each series.
    Matrix,
}

#[derive(Default, Serialize)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) unit: Unit,
    /// Whether its scale is logarithmic.
    pub(super) log: bool,
    /// Of groups or columns; points are at their indices.
    pub(super) names: Vec<String>,
}

/// The unit of numbers, so that the script can print them in a readable one.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    #[default]
    Count,
    Nanoseconds,
    Bytes,
    BytesPerSecond,
    PerSecond,
    /// One figure over another.
    Ratio,
    /// From 0 to 100.
    Percentile,
}

#[derive(Serialize)]
pub(super) struct Series {
    /// The label of its target, which decides about its colour.
    target: Option<String>,
    name: String,
    points: Vec<Point>,
}

#[derive(Serialize)]
struct Point {
    at: f64,
    #[serde(flatten)]
    value: Interval,
}

/// A figure with the ends of its interval, as far as they are known.
#[derive(Default, Serialize)]
pub(super) struct Interval {
    /// Absent: only the two ends of a range are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) high: Option<f64>,
    /// A word about it in its tooltip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// A labelled place on the axis of lines.
#[derive(Serialize)]
pub(super) struct Mark {
    pub(super) target: String,
    pub(super) label: String,
    pub(super) at: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Chart {
    pub(super) fn new(id: &str, kind: Kind, along: Axis, value: Axis) -> Self {
        Self { id: id.to_owned(), kind, along, value, ..Self::default() }
    }

    pub(super) fn dots(id: &str, value: Axis) -> Self {
        Self::new(id, Kind::Dots, Axis::default(), value)
    }

    pub(super) fn lines(id: &str, along: Axis, value: Axis) -> Self {
        Self::new(id, Kind::Lines, along, value)
    }

    /// Adds the line of ratios that are equal.
    pub(super) fn around_one(self) -> Self {
        Self { reference: Some(1.0), ..self }
    }

    /// Completes it with what the page shows around it. A table without a title has the chart's.
    pub(super) fn described(
        mut self,
        title: impl Into<String>,
        read: &'static str,
        tables: impl IntoIterator<Item = Table>,
    ) -> Self {
        // Runs may be in any order.
        for series in self.series.iter_mut().filter(|_| self.kind == Kind::Lines) {
            series.points.sort_by(|one, other| one.at.total_cmp(&other.at));
        }
        Self { title: title.into(), read, tables: tables.into_iter().collect(), ..self }
    }

    /// Adds a point of `target` in the group called `group`, which its first point creates.
    pub(super) fn in_group(&mut self, group: &str, target: &str, of: Option<impl Into<Interval>>) {
        let Some(value) = of else { return };
        let at = place(&mut self.along.names, |name| name == group, || group.to_owned());
        self.point(Some(target), target, at as f64, Some(value));
    }

    /// Adds a point to the series called `name`, which its first point creates.
    pub(super) fn point(
        &mut self,
        target: Option<&str>,
        name: &str,
        at: f64,
        value: Option<impl Into<Interval>>,
    ) {
        let Some(value) = value else { return };
        let new =
            || Series { target: target.map(str::to_owned), name: name.to_owned(), points: vec![] };
        let place = place(&mut self.series, |series| series.name == name, new);
        self.series[place].points.push(Point { at, value: value.into() });
    }

    /// The chart with its tables, which are all there is if it is not `drawn`.
    pub(super) fn markup(&self, drawn: bool) -> Markup {
        let Self { id, title, .. } = self;
        html! {
            figure.chart id={ "chart-" (id) } {
                figcaption { strong.chart-title { (title) } " " (self.read) }
                @if !self.sentences.is_empty() {
                    ul { @for sentence in &self.sentences { li { (sentence) } } }
                }
                @if drawn {
                    div.plot data-chart=(id) role="img"
                        aria-label={ (title) ". The table below has its figures." } {}
                }
                details open[!drawn] {
                    summary aria-label={ "Table: " (title) } { "Table" }
                    @for table in &self.tables { (table::titled(table, title)) }
                }
            }
        }
    }
}

/// The index of the first of `all` that is `wanted`; adds a new one if there is none.
fn place<T>(all: &mut Vec<T>, wanted: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> usize {
    all.iter().position(wanted).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    })
}

impl Axis {
    pub(super) fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, ..Self::default() }
    }

    pub(super) fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { log: true, ..Self::linear(label, unit) }
    }
}

impl Interval {
    pub(super) fn noted(self, note: impl Into<Option<String>>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Converts it to another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        let [value, low, high] =
            [self.value, self.low, self.high].map(|end| end.map(|end| end * factor));
        Self { value, low, high, note: self.note }
    }
}

impl From<Estimate> for Interval {
    /// One round has no interval, and one that may be anywhere would be all of the chart.
    fn from(estimate: Estimate) -> Self {
        let [low, high] =
            [estimate.low, estimate.high].map(|end| estimate.has_width().then_some(end));
        Self { value: Some(estimate.point), low, high, note: None }
    }
}

impl From<f64> for Interval {
    /// A figure that was counted, or published without an interval.
    fn from(value: f64) -> Self {
        Self { value: Some(value), ..Self::default() }
    }
}
