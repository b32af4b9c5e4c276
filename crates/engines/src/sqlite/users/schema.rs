//! What a schema says of its tables and views.

use std::ops::ControlFlow;

use model::{Error, Result, no_such};

use crate::sqlite::ffi::{Connection, Parameter};

/// The first SQLite that lists generated columns.
const LISTS_ALL_COLUMNS: i32 = 3_026_000;

/// What a name in a schema is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelationKind {
    Table,
    View,
}

/// A column of a table or view.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The declared type in capitals.
    pub(super) declared: String,
    /// Whether an insert has to name it.
    pub(super) needed: bool,
    /// Whether it is never NULL.
    pub(super) is_required: bool,
    /// Whether it is a generated column.
    pub(super) is_computed: bool,
    /// Its place in the primary key, from 1; 0 if it is not part of it.
    pub(super) in_key: i64,
}

impl Column {
    /// Returns whether its declaration lets it keep bytes as they are.
    pub(super) fn is_for_bytes(&self) -> bool {
        // Names that other databases have for bytes.
        const BYTES: [&str; 5] = ["BLOB", "BINARY", "BYTE", "IMAGE", "RAW"];
        self.declared.is_empty() || BYTES.iter().any(|word| self.declared.contains(word))
    }

    pub(super) fn is_for_text(&self) -> bool {
        ["CHAR", "CLOB", "TEXT", "JSON"].iter().any(|word| self.declared.contains(word))
    }
}

/// A table or view.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) name: String,
    pub(super) kind: RelationKind,
    pub(super) columns: Vec<Column>,
    /// The name of the rowid: that of the column which is it, or `rowid`; `None` without one.
    pub(super) rowid: Option<String>,
    /// The columns of each unique index.
    pub(super) unique: Vec<Vec<String>>,
}

/// Returns the names of all tables and views, without SQLite's own.
pub(super) fn names(db: &Connection) -> Result<Vec<String>> {
    const NAMES: &str = "SELECT name FROM sqlite_master WHERE type IN ('table','view') \
                         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    db.column(NAMES, 0)
}

/// The first SQLite that lists the tables in which a virtual table keeps its rows.
const LISTS_SHADOWS: i32 = 3_037_000;

/// Returns the names of all tables and views but those in which a virtual table keeps its rows. Before
/// `pragma_table_list`, these are known by their names alone.
pub(super) fn own_names(db: &Connection) -> Result<Vec<String>> {
    const VIRTUAL: &str = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL %'";
    const SHADOWS: &str =
        "SELECT name FROM pragma_table_list WHERE schema='main' AND type='shadow'";
    let all = names(db)?;
    if db.version_number() >= LISTS_SHADOWS {
        let shadows = db.column(SHADOWS, 0)?;
        return Ok(all.into_iter().filter(|name| !shadows.contains(name)).collect());
    }
    let virtuals = db.column(VIRTUAL, 0)?;
    let is_part = |name: &String| {
        let of = |table: &String| name.strip_prefix(table).is_some_and(|end| end.starts_with('_'));
        virtuals.iter().any(of)
    };
    Ok(all.into_iter().filter(|name| !is_part(name)).collect())
}

impl Relation {
    /// Reads what the schema says of the table or view that is called `name`.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or its rows are not kept in this database in SQLite's own way.
    pub(super) fn read(db: &Connection, name: &str) -> Result<Self> {
        if db.version_number() < LISTS_ALL_COLUMNS {
            let version = db.version();
            let why = format!("SQLite {version} does not list all columns of a table; 3.26 does");
            return Err(Error::unsupported(why));
        }
        let all = names(db)?;
        let Some(name) = all.iter().find(|other| other.eq_ignore_ascii_case(name)) else {
            return Err(Error::usage(no_such("table", name, all.iter().map(String::as_str))));
        };
        let kind = kind(db, name)?;
        // What a view shows may be gone.
        let columns = columns(db, name)
            .map_err(|error| error.reworded(|said| format!("{name} cannot be read: {said}")))?;
        let rowid = (kind == RelationKind::Table).then(|| rowid(db, name, &columns)).flatten();
        let mut unique = unique(db, name)?;
        let is_column = |rowid: &&String| columns.iter().any(|column| column.name == **rowid);
        unique.extend(rowid.iter().filter(is_column).map(|alias| vec![alias.clone()]));
        Ok(Self { name: name.clone(), kind, columns, rowid, unique })
    }

    /// Returns the column called `name`, in any case.
    pub(super) fn column(&self, name: &str) -> Result<&Column> {
        let found = self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        let names = self.columns.iter().map(|column| column.name.as_str());
        found.ok_or_else(|| {
            Error::usage(format!("{}: {}", self.name, no_such("column", name, names)))
        })
    }

    /// Returns whether it has all these columns.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.column(name).is_ok())
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
    pub(super) fn is_unique(&self, key: &[String]) -> bool {
        let whole = |index: &Vec<String>| index.iter().all(|column| key.contains(column));
        self.unique.iter().any(whole) || matches!(key, [one] if Some(one) == self.rowid.as_ref())
    }
}

/// Returns what the table or view of exactly this name is. Fails for a virtual table.
fn kind(db: &Connection, name: &str) -> Result<RelationKind> {
    // A trigger may have the name of a table.
    const KIND: &str =
        "SELECT type, sql FROM sqlite_master WHERE name=?1 AND type IN ('table','view')";
    let found = db.prepare(KIND)?.row([Parameter::Text(name.as_bytes())], |row| {
        let [of, sql] = [0, 1].map(|column| String::from_utf8_lossy(row.text(column)).into_owned());
        (of, sql)
    })?;
    let (of, sql) = found.unwrap_or_default();
    if sql.split_whitespace().nth(1).is_some_and(|word| word.eq_ignore_ascii_case("VIRTUAL")) {
        let using = sql.to_ascii_uppercase().find(" USING ").map(|at| &sql[at + " USING ".len()..]);
        let module = using.unwrap_or_default();
        let module = module.split(['(', ' ']).next().unwrap_or_default();
        return Err(Error::unsupported(format!(
            "{name} is a virtual table of {module}; storemark reads tables and views"
        )));
    }
    Ok(if of == "view" { RelationKind::View } else { RelationKind::Table })
}

fn columns(db: &Connection, table: &str) -> Result<Vec<Column>> {
    const COLUMNS: &str = "SELECT name, type, \"notnull\" AND dflt_value IS NULL AND NOT hidden, pk, \
                           \"notnull\", hidden FROM pragma_table_xinfo(?1)";
    let mut columns = Vec::new();
    db.prepare(COLUMNS)?.rows([Parameter::Text(table.as_bytes())], |row| {
        let text = |column| String::from_utf8_lossy(row.text(column)).into_owned();
        let is_set = |column| row.integer(column) != 0;
        columns.push(Column {
            name: text(0),
            declared: text(1).to_uppercase(),
            needed: is_set(2),
            in_key: row.integer(3),
            is_required: is_set(4),
            is_computed: is_set(5),
        });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(columns)
}

/// Returns the name of the rowid, which a column of the same name would hide.
fn rowid(db: &Connection, table: &str, columns: &[Column]) -> Option<String> {
    let is_column = |word: &&str| columns.iter().any(|own| own.name.eq_ignore_ascii_case(word));
    let word = ["rowid", "_rowid_", "oid"].into_iter().find(|word| !is_column(word))?;
    let probe = db.prepare(&format!("SELECT {word} FROM {} LIMIT 0", quoted(table))).ok()?;
    Some(probe.name(0))
}

fn unique(db: &Connection, table: &str) -> Result<Vec<Vec<String>>> {
    const COLUMNS: &str = "SELECT name, name IS NULL FROM pragma_index_info(?1) ORDER BY seqno";
    let literal = table.replace('\'', "''");
    let indexes = format!(
        "SELECT name FROM pragma_index_list('{literal}') WHERE \"unique\" AND NOT partial ORDER BY name"
    );
    let (mut all, mut columns) = (Vec::new(), db.prepare(COLUMNS)?);
    for index in db.column(&indexes, 0)? {
        let (mut names, mut plain) = (Vec::new(), true);
        columns.rows([Parameter::Text(index.as_bytes())], |row| {
            plain &= row.integer(1) == 0;
            names.push(String::from_utf8_lossy(row.text(0)).into_owned());
            Ok(ControlFlow::Continue(()))
        })?;
        if plain {
            all.push(names);
        }
    }
    Ok(all)
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
