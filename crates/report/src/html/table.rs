//! A table of the page: exact figures, for eyes and for screen readers.

use maud::{Markup, html};

pub(super) struct Table {
    pub(super) caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone)]
pub(super) struct Column {
    name: String,
    unit: &'static str,
    number: bool,
}

impl Column {
    pub(super) fn text(name: impl Into<String>) -> Self {
        Self { name: name.into(), unit: "", number: false }
    }

    pub(super) fn number(name: impl Into<String>, unit: &'static str) -> Self {
        Self { name: name.into(), unit, number: true }
    }

    fn class(&self) -> Option<&'static str> {
        self.number.then_some("number")
    }
}

impl Table {
    pub(super) fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: vec![] }
    }

    /// A row with a cell for each column; the first is its head.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The same under another caption.
    pub(super) fn called(self, caption: &str) -> Self {
        Self { caption: caption.to_owned(), ..self }
    }

    /// In a frame that scrolls when the page is too narrow for it.
    pub(super) fn markup(&self) -> Markup {
        html! {
            div.table tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead { tr { @for column in &self.columns { (head(column)) } } }
                    tbody { @for row in &self.rows { tr { (self.cells(row)) } } }
                }
            }
        }
    }

    fn cells(&self, row: &[String]) -> Markup {
        html! {
            @for (place, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                @if place == 0 {
                    th scope="row" { (cell) }
                } @else {
                    td class=[column.class()] { (cell) }
                }
            }
        }
    }
}

fn head(column: &Column) -> Markup {
    html! {
        th scope="col" class=[column.class()] {
            (column.name)
            @if !column.unit.is_empty() { " " span.unit { (column.unit) } }
        }
    }
}
