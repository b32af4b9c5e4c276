//! The space that a table takes in a database with other tables.

use std::ops::ControlFlow;

use model::Result;

use super::{
    ffi::{Connection, Parameter},
    table::SqlTable,
};

/// The most pages that are counted one by one, so that no time is lost in a large database: 256 MiB in pages
/// of the usual size.
const COUNTED: i64 = 65_536;

/// The first SQLite that lists the pages of one table without reading those of others.
const LISTS_ONE: i32 = 3_031_000;

/// Returns whether other tables are in the database, and the bytes that the tables which a read of a value
/// opens take then, with their indexes; `None` if they are not known: both these and the others have too many
/// pages, or the values are some of the rows only.
pub(super) fn own_bytes(db: &Connection, table: &SqlTable) -> Result<(bool, Option<u64>)> {
    own_bytes_within(db, table, COUNTED)
}

fn own_bytes_within(db: &Connection, table: &SqlTable, most: i64) -> Result<(bool, Option<u64>)> {
    let roots = roots(db, table)?;
    let of = |is_own: bool| {
        let not = if is_own { "" } else { "NOT" };
        let sql = format!(
            "SELECT name FROM sqlite_master WHERE rootpage>0 AND tbl_name {not} IN \
             (SELECT tbl_name FROM sqlite_master WHERE rootpage IN ({roots}))"
        );
        db.column(&sql, 0)
    };
    let others = of(false)?;
    if others.is_empty() {
        return Ok((false, None));
    }
    let is_listed = db.number("SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')")? != 0
        && db.version_number() >= LISTS_ONE;
    if !is_listed || table.filter != "1" && table.users.is_some() {
        return Ok((true, None));
    }
    let mut pages = pages(db, &of(true)?, most)?;
    if pages.is_none()
        && let Some(others) = self::pages(db, &others, most)?
    {
        let all = db.number("PRAGMA page_count")? - db.number("PRAGMA freelist_count")?;
        pages = Some(all - others);
    }
    let size = db.number("PRAGMA page_size")?;
    Ok((true, pages.map(|pages| (pages * size).unsigned_abs())))
}

/// Returns the root pages of the tables and indexes that a read of a value opens, with commas between them.
fn roots(db: &Connection, table: &SqlTable) -> Result<String> {
    let SqlTable { name, value, at, .. } = table;
    let mut steps = db.prepare(&format!("EXPLAIN SELECT {value} FROM {name} WHERE {at}"))?;
    let mut roots = Vec::new();
    let parameters = usize::try_from(steps.parameter_count()).unwrap_or(0);
    steps.rows(vec![Parameter::Null; parameters], |row| {
        // Columns: addr, opcode, p1, p2 (the root page), p3 (the database).
        if row.text(1) == b"OpenRead" && row.integer(4) == 0 {
            roots.push(row.integer(3).to_string());
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(roots.join(","))
}

/// Counts the pages of tables and indexes; `None` if there are `most` or more.
fn pages(db: &Connection, names: &[String], most: i64) -> Result<Option<i64>> {
    let mut listed =
        db.prepare("SELECT count(*) FROM (SELECT 1 FROM dbstat WHERE name=?1 LIMIT ?2)")?;
    let mut pages = 0;
    for name in names {
        let rest = [Parameter::Text(name.as_bytes()), Parameter::Integer(most - pages)];
        pages += listed.row(rest, |row| row.integer(0))?.unwrap_or_default();
        if pages >= most {
            return Ok(None);
        }
    }
    Ok(Some(pages))
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;
    use crate::sqlite::{
        ffi::{LINKED, Open},
        table::KV,
        users,
    };

    /// The first table has 30 pages or a few more, the others 110.
    fn two_tables() -> Connection {
        let db = Connection::open(&LINKED, "".as_ref(), Open::Memory).unwrap();
        db.execute("PRAGMA page_size=1024").unwrap();
        db.execute("CREATE TABLE photos(id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB)")
            .unwrap();
        db.execute("CREATE VIEW shown AS SELECT id AS id, data AS data FROM photos").unwrap();
        db.execute(&KV.create).unwrap();
        for key in 1..=10 {
            let values = format!("VALUES({key}, 'n{key}', zeroblob(3000))");
            db.execute(&format!("INSERT INTO photos {values}")).unwrap();
            db.execute(&format!("INSERT INTO kv VALUES({key}, zeroblob(11000))")).unwrap();
        }
        db
    }

    fn of(db: &Connection, table: &str) -> SqlTable {
        let mut settings = Settings::default();
        for (name, word) in table.split('&').map(|pair| pair.split_once('=').unwrap()) {
            settings.set(name, word);
        }
        users::describe(db, &settings).unwrap()
    }

    fn is_about(bytes: Option<u64>, kib: u64) -> bool {
        bytes.is_some_and(|bytes| (kib..kib + kib / 4).contains(&(bytes / 1024)))
    }

    #[test]
    fn a_table_has_the_space_of_its_own_pages_and_indexes() {
        let db = two_tables();
        for (table, kib) in [("table=photos", 31), ("table=shown&key=id&value=data", 31)] {
            let (shares, own) = own_bytes(&db, &of(&db, table)).unwrap();
            assert!(shares && is_about(own, kib), "{table}: {own:?}");
        }
        let (shares, own) = own_bytes(&db, &KV).unwrap();
        assert!(shares && is_about(own, 110), "{own:?}");
        db.execute("DROP TABLE photos").unwrap();
        assert_eq!(own_bytes(&db, &KV).unwrap(), (false, None), "it has the file alone");
    }

    #[test]
    fn a_large_table_has_the_space_that_small_ones_leave() {
        let db = two_tables();
        db.execute("DELETE FROM photos WHERE id>2").unwrap();
        let own = |most| own_bytes_within(&db, &KV, most).unwrap().1;
        assert!(is_about(own(50), 110), "free pages are nobody's: {:?}", own(50));
        assert_eq!(own(5), None, "too many on both sides");
    }

    #[test]
    fn some_rows_of_a_table_have_no_space_of_their_own() {
        let db = two_tables();
        let table = of(&db, "table=photos&where=id<5");
        assert_eq!(own_bytes(&db, &table).unwrap(), (true, None));
    }
}
