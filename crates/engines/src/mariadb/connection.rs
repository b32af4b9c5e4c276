//! Connections to a server, by the crate `mysql`.

use std::{ops::ControlFlow, time::Duration};

use model::{KeyKind, Visit};
use mysql::{
    Conn, Error, OptsBuilder, Params, ServerError, Statement, Value as Parameter,
    consts::{CapabilityFlags, ColumnType},
    prelude::Queryable,
};

use crate::server::{Connection, Row, Value, visit_rows};

/// Longest silence of a server: longer than it waits for locks by default (50 s).
const SILENCE: Duration = Duration::from_secs(300);
const CONNECTING: Duration = Duration::from_secs(10);

/// What all connections share; each runs `statements` first.
pub(super) fn options(statements: Vec<String>) -> OptsBuilder {
    // A server may be set up to start a transaction with each connection.
    let first = ["SET SESSION autocommit=1".to_owned()].into_iter().chain(statements);
    OptsBuilder::new()
        .prefer_socket(false)
        .tcp_connect_timeout(Some(CONNECTING))
        .tcp_keepalive_time_ms(Some(10_000))
        .read_timeout(Some(SILENCE))
        .write_timeout(Some(SILENCE))
        // An update that writes the same bytes again counts as well.
        .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
        .init(first.collect::<Vec<_>>())
}

/// Whether the server answered with this error.
pub(super) fn is(error: &Error, what: ServerError) -> bool {
    matches!(error, Error::MySqlError(error) if error.code == what as u16)
}

fn parameters(values: &[Value<'_>]) -> Params {
    let parameter = |value: &Value<'_>| match *value {
        Value::Null => Parameter::NULL,
        Value::Int(number) => Parameter::Int(number),
        Value::Bytes(bytes) => Parameter::Bytes(bytes.to_vec()),
    };
    Params::Positional(values.iter().map(parameter).collect())
}

impl Row for mysql::Row {
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

impl Connection for Conn {
    type Failure = Error;
    type Row = mysql::Row;
    type Statement = Statement;

    const LEFT_AFTER_STOP: bool = true;

    fn run(&mut self, sql: &str) -> mysql::Result<u64> {
        self.query_drop(sql)?;
        Ok(self.affected_rows())
    }

    fn rows(&mut self, sql: &str) -> mysql::Result<Vec<mysql::Row>> {
        self.query(sql)
    }

    fn prepare(&mut self, sql: &str) -> mysql::Result<Statement> {
        self.prep(sql)
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

    fn execute(&mut self, statement: &Statement, values: &[Value<'_>]) -> mysql::Result<u64> {
        match self.exec_drop(statement, parameters(values)) {
            Ok(()) => Ok(self.affected_rows()),
            Err(error) if is(&error, ServerError::ER_DUP_ENTRY) => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn each(
        &mut self,
        query: &Statement,
        values: &[Value<'_>],
        visit: &mut dyn FnMut(&mysql::Row) -> Visit,
    ) -> mysql::Result<Visit> {
        let mut rows = self.exec_iter(query, parameters(values))?;
        visit_rows(|| rows.next().transpose(), visit)
    }

    fn stream(
        &mut self,
        query: &str,
        in_batch: bool,
        visit: &mut dyn FnMut(&mysql::Row) -> Visit,
    ) -> mysql::Result<Visit> {
        let statement = self.prep(query)?;
        let mut rows = self.exec_iter(&statement, ())?;
        let visited = visit_rows(|| rows.next().transpose(), visit)?;
        if !in_batch && !matches!(visited, Ok(ControlFlow::Continue(()))) {
            // Dropping them would fetch all rows that are left, however many. Without a transaction
            // the connection can be left instead.
            std::mem::forget(rows);
        }
        Ok(visited)
    }
}
