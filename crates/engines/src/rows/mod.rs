//! Engines of `storemark rows`, and their only list.

mod csv;
mod jsonl;
mod lines;
#[cfg(all(unix, feature = "mariadb"))]
mod mariadb;
#[cfg(all(unix, feature = "postgres"))]
mod postgres;
#[cfg(any(feature = "sqlite", all(unix, any(feature = "mariadb", feature = "postgres"))))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;

use model::{Error, Result, nearest, rows::Rows};

static ENGINES: &[&dyn Rows] = &[
    &csv::ENGINE,
    &jsonl::ENGINE,
    #[cfg(feature = "sqlite")]
    &sqlite::SqliteRows,
    #[cfg(all(unix, feature = "postgres"))]
    &postgres::PostgresRows,
    #[cfg(all(unix, feature = "mariadb"))]
    &mariadb::MariadbRows,
];

/// All row engines of this build.
pub fn all() -> &'static [&'static dyn Rows] {
    ENGINES
}

/// The row engine called `name`.
pub fn find(name: &str) -> Result<&'static dyn Rows> {
    all().iter().find(|engine| engine.name() == name).copied().ok_or_else(|| {
        let names: Vec<_> = all().iter().map(|engine| engine.name()).collect();
        let hint = nearest(name, names.iter().copied())
            .map_or_else(String::new, |near| format!(": did you mean {near}?"));
        Error::usage(format!("no engine of rows {name:?}{hint} (accepted: {})", names.join(", ")))
    })
}
