//! Facts about a database as a whole: what kvtest's `stat` prints.

use std::path::Path;

use model::{Access, KeyKind, Result};

use super::{
    ffi::{self, Connection},
    file::{check_no_journal, check_whole, opening},
    table::Table,
};

/// What `stat` reports of a database. Sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stat {
    pub count: i64,
    /// Mean length of a value; absent without values.
    pub average: Option<f64>,
    pub smallest: i64,
    pub largest: i64,
    pub page_size: i64,
    pub page_count: i64,
    pub freelist_count: i64,
    /// What `PRAGMA integrity_check(10)` said.
    pub integrity: Vec<String>,
}

/// Looks at the database at `path`; with `vacuum`, rewrites it first.
pub fn stat(path: &Path, vacuum: bool) -> Result<Stat> {
    ffi::check_version()?;
    check_whole(path)?;
    let access = if vacuum { Access::Write } else { Access::Read };
    check_no_journal(path, access)?;
    let db = Connection::open(path, opening(path, access))?;
    let table = db.first(Table::find)?;
    if vacuum {
        db.execute("VACUUM")?;
    }
    let name = table.name.to_string_lossy();
    let length = format!("octet_length({})", table.column.to_string_lossy());
    let about = |what: &str| db.number(&format!("SELECT {what} FROM {name}"));
    let count = about("count(*)")?;
    let sum = about(&format!("sum({length})"))?;
    Ok(Stat {
        count,
        average: (count > 0).then(|| sum as f64 / count as f64),
        smallest: about(&format!("min({length})"))?,
        largest: about(&format!("max({length})"))?,
        page_size: db.number("PRAGMA page_size")?,
        page_count: db.number("PRAGMA page_count")?,
        freelist_count: db.number("PRAGMA freelist_count")?,
        integrity: db.column("PRAGMA integrity_check(10)")?,
    })
}

/// What is not the dataset's: other tables, views and the like, other columns of `kv`, and what
/// an archive holds besides files. SQLite's own tables are not among them.
pub(super) fn others(path: &Path) -> Result<Vec<String>> {
    let db = Connection::open(path, opening(path, Access::Read))?;
    let table = db.first(Table::find)?;
    let own = table.name.to_string_lossy();
    let further = match table.keys {
        KeyKind::Integers => {
            "SELECT 'column '||name FROM pragma_table_info('kv') WHERE name NOT IN ('k','v')"
        }
        KeyKind::Names => {
            "SELECT 'folder or link '||name FROM sqlar WHERE (mode & 61440) IS NOT 32768 LIMIT 3"
        }
    };
    let mut others = db.column(&format!(
        "SELECT type||' '||name FROM sqlite_schema \
         WHERE name<>'{own}' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ))?;
    others.extend(db.column(further)?);
    Ok(others)
}

/// Process-wide memory counters: name, current, highest.
pub fn memory_counters() -> Vec<(&'static str, i64, i64)> {
    ffi::memory_counters()
}
