//! The values of a database, as far as the user does not name them.

use model::{FoundValues, Result, Settings};

use super::{KEY, TABLE, VALUE, candidates, describe, is_named};
use crate::sqlite::{
    ffi::Connection,
    table::{OWN, SqlTable},
};

/// Returns the settings that name the values of a database which has no table of storemark's own; `None`
/// if it has one, and no other is asked for.
pub(crate) fn find(db: &Connection, asked: &Settings) -> Result<Option<FoundValues>> {
    if !is_named(asked) && SqlTable::is_in(db, &OWN)? {
        return Ok(None);
    }
    let described = describe(db, asked)?;
    let users = described.users.as_ref();
    let settings = users.map(|users| users.settings.clone()).unwrap_or_default();
    if asked.get(TABLE).is_some() && asked.get(VALUE).is_some() {
        return Ok(Some(FoundValues { settings, about: None }));
    }
    let word = |name| settings.get(name).unwrap_or_default();
    let (table, value, key) = (word(TABLE), word(VALUE), word(KEY));
    let estimate = candidates::named(db, table, value)?.estimate(db, &described.filter)?;
    let about = Some(format!("the values are {table}.{value} by {key}: {estimate}"));
    Ok(Some(FoundValues { settings, about }))
}

/// Returns the table that `settings` name, or one of storemark's own.
pub(crate) fn find_table(db: &Connection, settings: &Settings) -> Result<SqlTable> {
    if is_named(settings) {
        return describe(db, settings).map_err(|error| db.add_file_name(error));
    }
    SqlTable::find(db, &OWN).cloned()
}
