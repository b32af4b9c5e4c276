//! A table in the page: exact figures, for eyes and for screen readers.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::{
    table::{Cell, Column, Table},
    tables,
};

/// In a frame that scrolls if the page is too narrow for it, with notes below.
pub(super) fn markup(table: &Table) -> Markup {
    titled(table, "")
}

/// The same; `title` is for a table that has none.
pub(super) fn titled(table: &Table, title: &str) -> Markup {
    let table = &table.scaled(true);
    let title = if table.title.is_empty() { title } else { &table.title };
    html! {
        div.table tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[class(column)] {
                                (column.head)
                                @if !column.unit.is_empty() { " " span.unit { (column.unit) } }
                            }
                        }
                    }
                }
                tbody { @for row in &table.rows { tr { (cells(&table.columns, row)) } } }
            }
        }
        @let heads = tables::legend(table.columns.iter(), &mut BTreeSet::new());
        @for note in heads.iter().chain(&table.legend).chain(&table.notes) { p.note { (note) } }
    }
}

/// The first cell is the head of its row.
fn cells(columns: &[Column], row: &[Cell]) -> Markup {
    html! {
        @for (place, (cell, column)) in row.iter().zip(columns).enumerate() {
            @if place == 0 {
                th scope="row" { (cell.text(true)) }
            } @else {
                td class=[class(column)] { (cell.text(true)) }
            }
        }
    }
}

fn class(column: &Column) -> Option<&'static str> {
    column.number.then_some("number")
}
