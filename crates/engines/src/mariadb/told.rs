//! What a server tells of its variables.

use model::{Error, Result, Settings};
use mysql::{Conn, prelude::Queryable};

use super::{durability::Flushing, kind::Kind, setting};

/// Variables that are told where the server has them, since they make the figures; of those of
/// InnoDB, for its tables.
const TOLD: &[&str] = &[
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_doublewrite",
    "innodb_log_file_size",
    "innodb_log_file_buffering",
    "innodb_buffer_pool_load_at_startup",
    "innodb_fast_shutdown",
    "log_bin",
    "max_allowed_packet",
    "version",
];

/// The value of a variable, where the server has it.
pub(crate) fn variable(conn: &mut Conn, name: &str) -> mysql::Result<Option<String>> {
    let found = conn.exec_first("SHOW VARIABLES WHERE Variable_name = ?", (name,))?;
    Ok(found.map(|(_, value): (String, String)| value))
}

/// The variables that make the class of an InnoDB table.
pub(crate) fn flushing(conn: &mut Conn) -> mysql::Result<Flushing> {
    let mut value = |name| variable(conn, name).map(Option::unwrap_or_default);
    let binlog = value("log_bin")?.eq_ignore_ascii_case("ON");
    Ok(Flushing {
        log: value("innodb_flush_log_at_trx_commit")?,
        method: value("innodb_flush_method")?,
        doublewrite: value("innodb_doublewrite")?,
        binlog: if binlog { Some(value("sync_binlog")?) } else { None },
    })
}

/// The settings of a table of `kind` as the server has them, among them the variables that were
/// `asked` for; `explain` says what a refusal means.
pub(crate) fn in_effect(
    conn: &mut Conn,
    kind: Kind,
    asked: &Settings,
    explain: &dyn Fn(mysql::Error) -> Error,
) -> Result<Settings> {
    let mut found = Settings::default();
    found.set("engine", kind.word());
    found.set("sync", flushing(conn).map_err(explain)?.sync());
    let cache = kind.cache().map(|name| variable(conn, name)).transpose().map_err(explain)?;
    found.set("cache", cache.flatten().unwrap_or_else(|| "0".to_owned()));
    let innodb = kind == Kind::Innodb;
    for name in TOLD.iter().filter(|name| innodb || !name.starts_with("innodb")) {
        if let Some(value) = variable(conn, name).map_err(explain)? {
            found.set(name, value);
        }
    }
    for (name, asked) in setting::variables(asked)? {
        let value = variable(conn, name).map_err(explain)?;
        found.set(&format!("set.{name}"), setting::in_effect(name, asked, value)?);
    }
    Ok(found)
}
