//! A table that fits the page: numbers keep their width, text gives way.

use super::{bar::Scale, paper::Paper};
use crate::{
    table::{Column, Room, Table, Tone},
    text::{elide, harmless, width, wrap},
};

/// Columns between columns.
const GAP: usize = 2;

/// Lines that a cell may take.
const TALLEST: usize = 2;

/// From this width on all columns fit next to a name that can be read.
const ROOMY: usize = 104;

pub(super) fn print(paper: &mut Paper, table: &Table, bars: bool) {
    if table.rows.is_empty() && table.title.is_empty() {
        return;
    }
    paper.gap();
    paper.title(&table.title);
    let mut layout = Layout::of(table, bars);
    layout.fit(paper.width());
    layout.print(paper);
    for note in &table.notes {
        paper.paragraph("  ", note, Tone::Dim);
    }
}

/// What a cell shows.
#[derive(Clone)]
struct Text {
    text: String,
    tone: Tone,
}

/// A column with its cells.
struct Laid {
    head: [Text; 2],
    cells: Vec<Text>,
    number: bool,
    narrow: &'static [usize],
    leaves: Leaves,
}

/// In which order columns are left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Leaves {
    /// Before names are cut.
    Wide,
    Bar,
    /// If nothing else helps.
    Spare(u8),
    Last,
}

struct Layout(Vec<Laid>);

impl Layout {
    fn of(table: &Table, bars: bool) -> Self {
        let mut columns = Vec::new();
        for (place, column) in table.printed() {
            let cells = table.rows.iter().map(|row| &row[place]);
            let texts = cells.clone().map(|cell| Text::new(&cell.text(false), cell.tone));
            columns.push(Laid::of(column, texts.collect()));
            if bars && column.bars {
                let scale = Scale::of(cells.clone().filter_map(|cell| cell.estimate()));
                let bar = |ratio| scale.bar(ratio);
                let bars = cells.map(|cell| cell.estimate().map_or_else(String::new, bar));
                let bars = bars.map(|bar| Text::new(&bar, Tone::Plain)).collect();
                columns.push(Laid::of_bars(scale.head(), bars));
            }
        }
        Self(columns)
    }

    /// Leaves columns out until the others fit.
    fn fit(&mut self, available: usize) {
        if available < ROOMY {
            self.0.retain(|column| column.leaves != Leaves::Wide);
        }
        let fits = |own: &Self, turns| own.total(&own.widths(available, turns)) <= available;
        while !fits(self, 1) && self.first_to_leave() <= Leaves::Bar {
            self.leave_out();
        }
        while !fits(self, usize::MAX) && self.0.len() > 1 {
            self.leave_out();
        }
    }

    fn first_to_leave(&self) -> Leaves {
        self.0.iter().map(|column| column.leaves).min().unwrap_or(Leaves::Last)
    }

    fn leave_out(&mut self) {
        let first = self.first_to_leave();
        // Of those that are needed the last one.
        let found = self.0.iter().rposition(|column| column.leaves == first);
        if let Some(place) = found {
            self.0.remove(place);
        }
    }

    fn total(&self, widths: &[usize]) -> usize {
        widths.iter().sum::<usize>() + GAP * self.0.len().saturating_sub(1)
    }

    /// The width of each column, in a page of `available`, after at most so many turns of giving way.
    fn widths(&self, available: usize, most: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.0.iter().map(Laid::natural_width).collect();
        let turns = self.0.iter().map(|column| column.narrow.len()).max().unwrap_or(0);
        for turn in 0..turns.min(most) {
            for (i, column) in self.0.iter().enumerate() {
                let excess = self.total(&widths).saturating_sub(available);
                let least = column.narrow.get(turn).copied().unwrap_or(widths[i]);
                widths[i] -= excess.min(widths[i].saturating_sub(least));
            }
        }
        widths
    }

    fn print(&self, paper: &mut Paper) {
        let widths = self.widths(paper.width(), usize::MAX);
        for line in 0..2 {
            if self.0.iter().any(|column| !column.head[line].text.is_empty()) {
                self.print_row(paper, &widths, |column| &column.head[line]);
            }
        }
        for row in 0..self.0.first().map_or(0, |column| column.cells.len()) {
            self.print_row(paper, &widths, |column| &column.cells[row]);
        }
    }

    fn print_row(&self, paper: &mut Paper, widths: &[usize], of: impl Fn(&Laid) -> &Text) {
        let cells = self.0.iter().zip(widths);
        let lines: Vec<Vec<String>> = cells.map(|(c, width)| of(c).lines(*width)).collect();
        let height = lines.iter().map(Vec::len).max().unwrap_or(0);
        for i in 0..height {
            paper.line(self.0.iter().enumerate().flat_map(|(place, column)| {
                let text = lines[place].get(i).map_or("", String::as_str);
                let free = widths[place] - width(text);
                let gap = if place == 0 { 0 } else { GAP };
                let (before, after) = if column.number { (gap + free, 0) } else { (gap, free) };
                let space = |columns| (" ".repeat(columns), Tone::Plain);
                [space(before), (text.to_owned(), of(column).tone), space(after)]
            }));
        }
    }
}

impl Laid {
    fn of(column: &Column, cells: Vec<Text>) -> Self {
        let leaves = match column.room {
            Room::Scroll | Room::Wide => Leaves::Wide,
            Room::Spare(turn) => Leaves::Spare(turn),
            Room::Needed => Leaves::Last,
        };
        let head = [Text::new(&column.head, Tone::Bold), Text::new(&column.unit, Tone::Dim)];
        Self { head, cells, number: column.number, narrow: column.narrow, leaves }
    }

    fn of_bars(scale: &str, cells: Vec<Text>) -> Self {
        let head = [Text::new(scale, Tone::Bold), Text::new("", Tone::Dim)];
        Self { head, cells, number: false, narrow: &[], leaves: Leaves::Bar }
    }

    fn natural_width(&self) -> usize {
        self.head.iter().chain(&self.cells).map(|cell| width(&cell.text)).max().unwrap_or(0)
    }
}

impl Text {
    fn new(text: &str, tone: Tone) -> Self {
        Self { text: harmless(text), tone }
    }

    /// The text in lines of at most `columns`.
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
