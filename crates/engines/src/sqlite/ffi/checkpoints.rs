//! Automatic checkpoints of a connection's WAL, run as SQLite runs them, and timed.

use std::{
    cell::RefCell,
    ffi::{c_char, c_int, c_void},
    rc::Rc,
    time::{Duration, Instant},
};

use libsqlite3_sys as sys;
use model::{Done, Result};

use super::Connection;

/// What the hook of a connection needs.
pub(crate) struct Checkpoints {
    /// Pages of the WAL from which on it is checkpointed.
    pages: c_int,
    /// Their room is allocated beforehand; those beyond it are not noted.
    done: RefCell<Vec<Done>>,
}

/// Checkpoints that are noted at most until they are asked for.
const MOST: usize = 4096;
/// Nobody waits for shorter ones, which find nothing that they may move.
const SHORTEST: Duration = Duration::from_micros(100);

impl Connection {
    /// From now on automatic checkpoints are timed, if there are any.
    pub(crate) fn time_checkpoints(&mut self) -> Result<()> {
        let pages = self.number("PRAGMA wal_autocheckpoint")?;
        let Some(pages) = c_int::try_from(pages).ok().filter(|pages| *pages > 0) else {
            return Ok(());
        };
        let timed = Rc::new(Checkpoints { pages, done: RefCell::new(Vec::with_capacity(MOST)) });
        let hooked = Rc::as_ptr(&timed).cast_mut().cast();
        // SAFETY: the handle is open; what is pointed to lives as long as the connection, which
        // takes the hook back when it is dropped.
        unsafe { sys::sqlite3_wal_hook(self.raw, Some(checkpoint), hooked) };
        self.checkpoints = Some(timed);
        Ok(())
    }

    /// Those since last asked.
    pub(crate) fn checkpoints(&self) -> Vec<Done> {
        let timed = self.checkpoints.as_ref();
        timed.map_or_else(Vec::new, |timed| timed.done.borrow_mut().drain(..).collect())
    }
}

/// What `sqlite3WalDefaultHook` does, whose place it takes: a passive checkpoint after a commit that
/// leaves as many pages as asked for, whatever becomes of it.
///
/// # Safety
/// `hooked` points to live [`Checkpoints`], used by no other thread meanwhile; the rest comes from
/// SQLite.
unsafe extern "C" fn checkpoint(
    hooked: *mut c_void,
    db: *mut sys::sqlite3,
    schema: *const c_char,
    pages: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let timed = unsafe { &*hooked.cast::<Checkpoints>() };
    if pages < timed.pages {
        return sys::SQLITE_OK;
    }
    let began = Instant::now();
    // SAFETY: SQLite passes its own connection and the name of one of its databases.
    unsafe { sys::sqlite3_wal_checkpoint(db, schema) };
    let ended = Instant::now();
    let mut done = timed.done.borrow_mut();
    if ended - began >= SHORTEST && done.len() < MOST {
        done.push(Done { name: "checkpoint", began, ended });
    }
    sys::SQLITE_OK
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::sqlite::{ffi::Open, file::with_suffix};

    /// A database in WAL mode of many pages.
    fn created(path: &Path) -> Connection {
        fs::File::create_new(path).unwrap();
        let db = Connection::open(path, Open::ReadWrite).unwrap();
        db.execute("PRAGMA journal_mode=wal; PRAGMA synchronous=off").unwrap();
        db.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)").unwrap();
        db
    }

    /// Writes some hundred pages, other bytes each time.
    fn write(db: &Connection, time: u8) {
        let letter = char::from(b'a' + time);
        db.execute(&format!(
            "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n LIMIT 40)
             INSERT OR REPLACE INTO t SELECT k, printf('%.40000c', '{letter}') FROM n"
        ))
        .unwrap();
    }

    #[test]
    fn it_is_made_after_the_commits_after_which_sqlite_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let (timed, plain) = (folder.path().join("timed"), folder.path().join("plain"));
        let (mut timing, by_itself) = (created(&timed), created(&plain));
        timing.time_checkpoints().unwrap();
        let mut moved = 0;
        for time in 0..12 {
            let before = fs::read(&timed).unwrap();
            for db in [&timing, &by_itself] {
                write(db, time);
            }
            let now = fs::read(&timed).unwrap();
            moved += usize::from(now != before);
            assert!(now == fs::read(&plain).unwrap(), "the databases differ");
            let log = |path| fs::metadata(with_suffix(path, "-wal")).unwrap().len();
            assert_eq!(log(&timed), log(&plain));
        }
        assert!((2..12).contains(&moved), "checkpoints after {moved} of 12 commits");
        let done = timing.checkpoints();
        assert!(!done.is_empty() && done.len() <= 12, "{done:?}");
        assert!(done.iter().all(|one| one.name == "checkpoint" && one.began < one.ended));
        assert!(done.is_sorted_by(|one, next| one.ended <= next.began));
        assert_eq!(timing.checkpoints().len(), 0, "they are returned once");
    }

    #[test]
    fn without_automatic_checkpoints_none_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = created(&folder.path().join("a"));
        db.execute("PRAGMA wal_autocheckpoint=0").unwrap();
        db.time_checkpoints().unwrap();
        (0..6).for_each(|time| write(&db, time));
        assert_eq!(db.checkpoints().len(), 0);
        assert!(fs::metadata(folder.path().join("a-wal")).unwrap().len() > 2000 * 4096);
    }
}
