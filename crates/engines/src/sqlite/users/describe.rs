//! The statements for a table of the user's own, as its program would write them.

use std::{borrow::Cow, ffi::CString};

use kit::own_table::{self, FEW_ROWS, KEY, Names, TABLE, VALUE, WHERE};
use model::{Error, ErrorKind, Result, Settings, no_such};

use super::{
    candidates,
    plan::has_step,
    schema::{Column, Relation, RelationKind, quoted},
};
use crate::sqlite::{
    ffi::Connection,
    key_columns::{self, KeyColumn, KeyColumns, MOST},
    table::{SqlTable, UTF_16, UsersTable, part},
};

/// The rows of which a type is read.
const ROWS: u32 = 100;

/// The key, value and condition of a table, checked.
struct Named {
    relation: Relation,
    key: Vec<String>,
    value: String,
    condition: Option<String>,
}

/// Returns the table that `settings` name, or the only one that can have the values.
///
/// # Errors
///
/// Fails if there is none, it has no such columns, or several can have the values.
pub(crate) fn describe(db: &Connection, settings: &Settings) -> Result<SqlTable> {
    let describe = || {
        let named = named(db, settings)?;
        let columns = key_types(db, &named)?;
        let mut table = table(db, &named, &columns)?;
        let users = users(db, settings, &named, &table)?;
        check_encoding(db, &columns, users.of_text)?;
        table.users = Some(users);
        Ok(table)
    };
    // What SQLite cannot prepare, such as a view of a table that is gone, is wrong input.
    describe().map_err(|error: Error| match error.kind() {
        ErrorKind::Failed => error.with_kind(ErrorKind::Usage),
        _ => error,
    })
}

/// Checks that texts have the length and the order of the bytes that are read.
fn check_encoding(db: &Connection, key: &[(KeyColumn, String)], of_text: bool) -> Result<()> {
    let text_key = key.iter().find(|(of, _)| *of == KeyColumn::Text);
    if (text_key.is_none() && !of_text) || !db.is_utf_16()? {
        return Ok(());
    }
    let what = if text_key.is_some() { "keys" } else { "values" };
    Err(Error::unsupported(format!("its {what} are texts: {UTF_16}")))
}

/// Returns the parts of the statements on a table.
fn table(db: &Connection, named: &Named, columns: &[(KeyColumn, String)]) -> Result<SqlTable> {
    let Named { relation, value, condition, .. } = named;
    let key_columns = KeyColumns::new(columns.iter().map(|(of, _)| *of).collect());
    let (name, column) = (quoted(&relation.name), quoted(value));
    let filter = filter(condition.as_deref());
    let keys: Vec<_> = columns.iter().map(|(_, name)| name.as_str()).collect();
    let (relation_name, value_name) = (c_name(&relation.name)?, c_name(value)?);
    let mut at = Vec::new();
    for (place, (name, (of, quoted))) in (1..).zip(named.key.iter().zip(columns)) {
        at.push(format!("{quoted}=?{place}"));
        // The first term uses an index of any collation; this one leaves out keys that are equal under it alone.
        if *of == KeyColumn::Text && !db.compares_bytes(&relation_name, &c_name(name)?) {
            at.push(format!("{quoted}=?{place} COLLATE BINARY"));
        }
    }
    let mut at = at.join(" AND ");
    if condition.is_some() && !relation.is_unique(&named.key) {
        at = format!("{at} AND {filter}");
    }
    let shown = key_columns::shown(columns);
    let (order, single) = match columns {
        [(KeyColumn::Text, name)] => (format!("{name} COLLATE BINARY"), true),
        [(_, name)] => (name.clone(), true),
        _ => (shown.clone(), false),
    };
    let types = columns.iter().map(|(of, name)| format!("typeof({name})='{}'", of.name()));
    let types = types.collect::<Vec<_>>().join(" AND ");
    let rowid = relation.rowid.as_ref().map(|name| quoted(name));
    let next = key_columns.count() + 1;
    let parameters: Vec<_> = (1..=next).map(|place| format!("?{place}")).collect();
    let (unique, parameters) = (keys.join(","), parameters.join(","));
    Ok(SqlTable {
        keys: key_columns.kind(),
        key_columns,
        from: single.then(|| format!("{order}>=?1").into()),
        insert: format!("INSERT INTO {name}({unique},{column}) VALUES({parameters})").into(),
        set: format!("{column}=?{next}").into(),
        length: length(&column).into(),
        facts: format!("0, NULL, NULL, {types}, {}", rowid.as_deref().unwrap_or("NULL")).into(),
        name: name.into(),
        key: shown.into(),
        unique: unique.into(),
        order: order.into(),
        at: at.into(),
        blobs: (relation_name, value_name),
        value: column.into(),
        rowid: rowid.map(Into::into),
        create: part(""),
        columns: &[],
        filter: filter.into(),
        users: None,
    })
}

/// Finds out what only the table itself shows.
fn users(db: &Connection, asked: &Settings, named: &Named, table: &SqlTable) -> Result<UsersTable> {
    let Named { relation, key, value, condition } = named;
    let SqlTable { name, value: column, key: shown, order, at, .. } = table;
    let read = format!("SELECT {column} FROM {name} WHERE {at}");
    let scans = has_step(db, &read, key.len(), &["SCAN "])?;
    let sql = format!("SELECT {shown}, {column} FROM {name} ORDER BY {order}");
    let sorts = has_step(db, &sql, 0, &["TEMP B-TREE"])?;
    let many = || {
        let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {name} LIMIT {})", FEW_ROWS + 1);
        Ok::<_, Error>(db.number(&sql)? > FEW_ROWS)
    };
    let unindexed = (scans && many()?).then(|| own_table::unindexed(&own_table::column_list(key)));
    let is_set = |name: &String| key.contains(name) || name == value;
    let needs = relation.columns.iter().find(|column| column.needed && !is_set(&column.name));
    let parts = Names {
        table: &relation.name,
        key: &own_table::column_list(key),
        value,
        condition: condition.as_deref(),
    };
    let settings = parts.settings(asked);
    let of_text = first_type(db, name, column, &table.filter)?
        .map_or_else(|| relation.column(value).is_ok_and(Column::is_for_text), |of| of == "text");
    let needs = needs.map(|column| column.name.clone());
    let is_unique = relation.is_unique(key);
    Ok(UsersTable { settings, of_text, is_unique, unindexed, sorts, needs })
}

fn named(db: &Connection, settings: &Settings) -> Result<Named> {
    let found = match (settings.get(TABLE), settings.get(VALUE)) {
        (Some(table), Some(value)) => candidates::named(db, table, value)?,
        _ => candidates::only(db, settings)?,
    };
    let (relation, value, own_key) = (found.relation, found.value, found.key);
    let key = match settings.get(KEY) {
        None => own_key.ok_or_else(|| no_key(&relation))?,
        Some(asked) => {
            let names = own_table::column_names(asked);
            names.iter().map(|name| key_column(&relation, name)).collect::<Result<_>>()?
        }
    };
    if key.len() > MOST {
        return Err(Error::usage(format!("{}: a key has {MOST} columns at most", relation.name)));
    }
    if key.contains(&value) {
        let Relation { name, .. } = relation;
        return Err(Error::usage(format!("{name}: {value} is the value, and no part of the key")));
    }
    let condition = settings.get(WHERE).map(str::to_owned);
    if let Some(condition) = &condition {
        check_condition(db, &relation, condition)?;
    }
    Ok(Named { relation, key, value, condition })
}

fn key_column(relation: &Relation, name: &str) -> Result<String> {
    match (relation.column(name), &relation.rowid) {
        (Err(_), Some(rowid)) if ["rowid", "_rowid_", "oid"].contains(&name) => Ok(rowid.clone()),
        (column, _) => Ok(column?.name.clone()),
    }
}

fn no_key(relation: &Relation) -> Error {
    let Relation { name, rowid, kind, .. } = relation;
    let has = match kind {
        RelationKind::View => "is a view, which has no key of its own",
        RelationKind::Table => "has neither a primary key nor one unique index",
    };
    let or = if rowid.is_some() { ", and key=rowid its rows" } else { "" };
    Error::usage(format!("{name} {has}: key=COLUMN or key=COLUMN,COLUMN names one{or}"))
}

/// Returns the condition as it is in statements: `1` for all rows.
fn filter(condition: Option<&str>) -> String {
    condition.map_or("1".to_owned(), |sql| format!("({sql})"))
}

/// Checks that a condition is one expression: with brackets around it, and without.
fn check_condition(db: &Connection, relation: &Relation, condition: &str) -> Result<()> {
    let name = quoted(&relation.name);
    let refuse = |why: &str| Err(Error::usage(format!("{WHERE}={condition}: {why}")));
    for sql in [condition, &filter(Some(condition))] {
        let error = match db.prepare(&format!("SELECT 1 FROM {name} WHERE {sql}")) {
            Ok(statement) if statement.parameter_count() == 0 => continue,
            Ok(_) => {
                return refuse(
                    "has a parameter; accepted: an SQL expression with its values in it",
                );
            }
            Err(error) => error.said(),
        };
        let names = relation.columns.iter().map(|column| column.name.as_str());
        return match error.rsplit_once("no such column: ") {
            Some((_, column)) => refuse(&no_such("column", column, names)),
            None => refuse(&error),
        };
    }
    Ok(())
}

fn key_types(db: &Connection, named: &Named) -> Result<Vec<(KeyColumn, String)>> {
    let Named { relation, key, .. } = named;
    let of = |name: &String| {
        let column = quoted(name);
        if Some(name) == relation.rowid.as_ref() {
            return Ok((KeyColumn::Integer, column));
        }
        let declared = relation.column(name)?;
        let filter = filter(named.condition.as_deref());
        let of = match first_type(db, &quoted(&relation.name), &column, &filter)?.as_deref() {
            Some("integer") => KeyColumn::Integer,
            Some("blob") => KeyColumn::Blob,
            None if declared.declared.contains("INT") => KeyColumn::Integer,
            None if declared.is_for_bytes() && !declared.declared.is_empty() => KeyColumn::Blob,
            Some("text") | None => KeyColumn::Text,
            Some(of) => {
                return Err(Error::usage(format!(
                    "{}.{name}: its keys are {of}; accepted: integers, texts and bytes",
                    relation.name
                )));
            }
        };
        Ok((of, column))
    };
    key.iter().map(of).collect()
}

/// Returns the type of the first value of a column that is not NULL: among some rows, or among all that
/// meet a condition, of which the first may be anywhere.
fn first_type(db: &Connection, table: &str, column: &str, filter: &str) -> Result<Option<String>> {
    let rows = match filter {
        "1" => format!("(SELECT typeof({column}) AS of FROM {table} LIMIT {ROWS})"),
        filter => format!("(SELECT typeof({column}) AS of FROM {table} WHERE {filter})"),
    };
    let sql = format!("SELECT of FROM {rows} WHERE of<>'null' LIMIT 1");
    Ok(db.column(&sql, 0)?.pop())
}

fn length(column: &str) -> String {
    format!(
        "CASE typeof({column}) WHEN 'integer' THEN 8 WHEN 'real' THEN 8 ELSE octet_length({column}) END"
    )
}

fn c_name(name: &str) -> Result<Cow<'static, std::ffi::CStr>> {
    let name = CString::new(name).map_err(|_| Error::usage("a name with a NUL byte"))?;
    Ok(Cow::Owned(name))
}
