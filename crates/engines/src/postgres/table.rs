//! The table in which values stand: key `k`, value `v`, for names also mode and time.

use model::{Error, KeyKind, Result};
use postgres::{Client, error::SqlState, types::Type};

use super::error::told;

/// Where the private server keeps the values.
pub(super) const OWN: &str = "kv";

/// A table and the statements on it. Parameters: `$1` key, `$2` value, and for names `$3` mode,
/// `$4` seconds, `$5` nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) keys: KeyKind,
    /// As statements write it.
    name: String,
}

impl Table {
    pub(super) fn new(name: &str, keys: KeyKind) -> Self {
        Self { keys, name: format!("\"{}\"", name.replace('"', "\"\"")) }
    }

    /// Makes it, its values stored as `storage` says.
    pub(super) fn create(&self, client: &mut Client, storage: &str) -> Result<(), postgres::Error> {
        let columns = match self.keys {
            KeyKind::Integers => "k bigint PRIMARY KEY, v bytea NOT NULL",
            KeyKind::Names => {
                "k bytea PRIMARY KEY, v bytea NOT NULL, \
                 mode bigint, seconds bigint, nanoseconds bigint"
            }
        };
        let name = &self.name;
        client.batch_execute(&format!(
            "CREATE TABLE {name}({columns}); ALTER TABLE {name} ALTER v SET STORAGE {storage}"
        ))
    }

    /// The table `name`, which must be there.
    pub(super) fn find(client: &mut Client, name: &str) -> Result<Self> {
        let table = Self::new(name, KeyKind::Integers);
        let probe =
            client.prepare(&format!("SELECT k, v FROM {}", table.name)).map_err(|e| {
                match e.code() {
                    Some(&SqlState::UNDEFINED_TABLE) => {
                        Error::usage(format!("the database has no table {name}"))
                    }
                    Some(&SqlState::UNDEFINED_COLUMN) => {
                        Error::usage(format!("the table {name} has no columns k and v"))
                    }
                    _ => told(&e),
                }
            })?;
        let types: Vec<_> = probe.columns().iter().map(postgres::Column::type_).collect();
        let keys = match *types {
            [&Type::INT8, &Type::BYTEA] => KeyKind::Integers,
            [&Type::BYTEA, &Type::BYTEA] => KeyKind::Names,
            _ => {
                return Err(Error::usage(format!(
                    "the table {name} holds no dataset: its columns k and v are not bigint or \
                     bytea, and bytea"
                )));
            }
        };
        Ok(Self { keys, ..table })
    }

    pub(super) fn get(&self) -> String {
        format!("SELECT v FROM {} WHERE k=$1", self.name)
    }

    pub(super) fn insert(&self) -> String {
        format!("{} ON CONFLICT DO NOTHING", self.put())
    }

    pub(super) fn update(&self) -> String {
        let meta = match self.keys {
            KeyKind::Integers => "",
            KeyKind::Names => {
                ", mode=coalesce($3,mode), seconds=coalesce($4,seconds), \
                 nanoseconds=coalesce($5,nanoseconds)"
            }
        };
        format!("UPDATE {} SET v=$2{meta} WHERE k=$1", self.name)
    }

    pub(super) fn upsert(&self) -> String {
        let old = &self.name;
        let meta = match self.keys {
            KeyKind::Integers => String::new(),
            KeyKind::Names => ["mode", "seconds", "nanoseconds"]
                .map(|name| format!(", {name}=coalesce(excluded.{name},{old}.{name})"))
                .concat(),
        };
        format!("{} ON CONFLICT(k) DO UPDATE SET v=excluded.v{meta}", self.put())
    }

    fn put(&self) -> String {
        let (columns, values) = match self.keys {
            KeyKind::Integers => ("k,v", "$1,$2"),
            KeyKind::Names => ("k,v,mode,seconds,nanoseconds", "$1,$2,$3,$4,$5"),
        };
        format!("INSERT INTO {}({columns}) VALUES({values})", self.name)
    }

    pub(super) fn delete(&self) -> String {
        format!("DELETE FROM {} WHERE k=$1", self.name)
    }

    /// Columns: key, length.
    pub(super) fn list(&self) -> String {
        format!("SELECT k, octet_length(v)::bigint FROM {} ORDER BY k", self.name)
    }

    /// Columns: key, value, for names also mode, seconds, nanoseconds.
    pub(super) fn scan(&self) -> String {
        self.select("")
    }

    /// The same from key `$1` on, `$2` rows at most.
    pub(super) fn scan_from(&self) -> String {
        format!("{} LIMIT $2", self.select(" WHERE k>=$1"))
    }

    fn select(&self, which: &str) -> String {
        let meta = match self.keys {
            KeyKind::Integers => "",
            KeyKind::Names => ", mode, seconds, nanoseconds",
        };
        format!("SELECT k, v{meta} FROM {}{which} ORDER BY k", self.name)
    }

    pub(super) fn vacuum(&self) -> String {
        format!("VACUUM {}", self.name)
    }

    pub(super) fn removal(&self) -> String {
        format!("DROP TABLE {}", self.name)
    }

    /// How its values are stored: `storage=`'s word.
    pub(super) fn storage(&self, client: &mut Client) -> Result<&'static str, postgres::Error> {
        let sql = "SELECT attstorage::text FROM pg_attribute \
                   WHERE attrelid=$1::text::regclass AND attname='v'";
        let storage: String = client.query_one(sql, &[&self.name])?.get(0);
        Ok(match storage.as_str() {
            "e" => "external",
            "x" => "extended",
            "m" => "main",
            _ => "plain",
        })
    }
}
