//! PostgreSQL's language, variables and errors.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    time::Duration,
};

use model::{Durability, Error, Facet, KeyKind, Mode, Result, Settings};
use postgres::{Client, Config, Error as Failure, NoTls, error::SqlState};

use super::{
    connection::{is_lost, text},
    program::{PORT, SOFTWARE, USER},
    variables,
};
use crate::server::{
    Address, AddressForm, Connection, Dialect, Folder, Grammar, Host, Row, Software, Table,
    Variables, own_variables,
};

/// Longest time until an existing server accepts a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// An entry of a btree has at most a third of a page of 8 KiB, 12 bytes of it besides the key.
const LONGEST_NAME: usize = 2692;

pub(crate) struct Postgres;

/// How sessions connect.
#[derive(Clone)]
pub(crate) struct Options {
    pub(super) config: Config,
    /// What every session runs first.
    first: String,
}

/// What the server's log has on the waits of a session.
pub(crate) struct Waits {
    /// The server's process for the connection.
    backend: i64,
    /// How far the log was read.
    read: u64,
}

impl Dialect for Postgres {
    type Conn = Client;
    /// How its values are stored: a word of `storage`.
    type Form = &'static str;
    type Options = Options;
    type Waits = Waits;

    const GRAMMAR: Grammar = Grammar {
        quote: '"',
        parameter: |n| format!("${n}"),
        in_key_order: "",
        or_nothing: " ON CONFLICT DO NOTHING",
        or_update: " ON CONFLICT(k) DO UPDATE SET",
        new: |column| format!("excluded.{column}"),
    };
    const ADDRESS: AddressForm = AddressForm {
        scheme: "postgres",
        servers: "PostgreSQL",
        port: PORT,
        needs_user: false,
        password: "PGPASSWORD",
        hint: "",
    };
    const DATABASE: (&str, &[&str]) = ("postgres", &[]);
    const VARIABLES: &str = "SELECT name, setting FROM pg_settings";
    const LOCK_TIMEOUT: &str = "SET lock_timeout='10s'";
    const OTHERS: &str = "SELECT 'the table '||schemaname||'.'||tablename FROM pg_tables \
         WHERE schemaname NOT IN ('pg_catalog','information_schema') AND tablename<>'kv' \
         UNION ALL SELECT 'the database '||datname FROM pg_database \
         WHERE datname NOT IN ('postgres','template0','template1') ORDER BY 1";

    fn software() -> &'static Software {
        &SOFTWARE
    }

    fn check(facet: Facet, settings: &Settings) -> Result<()> {
        if facet == Facet::Rows { own_variables(settings).map(drop) } else { Ok(()) }
    }

    fn to_folder(folder: &Folder, database: Option<&str>) -> Options {
        let mut config = Config::new();
        config.host_path(folder.path().join("socket")).port(PORT).user(USER);
        config.dbname(database.unwrap_or(Self::DATABASE.0)).application_name("storemark");
        Options { config, first: String::new() }
    }

    fn to_address(address: &Address, settings: &Settings) -> Result<Options> {
        let mut config = Config::new();
        config.host(&address.host).port(address.port).dbname(&address.database);
        config.application_name("storemark").connect_timeout(PATIENCE);
        address.user.as_ref().map(|user| config.user(user));
        address.password.as_ref().map(|password| config.password(password));
        Ok(Options { config, first: variables::session(settings) })
    }

    fn connect(options: &Options) -> Result<Client, Failure> {
        let mut client = options.config.connect(NoTls)?;
        client.batch_execute(&options.first)?;
        Ok(client)
    }

    fn is_starting(failure: &Failure) -> bool {
        failure.code().is_none_or(|code| *code == SqlState::CANNOT_CONNECT_NOW)
    }

    fn is_lost(failure: &Failure) -> bool {
        is_lost(failure)
    }

    fn is_taken(failure: &Failure) -> bool {
        failure.code() == Some(&SqlState::DUPLICATE_TABLE)
    }

    fn explain(failure: &Failure, options: &Options) -> Error {
        let text = text(failure);
        let no_password = failure.as_db_error().is_none() && text.contains("password");
        let hint = match failure.code() {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                let user = options.config.get_user().unwrap_or("the user");
                format!("; GRANT CREATE ON SCHEMA public TO {user} lets it make its table")
            }
            code if no_password || code == Some(&SqlState::INVALID_PASSWORD) => {
                "; the password is in the address (%40 for an @ in it) or in PGPASSWORD".to_owned()
            }
            _ => String::new(),
        };
        Error::failed(format!("{text}{hint}"))
    }

    fn took_effect(expected: Option<&str>, _: &str, found: &str) -> bool {
        expected.is_none_or(|expected| expected == found)
    }

    fn durability(variables: &Variables, _: &&'static str) -> Durability {
        variables::durability(variables)
    }

    fn in_effect(facet: Facet, variables: &Variables, storage: &&'static str) -> Settings {
        let mut settings = variables::in_effect(variables);
        let autovacuum = variables.get("autovacuum");
        if facet == Facet::Rows {
            settings.set("set.autovacuum", autovacuum);
        } else {
            settings.set("storage", storage);
            settings.set("vacuum", if autovacuum == "on" { "auto" } else { "settle" });
        }
        settings
    }

    fn check_fit(
        asked: &Settings,
        variables: &Variables,
        _: &&'static str,
        started: bool,
    ) -> Result<()> {
        let found = variables::durability(variables);
        let class = match asked.get("sync") {
            Some("off") => Durability::None,
            Some("async") => Durability::Consistent,
            Some(_) => Durability::Durable,
            None => found,
        };
        if started || found == class {
            return Ok(());
        }
        let needs = if class == Durability::None { "off" } else { "on" };
        Err(Error::usage(format!(
            "gives durability {found}, not {class}: that needs a server with fsync and \
             full_page_writes {needs}"
        )))
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

    fn form_query(name: &str) -> String {
        let name = name.replace('\'', "''");
        format!(
            "SELECT coalesce((SELECT attstorage::text FROM pg_attribute \
             WHERE attrelid='{name}'::regclass AND attname='v'), 'p')"
        )
    }

    fn form(row: &postgres::Row) -> Result<&'static str> {
        Ok(match row.text(0) {
            Some("e") => "external",
            Some("x") => "extended",
            Some("m") => "main",
            _ => "plain",
        })
    }

    fn longest_name(_: &&'static str) -> usize {
        LONGEST_NAME
    }

    fn form_name(_: &&'static str) -> String {
        SOFTWARE.name.to_owned()
    }

    /// An update leaves the old row behind, and the new one in the server's memory and log. What
    /// removes the one and writes the other to the files of the table is a part of its price.
    fn settle(variables: &Variables, table: &Table<&'static str>) -> Vec<String> {
        let vacuum = variables.is("autovacuum", "off").then(|| format!("VACUUM {}", table.name));
        vacuum.into_iter().chain(["CHECKPOINT".to_owned()]).collect()
    }

    fn begin(mode: Mode) -> &'static str {
        begin(mode)
    }

    fn can_repeat(failure: &Failure, in_batch: bool) -> bool {
        !in_batch && gave_way(failure)
    }

    /// After any error the server refuses everything until the transaction is rolled back.
    fn ends_batch(_: &Failure) -> bool {
        true
    }

    fn waits(client: &mut Client, host: &Host<Self>, _: Facet) -> Result<Waits, Failure> {
        let backend = client.number("SELECT pg_backend_pid()")?;
        let read = host.log().and_then(|log| log.metadata().ok()).map_or(0, |meta| meta.len());
        Ok(Waits { backend, read })
    }

    fn count(waits: &mut Waits, _: &mut Client, host: &Host<Self>) -> Option<i64> {
        let mut log = File::open(host.log()?).ok()?;
        log.seek(SeekFrom::Start(waits.read)).ok()?;
        let mut news = Vec::new();
        waits.read += log.read_to_end(&mut news).ok()? as u64;
        let line = format!("process {} still waiting for ", waits.backend);
        String::from_utf8_lossy(&news).matches(&line).count().try_into().ok()
    }
}

/// Reads of a batch see the store as it was when the batch started, as those of an embedded engine
/// do. Writes see what others have committed, which is the server's default: with a view of their
/// own, two writers of one key could not both succeed.
pub(super) fn begin(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        Mode::Write => "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    }
}

/// Whether a transaction failed only because of another session.
pub(super) fn gave_way(failure: &Failure) -> bool {
    let code = failure.code();
    let for_another = [SqlState::T_R_DEADLOCK_DETECTED, SqlState::T_R_SERIALIZATION_FAILURE];
    for_another.iter().any(|state| code == Some(state))
}
