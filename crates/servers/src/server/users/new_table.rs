//! A new table of the user's, which has another name until it is whole.

use std::time::{SystemTime, UNIX_EPOCH};

use kit::own_table::{self, KEY, TABLE, VALUE, WHERE, is_tile};
use model::{Error, ErrorKind, KeyKind, OpenOptions, Result, Settings};

use super::{
    catalog::{Catalog, NewTable, key_column},
    name::TableName,
};
use crate::server::{
    host::Host,
    leftovers::{NAME, mark},
};

/// Creates the table that settings name, and returns the name that it has until it is whole, as statements
/// write it, the one that it gets, and the settings that name its parts.
pub(super) fn create<D: Catalog>(
    host: &Host<D>,
    database: &str,
    options: &OpenOptions,
) -> Result<(String, TableName, Settings)> {
    let mut settings = options.settings.clone();
    let Some(table) = settings.get(TABLE).map(str::to_owned) else {
        return Err(Error::usage("table= names the new table").at(&host.shown));
    };
    if settings.get(WHERE).is_some() {
        return Err(Error::usage("where= is for the rows of a table that exists"));
    }
    let becomes = TableName::parse(&table);
    let listed = host.control(D::listed)?;
    if listed.iter().any(|one| becomes.is(&one.name, &one.schema)) {
        let why =
            format!("{table} exists, and is not replaced; --in-place puts the values into it");
        return Err(Error::new(ErrorKind::Exists, why).at(&host.shown));
    }
    let usual = if options.keys == KeyKind::Integers { "id" } else { "name" };
    let key = settings.get(KEY).unwrap_or(usual).to_owned();
    let value = settings.get(VALUE).unwrap_or("data").to_owned();
    settings.set(KEY, &key);
    settings.set(VALUE, &value);
    let columns = own_table::column_names(&key);
    let columns: Vec<_> = columns.iter().map(|name| D::GRAMMAR.quoted(name)).collect();
    if options.keys == KeyKind::Integers && columns.len() > 1 {
        return Err(Error::usage(format!("key={key}: integers have one column")));
    }
    let name = D::table_name(database, &temporary());
    let new = NewTable {
        name: &name,
        becomes: &becomes,
        key: &columns,
        key_column: key_column(options.keys, is_tile(&key)),
        value: &D::GRAMMAR.quoted(&value),
    };
    host.control(|control| {
        let create = control.create_new(&new)?;
        control.create_marked(&create, &name, &mark())
    })?;
    Ok((name, becomes, settings))
}

/// Returns a name that no other table has.
fn temporary() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{NAME}{:x}_{now:x}_new", std::process::id())
}
