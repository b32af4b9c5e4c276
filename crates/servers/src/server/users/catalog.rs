//! What the catalogue of a server says of its tables, and the differences among servers in that.

use kit::key_columns::KeyColumn;
use model::{Error, KeyKind, Result, no_such};

use super::name::TableName;
use crate::server::dialect::{Answer, Dialect, ResultRow};

/// The kind of values that a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    Text,
    /// A UUID, whose name is its text.
    Uuid,
    Bytes,
    /// The number of a large object, which has the bytes.
    LargeObject,
}

impl ColumnKind {
    /// Returns the type of the column in a key; `None` if it is not part of any.
    pub(super) fn in_key(self) -> Option<KeyColumn> {
        match self {
            Self::Integer => Some(KeyColumn::Integer),
            Self::Text | Self::Uuid => Some(KeyColumn::Text),
            Self::Bytes => Some(KeyColumn::Blob),
            Self::LargeObject => None,
        }
    }

    /// Returns whether its values can be those of a store.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Self::Text | Self::Bytes | Self::LargeObject)
    }
}

/// A column of a table or view.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, as the catalogue lists them")]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Its type, as the server writes it.
    pub(crate) declared: String,
    /// `None` if storemark reads no values of this type.
    pub(crate) kind: Option<ColumnKind>,
    /// Whether the server orders its values as their bytes.
    pub(crate) is_bytewise: bool,
    /// Whether an insert has to name it.
    pub(crate) needed: bool,
    /// Whether it is never NULL.
    pub(crate) is_required: bool,
    /// Whether the server computes it from others.
    pub(crate) is_computed: bool,
    /// Its place in the primary key, from 1; 0 if it is not part of it.
    pub(crate) in_key: i64,
}

/// A column of a table or view that can have values, as a list of all of them has it.
pub(crate) struct Listed {
    pub(super) name: TableName,
    /// The schema that the table is in.
    pub(super) schema: String,
    pub(super) is_view: bool,
    /// The number of rows by the statistics; below 0 if there are none.
    pub(super) rows: i64,
    pub(super) column: String,
    pub(super) kind: Option<ColumnKind>,
}

/// A table or view.
pub(super) struct Relation {
    pub(super) name: TableName,
    /// The name as statements write it.
    pub(super) quoted: String,
    pub(super) is_view: bool,
    pub(super) rows: i64,
    pub(super) columns: Vec<Column>,
    /// The columns of each unique index.
    pub(super) unique: Vec<Vec<String>>,
    /// Its triggers and foreign keys, which a copy made like it does not have.
    pub(super) not_in_copy: Vec<String>,
}

/// A table to be created for the user.
pub(crate) struct NewTable<'n> {
    /// The name that it has until it is whole, as statements write it.
    pub(crate) name: &'n str,
    /// The name that it gets.
    pub(crate) becomes: &'n TableName,
    /// The columns of the key, as statements write them.
    pub(crate) key: &'n [String],
    /// The type of each of them.
    pub(crate) key_column: KeyColumn,
    /// The column of the value, as statements write it.
    pub(crate) value: &'n str,
}

/// A function that returns a query, given the form of its `n`-th parameter.
pub(crate) type ParameterizedQuery<'q> = dyn Fn(&dyn Fn(usize) -> String) -> String + 'q;

/// A kind of server whose catalogue lists tables of the user's own.
pub(crate) trait Catalog: Dialect {
    /// The query for the columns of all tables and views that can be read: schema, table, whether the
    /// table needs its schema (1), whether it is a view (1), rows, column, type.
    const COLUMNS: &'static str;

    /// The statements after which a connection only reads.
    const READ_ONLY: &'static [&'static str];

    /// The type of a column for paths.
    const PATHS: &'static str;

    /// The value without any bytes.
    const EMPTY: &'static str;

    /// Returns the kind of a column of this type.
    fn column_kind(declared: &str) -> Option<ColumnKind>;

    /// Returns the name of a table with its schema, if it needs one, as statements write it.
    fn qualified(name: &TableName) -> String;

    /// Returns the query for the columns of the table `name`, as statements write it, in their order: name,
    /// type, whether a bytewise order (1), needed (1), required (1), computed (1), place in the primary key.
    fn columns_of(name: &TableName, quoted: &str) -> String;

    /// Returns the query for the unique indexes of a table that hold for all rows: index, column; in the
    /// order of their columns.
    fn unique_of(name: &TableName, quoted: &str) -> String;

    /// Returns the query for what a copy made like the table does not have, each by its kind and name.
    fn not_in_copy(name: &TableName, quoted: &str) -> String;

    /// Returns the expression of the value, as a program reads it.
    fn value(column: &Column, quoted: &str) -> String;

    /// Returns the expression for the length of the value, as it is read.
    fn length(column: &Column, quoted: &str) -> String;

    /// Returns the form of the `n`-th parameter of a statement for a column.
    fn parameter_for(column: &Column, n: usize) -> String;

    /// Returns the expression of a key's column as a scan shows it; a text is escaped in a key of several
    /// columns.
    fn key_text(column: &Column, quoted: &str, is_alone: bool) -> String;

    /// Returns the expression that joins texts, without anything in between.
    fn joined(texts: &[String]) -> String;

    /// Returns the expression of a number as an integer.
    fn integer(number: &str) -> String;

    /// Returns the expression that orders texts as their bytes.
    fn bytewise(text: &str) -> String;

    /// Returns the expression for the name of the file that has the value of an integer key.
    fn file_number(quoted: &str) -> String;

    /// Returns the statements that give back the space of values that were moved from `column` of the
    /// table `quoted`: before they are replaced, and at the end.
    fn give_back(column: &Column, quoted: &str, value: &str, rows: &str) -> [Vec<String>; 2];

    /// Returns whether the server has to look at all rows for a row of the `query`, if it avoids that as far as it can.
    fn looks_at_all(&mut self, query: &ParameterizedQuery<'_>) -> Answer<bool>;

    /// Returns the setting that is fixed of a table of the user's own, with its word.
    fn fixed_of(&mut self, quoted: &str, value: &str) -> Answer<Option<(&'static str, String)>>;

    /// Creates the empty table `copy` like the table `quoted`, marked as a table of this process.
    fn create_like(&mut self, copy: &str, quoted: &str, mark: &str) -> Answer<()>;

    /// Returns the statement that creates a table for the user.
    fn create_new(&mut self, new: &NewTable<'_>) -> Answer<String>;

    /// Returns the statements that give a marked table the name that it keeps.
    fn rename(name: &str, becomes: &TableName) -> Vec<String>;

    /// The words of an insert before its values that set columns which the server would number.
    const OVERRIDING: &'static str;

    /// Lists the columns of all tables.
    fn listed(&mut self) -> Answer<Vec<Listed>> {
        let rows = self.rows(Self::COLUMNS)?;
        let listed = |row: &Self::Row| {
            let text = |column| row.text(column).unwrap_or_default().to_owned();
            let is = |column| row.int(column) == Some(1);
            let schema = text(0);
            Listed {
                name: TableName { schema: is(2).then(|| schema.clone()), table: text(1) },
                schema,
                is_view: is(3),
                rows: row.int(4).unwrap_or(-1),
                column: text(5),
                kind: Self::column_kind(&text(6)),
            }
        };
        Ok(rows.iter().map(listed).collect())
    }
}

impl Relation {
    /// Reads what the catalogue says of a table.
    pub(super) fn read<D: Catalog>(conn: &mut D, listed: &Listed) -> Answer<Self> {
        let name = listed.name.clone();
        let quoted = D::qualified(&name);
        let full = TableName { schema: Some(listed.schema.clone()), ..name.clone() };
        let columns = conn.rows(&D::columns_of(&full, &quoted))?;
        let column = |row: &D::Row| {
            let text = |column| row.text(column).unwrap_or_default().to_owned();
            let is = |column| row.int(column) == Some(1);
            let declared = text(1);
            Column {
                name: text(0),
                kind: D::column_kind(&declared),
                declared,
                is_bytewise: is(2),
                needed: is(3),
                is_required: is(4),
                is_computed: is(5),
                in_key: row.int(6).unwrap_or(0),
            }
        };
        let columns = columns.iter().map(column).collect();
        let mut unique: Vec<(String, Vec<String>)> = Vec::new();
        for row in conn.rows(&D::unique_of(&full, &quoted))? {
            let [index, column] = [0, 1].map(|n| row.text(n).unwrap_or_default().to_owned());
            match unique.last_mut() {
                Some((last, columns)) if *last == index => columns.push(column),
                _ => unique.push((index, vec![column])),
            }
        }
        let unique = unique.into_iter().map(|(_, columns)| columns).collect();
        let not_in_copy = conn.rows(&D::not_in_copy(&full, &quoted))?;
        let not_in_copy = not_in_copy.iter().filter_map(|row| row.text(0)).map(str::to_owned);
        let not_in_copy = not_in_copy.collect();
        let Listed { is_view, rows, .. } = *listed;
        Ok(Self { name, quoted, is_view, rows, columns, unique, not_in_copy })
    }

    /// Returns the column called `name`, in any case.
    pub(super) fn column(&self, name: &str) -> Result<&Column> {
        let exact = self.columns.iter().find(|column| column.name == name);
        let found =
            exact.or_else(|| self.columns.iter().find(|one| one.name.eq_ignore_ascii_case(name)));
        let names = self.columns.iter().map(|column| column.name.as_str());
        found.ok_or_else(|| {
            Error::usage(format!("{}: {}", self.name, no_such("column", name, names)))
        })
    }

    /// Returns the columns of the primary key, or else of the only unique index.
    pub(super) fn own_key(&self) -> Option<Vec<String>> {
        let mut key: Vec<_> = self.columns.iter().filter(|column| column.in_key > 0).collect();
        key.sort_by_key(|column| column.in_key);
        match (&key[..], &self.unique[..]) {
            ([], [only]) => Some(only.clone()),
            ([], _) => None,
            (key, _) => Some(key.iter().map(|column| column.name.clone()).collect()),
        }
    }

    /// Returns whether no two rows have the same values in these columns.
    pub(super) fn is_unique(&self, key: &[&Column]) -> bool {
        let has = |column: &String| key.iter().any(|own| own.name == *column);
        self.unique.iter().any(|index| index.iter().all(has))
    }
}

/// Returns the type of the columns of the key of a new table with keys of this kind.
pub(super) fn key_column(keys: KeyKind, is_tile: bool) -> KeyColumn {
    if keys == KeyKind::Integers || is_tile { KeyColumn::Integer } else { KeyColumn::Text }
}
