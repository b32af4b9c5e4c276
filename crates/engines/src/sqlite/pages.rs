//! How values are arranged in the pages of a database.

use model::{Arrangement, Result};

use super::{
    ffi::{self, Connection},
    table::Table,
};

/// The option that SQLite must have been compiled with to list single pages.
const LISTS_PAGES: &str = "ENABLE_DBSTAT_VTAB";

/// Reads every page of the table.
pub(super) fn arrangement(db: &Connection, table: &Table) -> Result<Arrangement> {
    let lists_pages = ffi::compile_options().iter().any(|option| option == LISTS_PAGES);
    Ok(Arrangement::Pages {
        pages: db.number("PRAGMA page_count")?.unsigned_abs(),
        free: db.number("PRAGMA freelist_count")?.unsigned_abs(),
        runs: lists_pages.then(|| runs(db, table)).transpose()?,
    })
}

/// What does not fit into a leaf page is in a chain of overflow pages: its path is that of the
/// cell, `+`, and its place in the chain (<https://sqlite.org/dbstat.html>). A chain is broken where
/// the next page is not the neighbour; a value without a chain is in one piece.
fn runs(db: &Connection, table: &Table) -> Result<u64> {
    let name = table.name.to_string_lossy();
    let values = db.number(&format!("SELECT count(*) FROM {name}"))?;
    let breaks = db.number(&format!(
        "WITH chain AS (SELECT pageno, lag(pageno) OVER \
             (PARTITION BY substr(path,1,instr(path,'+')) ORDER BY path) AS before \
             FROM dbstat WHERE name='{name}' AND pagetype='overflow') \
         SELECT count(*) FROM chain WHERE pageno<>before+1"
    ))?;
    Ok((values + breaks).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::{super::table::KV, *};
    use crate::sqlite::ffi::Open;

    /// A database in memory, in pages of 1024 bytes, with three values of ten overflow pages.
    fn three_values() -> Connection {
        let db = Connection::open("".as_ref(), Open::Memory).unwrap();
        db.execute("PRAGMA page_size=1024").unwrap();
        db.execute(KV.create).unwrap();
        for key in 1..=3 {
            db.execute(&format!("INSERT INTO kv VALUES({key}, zeroblob(10000))")).unwrap();
        }
        db
    }

    #[test]
    fn values_written_one_after_the_other_are_whole() {
        let db = three_values();
        db.execute("INSERT INTO kv VALUES(4, 'in its leaf')").unwrap();
        let Arrangement::Pages { pages, free, runs } = arrangement(&db, &KV).unwrap() else {
            panic!("a database has pages");
        };
        assert_eq!((free, runs), (0, Some(4)));
        assert!(pages > 30, "{pages}");
    }

    #[test]
    fn a_longer_value_in_the_gap_of_a_shorter_one_is_broken() {
        let db = three_values();
        db.execute("DELETE FROM kv WHERE k=2").unwrap();
        let Arrangement::Pages { free, runs, .. } = arrangement(&db, &KV).unwrap() else {
            panic!("a database has pages");
        };
        assert_eq!(runs, Some(2));
        assert!(free >= 9, "{free}");
        db.execute("INSERT INTO kv VALUES(5, zeroblob(15000))").unwrap();
        let Arrangement::Pages { runs: Some(runs), .. } = arrangement(&db, &KV).unwrap() else {
            panic!("this build lists pages");
        };
        assert!(runs > 3, "the gap, then the end of the file: {runs}");
    }
}
