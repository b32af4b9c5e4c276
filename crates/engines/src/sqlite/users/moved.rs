//! The statements for a table whose values were copied to files.

use std::ops::ControlFlow;

use kit::own_table::{self, TABLE, VALUE, WHERE};
use model::{CopiedValues, Error, KeyKind, Result};

use super::{
    describe,
    schema::{Relation, RelationKind, quoted},
};
use crate::sqlite::ffi::{Connection, Parameter};

/// Returns the statements that replace the values by paths and give their space back; `None` for a view,
/// or for values that are computed.
///
/// # Errors
///
/// Fails if the statements may do something else, or something more, than that.
pub(crate) fn replace_by_paths(
    db: &Connection,
    copied: &CopiedValues<'_>,
) -> Result<Option<Vec<String>>> {
    let CopiedValues { settings, to, suffix, .. } = *copied;
    let table = describe(db, settings)?;
    let word = |name| {
        let users = table.users.as_ref();
        users.and_then(|users| users.settings.get(name)).unwrap_or_default().to_owned()
    };
    let relation = Relation::read(db, &word(TABLE))?;
    let column = relation.column(&word(VALUE))?;
    if relation.kind == RelationKind::View || column.is_computed {
        return Ok(None);
    }
    own_table::check_lasts(&word(WHERE))?;
    check_free(db, &relation.name)?;
    let (name, value, key) = (&table.name, &table.value, &table.key);
    let path = quoted(&new_column(&relation, &column.name));
    let folder = to.display().to_string().replace('\'', "''");
    // As a folder of numbered files has them.
    let file = match (table.keys, suffix) {
        (KeyKind::Integers, None) => format!("printf('%06d',{key})"),
        (_, None) => key.to_string(),
        (_, Some(suffix)) => format!("{key}||'{}'", suffix.replace('\'', "''")),
    };
    let empty = if column.is_required { "x''" } else { "NULL" };
    let rows = match &*table.filter {
        "1" => String::new(),
        filter => format!(" WHERE {filter}"),
    };
    Ok(Some(vec![
        format!("ALTER TABLE {name} ADD COLUMN {path} TEXT;"),
        format!("UPDATE {name} SET {path}='{folder}/'||{file}, {value}={empty}{rows};"),
        "VACUUM;".to_owned(),
    ]))
}

/// Returns a name for the column of the paths that no column has.
fn new_column(relation: &Relation, value: &str) -> String {
    let mut name = format!("{value}_path");
    while relation.column(&name).is_ok() {
        name.push('_');
    }
    name
}

/// Checks that no program of the user's decides what an update does.
fn check_free(db: &Connection, table: &str) -> Result<()> {
    const ALL: &str = "SELECT type, name, upper(sql) FROM sqlite_master \
                       WHERE tbl_name=?1 COLLATE NOCASE AND type IN ('table','trigger')";
    let mut found = None;
    db.prepare(ALL)?.rows([Parameter::Text(table.as_bytes())], |row| {
        let [of, name, sql] =
            [0, 1, 2].map(|column| String::from_utf8_lossy(row.text(column)).into_owned());
        let event = sql.split(" ON ").next().unwrap_or_default();
        match &*of {
            "trigger" if event.contains("UPDATE") => found = Some(format!("the trigger {name}")),
            "table" if sql.contains("CHECK") => found = Some("a CHECK constraint".to_owned()),
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let refuse = |what| Err(Error::unsupported(format!("{what} may change or refuse the update")));
    found.map_or(Ok(()), refuse)
}
