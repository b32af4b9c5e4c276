//! A chart of dots with whiskers, and its table, as they grow group by group.

use super::{
    chart::{Axis, Chart, Form, Interval, Point},
    figure::Figure,
    table::Table,
};

pub(super) struct Groups {
    value: Axis,
    reference: Option<f64>,
    names: Vec<String>,
    points: Vec<Point>,
}

impl Groups {
    pub(super) fn new(value: Axis) -> Self {
        Self { value, reference: None, names: vec![], points: vec![] }
    }

    /// Of ratios, which are compared with 1.
    pub(super) fn around_one(value: Axis) -> Self {
        Self { reference: Some(1.0), ..Self::new(value) }
    }

    /// A point in the group called `group`, which is made when its first point comes.
    pub(super) fn point(
        &mut self,
        group: &str,
        target: usize,
        value: Interval,
        note: Option<String>,
    ) {
        let group = self.place(group);
        self.points.push(Point { target, group, value, note, ends: false });
    }

    /// A range of figures, of which the least and the greatest are known.
    pub(super) fn ends(&mut self, group: &str, target: usize, low: f64, high: f64) {
        let group = self.place(group);
        let value = Interval { value: low, low: Some(low), high: Some(high) };
        self.points.push(Point { target, group, value, note: None, ends: true });
    }

    fn place(&mut self, group: &str) -> usize {
        let known = self.names.iter().position(|name| name == group);
        known.unwrap_or_else(|| {
            self.names.push(group.to_owned());
            self.names.len() - 1
        })
    }

    pub(super) fn figure(self, id: &str, title: String, read: &str, table: Table) -> Figure {
        let Self { value, reference, names: groups, points } = self;
        let form = Form::Intervals { value, reference, groups, points };
        let chart = Chart { id: id.to_owned(), title, form };
        Figure { chart, read: read.to_owned(), said: vec![], table }
    }
}
