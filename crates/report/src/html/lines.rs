//! A chart of lines as it grows point by point.

use super::{
    chart::{Axis, Chart, Form, Interval, Mark, Series},
    figure::Figure,
    table::Table,
};

pub(super) struct Lines {
    x: Axis,
    y: Axis,
    reference: Option<f64>,
    series: Vec<Series>,
    pub(super) marks: Vec<Mark>,
}

impl Lines {
    pub(super) fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, reference: None, series: vec![], marks: vec![] }
    }

    /// Of ratios, which are compared with 1.
    pub(super) fn around_one(x: Axis, y: Axis) -> Self {
        Self { reference: Some(1.0), ..Self::new(x, y) }
    }

    /// A point of the line called `name`, which is made when its first point comes.
    pub(super) fn point(&mut self, target: usize, name: &str, x: f64, y: Interval) {
        let known = self.series.iter().position(|series| series.name == name);
        let place = known.unwrap_or_else(|| {
            self.series.push(Series { target, name: name.to_owned(), points: vec![] });
            self.series.len() - 1
        });
        self.series[place].points.push(y.at(x));
    }

    pub(super) fn figure(mut self, id: &str, title: String, read: &str, table: Table) -> Figure {
        for series in &mut self.series {
            series.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        let Self { x, y, reference, series, marks } = self;
        let form = Form::Lines { x, y, reference, series, marks };
        let chart = Chart { id: id.to_owned(), title, form };
        Figure { chart, read: read.to_owned(), said: vec![], table }
    }
}
