//! What differs from one kind of SQL server to another: its driver, its language, its variables.

use std::{
    ops::{ControlFlow, Range},
    path::PathBuf,
};

use model::{Durability, Error, Facet, KeyKind, Mode, Result, Settings, Visit, rows::Style};

use super::{
    address::{Address, AddressForm},
    folder::Folder,
    host::Host,
    software::Software,
    table::{Grammar, Table},
    variables::Variables,
};

/// A parameter of a statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Bytes(&'a [u8]),
}

/// A row of a result; `None`: the column is NULL or has another type.
pub(crate) trait Row {
    fn int(&self, column: usize) -> Option<i64>;
    fn bytes(&self, column: usize) -> Option<&[u8]>;
    fn text(&self, column: usize) -> Option<&str>;
}

/// A connection of a driver.
pub(crate) trait Connection: Sized + Send {
    /// The driver's error.
    type Failure: Send;
    type Statement;
    type Row: Row;

    /// Whether a stream that was stopped outside of a batch leaves the connection unusable.
    const LEFT_AFTER_STOP: bool;

    /// Runs SQL; returns how many rows it changed.
    fn run(&mut self, sql: &str) -> Result<u64, Self::Failure>;

    /// Returns the rows of a query without parameters.
    fn rows(&mut self, sql: &str) -> Result<Vec<Self::Row>, Self::Failure>;

    fn prepare(&mut self, sql: &str) -> Result<Self::Statement, Self::Failure>;

    /// The kind of the keys that a query of the columns `k` and `v` returns.
    fn keys(query: &Self::Statement) -> Option<KeyKind>;

    /// Runs a statement that writes. Returns how many rows it found or inserted; 0 if a key exists
    /// already.
    fn execute(
        &mut self,
        statement: &Self::Statement,
        parameters: &[Value<'_>],
    ) -> Result<u64, Self::Failure>;

    /// Visits the rows of a short query.
    fn each(
        &mut self,
        query: &Self::Statement,
        parameters: &[Value<'_>],
        visit: &mut dyn FnMut(&Self::Row) -> Visit,
    ) -> Result<Visit, Self::Failure>;

    /// Visits the rows of a long query as they arrive.
    fn stream(
        &mut self,
        query: &str,
        in_batch: bool,
        visit: &mut dyn FnMut(&Self::Row) -> Visit,
    ) -> Result<Visit, Self::Failure>;

    /// Returns the number that a query returns; 0 instead of NULL.
    fn number(&mut self, query: &str) -> Result<i64, Self::Failure> {
        Ok(self.rows(query)?.first().and_then(|row| row.int(0)).unwrap_or(0))
    }
}

/// Visits the rows that `next` returns, until there are none or the visitor stops.
pub(crate) fn visit_rows<R, E>(
    mut next: impl FnMut() -> Result<Option<R>, E>,
    visit: &mut dyn FnMut(&R) -> Visit,
) -> Result<Visit, E> {
    while let Some(row) = next()? {
        match visit(&row) {
            Ok(ControlFlow::Continue(())) => {}
            stopped => return Ok(stopped),
        }
    }
    Ok(Ok(ControlFlow::Continue(())))
}

/// The error of a server's driver, its prepared statement, its row.
pub(crate) type Failure<D> = <<D as Dialect>::Conn as Connection>::Failure;
pub(crate) type Statement<D> = <<D as Dialect>::Conn as Connection>::Statement;
pub(crate) type RowOf<D> = <<D as Dialect>::Conn as Connection>::Row;

/// A kind of SQL server with tables of values.
pub(crate) trait Dialect: Sized + Send + Sync + 'static {
    type Conn: Connection;
    /// How to connect.
    type Options: Clone + Send + Sync;
    /// What is fixed once a table is made.
    type Form: Clone + Send + Sync;
    /// How a session counts its waits for locks.
    type Waits;

    const GRAMMAR: Grammar;
    const ADDRESS: AddressForm;
    /// The database of a server that storemark starts, and what creates it.
    const DATABASE: (&'static str, &'static [&'static str]);
    /// Lists all variables with their values.
    const VARIABLES: &'static str;
    /// Limits how long the removal of a table waits for others.
    const LOCK_TIMEOUT: &'static str;
    /// Lists tables and databases other than the store's own.
    const OTHERS: &'static str;

    fn software() -> &'static Software;

    /// An error if settings do not go together.
    fn check(facet: Facet, settings: &Settings) -> Result<()>;

    /// Why a table with `settings` cannot give `class`.
    fn unsupported_reason(_: Durability, _: &Settings) -> Option<String> {
        None
    }

    /// To a database of the server on `folder`; `None`: to the server's own.
    fn to_folder(folder: &Folder, database: Option<&str>) -> Self::Options;

    /// To an existing server; `settings` apply to the session alone.
    fn to_address(address: &Address, settings: &Settings) -> Result<Self::Options>;

    fn connect(options: &Self::Options) -> Result<Self::Conn, Failure<Self>>;

    /// Whether a server does not accept connections yet.
    fn is_starting(failure: &Failure<Self>) -> bool;

    /// Whether the connection is gone.
    fn is_lost(failure: &Failure<Self>) -> bool;

    /// Whether a table exists already.
    fn is_taken(failure: &Failure<Self>) -> bool;

    /// Returns what a failure means, and what would help.
    fn explain(failure: &Failure<Self>, options: &Self::Options) -> Error;

    /// Whether a variable has the value that was asked for, or that the program was expected to
    /// make of it.
    fn took_effect(expected: Option<&str>, asked: &str, found: &str) -> bool;

    fn durability(variables: &Variables, form: &Self::Form) -> Durability;

    /// The settings of a table as read back, without the variables that were asked for by name.
    fn in_effect(facet: Facet, variables: &Variables, form: &Self::Form) -> Settings;

    /// An error if a table, or a server that storemark has not `started`, is set otherwise than
    /// `asked`.
    fn check_fit(
        asked: &Settings,
        variables: &Variables,
        form: &Self::Form,
        started: bool,
    ) -> Result<()>;

    /// The name of a table as statements write it.
    fn table_name(database: &str, table: &str) -> String;

    fn create_table(name: &str, keys: KeyKind, settings: &Settings) -> String;

    /// What returns the form of the table `name` as one row.
    fn form_query(name: &str) -> String;

    fn form(row: &RowOf<Self>) -> Result<Self::Form>;

    /// Most bytes of a name as the primary key.
    fn longest_name(form: &Self::Form) -> usize;

    /// What limits them, for people.
    fn form_name(form: &Self::Form) -> String;

    /// Most bytes of a value.
    fn longest_value(_: &Variables) -> u64 {
        u64::MAX
    }

    /// Why a value of `length` bytes is not written, and what would help.
    fn too_long(length: usize, longest: u64) -> Error {
        Error::unsupported(format!("a value of {length} bytes; at most {longest} are accepted"))
    }

    /// What must run at the end of a pass that writes, on the clock.
    fn settle(_: &Variables, _: &Table<Self::Form>) -> Vec<String> {
        Vec::new()
    }

    /// What the server's own check finds wrong with a table; `None`: it has no check.
    fn integrity(
        _: &mut Self::Conn,
        _: &Table<Self::Form>,
    ) -> Result<Option<Vec<String>>, Failure<Self>> {
        Ok(None)
    }

    fn begin(mode: Mode) -> &'static str;

    /// Whether an operation lost against another session and can be repeated.
    fn can_repeat(failure: &Failure<Self>, in_batch: bool) -> bool;

    /// Whether the server undid the batch, or refuses everything until it is rolled back.
    fn ends_batch(failure: &Failure<Self>) -> bool;

    /// Starts to count the waits of a session.
    fn waits(
        conn: &mut Self::Conn,
        host: &Host<Self>,
        facet: Facet,
    ) -> Result<Self::Waits, Failure<Self>>;

    /// Returns the waits since it was last asked; `None`: they are not counted.
    fn count(waits: &mut Self::Waits, conn: &mut Self::Conn, host: &Host<Self>) -> Option<i64>;
}

/// A kind of SQL server with tables of rows.
pub(crate) trait RowDialect: Dialect {
    /// The server's own counters; they only grow.
    const COUNTERS: &'static [&'static str];

    fn styles(settings: &Settings) -> &'static [Style];

    /// What is fixed of tables that are created with `settings`.
    fn row_form(settings: &Settings) -> Self::Form;

    fn create_database(name: &str) -> String;

    /// The end of the statement that creates the table.
    fn table_options(settings: &Settings) -> String;

    /// Loads rows in the fastest way.
    fn load(conn: &mut Self::Conn, rows: Range<i64>) -> Result<(), Failure<Self>>;

    /// Whether a transaction failed only because of another session.
    fn gave_way(failure: &Failure<Self>, form: &Self::Form) -> bool;

    /// The files of the table in the database that `conn` is in, present or not.
    fn files(
        conn: &mut Self::Conn,
        folder: &Folder,
        database: &str,
        form: &Self::Form,
    ) -> Result<Vec<PathBuf>, Failure<Self>>;

    /// Writes rows that the server put off, so that all sessions see them.
    fn settle_rows(_: &mut Self::Conn, _: &[String], _: &Self::Form) -> Result<(), Failure<Self>> {
        Ok(())
    }

    /// Brings the files to their true size and returns the values of [`Self::COUNTERS`] since the
    /// server started.
    fn counters(
        _: &mut Self::Conn,
        _: &[String],
        _: &Self::Form,
    ) -> Result<Vec<i64>, Failure<Self>> {
        Ok(Vec::new())
    }
}
