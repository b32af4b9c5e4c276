//! The language and the variables of PostgreSQL.

use std::{
    ffi::OsString,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

use model::{DurabilitySettings, Facet, KeyKind, Maintenance, Mode, Settings};
use postgres::{Config, binary_copy::BinaryCopyInWriter, config::SslMode, types::Type};

use super::{
    CLASSES,
    connection::{self, PostgresClient},
    program::{self, PORT, SOFTWARE, USER},
};
use crate::server::{
    Address, AddressForm, Answer, Connect, Dialect, Grammar, LOOPBACK, Peer, ResultRow,
    ServerFolder, Software, SqlConnection, SqlValue, TCP_USER, Tcp, Variables, variables,
};

/// The longest time until an existing server accepts a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most bytes of a name. An entry of a btree has at most a third of a page of 8 KiB, 12 bytes
/// of it in addition to the key.
const LONGEST_NAME: usize = 2692;

impl Peer for PostgresClient {
    const ADDRESS: AddressForm = AddressForm {
        scheme: "postgres",
        servers: "PostgreSQL",
        port: PORT,
        needs_user: false,
        password_of: None,
        password: "PGPASSWORD",
        hint: "",
    };
    const INSTALL: fn(&ServerFolder, &Settings) -> Vec<OsString> = program::installer_arguments;
    const START: fn(&ServerFolder, Facet, &Settings) -> model::Result<Vec<OsString>> =
        program::server_arguments;
    const FIXED: &'static [(&'static str, &'static str)] = program::FIXED;

    fn software() -> &'static Software {
        &SOFTWARE
    }

    fn to_folder(
        folder: &ServerFolder,
        database: Option<&str>,
        tcp: Option<&Tcp>,
    ) -> Connect<Self> {
        let mut config = Config::new();
        // The name of the socket has the port too.
        config.port(folder.tcp().map_or(PORT, |tcp| tcp.port));
        config.dbname(database.unwrap_or(Self::DATABASE.0)).application_name("storemark");
        let Some(Tcp { password, .. }) = tcp else {
            return connection::in_folder(config.user(USER).clone(), folder.clone(), "socket");
        };
        config.host(LOOPBACK).user(TCP_USER).password(password);
        connection::connect_with(config, None, String::new())
    }

    fn to_address(address: &Address, settings: &Settings) -> Connect<Self> {
        let mut config = Config::new();
        config.host(&address.host).port(address.port).dbname(&address.database);
        config.application_name("storemark").connect_timeout(PATIENCE);
        address.user.as_ref().map(|user| config.user(user));
        address.password.as_ref().map(|password| config.password(password.reveal()));
        let commit = |sync| ("synchronous_commit", if sync == "on" { "on" } else { "off" });
        let quoted = |text: &str| text.replace('\'', "''");
        let set = |(name, value): (&str, &str)| {
            format!("SELECT set_config('{}','{}',false);", quoted(name), quoted(value))
        };
        let set = settings.get("sync").map(commit).into_iter().chain(variables(settings)).map(set);
        if address.tls.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        connection::connect_with(config, address.tls.clone(), set.collect())
    }

    fn set_limit(&mut self, limit: Duration) {
        self.driver.set_limit(limit);
    }

    fn variables(&mut self) -> Answer<Variables> {
        self.pairs("SELECT name, setting FROM pg_settings")
    }
}

impl Dialect for PostgresClient {
    const GRAMMAR: Grammar = Grammar {
        quote: '"',
        parameter: |n| format!("${n}"),
        in_key_order: "",
        or_nothing: " ON CONFLICT DO NOTHING",
        or_update: " ON CONFLICT(k) DO UPDATE SET",
        new: |column| format!("excluded.{column}"),
    };
    const CLASSES: &'static [DurabilitySettings] = CLASSES;
    const DATABASE: (&'static str, &'static [&'static str]) = ("postgres", &[]);
    const NEW_DATABASE: &'static str = " TEMPLATE template0";
    const SYNC: &'static [&'static str] = &["fsync", "full_page_writes", "synchronous_commit"];
    const LOCK_TIMEOUT: &'static str = "SET lock_timeout='10s'";
    const OTHERS: &'static str = "SELECT 'the table '||schemaname||'.'||tablename FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog','information_schema') AND tablename<>'kv' \
         UNION ALL SELECT 'the database '||datname FROM pg_database \
         WHERE datname NOT IN ('postgres','template0','template1') ORDER BY 1";
    const PACKET: Option<&'static str> = None;

    const ENCRYPTION: &'static str =
        "SELECT 'tls', coalesce(version, '') FROM pg_stat_ssl WHERE pid=pg_backend_pid()";
    /// An advisory lock with the table's number shows that its owner's connection is open.
    const MARKED: &'static str = "SELECT c.relname::text, obj_description(c.oid, 'pg_class'), \
         (NOT EXISTS (SELECT FROM pg_locks l WHERE l.locktype='advisory' AND l.objsubid=2 \
         AND l.classid=1937010546 AND l.objid=c.oid AND l.database=(SELECT oid FROM pg_database \
         WHERE datname=current_database())))::int::bigint FROM pg_class c WHERE c.relkind='r' \
         AND pg_table_is_visible(c.oid) \
         AND obj_description(c.oid, 'pg_class') LIKE 'storemark: %' ORDER BY 1";

    fn repair(store: &Path) -> Option<String> {
        program::repair(store)
    }

    fn create_marked(&mut self, create: &str, name: &str, mark: &str) -> Answer<()> {
        let [text, mark] = [name, mark].map(|text| text.replace('\'', "''"));
        // One transaction: who sees the table sees the lock.
        let statements = format!(
            "{create}; COMMENT ON TABLE {name} IS '{mark}'; \
             SELECT pg_advisory_lock(1937010546, '{text}'::regclass::oid::int)"
        );
        self.run(&statements).map(drop)
    }

    /// Returns how commits are flushed. Asynchronous commits reach the disk a moment later and in
    /// order; a page that a power cut tears is whole in the WAL only with `full_page_writes`.
    fn sync(variables: &Variables) -> &'static str {
        if variables.is("fsync", "off") || variables.is("full_page_writes", "off") {
            "off"
        } else if variables.is("synchronous_commit", "off") {
            "async"
        } else {
            "on"
        }
    }

    fn in_effect(facet: Facet, variables: &Variables, settings: &Settings) -> Settings {
        let number = |name| variables.get(name).parse::<u64>().unwrap_or(0);
        let mut found = Settings::default();
        found.set("cache", number("shared_buffers") * number("block_size"));
        found.set("set.wal_sync_method", variables.get("wal_sync_method"));
        let autovacuum = variables.get("autovacuum");
        if facet == Facet::Rows {
            found.set("set.autovacuum", autovacuum);
        } else {
            found.set("storage", settings.get("storage").unwrap_or_default());
            found.set("vacuum", if autovacuum == "on" { "auto" } else { "settle" });
        }
        found
    }

    fn table_name(_: &str, table: &str) -> String {
        Self::GRAMMAR.quoted(table)
    }

    fn create_table(name: &str, keys: KeyKind, settings: &Settings) -> String {
        let storage = settings.get("storage").unwrap_or("external");
        let columns = match keys {
            KeyKind::Integers => "k bigint PRIMARY KEY, v bytea NOT NULL",
            KeyKind::Names => {
                "k bytea PRIMARY KEY, v bytea NOT NULL, \
                 mode bigint, seconds bigint, nanoseconds bigint"
            }
        };
        format!("CREATE TABLE {name}({columns}); ALTER TABLE {name} ALTER v SET STORAGE {storage}")
    }

    fn fixed_setting(&mut self, name: &str) -> Answer<(&'static str, String)> {
        self.storage(name, "v")
    }

    fn longest_name(_: &Settings) -> usize {
        LONGEST_NAME
    }

    /// Returns the statements that end a pass. An update leaves the old row, and the new one in the
    /// server's memory and log. Removing the one and writing the other to the files of the table is
    /// a part of its price.
    fn flush_statements(variables: &Variables, name: &str) -> Vec<String> {
        let vacuum = variables.is("autovacuum", "off").then(|| format!("VACUUM {name}"));
        vacuum.into_iter().chain(["CHECKPOINT".to_owned()]).collect()
    }

    fn reclaim(name: &str) -> String {
        format!("VACUUM FULL {name}")
    }

    fn maintenance(what: Maintenance, name: &str) -> Option<String> {
        match what {
            Maintenance::Checkpoint => Some("CHECKPOINT".to_owned()),
            Maintenance::Vacuum => Some(format!("VACUUM {name}")),
            Maintenance::Analyze => Some(format!("ANALYZE {name}")),
            _ => None,
        }
    }

    const BACKUP: &'static [&'static str] = &["pg_dump"];

    fn backup_arguments(folder: &Path) -> Vec<OsString> {
        let user = format!("--username={USER}");
        let fixed = ["--format=custom", "--no-password", &user, Self::DATABASE.0, "--host"];
        let mut all: Vec<_> = fixed.into_iter().map(OsString::from).collect();
        all.push(folder.join("socket").into());
        all
    }

    const LOGS: &'static [&'static str] = &["pg_wal"];

    /// Returns the statement that starts a batch. Reads of a batch see the store as it was when the
    /// batch started, as those of an embedded engine do. Writes see what others have committed,
    /// which is the server's default: with a view of their own, two writers of one key could not
    /// both succeed.
    fn begin(mode: Mode) -> &'static str {
        match mode {
            Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            Mode::Write | Mode::Deferred => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        }
    }

    fn load(&mut self, mut rows: Range<i64>) -> Answer<()> {
        self.driver.during(|client| {
            let out = client.copy_in("COPY numbers FROM STDIN (FORMAT binary)")?;
            let mut out = BinaryCopyInWriter::new(out, &[Type::INT4, Type::INT4]);
            rows.try_for_each(|i| out.write(&[&SqlValue::Int(i), &SqlValue::Int(2 * i)]))?;
            out.finish().map(drop)
        })
    }

    /// Returns the files of a table. A file is made longer as soon as a row needs a new page, even
    /// while the page itself is in the server's memory only: lengths are true without a checkpoint.
    fn files(&mut self, folder: &ServerFolder, _: &str, _: &Settings) -> Answer<Vec<PathBuf>> {
        let rows = self.rows("SELECT pg_relation_filepath('numbers')")?;
        let Some(first) = rows.first().and_then(|row| row.text(0)) else { return Ok(Vec::new()) };
        let with = |end: &str| folder.data().join(format!("{first}{end}"));
        let segments = (1..).map(|n| with(&format!(".{n}"))).take_while(|path| path.exists());
        Ok(["", "_fsm", "_vm"].map(with).into_iter().chain(segments).collect())
    }
}

impl PostgresClient {
    /// Returns how a column is stored, as the setting `storage`.
    pub(super) fn storage(&mut self, name: &str, column: &str) -> Answer<(&'static str, String)> {
        let rows = self.rows(&format!(
            "SELECT coalesce((SELECT attstorage::text FROM pg_attribute \
             WHERE attrelid='{}'::regclass AND attname='{}'), 'p')",
            name.replace('\'', "''"),
            column.replace('\'', "''")
        ))?;
        let storage = match rows.first().and_then(|row| row.text(0)) {
            Some("e") => "external",
            Some("x") => "extended",
            Some("m") => "main",
            _ => "plain",
        };
        Ok(("storage", storage.to_owned()))
    }
}
