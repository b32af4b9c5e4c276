//! A chart: its data, which the page's script draws, and what the page shows around it. Numbers are
//! in the units of their axes.

use serde::Serialize;
use stats::Estimate;

use crate::table::Table;

#[derive(Default, Serialize)]
pub(crate) struct Chart {
    /// The id, unique in the page.
    pub(crate) id: String,
    kind: Kind,
    /// The axis along which the points are placed.
    along: Axis,
    /// The name of the series of a matrix, such as "page size"; their own names are in the unit of
    /// `along`.
    pub(crate) rows: &'static str,
    value: Axis,
    /// The parts of each bar, from its start.
    pub(crate) parts: &'static [&'static str],
    /// The value that the points are compared with; `None` if there is none.
    reference: Option<f64>,
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
    /// The question that the chart answers.
    #[serde(skip)]
    pub(crate) title: String,
    /// The case or the runs that it shows, if there are several such charts.
    #[serde(skip)]
    pub(crate) place: String,
    /// How to read it.
    #[serde(skip)]
    pub(crate) read: &'static str,
    /// The conditions under which it was measured, or what it shows if a sentence says it better.
    #[serde(skip)]
    pub(crate) sentences: Vec<String>,
    /// The tables with its figures.
    #[serde(skip)]
    pub(crate) tables: Vec<Table>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A dot with whiskers for each series in each group.
    #[default]
    Dots,
    /// A bar for each series in each group.
    Bars,
    /// A line for each series.
    Lines,
    /// A dot for each point, placed as those of lines.
    Points,
    /// A row of cells for each series.
    Matrix,
}

#[derive(Default, Serialize)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) unit: Unit,
    /// Whether its scale is logarithmic.
    pub(crate) log: bool,
    /// Names of groups or columns; points are at their indices.
    pub(crate) names: Vec<String>,
}

/// The unit of numbers, so that the script can print them in a readable one.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    #[default]
    Count,
    Nanoseconds,
    Bytes,
    BytesPerSecond,
    PerSecond,
    /// One figure divided by another.
    Ratio,
    /// A time divided by that of the baseline, shown as how many times faster or slower it is.
    TimeRatio,
    /// A percentage from 0 to 100.
    Percentile,
}

#[derive(Serialize)]
pub(crate) struct Series {
    /// The label of its target, which decides its colour.
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
pub(crate) struct Interval {
    /// The value; `None` if only the two ends of a range are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<f64>,
    /// A word about it in its tooltip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// The value of each round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<f64>,
    /// The parts that it is the sum of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<f64>,
}

/// A labelled position on the axis of lines.
#[derive(Serialize)]
pub(crate) struct Mark {
    pub(crate) target: String,
    pub(crate) label: String,
    pub(crate) at: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl Chart {
    pub(crate) fn new(id: &str, kind: Kind, along: Axis, value: Axis) -> Self {
        Self { id: id.to_owned(), kind, along, value, ..Self::default() }
    }

    pub(crate) fn dots(id: &str, value: Axis) -> Self {
        Self::new(id, Kind::Dots, Axis::default(), value)
    }

    pub(crate) fn lines(id: &str, along: Axis, value: Axis) -> Self {
        Self::new(id, Kind::Lines, along, value)
    }

    /// Adds the line of ratios that are equal.
    pub(crate) fn around_one(self) -> Self {
        Self { reference: Some(1.0), ..self }
    }

    /// Sets the place that the chart shows, out of those that the question is about.
    pub(crate) fn with_place(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// Adds the text and the tables around the chart. A table without a title has the chart's.
    pub(crate) fn described(
        mut self,
        title: impl Into<String>,
        read: &'static str,
        tables: impl IntoIterator<Item = Table>,
    ) -> Self {
        // Runs may be in any order.
        let is_sorted = matches!(self.kind, Kind::Lines | Kind::Points);
        for series in self.series.iter_mut().filter(|_| is_sorted) {
            series.points.sort_by(|one, other| one.at.total_cmp(&other.at));
        }
        Self { title: title.into(), read, tables: tables.into_iter().collect(), ..self }
    }

    /// Returns the target of each series that has one.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &str> {
        self.series.iter().filter_map(|series| series.target.as_deref())
    }

    /// Adds a point of `target` to the group called `group`, which its first point creates.
    pub(crate) fn in_group(&mut self, group: &str, target: &str, of: Option<impl Into<Interval>>) {
        let Some(value) = of else { return };
        let at = index_or_add(&mut self.along.names, |name| name == group, || group.to_owned());
        self.point(Some(target), target, at as f64, Some(value));
    }

    /// Adds a point to the series called `name`, which its first point creates.
    pub(crate) fn point(
        &mut self,
        target: Option<&str>,
        name: &str,
        at: f64,
        value: Option<impl Into<Interval>>,
    ) {
        let Some(value) = value else { return };
        let new =
            || Series { target: target.map(str::to_owned), name: name.to_owned(), points: vec![] };
        let place = index_or_add(&mut self.series, |series| series.name == name, new);
        self.series[place].points.push(Point { at, value: value.into() });
    }
}

/// Returns the index of the first element that is `wanted`; adds a new one if there is none.
fn index_or_add<T>(
    all: &mut Vec<T>,
    wanted: impl Fn(&T) -> bool,
    new: impl FnOnce() -> T,
) -> usize {
    all.iter().position(wanted).unwrap_or_else(|| {
        all.push(new());
        all.len() - 1
    })
}

impl Axis {
    pub(crate) fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, ..Self::default() }
    }

    pub(crate) fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { log: true, ..Self::linear(label, unit) }
    }
}

impl Interval {
    pub(crate) fn noted(self, note: impl Into<Option<String>>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Adds the value of each round, of at most [`MOST_ROUNDS`].
    pub(crate) fn of_rounds(self, rounds: Vec<f64>) -> Self {
        // One round is the figure itself.
        let rounds = if rounds.len() > 1 { rounds } else { vec![] };
        Self { rounds: rounds.into_iter().take(MOST_ROUNDS).map(short).collect(), ..self }
    }

    pub(crate) fn of_parts(self, parts: Vec<f64>) -> Self {
        Self { parts, ..self }
    }

    /// Converts the interval to another unit.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        for end in [&mut self.value, &mut self.low, &mut self.high].into_iter().flatten() {
            *end *= factor;
        }
        self.rounds.iter_mut().for_each(|round| *round *= factor);
        self
    }
}

/// The largest number of rounds in a chart: a page with more is slow.
const MOST_ROUNDS: usize = 100;

/// Returns `value` with four digits, more than a drawing shows.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

impl From<Estimate> for Interval {
    /// Converts an estimate. One round has no interval; neither has an estimate without width,
    /// which would fill the chart.
    fn from(estimate: Estimate) -> Self {
        let [low, high] =
            [estimate.low, estimate.high].map(|end| estimate.has_width().then_some(end));
        Self { value: Some(estimate.point), low, high, ..Self::default() }
    }
}

impl From<f64> for Interval {
    /// Converts a figure that was counted, or published without an interval.
    fn from(value: f64) -> Self {
        Self { value: Some(value), ..Self::default() }
    }
}
