//! The statements for a table whose values were copied to files.

use std::ops::ControlFlow;

use kit::{
    code,
    own_table::{self, TABLE, VALUE, WHERE},
};
use model::{CopiedValues, Error, KeyKind, Result};

use super::{
    describe,
    schema::{Column, Relation, RelationKind, quoted},
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
    check_no_parent(db, &relation, column)?;
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
    const ALL: &str = "SELECT type, name, sql FROM sqlite_master \
                       WHERE tbl_name=?1 COLLATE NOCASE AND type IN ('table','trigger')";
    let mut found = None;
    db.prepare(ALL)?.rows([Parameter::Text(table.as_bytes())], |row| {
        let [of, name, sql] =
            [0, 1, 2].map(|column| String::from_utf8_lossy(row.text(column)).into_owned());
        let code = code::strip(&sql);
        found = found.take().or(match &*of {
            "trigger" => is_on_update(&code).then(|| format!("the trigger {name}")),
            _ => constraint(&code).map(str::to_owned),
        });
        Ok(ControlFlow::Continue(()))
    })?;
    let refuse = |what| Err(Error::unsupported(format!("{what} may change or refuse the update")));
    found.map_or(Ok(()), refuse)
}

/// Checks that no foreign key refers to the column, or to one that is computed: an update would change or
/// refuse rows of other tables.
fn check_no_parent(db: &Connection, relation: &Relation, column: &Column) -> Result<()> {
    const ALL: &str = "SELECT child.name, \"to\" FROM sqlite_master child \
                       JOIN pragma_foreign_key_list(child.name) parent \
                       WHERE child.type='table' AND parent.\"table\"=?1 COLLATE NOCASE";
    let mut found = None;
    db.prepare(ALL)?.rows([Parameter::Text(relation.name.as_bytes())], |row| {
        let [child, to] =
            [0, 1].map(|column| String::from_utf8_lossy(row.text(column)).into_owned());
        let is_computed = relation.column(&to).is_ok_and(|of| of.is_computed);
        // Without a column, a foreign key refers to the primary key.
        let is_own = to.eq_ignore_ascii_case(&column.name) || to.is_empty() && column.in_key > 0;
        if is_computed || is_own {
            found = Some(child);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let refuse = |child| Error::unsupported(format!("a foreign key of {child} may change with it"));
    found.map_or(Ok(()), |child| Err(refuse(child)))
}

/// Reports whether a trigger is called by an update: its event comes before any other one in its code.
fn is_on_update(code: &str) -> bool {
    let mut words = code::words(code).map(|(word, _)| word);
    words.find(|word| ["insert", "update", "delete"].contains(word)) == Some("update")
}

/// Returns what a table has that looks at each update; `None` if there is nothing.
fn constraint(code: &str) -> Option<&'static str> {
    code::words(code).find_map(|(word, after)| {
        let after = after.trim_start();
        match word {
            "check" if after.starts_with('(') => Some("a CHECK constraint"),
            // It deletes the other rows that have the same value then.
            "conflict" if after.starts_with("replace") => Some("ON CONFLICT REPLACE"),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_and_constraints_are_known_by_their_words() {
        for (sql, is_update) in [
            ("CREATE TRIGGER \"a on b\" BEFORE UPDATE OF d ON t BEGIN SELECT 1; END", true),
            ("CREATE TRIGGER last_update AFTER INSERT\nON t BEGIN UPDATE t SET d=1; END", false),
            (
                "CREATE TEMP TRIGGER IF NOT EXISTS x /* insert */ update ON t BEGIN SELECT 1; END",
                true,
            ),
        ] {
            assert_eq!(is_on_update(&code::strip(sql)), is_update, "{sql}");
        }
        let found = |sql: &str| constraint(&code::strip(sql));
        assert_eq!(
            found("CREATE TABLE t(checksum TEXT, last_check INT, s DEFAULT 'check (')"),
            None
        );
        assert_eq!(found("CREATE TABLE t(d BLOB CHECK\n(length(d)))"), Some("a CHECK constraint"));
        let unique = "CREATE TABLE t(d BLOB NOT NULL UNIQUE ON CONFLICT  REPLACE)";
        assert_eq!(found(unique), Some("ON CONFLICT REPLACE"));
    }
}
