//! Rows in MariaDB.

use std::{io, ops::Range, path::PathBuf};

use model::{
    LOCK_WAITS, Settings,
    rows::{DELAYED_ROWS, Style},
};
use mysql::{Conn, LocalInfileHandler, ServerError, prelude::Queryable};

use super::{
    connection::is,
    dialect::{Mariadb, waits},
    kind::Kind,
};
use crate::server::{Connection, Folder, RowDialect};

impl RowDialect for Mariadb {
    const COUNTERS: &'static [&'static str] = &[LOCK_WAITS, DELAYED_ROWS];

    fn styles(settings: &Settings) -> &'static [Style] {
        if Kind::asked(settings).delays() {
            &Style::ALL
        } else {
            &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
        }
    }

    fn row_form(settings: &Settings) -> Kind {
        Kind::asked(settings)
    }

    fn create_database(name: &str) -> String {
        format!("CREATE DATABASE {name}")
    }

    fn table_options(settings: &Settings) -> String {
        format!(" ENGINE={}", Kind::asked(settings).word())
    }

    fn load(conn: &mut Conn, rows: Range<i64>) -> mysql::Result<()> {
        let lines = move |file: &mut dyn io::Write| {
            rows.clone().try_for_each(|i| writeln!(file, "{i}\t{}", 2 * i))
        };
        let handler = LocalInfileHandler::new(move |_, file| lines(file));
        conn.set_local_infile_handler(Some(handler));
        // No file is opened: the handler writes the rows.
        conn.query_drop("LOAD DATA LOCAL INFILE 'rows' INTO TABLE numbers")
    }

    fn gave_way(failure: &mysql::Error, kind: &Kind) -> bool {
        let for_another = [
            ServerError::ER_LOCK_WAIT_TIMEOUT,
            ServerError::ER_LOCK_DEADLOCK,
            ServerError::ER_CHECKREAD,
        ];
        *kind == Kind::Innodb && for_another.into_iter().any(|code| is(failure, code))
    }

    fn files(
        _: &mut Conn,
        folder: &Folder,
        database: &str,
        kind: &Kind,
    ) -> mysql::Result<Vec<PathBuf>> {
        let table = folder.data().join(database).join("numbers");
        let files: Vec<_> = kind.suffixes().iter().map(|s| table.with_extension(s)).collect();
        let has_own = *kind != Kind::Innodb || files.iter().all(|file| file.exists());
        // One file has them all if innodb_file_per_table is off.
        Ok(if has_own { files } else { vec![folder.data().join("ibdata1")] })
    }

    /// Only delayed rows are put off: a commit of InnoDB has done what its class asks for, and the
    /// other kinds have no commit.
    fn settle_rows(conn: &mut Conn, databases: &[String], kind: &Kind) -> mysql::Result<()> {
        if kind.delays() && counter(conn, "Delayed_insert_threads")? > 0 {
            close_tables(conn, databases)?;
        }
        Ok(())
    }

    /// Aria writes pages at its checkpoints: until then its files do not have their true size.
    fn counters(conn: &mut Conn, databases: &[String], kind: &Kind) -> mysql::Result<Vec<i64>> {
        if *kind == Kind::Aria {
            close_tables(conn, databases)?;
        }
        Ok(vec![waits(conn)?, counter(conn, "Delayed_writes")?])
    }
}

fn counter(conn: &mut Conn, name: &str) -> mysql::Result<i64> {
    let rows = conn.rows(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
    Ok(rows.first().and_then(|row| crate::server::Row::int(row, 1)).unwrap_or(0))
}

/// Writes everything that was put off.
fn close_tables(conn: &mut Conn, databases: &[String]) -> mysql::Result<()> {
    let tables: Vec<_> = databases.iter().map(|name| format!("{name}.numbers")).collect();
    if tables.is_empty() {
        return Ok(());
    }
    conn.query_drop(format!("FLUSH TABLES {}", tables.join(", ")))
}
