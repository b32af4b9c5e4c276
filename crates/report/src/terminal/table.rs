//! A table that fits the page: numbers keep their width, text gives way.

use super::{
    page::{Page, Paint},
    text::{elide, harmless, width, wrap},
};

/// Columns between columns.
const GAP: usize = 2;

/// Lines a cell may take.
const TALLEST: usize = 2;

/// On which side a column's cells end evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Name, unit and side of a column.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) side: Side,
    /// How far it may be narrowed, in turns: in the first turn each column down to its first
    /// figure, and so on. Empty: never.
    pub(super) gives: &'static [usize],
}

impl Column {
    /// A column of figures.
    pub(super) const fn number(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit, side: Side::Right, gives: &[] }
    }
}

/// A painted text.
#[derive(Clone, Default)]
pub(super) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self { text: harmless(text.as_ref()), paint: Paint::Plain }
    }

    pub(super) fn painted(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }

    /// The cell in lines of at most `columns`.
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
        wrap(&elide(&self.text.replace(' ', "\u{a0}"), TALLEST * columns - 2), columns)
            .into_iter()
            .map(|line| line.replace('\u{a0}', " "))
            .collect()
    }
}

/// Columns and rows.
pub(super) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    /// Columns by their indices that are left out, the first of them first, before text is cut to
    /// less than its first figure, and those that are left out only where nothing else helps.
    spared: [Vec<usize>; 2],
}

impl Table {
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: vec![], spared: [vec![], vec![]] }
    }

    /// The same with columns that may be left out: `gladly`, and `where_it_must_be`.
    pub(super) fn sparing(mut self, gladly: Vec<usize>, where_it_must_be: Vec<usize>) -> Self {
        self.spared = [gladly, where_it_must_be];
        self
    }

    /// A row with a cell for each column.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub(super) fn print(mut self, page: &mut Page) {
        self.fit(page.width());
        let widths = self.widths(page.width(), usize::MAX);
        let heads: [fn(&Column) -> &'static str; 2] = [|c| c.name, |c| c.unit];
        let told = |head: &fn(&Column) -> &'static str| {
            self.columns.iter().any(|column| !head(column).is_empty())
        };
        let heads = heads.into_iter().filter(told);
        for (head, paint) in heads.zip([Paint::Bold, Paint::Dim]) {
            let cells: Vec<Cell> =
                self.columns.iter().map(|column| Cell::new(head(column)).painted(paint)).collect();
            self.print_row(page, &cells, &widths);
        }
        for row in &self.rows {
            self.print_row(page, row, &widths);
        }
    }

    /// Leaves columns out until the others fit: those that are spared, then the last ones.
    fn fit(&mut self, available: usize) {
        let [gladly, must] = std::mem::take(&mut self.spared);
        let gladly = gladly.into_iter().map(|column| (column, 1));
        let must = must.into_iter().chain(std::iter::repeat(usize::MAX));
        let mut gone: Vec<usize> = Vec::new();
        for (column, turns) in gladly.chain(must.map(|column| (column, usize::MAX))) {
            let fits = self.total(&self.widths(available, turns)) <= available;
            if !fits && self.columns.len() > 1 {
                let before = gone.iter().filter(|other| **other < column).count();
                self.remove(column.saturating_sub(before).min(self.columns.len() - 1));
                gone.push(column);
            } else if turns > 1 {
                return;
            }
        }
    }

    fn remove(&mut self, column: usize) {
        self.columns.remove(column);
        for row in &mut self.rows {
            row.remove(column);
        }
    }

    fn total(&self, widths: &[usize]) -> usize {
        widths.iter().sum::<usize>() + GAP * self.columns.len().saturating_sub(1)
    }

    fn print_row(&self, page: &mut Page, cells: &[Cell], widths: &[usize]) {
        let lines: Vec<Vec<String>> =
            cells.iter().zip(widths).map(|(cell, width)| cell.lines(*width)).collect();
        let height = lines.iter().map(Vec::len).max().unwrap_or(0);
        for i in 0..height {
            page.line(lines.iter().enumerate().flat_map(|(column, lines)| {
                let text = lines.get(i).map_or("", String::as_str);
                let (before, after) = self.padding(column, widths[column] - width(text));
                let paint = cells[column].paint;
                [(before, Paint::Plain), (text.to_owned(), paint), (after, Paint::Plain)]
            }));
        }
    }

    /// What stands on both sides of a cell that leaves `free` columns.
    fn padding(&self, column: usize, free: usize) -> (String, String) {
        let gap = if column == 0 { 0 } else { GAP };
        let (before, after) = match self.columns[column].side {
            Side::Left => (gap, free),
            Side::Right => (gap + free, 0),
        };
        (" ".repeat(before), " ".repeat(after))
    }

    /// The width of each column, in a page of `available`, after at most so many turns of giving way.
    fn widths(&self, available: usize, most: usize) -> Vec<usize> {
        let mut widths: Vec<usize> =
            (0..self.columns.len()).map(|column| self.natural_width(column)).collect();
        let turns = self.columns.iter().map(|column| column.gives.len()).max().unwrap_or(0);
        for turn in 0..turns.min(most) {
            for (i, column) in self.columns.iter().enumerate() {
                let excess = self.total(&widths).saturating_sub(available);
                let least = column.gives.get(turn).copied().unwrap_or(widths[i]);
                widths[i] -= excess.min(widths[i].saturating_sub(least));
            }
        }
        widths
    }

    fn natural_width(&self, column: usize) -> usize {
        let Column { name, unit, .. } = self.columns[column];
        let cells = self.rows.iter().map(|row| width(&row[column].text));
        cells.chain([width(name), width(unit)]).max().unwrap_or(0)
    }
}
