//! Connecting to a server, and what its refusals mean.

use std::{io, path::Path, time::Duration};

use model::{Error, ErrorKind, Result};
use mysql::{Conn, OptsBuilder, consts::CapabilityFlags};

use super::address::{Address, Place};
use crate::server::greeted;

/// Longest silence of a server: longer than it waits for locks by default (50 s).
const SILENCE: Duration = Duration::from_secs(300);
const CONNECTING: Duration = Duration::from_secs(10);

/// Numbers of the server's errors
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>).
pub(crate) mod code {
    pub(crate) const RECORD_CHANGED: u16 = 1020;
    pub(crate) const DATABASE_DENIED: u16 = 1044;
    pub(crate) const ACCESS_DENIED: u16 = 1045;
    pub(crate) const NO_DATABASE: u16 = 1049;
    pub(crate) const TABLE_EXISTS: u16 = 1050;
    pub(crate) const DUPLICATE: u16 = 1062;
    pub(crate) const TABLE_DENIED: u16 = 1142;
    pub(crate) const UNKNOWN_VARIABLE: u16 = 1193;
    pub(crate) const LOCK_TIMEOUT: u16 = 1205;
    pub(crate) const DEADLOCK: u16 = 1213;
    pub(crate) const PRIVILEGE_DENIED: u16 = 1227;
    pub(crate) const GLOBAL_VARIABLE: u16 = 1229;
    pub(crate) const WRONG_VALUE: u16 = 1231;
    pub(crate) const WRONG_TYPE: u16 = 1232;
    pub(crate) const READ_ONLY_VARIABLE: u16 = 1238;
    pub(crate) const UNKNOWN_ENGINE: u16 = 1286;
    pub(crate) const TLS_REQUIRED: u16 = 3159;
}

/// How sessions connect.
#[derive(Clone)]
pub(crate) struct Connector {
    options: OptsBuilder,
    /// The server for people.
    shown: String,
}

impl Connector {
    /// To the server on a store's own socket.
    pub(crate) fn to_socket(socket: &Path, database: Option<&str>) -> Self {
        let options = base(&[])
            .socket(Some(socket.display().to_string()))
            .user(Some("root"))
            .db_name(database);
        Self { options, shown: "MariaDB".to_owned() }
    }

    /// To a server that is there; each connection begins with `statements`.
    pub(crate) fn to_address(address: &Address, statements: &[String]) -> Self {
        let options = base(statements)
            .user(Some(&address.user))
            .pass(address.password.as_ref())
            .db_name(Some(&address.database));
        let options = match &address.place {
            Place::Socket(path) => options.socket(Some(path)),
            Place::Host(host, port) => options.ip_or_hostname(Some(host)).tcp_port(*port),
        };
        Self { options, shown: address.to_string() }
    }

    pub(crate) fn connect(&self) -> Result<Conn> {
        Conn::new(self.options.clone()).map_err(|error| self.explain(error))
    }

    /// The first connection: whether a server is there at all shows soon.
    pub(crate) fn greet(&self) -> Result<Conn> {
        let options = self.options.clone();
        let connected = greeted("MariaDB or MySQL", || Conn::new(options));
        connected.map_err(|error| error.context(&self.shown))?.map_err(|error| self.explain(error))
    }

    /// What the server's or the connection's `error` means.
    #[cold]
    pub(crate) fn explain(&self, error: mysql::Error) -> Error {
        let shown = &self.shown;
        match error {
            mysql::Error::MySqlError(error) => {
                let kind = if is_usage(error.code) { ErrorKind::Usage } else { ErrorKind::Failed };
                let hint = hint(error.code);
                Error::new(kind, format!("{shown}: {} (error {}){hint}", error.message, error.code))
            }
            mysql::Error::IoError(cause) if is_absent(&cause) => {
                Error::usage(format!("{shown}: nothing answers there: {cause}"))
            }
            mysql::Error::DriverError(mysql::DriverError::CouldNotConnect(why)) => {
                let why = why.map_or_else(String::new, |(_, why, _)| format!(": {why}"));
                Error::usage(format!("{shown}: nothing answers there{why}"))
            }
            other => Error::failed(format!("{shown}: {other}")),
        }
    }
}

fn base(statements: &[String]) -> OptsBuilder {
    // A server may be set up to begin a transaction with each connection.
    let mut first = vec!["SET SESSION autocommit=1".to_owned()];
    first.extend_from_slice(statements);
    OptsBuilder::new()
        .prefer_socket(false)
        .tcp_connect_timeout(Some(CONNECTING))
        .tcp_keepalive_time_ms(Some(10_000))
        .read_timeout(Some(SILENCE))
        .write_timeout(Some(SILENCE))
        // An update that writes the same bytes again counts as well.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .init(first)
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

/// Whether it was asked for the wrong thing.
fn is_usage(error: u16) -> bool {
    matches!(
        error,
        code::DATABASE_DENIED
            | code::ACCESS_DENIED
            | code::NO_DATABASE
            | code::TABLE_EXISTS
            | code::TABLE_DENIED
            | code::UNKNOWN_VARIABLE
            | code::PRIVILEGE_DENIED
            | code::GLOBAL_VARIABLE
            | code::WRONG_VALUE
            | code::WRONG_TYPE
            | code::READ_ONLY_VARIABLE
            | code::UNKNOWN_ENGINE
            | code::TLS_REQUIRED
    )
}

fn hint(error: u16) -> &'static str {
    match error {
        code::ACCESS_DENIED => {
            "; the password stands in the address (%40 for an @ in it) or in MYSQL_PWD"
        }
        code::DATABASE_DENIED | code::TABLE_DENIED => {
            "; its user makes and drops tables (GRANT CREATE, DROP, SELECT, INSERT, UPDATE, DELETE)"
        }
        code::GLOBAL_VARIABLE | code::READ_ONLY_VARIABLE => {
            "; a server that is there is not changed, only this session"
        }
        code::DEADLOCK => "; the server undid the batch it was in",
        code::TLS_REQUIRED => "; this build speaks no TLS",
        _ => "",
    }
}
