//! The table, and the statements on it.

use model::{Error, ErrorKind, KeyKind, Result};
use mysql::{Conn, prelude::Queryable};

use super::{connection::Connector, kind::Kind};

/// Statements by the name of the table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// As a statement names it: quoted, with its database.
    name: String,
    pub(crate) keys: KeyKind,
    pub(crate) kind: Kind,
}

impl Table {
    /// Makes it; what the server makes of `kind` is read back.
    pub(crate) fn create(
        conn: &mut Conn,
        connector: &Connector,
        name: &str,
        kind: Kind,
        keys: KeyKind,
    ) -> Result<Self> {
        let columns = match keys {
            KeyKind::Integers => "k BIGINT NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL".to_owned(),
            KeyKind::Names => format!(
                "k VARBINARY({}) NOT NULL PRIMARY KEY, mode INT UNSIGNED, seconds BIGINT, \
                 nanoseconds INT UNSIGNED, v LONGBLOB NOT NULL",
                kind.longest_name()
            ),
        };
        conn.query_drop(format!("CREATE TABLE {name} ({columns}) ENGINE={}", kind.word()))
            .map_err(|e| connector.explain(e))?;
        let made = Self::find(conn, connector, name)?;
        if made.kind == kind {
            return Ok(made);
        }
        // Without NO_ENGINE_SUBSTITUTION in its sql_mode a server takes another engine.
        let _ = conn.query_drop(made.drop());
        Err(Error::usage(format!("engine={}: the server does not have it", kind.word())))
    }

    /// The table that is there.
    pub(crate) fn find(conn: &mut Conn, connector: &Connector, name: &str) -> Result<Self> {
        let explain = |e| connector.explain(e);
        let (_, made): (String, String) = conn
            .query_first(format!("SHOW CREATE TABLE {name}"))
            .map_err(explain)?
            .ok_or_else(|| Error::new(ErrorKind::Missing, format!("no table {name}")))?;
        let lines: Vec<_> = made.lines().map(str::trim).collect();
        let declared = |start: &str| lines.iter().any(|line| line.starts_with(start));
        let keys = if declared("`k` bigint") {
            KeyKind::Integers
        } else if declared("`k` varbinary") {
            KeyKind::Names
        } else {
            return Err(Error::usage(format!("{name} is no table of storemark's making")));
        };
        let engine = lines.last().and_then(|line| line.split_once("ENGINE="));
        let word = engine.and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or_default();
        let kind = Kind::named(word)
            .ok_or_else(|| Error::unsupported(format!("{name} has the engine {word:?}")))?;
        Ok(Self { name: name.to_owned(), keys, kind })
    }

    pub(crate) fn drop(&self) -> String {
        format!("DROP TABLE {}", self.name)
    }

    pub(crate) fn check(&self) -> String {
        format!("CHECK TABLE {}", self.name)
    }

    pub(crate) fn get(&self) -> String {
        format!("SELECT v FROM {} WHERE k=?", self.name)
    }

    pub(crate) fn insert(&self) -> String {
        match self.keys {
            KeyKind::Integers => format!("INSERT INTO {} (k, v) VALUES (?, ?)", self.name),
            KeyKind::Names => format!(
                "INSERT INTO {} (k, v, mode, seconds, nanoseconds) VALUES (?, ?, ?, ?, ?)",
                self.name
            ),
        }
    }

    pub(crate) fn upsert(&self) -> String {
        let meta = match self.keys {
            KeyKind::Integers => "",
            KeyKind::Names => {
                ", mode=VALUES(mode), seconds=VALUES(seconds), nanoseconds=VALUES(nanoseconds)"
            }
        };
        format!("{} ON DUPLICATE KEY UPDATE v=VALUES(v){meta}", self.insert())
    }

    /// The key comes last.
    pub(crate) fn update(&self) -> String {
        let meta = match self.keys {
            KeyKind::Integers => "",
            KeyKind::Names => ", mode=?, seconds=?, nanoseconds=?",
        };
        format!("UPDATE {} SET v=?{meta} WHERE k=?", self.name)
    }

    pub(crate) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE k=?", self.name)
    }

    /// Key and length, in key order. The index is named since sorting compares the first
    /// `max_sort_length` bytes only.
    pub(crate) fn list(&self) -> String {
        format!("SELECT k, LENGTH(v) FROM {} FORCE INDEX (PRIMARY) ORDER BY k", self.name)
    }

    /// Key, value and what else is kept beside it, in key order.
    pub(crate) fn scan(&self) -> String {
        self.select("")
    }

    /// The same from a key on, that many at most.
    pub(crate) fn scan_from(&self) -> String {
        format!("{} LIMIT ?", self.select(" WHERE k>=?"))
    }

    fn select(&self, which: &str) -> String {
        let meta = match self.keys {
            KeyKind::Integers => "",
            KeyKind::Names => ", mode, seconds, nanoseconds",
        };
        format!("SELECT k, v{meta} FROM {} FORCE INDEX (PRIMARY){which} ORDER BY k", self.name)
    }
}
