//! Connections to a server, by the crate `mysql`.

use std::{borrow::Cow, path::Path, sync::Arc, time::Duration};

use model::{ErrorKind, Facet, KeyKind, Visit};
use mysql::{
    Conn, DriverError, Error, MySqlError, OptsBuilder, Params, ServerError as Code, SslOpts,
    Statement, Value as Parameter,
    consts::{CapabilityFlags, ColumnType},
    prelude::Queryable,
};

use crate::server::{
    Answer, Connect, Driver, EachRow, Failure, ResultRow, ServerFolder, SqlConnection, SqlValue,
    Tls, Why, certificate_error, visit_rows,
};

const CONNECTING: Duration = Duration::from_secs(10);

/// Returns the options that all connections share; each connection runs `statements` first.
pub(super) fn options(statements: impl Iterator<Item = String>) -> OptsBuilder {
    // A server may be set up to start a transaction with each connection.
    let first = ["SET SESSION autocommit=1".to_owned()].into_iter().chain(statements);
    OptsBuilder::new()
        .prefer_socket(false)
        .tcp_connect_timeout(Some(CONNECTING))
        .tcp_keepalive_time_ms(Some(10_000))
        // An update that writes the same bytes again counts as well.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .init(first.collect::<Vec<_>>())
}

/// Returns a function that connects with `options`.
pub(super) fn connect_with(options: OptsBuilder) -> Connect<MariaDbClient> {
    Arc::new(move || connected(options.clone()))
}

/// Returns a function that connects by the socket of the server on `folder`.
pub(super) fn in_folder(options: OptsBuilder, folder: ServerFolder) -> Connect<MariaDbClient> {
    Arc::new(move || {
        let reach = folder.reach().map_err(|error| Failure { error, why: Why::Absent })?;
        connected(options.clone().socket(Some(reach.socket().display().to_string())))
    })
}

fn connected(options: OptsBuilder) -> Answer<MariaDbClient> {
    Ok(MariaDbClient { driver: Driver::connect(|| Conn::new(options))?, waits: None })
}

/// Returns options that check the server's certificate.
pub(super) fn encrypted(tls: &Tls) -> SslOpts {
    SslOpts::default().with_root_cert_path(tls.authorities.clone().map(Cow::Owned))
}

pub(crate) struct MariaDbClient {
    pub(super) driver: Driver<Conn>,
    /// The server's count at the last call, in the one session of a store that counts.
    waits: Option<i64>,
}

impl Drop for MariaDbClient {
    /// Lets the next session count at once: the server notices later that a connection has ended.
    fn drop(&mut self) {
        if self.waits.is_some() {
            // This fails if the connection is lost, and then the lock is released anyway.
            let release = |conn: &mut Conn| conn.query_drop("DO RELEASE_LOCK('storemark')");
            let _ = self.driver.during(release);
        }
    }
}

/// The errors of a server that was asked for the wrong thing
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>), and what would help.
const WRONG: &[(&[u16], &str)] = &[
    (
        &[Code::ER_ACCESS_DENIED_ERROR as u16],
        "; the password is in the address (%40 for an @ in it) or in MYSQL_PWD",
    ),
    (
        &[Code::ER_DBACCESS_DENIED_ERROR as u16, Code::ER_TABLEACCESS_DENIED_ERROR as u16],
        "; its user makes and drops tables (GRANT CREATE, DROP, SELECT, INSERT, UPDATE, DELETE)",
    ),
    (
        &[Code::ER_GLOBAL_VARIABLE as u16, Code::ER_INCORRECT_GLOBAL_LOCAL_VAR as u16],
        "; an existing server is not changed, only this session",
    ),
    // ER_SECURE_TRANSPORT_REQUIRED
    (&[3159], "; ?tls=on or ?tls=FILE encrypts"),
    (&[Code::ER_SPECIFIC_ACCESS_DENIED_ERROR as u16, Code::ER_UNKNOWN_STORAGE_ENGINE as u16], ""),
];

impl From<Error> for Failure {
    #[cold]
    fn from(error: Error) -> Self {
        let (what, why) = match error {
            Error::MySqlError(error) => return answered(&error),
            Error::IoError(cause) => (cause.to_string(), Why::of_io(cause.kind())),
            Error::DriverError(cause) => {
                let why = match &cause {
                    DriverError::CouldNotConnect(cause) => {
                        cause.as_ref().map_or(Why::Absent, |(_, _, kind)| Why::of_io(*kind))
                    }
                    DriverError::ConnectTimeout => Why::Absent,
                    _ => Why::Odd,
                };
                (cause.to_string(), why)
            }
            other => (other.to_string(), Why::Odd),
        };
        match certificate_error(&what) {
            Some(error) => Self { error, why: Why::Other },
            None => Self { error: model::Error::failed(what), why },
        }
    }
}

fn answered(MySqlError { message, code, .. }: &MySqlError) -> Failure {
    let is = |meant: Code| *code == meant as u16;
    let why = if is(Code::ER_LOCK_WAIT_TIMEOUT) {
        Why::Waited
    } else if is(Code::ER_LOCK_DEADLOCK) || is(Code::ER_CHECKREAD) {
        Why::Undone
    } else {
        Why::Other
    };
    let wrong = WRONG.iter().find(|(codes, _)| codes.contains(code));
    let kind = match wrong {
        Some(_) => ErrorKind::Usage,
        None if is(Code::ER_TABLE_EXISTS_ERROR) => ErrorKind::Exists,
        None => ErrorKind::Failed,
    };
    let hint = wrong.map_or("", |(_, hint)| hint);
    Failure { error: model::Error::new(kind, format!("{message} (error {code}){hint}")), why }
}

fn parameters(values: &[SqlValue<'_>]) -> Params {
    let parameter = |value: &SqlValue<'_>| match *value {
        SqlValue::Null => Parameter::NULL,
        SqlValue::Int(number) => Parameter::Int(number),
        SqlValue::Bytes(bytes) => Parameter::Bytes(bytes.to_vec()),
    };
    Params::Positional(values.iter().map(parameter).collect())
}

impl ResultRow for mysql::Row {
    fn int(&self, column: usize) -> Option<i64> {
        match self.as_ref(column)? {
            Parameter::Int(number) => Some(*number),
            Parameter::UInt(number) => i64::try_from(*number).ok(),
            // A query without parameters returns text.
            Parameter::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            _ => None,
        }
    }

    fn bytes(&self, column: usize) -> Option<&[u8]> {
        match self.as_ref(column)? {
            Parameter::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn text(&self, column: usize) -> Option<&str> {
        std::str::from_utf8(self.bytes(column)?).ok()
    }
}

impl MariaDbClient {
    /// Returns how often sessions waited for rows and tables since the server started; it counts
    /// for all sessions together.
    pub(super) fn all_waits(&mut self) -> Answer<i64> {
        self.status("IN ('Innodb_row_lock_waits', 'Table_locks_waited')")
    }

    /// Returns the sum of the server's counters whose names fit.
    pub(super) fn status(&mut self, names: &str) -> Answer<i64> {
        let counts = self.rows(&format!("SHOW GLOBAL STATUS WHERE Variable_name {names}"))?;
        Ok(counts.iter().filter_map(|count| count.int(1)).sum())
    }
}

impl SqlConnection for MariaDbClient {
    type Row = mysql::Row;
    type Statement = Statement;

    fn run(&mut self, sql: &str) -> Answer<u64> {
        self.driver.during(|conn| conn.query_drop(sql))?;
        Ok(self.driver.affected_rows())
    }

    fn rows(&mut self, sql: &str) -> Answer<Vec<mysql::Row>> {
        self.driver.during(|conn| conn.query(sql))
    }

    fn prepare(&mut self, sql: &str) -> Answer<Statement> {
        self.driver.during(|conn| conn.prep(sql))
    }

    fn keys(query: &Statement) -> Option<KeyKind> {
        let columns = query.columns();
        let [k, v] = &*columns else { return None };
        let blob = matches!(
            v.column_type(),
            ColumnType::MYSQL_TYPE_BLOB | ColumnType::MYSQL_TYPE_LONG_BLOB
        );
        match k.column_type() {
            ColumnType::MYSQL_TYPE_LONGLONG if blob => Some(KeyKind::Integers),
            ColumnType::MYSQL_TYPE_VAR_STRING if blob => Some(KeyKind::Names),
            _ => None,
        }
    }

    fn execute(&mut self, write: &Statement, values: &[SqlValue<'_>]) -> Answer<u64> {
        self.driver.during(|conn| match conn.exec_drop(write, parameters(values)) {
            Ok(()) => Ok(conn.affected_rows()),
            Err(Error::MySqlError(error)) if error.code == Code::ER_DUP_ENTRY as u16 => Ok(0),
            Err(error) => Err(error),
        })
    }

    fn visit_rows(
        &mut self,
        query: &Statement,
        values: &[SqlValue<'_>],
        visit: EachRow<'_, mysql::Row>,
    ) -> Answer<Visit> {
        self.driver.during(|conn| {
            let mut rows = conn.exec_iter(query, parameters(values))?;
            visit_rows(|| rows.next().transpose(), visit)
        })
    }

    /// Starts to count waits. Rows have [`Dialect::counters`](crate::server::Dialect::counters)
    /// instead.
    fn count_waits(&mut self, _: Option<&Path>, facet: Facet) -> Answer<()> {
        if facet == Facet::Blobs && self.number("SELECT GET_LOCK('storemark', 0)")? == 1 {
            self.waits = Some(self.all_waits()?);
        }
        Ok(())
    }

    fn waits(&mut self) -> Option<i64> {
        let Some(before) = self.waits else { return Some(0) };
        let now = self.all_waits().unwrap_or(before);
        self.waits = Some(now);
        Some(now - before)
    }
}
