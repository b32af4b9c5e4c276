//! A table of the user's own with the key and the value that are read of it, and the statements on it.

use kit::{
    key_columns::{KeyColumns, MOST},
    own_table::{self, Estimate, KEY, Names, WHERE},
};
use model::{Error, Result, Settings};

use super::{
    candidates,
    catalog::{Catalog, Column, ColumnKind, Listed, Relation},
};
use crate::server::host::Host;

/// The most rows of a table of which a read without an index looks at all.
const MANY_ROWS: i64 = 100_000;

/// A table of the user's own.
pub(super) struct UsersTable {
    pub(super) relation: Relation,
    /// The columns of the key.
    pub(super) key: Vec<Column>,
    pub(super) key_columns: KeyColumns,
    pub(super) value: Column,
    pub(super) condition: Option<String>,
    /// The settings that find the values, all of them.
    pub(super) settings: Settings,
    /// Whether no two rows can have the same key.
    pub(super) is_unique: bool,
    /// Whether the server orders keys as storemark does, by an index.
    pub(super) is_ordered: bool,
    /// What a read of a value costs without an index, in words for people; `None` with one.
    pub(super) cost: Option<String>,
    /// Why single values are not read; `None` if they are.
    pub(super) unindexed: Option<String>,
    /// The column without which there is no insert; `None` if there is none.
    pub(super) needs: Option<String>,
}

/// Returns the table that settings name, or the only one that can have the values.
pub(super) fn describe<D: Catalog>(
    host: &Host<D>,
    listed: &[Listed],
    asked: &Settings,
) -> Result<UsersTable> {
    let (relation, value) = candidates::only(host, listed, asked)?;
    let value = relation.column(&value)?.clone();
    let key = key(&relation, asked)?;
    check(&relation, &key, &value)?;
    let names: Vec<_> = key.iter().map(|column| column.name.as_str()).collect();
    let condition = asked.get(WHERE).map(str::to_owned);
    let (table, key_names) =
        (relation.name.to_string(), own_table::column_list(key.iter().map(|column| &column.name)));
    let settings = Names {
        table: &table,
        key: &key_names,
        value: &value.name,
        condition: condition.as_deref(),
    }
    .settings(asked);
    let types = key.iter().filter_map(|column| column.kind?.in_key()).collect();
    let is_set = |column: &Column| names.contains(&&*column.name) || column.name == value.name;
    let needs = relation.columns.iter().find(|column| column.needed && !is_set(column));
    let needs = needs.map(|column| column.name.clone());
    let (key_refs, is_alone): (Vec<_>, _) = (key.iter().collect(), key.len() == 1);
    let mut table = UsersTable {
        is_unique: relation.is_unique(&key_refs),
        is_ordered: is_alone && key[0].is_bytewise,
        key_columns: KeyColumns::new(types),
        relation,
        key,
        value,
        condition,
        settings,
        cost: None,
        unindexed: None,
        needs,
    };
    table.check_condition(host)?;
    table.check_index(host, &key_names)?;
    Ok(table)
}

fn key(relation: &Relation, asked: &Settings) -> Result<Vec<Column>> {
    let names: Vec<String> = match asked.get(KEY) {
        Some(asked) => own_table::column_names(asked),
        None => relation.own_key().ok_or_else(|| {
            let has = if relation.is_view {
                "is a view, which has no key of its own"
            } else {
                "has neither a primary key nor one unique index"
            };
            Error::usage(format!(
                "{} {has}: key=COLUMN or key=COLUMN,COLUMN names one",
                relation.name
            ))
        })?,
    };
    names.iter().map(|name| relation.column(name).cloned()).collect()
}

fn check(relation: &Relation, key: &[Column], value: &Column) -> Result<()> {
    let table = &relation.name;
    let wrong = |why: String| Err(Error::usage(format!("{table}{why}")));
    if key.len() > MOST {
        return wrong(format!(": a key has {MOST} columns at most"));
    }
    if let Some(own) = key.iter().find(|own| own.name == value.name) {
        return wrong(format!(": {} is the value, and no part of the key", own.name));
    }
    if !value.kind.is_some_and(ColumnKind::is_value) {
        let Column { name, declared, .. } = value;
        return wrong(format!(
            ".{name}: its values are {declared}; accepted: bytes, texts and large objects"
        ));
    }
    for Column { name, declared, kind, .. } in key {
        if kind.and_then(ColumnKind::in_key).is_none() {
            return wrong(format!(
                ".{name}: its keys are {declared}; accepted: integers, texts, UUIDs and bytes"
            ));
        }
    }
    Ok(())
}

impl UsersTable {
    /// Returns the condition for the rows that are values.
    pub(super) fn filter(&self) -> Option<String> {
        self.condition.as_ref().map(|sql| format!("({sql})"))
    }

    /// Returns the condition for the row of a key whose first parameter is the `first`.
    pub(super) fn at<D: Catalog>(&self, first: usize) -> String {
        self.at_by::<D>(&|column, n| D::parameter_for(column, n), first)
    }

    fn at_by<D: Catalog>(
        &self,
        parameter: &dyn Fn(&Column, usize) -> String,
        first: usize,
    ) -> String {
        let equal = |(n, column): (usize, &Column)| {
            format!("{}={}", D::GRAMMAR.quoted(&column.name), parameter(column, n))
        };
        let at = (first..).zip(&self.key).map(equal);
        // No other row has the key of a unique index.
        let filter = self.filter().filter(|_| !self.is_unique);
        at.chain(filter).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the expression for a key as a scan shows it.
    pub(super) fn shown<D: Catalog>(&self) -> String {
        let quoted = |column: &Column| D::GRAMMAR.quoted(&column.name);
        match &self.key[..] {
            [column] => D::key_text(column, &quoted(column), true),
            several => {
                let mut texts = Vec::new();
                for column in several {
                    if !texts.is_empty() {
                        texts.push("'/'".to_owned());
                    }
                    texts.push(D::key_text(column, &quoted(column), false));
                }
                D::joined(&texts)
            }
        }
    }

    pub(super) fn order<D: Catalog>(&self) -> String {
        match &self.key[..] {
            [column] if self.is_ordered || self.key_columns != KeyColumns::Text => {
                D::GRAMMAR.quoted(&column.name)
            }
            _ => D::bytewise(&self.shown::<D>()),
        }
    }

    fn check_condition<D: Catalog>(&self, host: &Host<D>) -> Result<()> {
        let Some(condition) = &self.condition else { return Ok(()) };
        let from = &self.relation.quoted;
        let sql = format!("SELECT 1 FROM {from} WHERE ({condition}) LIMIT 0");
        // One line ends a comment, so that what follows is not lost in it.
        let alone = format!("SELECT 1 FROM {from} WHERE ({condition}\n) LIMIT 0");
        let prepared = host.control(|control| {
            control.prepare(&sql)?;
            control.prepare(&alone).map(drop)
        });
        prepared.map_err(|error| Error::usage(format!("where={condition}: {error}")))
    }

    /// Finds out whether an index leads to the row of a key.
    fn check_index<D: Catalog>(&mut self, host: &Host<D>, key: &str) -> Result<()> {
        let quoted = D::GRAMMAR.quoted(&self.value.name);
        let from = &self.relation.quoted;
        let sql = |parameter: &dyn Fn(usize) -> String| {
            let by = |_: &Column, n| parameter(n);
            format!("SELECT {quoted} FROM {from} WHERE {}", self.at_by::<D>(&by, 1))
        };
        if !host.control(|control| control.looks_at_all(&sql))? {
            return Ok(());
        }
        self.is_ordered = false;
        let rows = match self.relation.rows {
            rows if rows > own_table::FEW_ROWS => {
                Estimate { count: rows, how: "about ", mean: None }
            }
            _ => {
                let some = format!("(SELECT 1 FROM {from} LIMIT {})", MANY_ROWS + 1);
                let count = format!("SELECT COUNT(*) FROM {some} AS few");
                let count = host.control(|control| control.number(&count))?;
                Estimate { count, how: "", mean: None }
            }
        };
        if rows.count > MANY_ROWS {
            self.unindexed = Some(own_table::unindexed(key));
        } else if rows.count > own_table::FEW_ROWS {
            self.cost = Some(format!("no index has {key}: each read looks at all of {rows}"));
        }
        Ok(())
    }

    /// Returns the error of an operation that the table does not allow.
    #[cold]
    pub(super) fn refused(&self, why: &str) -> Error {
        Error::usage(format!("{}: {why}", self.relation.name))
    }
}
