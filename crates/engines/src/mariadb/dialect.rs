//! MariaDB's and MySQL's language, variables and errors.

use std::io;

use model::{Durability, Error, ErrorKind, Facet, KeyKind, Mode, Result, Settings, rows::NULL};
use mysql::{Conn, DriverError, OptsBuilder, ServerError, prelude::Queryable};

use super::{
    connection::{self, is},
    durability,
    kind::Kind,
    program::SOFTWARE,
    variables::same,
};
use crate::server::{
    Address, AddressForm, Connection, Dialect, Folder, Grammar, Host, Row, Software, Table,
    Variables, own_variables, variables,
};

pub(crate) struct Mariadb;

/// Variables that are read back because they make the figures; those of InnoDB for its tables.
const READ_BACK: &[&str] = &[
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

/// Errors of a server that was asked for the wrong thing
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>), and what would help.
const WRONG: &[(&[u16], &str)] = &[
    (
        &[ServerError::ER_ACCESS_DENIED_ERROR as u16],
        "; the password is in the address (%40 for an @ in it) or in MYSQL_PWD",
    ),
    (
        &[
            ServerError::ER_DBACCESS_DENIED_ERROR as u16,
            ServerError::ER_TABLEACCESS_DENIED_ERROR as u16,
        ],
        "; its user makes and drops tables (GRANT CREATE, DROP, SELECT, INSERT, UPDATE, DELETE)",
    ),
    (
        &[
            ServerError::ER_GLOBAL_VARIABLE as u16,
            ServerError::ER_INCORRECT_GLOBAL_LOCAL_VAR as u16,
        ],
        "; an existing server is not changed, only this session",
    ),
    // ER_SECURE_TRANSPORT_REQUIRED
    (&[3159], "; this build speaks no TLS"),
    (
        &[
            ServerError::ER_SPECIFIC_ACCESS_DENIED_ERROR as u16,
            ServerError::ER_UNKNOWN_STORAGE_ENGINE as u16,
        ],
        "",
    ),
];

/// What a statement needs in a packet besides key and value: more than it takes.
const AROUND: u64 = 1024;

impl Dialect for Mariadb {
    type Conn = Conn;
    type Form = Kind;
    type Options = OptsBuilder;
    /// The server's count when last asked, in the one session of a store that counts.
    type Waits = Option<i64>;

    const GRAMMAR: Grammar = Grammar {
        quote: '`',
        parameter: |_| "?".to_owned(),
        // Sorting would compare the first `max_sort_length` bytes only.
        in_key_order: " FORCE INDEX (PRIMARY)",
        or_nothing: "",
        or_update: " ON DUPLICATE KEY UPDATE",
        new: |column| format!("VALUES({column})"),
    };
    const ADDRESS: AddressForm = AddressForm {
        scheme: "mysql",
        servers: "MariaDB or MySQL",
        port: 3306,
        needs_user: true,
        password: "MYSQL_PWD",
        hint: ", for a socket its path with %2F for each /, as host",
    };
    const DATABASE: (&str, &[&str]) = ("storemark", &["CREATE DATABASE storemark"]);
    const VARIABLES: &str = "SHOW VARIABLES";
    const LOCK_TIMEOUT: &str = "SET SESSION lock_wait_timeout=10";
    const OTHERS: &str = "SELECT CONCAT('table ', table_schema, '.', table_name) \
         FROM information_schema.tables \
         WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') \
         AND NOT (table_schema = 'storemark' AND table_name = 'kv') ORDER BY 1";

    fn software() -> &'static Software {
        &SOFTWARE
    }

    fn check(facet: Facet, settings: &Settings) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if let Some((name, _)) = variables(settings).find(|(name, _)| !name.chars().all(plain)) {
            return Err(Error::usage(format!(
                "set.{name}: no name of a variable (letters, digits and _, as in \
                 set.innodb_io_capacity)"
            )));
        }
        let kind = Kind::asked(settings);
        if facet == Facet::Blobs {
            return kind.check_blobs();
        }
        if kind == Kind::Csv && settings.get(NULL.name) != Some("no") {
            return Err(Error::usage("engine=csv: its columns cannot be NULL (accepted: null=no)"));
        }
        kind.check_cache(settings)?;
        own_variables(settings).map(drop)
    }

    fn unsupported_reason(class: Durability, settings: &Settings) -> Option<String> {
        Kind::asked(settings).unsupported_reason(class)
    }

    fn to_folder(folder: &Folder, database: Option<&str>) -> OptsBuilder {
        connection::options(Vec::new())
            .socket(Some(folder.socket().display().to_string()))
            .user(Some("root"))
            .db_name(database)
    }

    fn to_address(address: &Address, settings: &Settings) -> Result<OptsBuilder> {
        let set = |(name, value)| format!("SET SESSION {name}={}", literal(value));
        let options = connection::options(variables(settings).map(set).collect())
            .user(address.user.as_ref())
            .pass(address.password.as_ref())
            .db_name(Some(&address.database));
        Ok(if address.host.starts_with('/') {
            options.socket(Some(&address.host))
        } else {
            options.ip_or_hostname(Some(&address.host)).tcp_port(address.port)
        })
    }

    fn connect(options: &OptsBuilder) -> mysql::Result<Conn> {
        Conn::new(options.clone())
    }

    fn is_starting(failure: &mysql::Error) -> bool {
        Self::is_lost(failure)
    }

    fn is_lost(failure: &mysql::Error) -> bool {
        !matches!(failure, mysql::Error::MySqlError(_))
    }

    fn is_taken(failure: &mysql::Error) -> bool {
        is(failure, ServerError::ER_TABLE_EXISTS_ERROR)
    }

    fn explain(failure: &mysql::Error, _: &OptsBuilder) -> Error {
        match failure {
            mysql::Error::MySqlError(error) => {
                let wrong = WRONG.iter().find(|(codes, _)| codes.contains(&error.code));
                let hint = wrong.map_or("", |(_, hint)| hint);
                let what = format!("{} (error {}){hint}", error.message, error.code);
                let kind = if wrong.is_some() { ErrorKind::Usage } else { ErrorKind::Failed };
                Error::new(kind, what)
            }
            mysql::Error::IoError(cause) if is_absent(cause) => {
                Error::usage(format!("nothing answers there: {cause}"))
            }
            mysql::Error::DriverError(DriverError::CouldNotConnect(why)) => {
                let why = why.as_ref().map_or_else(String::new, |(_, why, _)| format!(": {why}"));
                Error::usage(format!("nothing answers there{why}"))
            }
            other => Error::failed(other.to_string()),
        }
    }

    fn took_effect(_: Option<&str>, asked: &str, found: &str) -> bool {
        same(asked, found)
    }

    fn durability(variables: &Variables, kind: &Kind) -> Durability {
        durability::class(variables, *kind)
    }

    fn in_effect(_: Facet, variables: &Variables, kind: &Kind) -> Settings {
        let mut found = Settings::default();
        found.set("engine", kind.word());
        found.set("sync", durability::sync(variables));
        found.set("cache", kind.cache().and_then(|name| variables.find(name)).unwrap_or("0"));
        let of_kind = |name: &&&str| *kind == Kind::Innodb || !name.starts_with("innodb");
        for name in READ_BACK.iter().filter(of_kind) {
            if let Some(value) = variables.find(name) {
                found.set(name, value);
            }
        }
        found
    }

    fn check_fit(
        asked: &Settings,
        variables: &Variables,
        kind: &Kind,
        started: bool,
    ) -> Result<()> {
        let word = kind.word();
        if let Some(asked) = asked.get("engine").filter(|asked| *asked != word) {
            return Err(Error::usage(format!(
                "engine={asked}: the table is {word}, which is fixed once it is made; a server \
                 without {asked} may take another engine"
            )));
        }
        let sync = durability::sync(variables);
        match asked.get("sync").filter(|asked| *asked != sync) {
            Some(asked) if !started => Err(Error::usage(format!(
                "the server has sync={sync}, not {asked}, and is not changed: \
                 innodb_flush_log_at_trx_commit={}, innodb_flush_method={}, innodb_doublewrite={}; \
                 --durability {} makes the others the same",
                variables.get("innodb_flush_log_at_trx_commit"),
                variables.get("innodb_flush_method"),
                variables.get("innodb_doublewrite"),
                durability::class(variables, *kind)
            ))),
            _ => Ok(()),
        }
    }

    fn table_name(database: &str, table: &str) -> String {
        [database, table].map(|name| Self::GRAMMAR.quoted(name)).join(".")
    }

    fn create_table(name: &str, keys: KeyKind, settings: &Settings) -> String {
        let kind = Kind::asked(settings);
        let columns = match keys {
            KeyKind::Integers => "k BIGINT NOT NULL PRIMARY KEY, v LONGBLOB NOT NULL".to_owned(),
            KeyKind::Names => format!(
                "k VARBINARY({}) NOT NULL PRIMARY KEY, mode INT UNSIGNED, seconds BIGINT, \
                 nanoseconds INT UNSIGNED, v LONGBLOB NOT NULL",
                kind.longest_name()
            ),
        };
        format!("CREATE TABLE {name} ({columns}) ENGINE={}", kind.word())
    }

    fn form_query(name: &str) -> String {
        format!("SHOW CREATE TABLE {name}")
    }

    fn form(row: &mysql::Row) -> Result<Kind> {
        let engine = row.text(1).and_then(|sql| sql.rsplit_once("ENGINE="));
        let word = engine.and_then(|(_, rest)| rest.split_whitespace().next()).unwrap_or_default();
        let unknown = || Error::unsupported(format!("the table has the engine {word:?}"));
        Kind::named(word).ok_or_else(unknown)
    }

    fn longest_name(kind: &Kind) -> usize {
        kind.longest_name()
    }

    fn form_name(kind: &Kind) -> String {
        format!("engine={}", kind.word())
    }

    fn longest_value(variables: &Variables) -> u64 {
        let packet = variables.get("max_allowed_packet").parse::<u64>();
        packet.map_or(u64::MAX, |packet| packet.saturating_sub(AROUND))
    }

    fn too_long(length: usize, longest: u64) -> Error {
        let needed = (length as u64 + AROUND).next_multiple_of(1024);
        Error::usage(format!(
            "a value of {length} bytes does not fit into max_allowed_packet, which is {} bytes on \
             this server; SET GLOBAL max_allowed_packet={needed} (at most 1 GiB) allows it",
            longest + AROUND
        ))
    }

    fn integrity(conn: &mut Conn, table: &Table<Kind>) -> mysql::Result<Option<Vec<String>>> {
        let said: Vec<(String, String, String, String)> =
            conn.query(format!("CHECK TABLE {}", table.name))?;
        let complaints =
            said.into_iter().filter(|(.., kind, text)| kind != "status" || text != "OK");
        Ok(Some(complaints.map(|(.., kind, text)| format!("{kind}: {text}")).collect()))
    }

    fn begin(mode: Mode) -> &'static str {
        match mode {
            Mode::Read => "START TRANSACTION READ ONLY",
            Mode::Write => "START TRANSACTION",
        }
    }

    /// A wait that took too long undoes the statement alone, a deadlock the whole batch.
    fn can_repeat(failure: &mysql::Error, in_batch: bool) -> bool {
        is(failure, ServerError::ER_LOCK_WAIT_TIMEOUT)
            || (is(failure, ServerError::ER_LOCK_DEADLOCK) && !in_batch)
    }

    fn ends_batch(failure: &mysql::Error) -> bool {
        is(failure, ServerError::ER_LOCK_DEADLOCK)
    }

    /// Rows have [`RowDialect::counters`](crate::server::RowDialect::counters) instead.
    fn waits(conn: &mut Conn, _: &Host<Self>, facet: Facet) -> mysql::Result<Option<i64>> {
        let counts = facet == Facet::Blobs && conn.number("SELECT GET_LOCK('storemark', 0)")? == 1;
        counts.then(|| waits(conn)).transpose()
    }

    fn count(waits: &mut Option<i64>, conn: &mut Conn, _: &Host<Self>) -> Option<i64> {
        let now = waits.and_then(|_| self::waits(conn).ok());
        let before = if now.is_some() { std::mem::replace(waits, now) } else { None };
        Some(now.zip(before).map_or(0, |(now, before)| now - before))
    }
}

/// Returns how often sessions waited for rows and tables since the server started; it counts for
/// all sessions together.
pub(super) fn waits(conn: &mut Conn) -> mysql::Result<i64> {
    let counts = conn.rows(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_waits', 'Table_locks_waited')",
    )?;
    Ok(counts.iter().filter_map(|count| count.int(1)).sum())
}

/// Writes a value as a statement does.
fn literal(value: &str) -> String {
    if !value.is_empty() && value.chars().all(|c| c.is_ascii_digit()) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"))
}

fn is_absent(cause: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound, TimedOut,
    };
    matches!(
        cause.kind(),
        ConnectionRefused | HostUnreachable | NetworkUnreachable | NotFound | TimedOut
    )
}
