//! The values of a database, as far as the user does not name them.

use kit::own_table::{self, KEY, TABLE, VALUE, is_named};
use model::{FoundValues, Result, Settings};

use super::{candidates, describe};
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
    let word = |name| settings.get(name).unwrap_or_default();
    let estimate = || {
        let mut candidate = candidates::named(db, word(TABLE), word(VALUE))?;
        candidate.key = Some(own_table::column_names(word(KEY)));
        candidate.estimate(db, &described.filter)
    };
    let mut found = own_table::found(settings.clone(), asked, estimate)?;
    let unindexed = users.and_then(|users| users.unindexed.as_deref());
    found.only_moved = unindexed.map(|why| format!("{}: {why}", word(TABLE)));
    Ok(Some(found))
}

/// Returns the table that `settings` name, or one of storemark's own.
pub(crate) fn find_table(db: &Connection, settings: &Settings) -> Result<SqlTable> {
    if is_named(settings) {
        return describe(db, settings).map_err(|error| db.add_file_name(error));
    }
    SqlTable::find(db, &OWN).cloned()
}
