//! A table in the page: exact figures, for eyes and for screen readers.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::{
    table::{Cell, Column, Room, Table},
    tables,
};

/// Returns a table in a frame that scrolls if the page is too narrow for it, with notes below.
pub(super) fn markup(table: &Table) -> Markup {
    titled(table, "")
}

/// Returns the same table; `title` is used if the table has none.
pub(super) fn titled(table: &Table, title: &str) -> Markup {
    let (plain, table) = (table, &table.scaled(true));
    let title = if table.title.is_empty() { title } else { &table.title };
    let order = order(&table.columns);
    html! {
        div.table tabindex="0" role="region" aria-label=(title) {
            table {
                caption { (title) }
                thead {
                    tr {
                        @for column in order.iter().map(|place| &table.columns[*place]) {
                            th scope="col" class=[class(column)] {
                                (column.head)
                                @if !column.unit.is_empty() { " " span.unit { (column.unit) } }
                            }
                        }
                    }
                }
                tbody {
                    @for (row, plain) in table.rows.iter().zip(&plain.rows) {
                        tr {
                            @for place in &order {
                                (cell(*place, &table.columns[*place], &row[*place], &plain[*place]))
                            }
                        }
                    }
                }
            }
        }
        @let heads = tables::legend(table.columns.iter(), &mut BTreeSet::new());
        @for note in heads.iter().chain(&table.legend).chain(&table.notes) { p.note { (note) } }
    }
}

/// Orders the columns: those that answer the question first, because the others are seen after
/// scrolling. A column without a head stays after the one before it.
fn order(columns: &[Column]) -> Vec<usize> {
    let is_kept = columns.iter().any(|column| column.head.is_empty());
    let (needed, others): (Vec<_>, Vec<_>) =
        (0..columns.len()).partition(|place| is_kept || columns[*place].room == Room::Needed);
    [needed, others].concat()
}

/// Formats a cell. The first cell is the head of its row; a cell with its own unit is sorted by its
/// `plain` value.
fn cell(place: usize, column: &Column, cell: &Cell, plain: &Cell) -> Markup {
    let value = plain.point().filter(|_| cell.point().is_none());
    html! {
        @if place == 0 {
            th scope="row" { (cell.text(true)) }
        } @else {
            td class=[class(column)] data-value=[value] { (cell.text(true)) }
        }
    }
}

fn class(column: &Column) -> Option<&'static str> {
    column.number.then_some("number")
}
