//! Rows in PostgreSQL.

use std::{ops::Range, path::PathBuf};

use model::{Settings, rows::Style};
use postgres::{Client, Error, binary_copy::BinaryCopyInWriter, types::Type};

use super::dialect::{Postgres, gave_way};
use crate::server::{Connection, Folder, Row, RowDialect, Value};

impl RowDialect for Postgres {
    /// Sessions count their waits.
    const COUNTERS: &'static [&'static str] = &[];

    fn styles(_: &Settings) -> &'static [Style] {
        &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
    }

    fn row_form(_: &Settings) -> &'static str {
        "plain"
    }

    fn create_database(name: &str) -> String {
        format!("CREATE DATABASE {name} TEMPLATE template0")
    }

    fn table_options(_: &Settings) -> String {
        String::new()
    }

    fn load(client: &mut Client, mut rows: Range<i64>) -> Result<(), Error> {
        let out = client.copy_in("COPY numbers FROM STDIN (FORMAT binary)")?;
        let mut out = BinaryCopyInWriter::new(out, &[Type::INT4, Type::INT4]);
        rows.try_for_each(|i| out.write(&[&Value::Int(i), &Value::Int(2 * i)]))?;
        out.finish().map(drop)
    }

    fn gave_way(failure: &Error, _: &&'static str) -> bool {
        gave_way(failure)
    }

    /// A file is made longer as soon as a row needs a new page, even while the page itself is in
    /// the server's memory only: lengths are true without a checkpoint.
    fn files(
        client: &mut Client,
        folder: &Folder,
        _: &str,
        _: &&'static str,
    ) -> Result<Vec<PathBuf>, Error> {
        let rows = client.rows("SELECT pg_relation_filepath('numbers')")?;
        let Some(first) = rows.first().and_then(|row| row.text(0)) else { return Ok(Vec::new()) };
        let first = folder.data().join(first);
        let with = |end: &str| {
            let mut path = first.clone().into_os_string();
            path.push(end);
            PathBuf::from(path)
        };
        let segments = (1..).map(|n| with(&format!(".{n}"))).take_while(|path| path.exists());
        Ok([first.clone(), with("_fsm"), with("_vm")].into_iter().chain(segments).collect())
    }
}
