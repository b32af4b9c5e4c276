//! A table is declared once and printed by every form: the terminal, Markdown and the HTML page.
//!
//! `tables` builds a [`Table`](crate::table::Table) for each question from figures. Cells keep their numbers, so that a
//! form chooses how to print them: [`Cell::text`](crate::table::Cell::text) gives the words, [`Cell::estimate`](crate::table::Cell::estimate) the interval
//! behind them, `Cell::tone` their emphasis. [`Table::joined`](crate::table::Table::joined) puts tables of several cases,
//! runs or machines below each other, with a column that names the origin of each row.

use std::{borrow::Cow, collections::BTreeSet};

use model::{
    Severity,
    units::{show_count, show_rate},
};
use stats::Estimate;

use crate::number::{NONE, common_unit, figure, in_unit, us_of, with_interval};

/// A table, with what a reader needs to know about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The title; empty if the table needs none.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
    /// Sentences about the meaning of heads and marks.
    pub legend: Vec<String>,
    /// Further sentences below the table.
    pub notes: Vec<String>,
}

/// The head of a column, and how it becomes narrower on narrow pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The head.
    pub head: Cow<'static, str>,
    /// The unit, which is below the head.
    pub unit: Cow<'static, str>,
    /// Whether it has numbers, which are aligned to the right.
    pub number: bool,
    /// The widths to which it may be narrowed, in turns: in the first turn every column is narrowed
    /// to its first width, and so on. Empty if it may not be narrowed.
    pub narrow: &'static [usize],
    /// Whether it may be left out.
    pub room: Room,
    /// Whether a bar may be drawn next to its ratios.
    pub bars: bool,
}

/// The conditions under which a column may be left out for lack of room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Room {
    /// Shown only on the HTML page, which scrolls.
    Scroll,
    /// Shown only on pages wide enough for all columns next to a readable name.
    Wide,
    /// Left out before any column takes a second line, as bars are.
    Bar,
    /// Left out if names would have to be cut, the smallest number first.
    Spare(u8),
    /// Left out only after all of the others.
    #[default]
    Needed,
}

/// A value in a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// The value.
    pub value: Value,
    /// Its emphasis.
    pub tone: Tone,
    /// Text before it, as the star of a ratio of unequal work.
    pub mark: &'static str,
}

/// The value of a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// Not measured, or not known.
    #[default]
    Absent,
    /// A text.
    Text(String),
    /// A number in the unit of its column.
    Figure(f64),
    /// A percentage from 0 to 100.
    Percent(f64),
    /// A number of things.
    Count(u64),
    /// Operations a second.
    Rate(f64),
    /// A figure whose interval is shown if there is room.
    Estimate(Estimate),
    /// A figure whose interval is always shown.
    Interval(Estimate),
}

/// The emphasis of a text, on which no meaning depends alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// The default.
    #[default]
    Plain,
    /// An answer or a title.
    Bold,
    /// Less important, or from another source.
    Dim,
    /// Better.
    Good,
    /// Worse.
    Bad,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A table.
    Table(Table),
    /// Sentences.
    Lines(Lines),
    /// The findings about a record.
    Findings {
        /// The findings with their severity, the worst first.
        findings: Vec<(Severity, String)>,
        /// Whether the terminal shows all of them, rather than the three worst.
        all: bool,
    },
}

/// The amount of detail on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// Whether it shows every column, finding and stall, space and settings, and every run of a
    /// sweep; otherwise only what answers the question.
    pub all: bool,
    /// Whether it shows what coincides with the differences.
    pub explain: bool,
    /// Whether it shows how passes went over time.
    pub over_time: bool,
}

/// A block of sentences below a title. Without a title they still belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// The title; may be empty.
    pub title: String,
    /// The sentences.
    pub lines: Vec<Line>,
}

/// A sentence. If it takes several lines, they are aligned to its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Text before it on the terminal.
    pub lead: Cow<'static, str>,
    /// The text.
    pub text: String,
    /// Its emphasis.
    pub tone: Tone,
}

impl Table {
    /// Creates a table without columns that has a row for each of `rows`: see [`Rows::with`].
    pub(crate) fn for_rows<R>(title: impl Into<String>, rows: &[R]) -> Rows<'_, R> {
        let table = Self { title: title.into(), rows: vec![vec![]; rows.len()], ..Self::default() };
        Rows { rows, table }
    }

    #[must_use]
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(notes);
        self
    }

    #[must_use]
    pub(crate) fn with_legend(mut self, legend: impl IntoIterator<Item = String>) -> Self {
        self.legend.extend(legend);
        self
    }

    /// Removes the columns and notes that a reader may ask for, and keeps what answers the
    /// question.
    #[must_use]
    pub(crate) fn brief(mut self) -> Self {
        let kept = |column: &Column| matches!(column.room, Room::Bar | Room::Needed);
        let places: Vec<_> = self.columns.iter().map(kept).collect();
        let mut place = places.iter();
        self.columns.retain(|_| place.next().is_some_and(|kept| *kept));
        for row in &mut self.rows {
            let mut place = places.iter();
            row.retain(|_| place.next().is_some_and(|kept| *kept));
        }
        self.notes.clear();
        self
    }

    /// Converts times to units in which they are short: one unit for all columns that share one,
    /// or, if they differ too much, one for each cell.
    #[must_use]
    pub(crate) fn scaled(&self, intervals: bool) -> Self {
        let mut table = self.clone();
        let units: BTreeSet<_> = self.columns.iter().map(|c| time_unit(c).to_owned()).collect();
        for unit in units {
            if let Some(us) = us_of(&unit) {
                table.scale(&unit, us, intervals);
            }
        }
        table
    }

    fn scale(&mut self, unit: &str, us: f64, intervals: bool) {
        let of_unit = |column: &Column| time_unit(column) == unit;
        let places: Vec<_> =
            (0..self.columns.len()).filter(|i| of_unit(&self.columns[*i])).collect();
        let cells = self.rows.iter().flat_map(|row| places.iter().map(|place| &row[*place]));
        let times = || cells.clone().filter_map(Cell::point).filter(|time| *time > 0.0);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        if most <= 0.0 {
            return;
        }
        let common = common_unit(unit, least * us, most * us);
        for place in places {
            let column = &mut self.columns[place];
            let rest = column.unit[unit.len()..].to_owned();
            column.unit = format!("{}{rest}", common.map_or("", |(unit, _)| unit)).into();
            for cell in self.rows.iter_mut().map(|row| &mut row[place]) {
                cell.rescale(us, common, intervals);
            }
        }
    }

    /// Joins the rows of `tables` in one table called `title`. Each row names its table in a second
    /// column called `head`. Columns are the same if head and unit are; the cells of a column that
    /// a table lacks are empty.
    #[must_use]
    pub fn joined(
        title: impl Into<String>,
        head: &'static str,
        tables: impl IntoIterator<Item = (String, Table)>,
    ) -> Self {
        let mut all = Self { title: title.into(), ..Self::default() };
        for (place, table) in tables {
            for text in &table.legend {
                if !all.legend.contains(text) {
                    all.legend.push(text.clone());
                }
            }
            if all.columns.is_empty() {
                all.columns.extend(table.columns.first().cloned());
                all.columns.push(Column::text(head));
            }
            let mut places = Vec::new();
            for column in table.columns.iter().skip(1) {
                places.push(all.column_index(column, &places));
            }
            all.rows.iter_mut().for_each(|row| row.resize(all.columns.len(), Cell::default()));
            for row in table.rows {
                let mut cells = row.into_iter();
                let mut joined = vec![Cell::default(); all.columns.len()];
                joined[0] = cells.next().unwrap_or_default();
                joined[1] = Cell::from(place.as_str());
                places.iter().zip(cells).for_each(|(place, cell)| joined[*place] = cell);
                all.rows.push(joined);
            }
        }
        all
    }

    /// Returns the index of a column among those of figures that are not `taken`; adds it if it is
    /// new.
    fn column_index(&mut self, column: &Column, taken: &[usize]) -> usize {
        let same = |own: &Column| (&own.head, &own.unit) == (&column.head, &column.unit);
        let mut free = (2..self.columns.len()).filter(|place| !taken.contains(place));
        free.find(|place| same(&self.columns[*place])).unwrap_or_else(|| {
            self.columns.push(column.clone());
            self.columns.len() - 1
        })
    }

    /// Returns the columns of forms that do not scroll, with their indices.
    pub(crate) fn printed(&self) -> impl Iterator<Item = (usize, &Column)> + Clone {
        self.columns.iter().enumerate().filter(|(_, column)| column.room != Room::Scroll)
    }
}

/// A table as it gets its columns, with what its rows are made of.
pub(crate) struct Rows<'a, R> {
    rows: &'a [R],
    table: Table,
}

impl<'a, R> Rows<'a, R> {
    /// Adds a column, with the cell of each row in it.
    pub(crate) fn with<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&'a R) -> C) -> Self {
        self.table.columns.push(column);
        for (row, cells) in self.rows.iter().zip(&mut self.table.rows) {
            cells.push(cell(row).into());
        }
        self
    }

    /// Adds a column if `shown`.
    pub(crate) fn with_if<C: Into<Cell>>(
        self,
        shown: bool,
        column: Column,
        cell: impl Fn(&'a R) -> C,
    ) -> Self {
        if shown { self.with(column, cell) } else { self }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.rows.iter()
    }

    pub(crate) fn with_legend(mut self, legend: impl IntoIterator<Item = String>) -> Self {
        self.table = self.table.with_legend(legend);
        self
    }

    pub(crate) fn into_table(self) -> Table {
        self.table
    }
}

impl Column {
    pub(crate) const fn text(head: &'static str) -> Self {
        let mut column = Self::number(head, "");
        column.number = false;
        column
    }

    pub(crate) const fn number(head: &'static str, unit: &'static str) -> Self {
        let (head, unit) = (Cow::Borrowed(head), Cow::Borrowed(unit));
        Self { head, unit, number: true, narrow: &[], room: Room::Needed, bars: false }
    }

    pub(crate) const fn narrow(mut self, narrow: &'static [usize]) -> Self {
        self.narrow = narrow;
        self
    }

    pub(crate) const fn room(mut self, room: Room) -> Self {
        self.room = room;
        self
    }
}

/// Returns the unit of time of a column: `µs` of `µs/blob`.
fn time_unit(column: &Column) -> &str {
    column.unit.split('/').next().unwrap_or_default()
}

impl Cell {
    /// Returns the figure without its interval, in the unit of its column.
    pub(crate) fn point(&self) -> Option<f64> {
        match self.value {
            Value::Figure(value) => Some(value),
            _ => self.estimate().map(|estimate| estimate.point),
        }
    }

    /// Converts the figure from a unit of `us` microseconds to the `common` one, or, without one,
    /// to a unit of its own, which it then shows.
    fn rescale(&mut self, us: f64, common: Option<(&'static str, f64)>, intervals: bool) {
        let Some(point) = self.point().filter(|point| *point > 0.0) else { return };
        let (unit, each) = common.unwrap_or_else(|| in_unit(point * us));
        let by = us / each;
        match &mut self.value {
            Value::Figure(value) => *value *= by,
            Value::Estimate(estimate) | Value::Interval(estimate) => {
                *estimate = estimate.map(|value| value * by);
            }
            _ => {}
        }
        if common.is_none() {
            let text = self.text(intervals);
            let (figure, rest) = text.split_once(' ').unwrap_or((&text, ""));
            self.value = Value::Text(format!("{figure} {unit} {rest}").trim_end().to_owned());
        }
    }

    /// Returns the cell as it is printed; with `intervals`, every estimate has its interval.
    pub fn text(&self, intervals: bool) -> String {
        let text = match &self.value {
            Value::Absent => return NONE.to_owned(),
            Value::Text(text) => text.clone(),
            Value::Figure(value) => figure(*value),
            Value::Percent(percent) => format!("{percent:.1} %"),
            Value::Count(count) => show_count(*count),
            Value::Rate(rate) => show_rate(*rate),
            Value::Estimate(estimate) if !intervals => figure(estimate.point),
            Value::Estimate(estimate) | Value::Interval(estimate) => with_interval(estimate),
        };
        format!("{}{text}", self.mark)
    }

    /// Returns the figure with its interval; `None` if it has none.
    pub fn estimate(&self) -> Option<&Estimate> {
        match &self.value {
            Value::Estimate(estimate) | Value::Interval(estimate) => Some(estimate),
            _ => None,
        }
    }

    pub(crate) fn interval(estimate: Option<&Estimate>) -> Self {
        estimate.map_or(Value::Absent, |estimate| Value::Interval(*estimate)).into()
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    pub(crate) fn mark(self, mark: &'static str) -> Self {
        Self { mark, ..self }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Types whose values are shown as one kind of [`Value`].
macro_rules! cell_from {
    ($($plain:ty => $kind:ident),*) => {
        $(impl From<$plain> for Cell {
            fn from(value: $plain) -> Self {
                Value::$kind(value).into()
            }
        })*
    };
}
cell_from!(String => Text, f64 => Figure, u64 => Count, Estimate => Estimate);

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::default, Into::into)
    }
}

impl Lines {
    pub(crate) fn new(title: impl Into<String>, lines: impl IntoIterator<Item = Line>) -> Self {
        Self { title: title.into(), lines: lines.into_iter().collect() }
    }

    pub(crate) fn unless_empty(self) -> Option<Self> {
        (!self.lines.is_empty()).then_some(self)
    }
}

impl Line {
    pub(crate) fn new(lead: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { lead: lead.into(), text: text.into(), tone: Tone::Plain }
    }

    /// Creates an indented note.
    pub(crate) fn dim(text: impl Into<String>) -> Self {
        Self::new("  ", text).tone(Tone::Dim)
    }

    /// Creates a finding after a mark of its severity.
    pub(crate) fn finding(severity: Severity, text: &str) -> Self {
        match severity {
            Severity::Wrong => Self::new("! wrong: ", text).tone(Tone::Bad),
            Severity::Warning => Self::new("! ", text),
            Severity::Note => Self::new("· ", text).tone(Tone::Dim),
        }
    }

    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Lines> for Block {
    fn from(lines: Lines) -> Self {
        Self::Lines(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(heads: &[&'static str]) -> Table {
        let mut rows = Table::for_rows("", &["files", "pack"]).with(Column::text("target"), |t| *t);
        for (number, head) in (1..).zip(heads) {
            rows = rows.with(Column::number(head, "µs"), |_| f64::from(number));
        }
        rows.into_table()
    }

    fn texts(table: &Table) -> Vec<Vec<String>> {
        table.rows.iter().map(|row| row.iter().map(|cell| cell.text(true)).collect()).collect()
    }

    #[test]
    fn times_are_short_in_their_units() {
        let texts = |values: [f64; 2]| {
            let table = Table::for_rows("", &values)
                .with(Column::number("time", "µs/op"), |v| *v)
                .into_table();
            let scaled = table.scaled(true);
            let cells = scaled.rows.iter().map(|row| row[0].text(true));
            [scaled.columns[0].unit.to_string()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        assert_eq!(texts([4.0, 900.0]), ["µs/op", "4.00", "900"]);
        assert_eq!(texts([1.6e6, 3.2e6]), ["s/op", "1.60", "3.20"]);
        assert_eq!(texts([1.6e6, 0.8]), ["/op", "1.60 s", "800 ns"]);
    }

    #[test]
    fn what_is_brief_has_the_columns_that_are_needed() {
        let mut table = table(&["time", "first"]);
        table.columns[2].room = Room::Spare(1);
        let table = table.with_notes(["more".to_owned()]).with_legend(["*: …".to_owned()]).brief();
        assert_eq!(texts(&table)[0], ["files", "1.00"]);
        assert!(table.notes.is_empty() && table.legend.len() == 1);
    }

    #[test]
    fn joined_tables_share_columns_and_keep_what_each_has_alone() {
        let tables = [("warm", table(&["time", "first"])), ("cold", table(&["time", "device"]))];
        let tables = tables.map(|(place, table)| (place.to_owned(), table));
        let joined = Table::joined("all", "in", tables);
        let heads: Vec<_> = joined.columns.iter().map(|column| &*column.head).collect();
        assert_eq!(heads, ["target", "in", "time", "first", "device"]);
        let rows = texts(&joined);
        assert_eq!(rows[0], ["files", "warm", "1.00", "2.00", NONE]);
        assert_eq!(rows[3], ["pack", "cold", "1.00", NONE, "2.00"]);
    }
}
