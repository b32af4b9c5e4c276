//! Connections to a server, by the crate `postgres`.

use std::{error::Error as _, ops::ControlFlow};

use model::{KeyKind, Mode, Visit};
use postgres::{
    Client, Error, SimpleQueryMessage, Statement,
    error::Severity,
    fallible_iterator::FallibleIterator,
    types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked},
};

use super::dialect::begin;
use crate::server::{Connection, Row, Value, visit_rows};

/// Rows that one fetch of a cursor brings: few, because values are large.
const FETCHED: usize = 32;

/// Returns message, details and advice of the server, or the chain of causes, on one line.
pub(super) fn text(error: &Error) -> String {
    let parts: Vec<_> = match error.as_db_error() {
        Some(said) => [Some(said.message()), said.detail(), said.hint()]
            .into_iter()
            .flatten()
            .map(|part| part.trim_end_matches('.').to_owned())
            .collect(),
        None => std::iter::successors(error.source(), |&cause| cause.source())
            .map(ToString::to_string)
            .collect(),
    };
    let all = if parts.is_empty() { error.to_string() } else { parts.join("; ") };
    all.replace('\n', " | ")
}

/// Whether the connection is gone with it.
pub(super) fn is_lost(error: &Error) -> bool {
    error.as_db_error().is_none_or(|said| {
        matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
    })
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) if *ty == Type::INT4 => i32::try_from(*number)?.to_sql(ty, out),
            Self::Int(number) => number.to_sql(ty, out),
            Self::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT4, Type::INT8, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

impl Row for postgres::Row {
    fn int(&self, column: usize) -> Option<i64> {
        self.try_get(column).or_else(|_| self.try_get::<_, i32>(column).map(i64::from)).ok()
    }

    fn bytes(&self, column: usize) -> Option<&[u8]> {
        self.try_get(column).ok()
    }

    fn text(&self, column: usize) -> Option<&str> {
        self.try_get(column).ok()
    }
}

impl Connection for Client {
    type Failure = Error;
    type Row = postgres::Row;
    type Statement = Statement;

    const LEFT_AFTER_STOP: bool = false;

    fn run(&mut self, sql: &str) -> Result<u64, Error> {
        let messages = self.simple_query(sql)?;
        let changed = messages.iter().rev().find_map(|message| match message {
            SimpleQueryMessage::CommandComplete(rows) => Some(*rows),
            _ => None,
        });
        Ok(changed.unwrap_or(0))
    }

    fn rows(&mut self, sql: &str) -> Result<Vec<postgres::Row>, Error> {
        self.query(sql, &[])
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        Client::prepare(self, sql)
    }

    fn keys(query: &Statement) -> Option<KeyKind> {
        let types: Vec<_> = query.columns().iter().map(postgres::Column::type_).collect();
        match *types {
            [&Type::INT8, &Type::BYTEA] => Some(KeyKind::Integers),
            [&Type::BYTEA, &Type::BYTEA] => Some(KeyKind::Names),
            _ => None,
        }
    }

    fn execute(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<u64, Error> {
        let mut rows = self.query_raw(statement, values)?;
        while rows.next()?.is_some() {}
        Ok(rows.rows_affected().unwrap_or(0))
    }

    fn each(
        &mut self,
        query: &Statement,
        values: &[Value<'_>],
        visit: &mut dyn FnMut(&postgres::Row) -> Visit,
    ) -> Result<Visit, Error> {
        let mut rows = self.query_raw(query, values)?;
        visit_rows(|| rows.next(), visit)
    }

    /// A cursor in a transaction brings them, so that few are in memory and many can be left.
    fn stream(
        &mut self,
        query: &str,
        in_batch: bool,
        visit: &mut dyn FnMut(&postgres::Row) -> Visit,
    ) -> Result<Visit, Error> {
        if in_batch {
            return fetch_all(self, query, visit);
        }
        self.batch_execute(begin(Mode::Read))?;
        let visited = fetch_all(self, query, visit);
        // A rollback fails if the connection is lost, and then there is nothing to roll back.
        let ended = self.batch_execute(if visited.is_ok() { "COMMIT" } else { "ROLLBACK" });
        visited.and_then(|visited| ended.map(|()| visited))
    }
}

fn fetch_all(
    client: &mut Client,
    query: &str,
    visit: &mut dyn FnMut(&postgres::Row) -> Visit,
) -> Result<Visit, Error> {
    client.batch_execute(&format!("DECLARE visited NO SCROLL CURSOR FOR {query}"))?;
    let fetch = Client::prepare(client, &format!("FETCH {FETCHED} FROM visited"))?;
    let visited = loop {
        let mut fetched = 0;
        let visited = Connection::each(client, &fetch, &[], &mut |row| {
            fetched += 1;
            visit(row)
        })?;
        if fetched < FETCHED || !matches!(visited, Ok(ControlFlow::Continue(()))) {
            break visited;
        }
    };
    client.batch_execute("CLOSE visited")?;
    Ok(visited)
}
