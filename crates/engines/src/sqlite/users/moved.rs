//! The statements for a table whose values were copied to files.

use kit::own_table::{TABLE, VALUE};
use model::{CopiedValues, KeyKind, Result};

use super::{
    describe,
    schema::{Relation, RelationKind, quoted},
};
use crate::sqlite::ffi::Connection;

/// Returns the statements that replace the values by paths and give their space back; `None` for a view,
/// or for values that are computed.
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
