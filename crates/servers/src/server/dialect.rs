//! The differences among SQL servers: driver, language and variables.

use std::{
    ffi::OsString,
    io,
    ops::{ControlFlow, Range},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use kit::key_columns::KeyParameter;
use model::{
    BUSY_RETRIES, DurabilitySettings, Error, Facet, KeyKind, LOCK_WAITS, Maintenance, Mode, Result,
    Settings, Visit,
};

use super::{
    address::{Address, AddressForm},
    folder::{ServerFolder, Tcp},
    software::Software,
    table::Grammar,
    variables::Variables,
};

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SqlValue<'a> {
    Null,
    Int(i64),
    Bytes(&'a [u8]),
}

impl<'k> KeyParameter<'k> for SqlValue<'k> {
    const NONE: Self = Self::Null;

    fn integer(number: i64) -> Self {
        Self::Int(number)
    }

    fn text(text: &'k [u8]) -> Self {
        Self::Bytes(text)
    }

    fn bytes(bytes: &'k [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

/// A row of a result. A column is `None` if it is NULL or has another type.
pub(crate) trait ResultRow {
    fn int(&self, column: usize) -> Option<i64>;
    fn bytes(&self, column: usize) -> Option<&[u8]>;
    fn text(&self, column: usize) -> Option<&str>;
}

/// An error of a driver with its meaning.
pub(crate) struct Failure {
    /// The error, with what would help.
    pub(crate) error: Error,
    pub(crate) why: Why,
}

/// The result of an operation of a driver.
pub(crate) type Answer<T> = Result<T, Failure>;

/// The meaning of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Nothing answers, or not yet, or no longer.
    Absent,
    /// The peer does not speak the protocol of such a server, or the connection broke.
    Odd,
    /// The server has not answered in time.
    Silent,
    /// The server ended the connection.
    Lost,
    /// Another session held a lock for too long; the server undid the statement alone.
    Waited,
    /// The server gave up the transaction for another one.
    Undone,
    Other,
}

impl Why {
    /// Returns whether the connection is over.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Absent | Self::Odd | Self::Silent | Self::Lost)
    }

    /// Returns why a connection could not be made, or broke, by the kind of error.
    pub(crate) fn of_io(kind: io::ErrorKind) -> Self {
        use io::ErrorKind::{
            AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, NotFound,
            PermissionDenied, TimedOut,
        };
        match kind {
            AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkUnreachable
            | NotFound | PermissionDenied | TimedOut => Self::Absent,
            _ => Self::Odd,
        }
    }
}

pub(crate) type EachRow<'v, R> = &'v mut dyn FnMut(&R) -> Visit;

/// A connection of a driver.
pub(crate) trait SqlConnection: Sized + Send + 'static {
    type Statement;
    type Row: ResultRow;

    /// Runs SQL; returns how many rows it changed.
    fn run(&mut self, sql: &str) -> Answer<u64>;

    fn run_all<S: AsRef<str>>(&mut self, statements: impl IntoIterator<Item = S>) -> Answer<()> {
        statements.into_iter().try_for_each(|sql| self.run(sql.as_ref()).map(drop))
    }

    /// Returns the rows of a query without parameters.
    fn rows(&mut self, sql: &str) -> Answer<Vec<Self::Row>>;

    fn prepare(&mut self, sql: &str) -> Answer<Self::Statement>;

    /// Returns the kind of the keys that a query of the columns `k` and `v` returns.
    fn keys(query: &Self::Statement) -> Option<KeyKind>;

    /// Runs a statement that writes. Returns how many rows it found or inserted; 0 if a key exists
    /// already.
    fn execute(&mut self, write: &Self::Statement, values: &[SqlValue<'_>]) -> Answer<u64>;

    /// Visits the rows of a query; those that are left when the visitor stops are fetched.
    fn visit_rows(
        &mut self,
        query: &Self::Statement,
        values: &[SqlValue<'_>],
        visit: EachRow<'_, Self::Row>,
    ) -> Answer<Visit>;

    /// Starts to count the waits for locks; `log` is that of a server that storemark started.
    fn count_waits(&mut self, log: Option<&Path>, facet: Facet) -> Answer<()>;

    /// Returns the waits since the last call; `None` if they are not counted.
    fn waits(&mut self) -> Option<i64>;

    /// Returns the variables that a query returns with their values.
    fn pairs(&mut self, query: &str) -> Answer<Variables> {
        let rows = self.rows(query)?;
        let pair = |row: &Self::Row| {
            Some((row.text(0)?.to_owned(), row.text(1).unwrap_or_default().to_owned()))
        };
        Ok(Variables::new(rows.iter().filter_map(pair)))
    }

    /// Returns the number that a query returns; 0 instead of NULL.
    fn number(&mut self, query: &str) -> Answer<i64> {
        Ok(self.rows(query)?.first().and_then(|row| row.int(0)).unwrap_or(0))
    }
}

/// Visits the rows that `next` returns, until there are none or the visitor stops.
pub(crate) fn visit_rows<R, E>(
    mut next: impl FnMut() -> Result<Option<R>, E>,
    visit: EachRow<'_, R>,
) -> Result<Visit, E> {
    while let Some(row) = next()? {
        match visit(&row) {
            Ok(ControlFlow::Continue(())) => {}
            stopped => return Ok(stopped),
        }
    }
    Ok(Ok(ControlFlow::Continue(())))
}

/// A function that connects to a server.
pub(crate) type Connect<C> = Arc<dyn Fn() -> Answer<C> + Send + Sync>;

/// A kind of server, by its connections: how it is reached, and its variables.
pub(crate) trait Peer: Sized + Send + 'static {
    const ADDRESS: AddressForm;

    /// Returns the arguments of the installer.
    const INSTALL: fn(&ServerFolder, &Settings) -> Vec<OsString> = |_, _| Vec::new();

    /// Returns the arguments of the server. The settings that were asked for come before those that
    /// it must have: the server takes the last of two values.
    const START: fn(&ServerFolder, Facet, &Settings) -> Result<Vec<OsString>>;

    /// The variables that it must have.
    const FIXED: &'static [(&'static str, &'static str)] = &[];

    fn software() -> &'static Software;

    /// Returns a function that connects to a database of the server on `folder`, or to the server's
    /// own if `database` is `None`. It uses the socket unless `tcp` has an address.
    fn to_folder(folder: &ServerFolder, database: Option<&str>, tcp: Option<&Tcp>)
    -> Connect<Self>;

    /// Returns a function that connects to an existing server; `settings` apply to the session
    /// alone.
    fn to_address(address: &Address, settings: &Settings) -> Connect<Self>;

    /// Limits each of the next operations.
    fn set_limit(&mut self, limit: Duration);

    /// Returns all variables with their values.
    fn variables(&mut self) -> Answer<Variables>;

    /// Returns whether a variable has the value that was asked for. A server does not start with a
    /// value that it does not accept, but may have one of [`FIXED`](Self::FIXED) instead.
    fn took_effect(name: &str, asked: &str, found: &str) -> bool {
        asked == found || !Self::FIXED.iter().any(|(fixed, _)| name.eq_ignore_ascii_case(fixed))
    }
}

/// Returns the counters of a session.
pub(super) fn statistics(waits: Option<i64>, retries: i64) -> Vec<(&'static str, i64)> {
    let waits = waits.map(|waits| (LOCK_WAITS, waits));
    waits.into_iter().chain([(BUSY_RETRIES, retries)]).collect()
}

/// A kind of SQL server with tables of values and of rows.
pub(crate) trait Dialect: SqlConnection + Peer {
    const GRAMMAR: Grammar;
    const CLASSES: &'static [DurabilitySettings];
    /// The database of a server that storemark starts, and the statements that create it.
    const DATABASE: (&'static str, &'static [&'static str]);
    /// The end of a statement that creates a database.
    const NEW_DATABASE: &'static str;
    /// The variables that the setting `sync` is read from.
    const SYNC: &'static [&'static str];
    /// The statement that limits how long the removal of a table waits for others.
    const LOCK_TIMEOUT: &'static str;
    /// The query that lists tables and databases other than the store's own.
    const OTHERS: &'static str;
    /// The variable that limits the bytes of a statement, if there is one.
    const PACKET: Option<&'static str>;

    /// Checks that settings go together.
    fn check(_: Facet, _: &Settings) -> Result<()> {
        Ok(())
    }

    /// Repairs a store of storemark's own, as [`Blobs::repair`](model::Blobs::repair) does.
    fn repair(_store: &Path) -> Option<String> {
        None
    }

    /// The query for the encryption of a connection; its result is absent or empty if there is
    /// none.
    const ENCRYPTION: &'static str;
    /// The query for the database's tables with a mark of storemark, each with the mark and whether
    /// the connection that created it is gone (1).
    const MARKED: &'static str;

    /// Creates a table by `create`, with the comment `mark`, so that [`Self::MARKED`] shows it as
    /// long as it exists, and the connection as long as it is open.
    fn create_marked(&mut self, create: &str, name: &str, mark: &str) -> Answer<()>;

    /// Returns the word of the setting `sync` for what a server does.
    fn sync(variables: &Variables) -> &'static str;

    /// Returns whether the tables keep what `sync` promises, and have transactions.
    fn is_transactional(_: &Settings) -> bool {
        true
    }

    /// Returns the settings of a table as read back, without `sync`, what is fixed once it is
    /// created, and the variables that were asked for by name.
    fn in_effect(facet: Facet, variables: &Variables, settings: &Settings) -> Settings;

    /// Returns the name of a table as statements write it.
    fn table_name(database: &str, table: &str) -> String;

    fn create_table(name: &str, keys: KeyKind, settings: &Settings) -> String;

    /// Returns the end of a statement that creates a table.
    fn table_options(_: &Settings) -> String {
        String::new()
    }

    /// Returns the setting that is fixed once a table is created, with its word for the table
    /// `name`.
    fn fixed_setting(&mut self, name: &str) -> Answer<(&'static str, String)>;

    /// Returns the most bytes of a name as the primary key.
    fn longest_name(settings: &Settings) -> usize;

    /// Returns the statements that must run at the end of a pass that writes into the table `name`,
    /// on the clock.
    fn flush_statements(_: &Variables, _: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns the statement that gives the space of deleted rows of the table `name` back to the
    /// file system.
    fn reclaim(name: &str) -> String;

    /// Returns the statement of a maintenance of the table `name`; `None` if the server has no such
    /// maintenance.
    fn maintenance(what: Maintenance, name: &str) -> Option<String>;

    /// The names of the program that backs up a server while sessions work.
    const BACKUP: &'static [&'static str];

    /// Returns the arguments with which it writes a backup of the database of values to its standard
    /// output; the server's folder is at `folder`.
    fn backup_arguments(folder: &Path) -> Vec<OsString>;

    /// The logs of a server that storemark starts, among its data.
    const LOGS: &'static [&'static str];

    /// Runs the server's own check of the table `name` and returns its complaints; `None` if it has
    /// no check.
    fn integrity(&mut self, _: &str) -> Answer<Option<Vec<String>>> {
        Ok(None)
    }

    fn begin(mode: Mode) -> &'static str;

    /// Returns whether tables accept `INSERT DELAYED`.
    fn delays(_: &Settings) -> bool {
        false
    }

    /// Loads rows in the fastest way.
    fn load(&mut self, rows: Range<i64>) -> Answer<()>;

    /// Returns the files of the table of rows in the database that the connection is in, present or
    /// not.
    fn files(
        &mut self,
        folder: &ServerFolder,
        database: &str,
        settings: &Settings,
    ) -> Answer<Vec<PathBuf>>;

    /// Writes rows that the server delayed, so that all sessions see them.
    fn flush_rows(&mut self, _: &[String], _: &Settings) -> Answer<()> {
        Ok(())
    }

    /// Brings the files to their true size and returns the server's own counters of rows since it
    /// started.
    fn counters(&mut self, _: &[String], _: &Settings) -> Answer<Vec<(&'static str, i64)>> {
        Ok(Vec::new())
    }
}
