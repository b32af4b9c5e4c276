//! Tables of the user's own: found by the schema and a few rows, and read by their own keys and indexes.

mod candidates;
mod check;
mod describe;
mod find;
mod moved;
mod only_read;
mod plan;
mod schema;

use kit::own_table::{self, KEY, TABLE, VALUE, WHERE};
pub(super) use kit::own_table::{SETTINGS, is_named};
use model::{Error, KeyKind, Result, Settings};

pub(super) use check::{RowCheck, rowid};
pub(super) use describe::describe;
pub(super) use find::find;
pub(crate) use find::find_table;
pub(super) use moved::replace_by_paths;
pub(super) use only_read::only_read;
use schema::{Relation, quoted};

use super::{ffi::Connection, table::UsersTable};

/// Lists the columns of the table that are neither key nor value.
pub(super) fn other_columns(db: &Connection, table: &UsersTable) -> Result<Vec<String>> {
    let setting = |name| table.settings.get(name).unwrap_or_default();
    let relation = Relation::read(db, setting(TABLE))?;
    let used = [own_table::column_names(setting(KEY)), vec![setting(VALUE).to_owned()]].concat();
    let is_other = |name: &&str| !used.iter().any(|used| used.eq_ignore_ascii_case(name));
    let names = relation.columns.iter().map(|column| column.name.as_str());
    Ok(names.filter(is_other).map(|name| format!("column {name}")).collect())
}

/// Returns the statement that creates a table with the names in `settings`, and all of these names.
///
/// # Errors
///
/// Fails if the table has no name.
pub(super) fn create(settings: &Settings, keys: KeyKind) -> Result<(String, Settings)> {
    let (usual, of) = match keys {
        KeyKind::Integers => ("id", "INTEGER PRIMARY KEY"),
        KeyKind::Names => ("name", "TEXT PRIMARY KEY NOT NULL"),
    };
    let Some(table) = settings.get(TABLE) else {
        return Err(Error::usage("table= names the table of a new database"));
    };
    if settings.get(WHERE).is_some() {
        return Err(Error::usage("where= is for the rows of a table that exists"));
    }
    let key = settings.get(KEY).unwrap_or(usual);
    let value = settings.get(VALUE).unwrap_or("data");
    let mut all = settings.clone();
    all.set(KEY, key);
    all.set(VALUE, value);
    let names: Vec<_> = own_table::column_names(key).iter().map(|name| quoted(name)).collect();
    let key = if let [name] = &names[..] {
        format!("{name} {of}")
    } else if keys == KeyKind::Names {
        // Numbers without a type would be texts, by which no reader of tiles finds its own.
        let of = if own_table::is_tile(key) { " INTEGER" } else { "" };
        names.iter().map(|name| format!("{name}{of} NOT NULL")).collect::<Vec<_>>().join(", ")
    } else {
        return Err(Error::usage(format!("key={key}: integers have one column")));
    };
    let whole = match names.len() {
        1 => String::new(),
        _ => format!(", PRIMARY KEY({})", names.join(", ")),
    };
    let [table, value] = [table, value].map(quoted);
    Ok((format!("CREATE TABLE {table}({key}, {value} BLOB{whole})"), all))
}
