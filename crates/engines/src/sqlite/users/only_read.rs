//! Why the rows of a table cannot be updated here.

use kit::own_table::TABLE;
use model::{Result, Settings};

use super::describe;
use crate::sqlite::{
    ffi::{Connection, Parameter},
    statements::Writes,
};

/// How SQLite calls a function that a program has to bring along.
const NO_FUNCTION: &str = "no such function: ";

/// Returns why rows of the table that `settings` name are not updated, with the trigger that prevents it;
/// `None` if they are.
pub(crate) fn only_read(db: &Connection, settings: &Settings) -> Result<Option<String>> {
    let table = describe(db, settings)?;
    let Some(why) = Writes::new(db, &table).update.why() else { return Ok(None) };
    let named = table.users.as_ref().and_then(|users| users.settings.get(TABLE));
    let name = named.unwrap_or_default();
    let Some((_, function)) = why.split_once(NO_FUNCTION) else { return Ok(Some(why)) };
    let trigger = trigger(db, name, function)?;
    let of = trigger.map_or_else(String::new, |trigger| format!("trigger {trigger} of "));
    Ok(Some(format!(
        "is only read: {of}{name} calls {function}(), a function of the program that made the database"
    )))
}

/// Returns the first trigger of a table that calls a function.
fn trigger(db: &Connection, table: &str, function: &str) -> Result<Option<String>> {
    const TRIGGERS: &str = "SELECT name FROM sqlite_master WHERE type='trigger' \
                            AND tbl_name=?1 COLLATE NOCASE AND instr(lower(sql), lower(?2)) ORDER BY name";
    let parameters = [table, function].map(|text| Parameter::Text(text.as_bytes()));
    db.prepare(TRIGGERS)?.row(parameters, |row| String::from_utf8_lossy(row.text(0)).into_owned())
}
