//! One worker's connection.

use std::{fmt::Write as _, io, ops::Range};

use model::{
    BUSY_RETRIES, Result,
    rows::{MULTI_ROWS, RowSession, Style},
};
use mysql::{Conn, LocalInfileHandler, Statement, prelude::Queryable};

use crate::mariadb::{
    connection::{Connector, code},
    kind::Kind,
};
use crate::sql::parts;

const INSERT: &str = "INSERT INTO foo VALUES ";

pub(super) struct TableSession {
    connector: Connector,
    kind: Kind,
    conn: Conn,
    prepared: Statement,
    /// The statement of the moment.
    sql: String,
    /// Transactions repeated since last asked.
    retries: i64,
}

impl TableSession {
    pub(super) fn new(connector: Connector, kind: Kind) -> Result<Self> {
        let mut conn = connector.connect()?;
        let prepared = conn.prep(format!("{INSERT}(?, ?)")).map_err(|e| connector.explain(e))?;
        Ok(Self { connector, kind, conn, prepared, sql: String::new(), retries: 0 })
    }

    /// Runs a transaction until no other session is in its way.
    fn repeat<T>(
        &mut self,
        mut transaction: impl FnMut(&mut Self) -> mysql::Result<T>,
    ) -> Result<T> {
        loop {
            match transaction(self) {
                Err(error) if self.is_undone(&error) => self.retries += 1,
                done => return done.map_err(|e| self.connector.explain(e)),
            }
        }
    }

    /// Whether a transaction was given up for the sake of another, and nothing is left of it.
    fn is_undone(&mut self, error: &mysql::Error) -> bool {
        let mysql::Error::MySqlError(error) = error else { return false };
        let for_another = [code::LOCK_TIMEOUT, code::DEADLOCK, code::RECORD_CHANGED];
        self.kind == Kind::Innodb
            && for_another.contains(&error.code)
            && self.conn.query_drop("ROLLBACK").is_ok()
    }

    /// One transaction. Its frame is also sent for kinds that have none, as published.
    fn insert_all(&mut self, rows: Range<i64>, style: Style) -> mysql::Result<()> {
        self.conn.query_drop("START TRANSACTION")?;
        let mut single = rows.clone().map(|i| i..i + 1);
        match style {
            Style::Text => single.try_for_each(|row| self.insert_text(INSERT, row)),
            Style::Delayed => {
                single.try_for_each(|row| self.insert_text("INSERT DELAYED INTO foo VALUES ", row))
            }
            Style::Multi => {
                parts(rows, MULTI_ROWS).try_for_each(|part| self.insert_text(INSERT, part))
            }
            Style::Prepared => {
                rows.into_iter().try_for_each(|i| self.conn.exec_drop(&self.prepared, (i, 2 * i)))
            }
            Style::Bulk => self.load(rows),
        }?;
        self.conn.query_drop("COMMIT")
    }

    /// One SQL string for `rows`, made here and parsed by the server.
    #[inline]
    fn insert_text(&mut self, start: &str, rows: Range<i64>) -> mysql::Result<()> {
        self.sql.clear();
        self.sql.push_str(start);
        for i in rows.clone() {
            let comma = if i == rows.start { "" } else { ", " };
            write!(self.sql, "{comma}({i}, {})", 2 * i).expect("a string takes all");
        }
        self.conn.query_drop(&self.sql)
    }

    fn load(&mut self, rows: Range<i64>) -> mysql::Result<()> {
        let lines = move |file: &mut dyn io::Write| {
            rows.clone().try_for_each(|i| writeln!(file, "{i}\t{}", 2 * i))
        };
        let handler = LocalInfileHandler::new(move |_, file| lines(file));
        self.conn.set_local_infile_handler(Some(handler));
        // The name is never looked up: the handler stands for the file.
        self.conn.query_drop("LOAD DATA LOCAL INFILE 'rows' INTO TABLE foo")
    }

    fn number(&mut self, query: &str) -> Result<i64> {
        let found = self.conn.query_first(query).map_err(|e| self.connector.explain(e))?;
        Ok(found.flatten().unwrap_or(0))
    }
}

impl RowSession for TableSession {
    fn insert(&mut self, rows: Range<i64>, style: Style, batch: u64) -> Result<()> {
        parts(rows, batch)
            .try_for_each(|part| self.repeat(|session| session.insert_all(part.clone(), style)))
    }

    fn sum(&mut self) -> Result<i64> {
        self.number("SELECT sum(i2) FROM foo")
    }

    fn add(&mut self, by: i64) -> Result<u64> {
        let statement = format!("UPDATE foo SET i2=i2+{by}");
        self.repeat(|session| session.conn.query_drop(&statement))?;
        // Rows found, as connections are made.
        Ok(self.conn.affected_rows())
    }

    fn count(&mut self) -> Result<u64> {
        Ok(self.number("SELECT count(*) FROM foo")?.unsigned_abs())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        vec![(BUSY_RETRIES, std::mem::take(&mut self.retries))]
    }
}
