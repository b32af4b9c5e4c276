//! The statements for a table whose values were copied to files.

use kit::own_table::{self, WHERE};
use model::{CopiedValues, Error, KeyKind, Result};

use super::{catalog::Catalog, describe::describe, store::connect};

/// Returns the statements that replace the values by paths and give their space back; `None` for a view,
/// or for values that are computed.
///
/// # Errors
///
/// Fails if the statements may do something else than that.
pub(crate) fn replace_by_paths<D: Catalog>(
    copied: &CopiedValues<'_>,
) -> Result<Option<Vec<String>>> {
    let CopiedValues { location, settings, to, suffix } = *copied;
    let host = connect::<D>(location, settings)?;
    let listed = host.control(D::listed)?;
    let table = describe(&host, &listed, settings)?;
    let (relation, value) = (&table.relation, &table.value);
    if relation.is_view || value.is_computed {
        return Ok(None);
    }
    own_table::check_lasts(settings.get(WHERE).unwrap_or_default())?;
    let is_free = |own: &&String| own.starts_with("foreign key ");
    if let Some(own) = relation.not_in_copy.iter().find(|own| !is_free(own)) {
        return Err(Error::unsupported(format!("the {own} may change or refuse the update")));
    }
    let mut path = format!("{}_path", value.name);
    while relation.column(&path).is_ok() {
        path.push('_');
    }
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let (name, path) = (&relation.quoted, D::GRAMMAR.quoted(&path));
    let file = match (table.key_columns.kind(), suffix) {
        // As a folder of numbered files has them.
        (KeyKind::Integers, None) => D::file_number(&D::GRAMMAR.quoted(&table.key[0].name)),
        _ => table.shown::<D>(),
    };
    let folder = literal(&format!("{}/", to.display()));
    let parts = [Some(folder), Some(file), suffix.map(literal)];
    let file = D::joined(&parts.into_iter().flatten().collect::<Vec<_>>());
    let rows = table.filter().map_or_else(String::new, |filter| format!(" WHERE {filter}"));
    let quoted = D::GRAMMAR.quoted(&value.name);
    let empty = if value.is_required { D::EMPTY } else { "NULL" };
    let [before, after] = D::give_back(value, name, &quoted, &rows);
    let alone = if before.is_empty() { format!(", {quoted}={empty}") } else { String::new() };
    let mut statements = vec![
        format!("ALTER TABLE {name} ADD COLUMN {path} {};", D::PATHS),
        // Large objects are unlinked by their numbers, and these replaced only then.
        format!("UPDATE {name} SET {path}={file}{alone}{rows};"),
    ];
    if !before.is_empty() {
        statements.extend(before);
        statements.push(format!("UPDATE {name} SET {quoted}={empty}{rows};"));
    }
    statements.extend(after);
    Ok(Some(statements))
}
