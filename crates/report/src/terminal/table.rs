//! A table that fits the page: numbers keep their width, text gives way.

use std::collections::BTreeSet;

use super::{bar::Scale, paper::Paper};
use crate::{
    table::{Cell, Column, Line, Room, Table, Tone},
    tables,
    text::{elide, harmless, width, wrap},
};

/// The number of terminal columns between two columns of a table.
const GAP: usize = 2;

/// The largest number of lines of a cell.
const TALLEST: usize = 4;

/// The width from which all columns fit next to a readable name.
const ROOMY: usize = 104;

/// Prints a table; below it the meaning of its heads, unless they were `seen` before, and its
/// notes.
pub(super) fn print(
    paper: &mut Paper,
    table: &Table,
    bars: bool,
    seen: &mut BTreeSet<&'static str>,
) {
    if table.rows.is_empty() && table.title.is_empty() {
        return;
    }
    paper.gap();
    paper.title(&table.title);
    let scaled = table.scaled(false);
    let mut layout = Layout::new(&scaled, bars);
    layout.fit(paper.width);
    layout.print(paper);
    let heads = layout.0.iter().map(|laid| &laid.column);
    let heads = tables::legend(heads, seen).filter(|_| !table.rows.is_empty());
    for note in heads.iter().chain(&table.legend).chain(&table.notes) {
        paper.sentence(&Line::dim(note.as_str()));
    }
}

#[derive(Clone)]
struct Text {
    text: String,
    tone: Tone,
}

/// A column with its cells. Columns are left out in the order of their [`Room`].
struct Laid {
    column: Column,
    cells: Vec<Text>,
}

struct Layout(Vec<Laid>);

impl Layout {
    fn new(table: &Table, bars: bool) -> Self {
        let mut columns = Vec::new();
        for (place, column) in table.printed() {
            let cells = table.rows.iter().map(|row| &row[place]);
            let texts = cells.clone().map(|cell| Text::new(&cell.text(false), cell.tone));
            columns.push(Laid { column: column.clone(), cells: texts.collect() });
            if bars && column.bars {
                let scale = Scale::for_ratios(cells.clone().filter_map(|cell| cell.estimate()));
                let bar = |cell: &Cell| cell.estimate().map_or_else(String::new, |e| scale.bar(e));
                let cells = cells.map(|cell| Text::new(&bar(cell), Tone::Plain)).collect();
                let column = Column::text(scale.head).room(Room::Bar);
                columns.push(Laid { column, cells });
            }
        }
        Self(columns)
    }

    /// Leaves columns out until the others fit.
    fn fit(&mut self, available: usize) {
        if available < ROOMY {
            self.0.retain(|laid| laid.column.room != Room::Wide);
        }
        let fits = |own: &Self, turns| own.total(&own.widths(available, turns)) <= available;
        while !fits(self, 0) && self.first_to_leave() <= Room::Bar {
            self.leave_out();
        }
        while !fits(self, usize::MAX) && self.0.len() > 1 {
            self.leave_out();
        }
    }

    fn first_to_leave(&self) -> Room {
        self.0.iter().map(|laid| laid.column.room).min().unwrap_or_default()
    }

    fn leave_out(&mut self) {
        let first = self.first_to_leave();
        // The last one of several with the same room.
        let found = self.0.iter().rposition(|laid| laid.column.room == first);
        found.map(|place| self.0.remove(place));
    }

    fn total(&self, widths: &[usize]) -> usize {
        widths.iter().sum::<usize>() + GAP * self.0.len().saturating_sub(1)
    }

    /// Returns the width of each column in a page of `available` columns, after at most `most`
    /// turns of narrowing.
    fn widths(&self, available: usize, most: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.0.iter().map(Laid::natural_width).collect();
        let turns = self.0.iter().map(|laid| laid.column.narrow.len()).max().unwrap_or(0);
        for turn in 0..turns.min(most) {
            for (i, laid) in self.0.iter().enumerate() {
                let excess = self.total(&widths).saturating_sub(available);
                let least = laid.column.narrow.get(turn).copied().unwrap_or(widths[i]);
                widths[i] -= excess.min(widths[i].saturating_sub(least));
            }
        }
        widths
    }

    fn print(&self, paper: &mut Paper) {
        let widths = self.widths(paper.width, usize::MAX);
        for line in 0..2 {
            if self.0.iter().any(|laid| !laid.head()[line].text.is_empty()) {
                self.print_row(paper, &widths, |laid| laid.head()[line].clone());
            }
        }
        for row in 0..self.0.first().map_or(0, |laid| laid.cells.len()) {
            self.print_row(paper, &widths, |laid| laid.cells[row].clone());
        }
    }

    fn print_row(&self, paper: &mut Paper, widths: &[usize], of: impl Fn(&Laid) -> Text) {
        let texts: Vec<Text> = self.0.iter().map(of).collect();
        let lines = texts.iter().zip(widths).map(|(text, width)| text.lines(*width));
        let lines: Vec<Vec<String>> = lines.collect();
        for i in 0..lines.iter().map(Vec::len).max().unwrap_or(0) {
            paper.line(self.0.iter().enumerate().flat_map(|(place, laid)| {
                let text = lines[place].get(i).map_or("", String::as_str);
                let free = widths[place] - width(text);
                let gap = if place == 0 { 0 } else { GAP };
                let (before, after) =
                    if laid.column.number { (gap + free, 0) } else { (gap, free) };
                let space = |columns| (" ".repeat(columns), Tone::Plain);
                [space(before), (text.to_owned(), texts[place].tone), space(after)]
            }));
        }
    }
}

impl Laid {
    fn head(&self) -> [Text; 2] {
        let Column { head, unit, .. } = &self.column;
        [Text::new(head, Tone::Bold), Text::new(unit, Tone::Dim)]
    }

    fn natural_width(&self) -> usize {
        self.head().iter().chain(&self.cells).map(|text| width(&text.text)).max().unwrap_or(0)
    }
}

impl Text {
    fn new(text: &str, tone: Tone) -> Self {
        Self { text: harmless(text), tone }
    }

    /// Breaks the text into lines of at most `columns`.
    fn lines(&self, columns: usize) -> Vec<String> {
        // What fits keeps its spaces.
        if width(&self.text) <= columns {
            return vec![self.text.clone()];
        }
        let lines = wrap(&self.text, columns);
        if lines.len() <= TALLEST {
            return lines;
        }
        // Two columns fewer: a wide character may not fit at the end of a line.
        let cut = elide(&self.text.replace(' ', "\u{a0}"), TALLEST * columns - 2);
        wrap(&cut, columns).iter().map(|line| line.replace('\u{a0}', " ")).collect()
    }
}
