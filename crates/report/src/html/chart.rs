//! A chart as data: what the script in the page draws. Numbers are raw, in the units of their axes.

use serde::Serialize;
use stats::Estimate;

/// What the script finds in the page.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    /// Of this form; the script refuses others.
    pub(super) version: u32,
    pub(super) targets: Vec<Target<'a>>,
    pub(super) charts: Vec<&'a Chart>,
}

/// A target, which has one colour throughout the page.
#[derive(Serialize)]
pub(super) struct Target<'a> {
    pub(super) name: &'a str,
    /// Place in the palette.
    pub(super) colour: usize,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Chart {
    /// Unique in the page.
    pub(super) id: String,
    pub(super) title: String,
    #[serde(flatten)]
    pub(super) form: Form,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Form {
    /// A dot with whiskers for each target in each group.
    Intervals {
        value: Axis,
        /// Where a line stands that the points are compared with.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<f64>,
        groups: Vec<String>,
        points: Vec<Point>,
    },
    Lines {
        x: Axis,
        y: Axis,
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<f64>,
        series: Vec<Series>,
        marks: Vec<Mark>,
    },
    Bars {
        value: Axis,
        groups: Vec<String>,
        series: Vec<Bars>,
    },
    Matrix {
        x: Edge,
        y: Edge,
        value: Axis,
        cells: Vec<Cell>,
        best: Vec<(usize, usize)>,
    },
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) scale: Scale,
}

/// What numbers are of, so that the script can write them as people do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Unit {
    #[serde(rename = "ns")]
    Nanoseconds,
    #[serde(rename = "bytes")]
    Bytes,
    #[serde(rename = "bytes/s")]
    BytesPerSecond,
    #[serde(rename = "/s")]
    PerSecond,
    /// One figure over another.
    #[serde(rename = "ratio")]
    Ratio,
    /// From 0 to 100.
    #[serde(rename = "percentile")]
    Percentile,
    #[serde(rename = "age")]
    Age,
    /// Things that are counted.
    #[serde(rename = "count")]
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scale {
    Linear,
    Log,
}

/// A figure of a target in a group.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    pub(super) target: usize,
    pub(super) group: usize,
    #[serde(flatten)]
    pub(super) value: Interval,
    pub(super) note: Option<String>,
    /// Only the two ends are known: what lies between them is no estimate.
    pub(super) ends: bool,
}

/// A figure, with the ends of its interval where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Interval {
    pub(super) value: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Series {
    pub(super) target: usize,
    pub(super) name: String,
    pub(super) points: Vec<LinePoint>,
}

/// `[x, y, low, high]`.
pub(super) type LinePoint = (f64, f64, Option<f64>, Option<f64>);

/// A place on the x axis of lines.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Mark {
    pub(super) target: usize,
    pub(super) label: String,
    pub(super) x: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

/// A bar in each group.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Bars {
    pub(super) target: Option<usize>,
    pub(super) name: String,
    pub(super) values: Vec<Option<f64>>,
}

/// One side of a matrix.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Edge {
    pub(super) label: String,
    pub(super) unit: Unit,
    pub(super) values: Vec<u64>,
}

/// `[x, y, value, low, high]`: places on both sides, and the figure there.
pub(super) type Cell = (usize, usize, f64, Option<f64>, Option<f64>);

impl Axis {
    pub(super) fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, scale: Scale::Linear }
    }

    pub(super) fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, scale: Scale::Log }
    }
}

impl Interval {
    /// Of a figure that was counted, or published without one.
    pub(super) fn exact(value: f64) -> Self {
        Self { value, low: None, high: None }
    }

    /// In another unit.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low.map(|low| low * factor),
            high: self.high.map(|high| high * factor),
        }
    }

    pub(super) fn at(self, x: f64) -> LinePoint {
        (x, self.value, self.low, self.high)
    }
}

impl From<&Estimate> for Interval {
    /// One round has no interval.
    fn from(estimate: &Estimate) -> Self {
        let end = |end| (estimate.n > 1).then_some(end);
        Self { value: estimate.point, low: end(estimate.low), high: end(estimate.high) }
    }
}

impl Form {
    /// Whether there is nothing to draw.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Intervals { points, .. } => points.is_empty(),
            Self::Lines { series, .. } => series.iter().all(|series| series.points.is_empty()),
            Self::Bars { series, .. } => {
                series.iter().all(|s| s.values.iter().all(Option::is_none))
            }
            Self::Matrix { cells, .. } => cells.is_empty(),
        }
    }
}
