//! `lmdb:DIR` is an LMDB environment: `data.mdb` and `lock.mdb` in a folder of their own. Values
//! are in its named database `integers` or `names`, in the order of their keys; mode and time of
//! named ones are in `meta`. Those of another program are in any database of it, also in an environment without
//! a folder (`MDB_NOSUBDIR`): a data file with its lock file next to it.

mod databases;
mod environment;
mod os;
mod store;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, Weak},
};

use kit::lock;
use model::{
    Accepts, Access, Batch, Blobs, Capabilities, Declaration, Durability, Engine, Fill,
    FoundValues, KeyKind, Library, Maintenance, OpenOptions, Result, Setting, Settings, Store, Try,
};

use crate::{at, caught::StoreName, fresh, part};
use environment::Environment;
use store::LmdbStore;

pub(crate) struct Lmdb;

/// The default size of the map, far more than any store needs, as it cannot grow. A map takes up
/// addresses, not memory.
const MAP: u64 = if cfg!(target_pointer_width = "64") { 1 << 40 } else { 1 << 30 };
/// The largest map: half of what 64-bit systems give a process.
const MAX_MAP: u64 = if cfg!(target_pointer_width = "64") { 1 << 46 } else { 1 << 31 };

/// The setting that names the database with the values.
const DATABASE: &str = "database";

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "map",
            // Maps consist of whole pages, of 4 KiB to 64 KiB.
            Accepts::Multiple(1 << 16, 1 << 16, MAX_MAP),
            "size of the memory map, the most that the store can grow to (mdb_env_set_mapsize)",
        )
        .to_open(),
        Setting::new(
            "sync",
            Accepts::Words(&["off", "data", "full"]),
            "what a commit flushes: nothing (MDB_NOSYNC), the pages (MDB_NOMETASYNC), or also the \
             page that makes them current",
        ),
        Setting::new(
            "readahead",
            Accepts::Words(&["on", "off"]),
            "whether the system may read more than is asked for (off: MDB_NORDAHEAD)",
        ),
        part::setting(
            DATABASE,
            "the database with the values, in a store of another program; empty for the unnamed one",
        ),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("sync", "off")],
            "MDB_NOSYNC: changed pages written to free places of the file, no flush: a power cut \
             may leave no readable store",
        ),
        Durability::Consistent.kept_by(
            &[("sync", "data")],
            "MDB_NOMETASYNC: fdatasync(2) of the pages before the page that makes them current is \
             written, which the next commit flushes: a power cut may undo the last commit",
        ),
        Durability::Durable.kept_by(
            &[("sync", "full")],
            "fdatasync(2) of the pages, then the page that makes them current is written through a \
             descriptor opened with O_DSYNC, before the commit returns; on macOS F_FULLFSYNC of \
             both",
        ),
    ],
    limitations: &[
        "names of more than 511 bytes",
        "two sessions that write at once: one waits",
        "a check of its own integrity",
    ],
    fill: Some(Fill { settings: &[("sync", "off")], sessions: 1, whole_blocks_from: Some(1024) }),
    capabilities: Capabilities { reopens: false, ..Capabilities::ON_DISK },
    maintenance: &[
        (Maintenance::Backup, "mdb_env_copyfd2, page by page"),
        (Maintenance::Copy, "mdb_env_copyfd2 with MDB_CP_COMPACT, without free pages"),
    ],
    reclaim: Some(
        "a copy without free pages (mdb_env_copy2 with MDB_CP_COMPACT), which takes the place of the \
         old file",
    ),
    blobs: Some(&Lmdb),
    worth_trying: &[
        Try::new(
            "",
            "reads from a memory map; whole pages for each value, and one writer at a time",
        ),
        Try::new(
            "readahead=off",
            "less is read of data larger than memory; a cold start is slower",
        ),
    ],
    title: "LMDB",
    extension: Some("lmdb"),
    ..Declaration::new("lmdb", "an LMDB environment in a folder: a memory map read in place")
};

impl Engine for Lmdb {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self, _: &Settings) -> Option<Library> {
        let version = heed::lmdb_version();
        let version = format!("{}.{}.{}", version.major, version.minor, version.patch);
        Some(Library::new("LMDB", version))
    }
}

impl Blobs for Lmdb {
    /// Returns whether the data file starts as one: its first page is a header, whose
    /// length depends on the word size, and the magic number `MDB_MAGIC` of `mdb.c`, both in the
    /// machine's order.
    fn recognises(&self, path: &Path) -> bool {
        const AT: usize = size_of::<usize>() + 8;
        let start: Option<[u8; AT + 4]> = at::start(&data_file(path));
        start.is_some_and(|start| start[AT..] == 0xBEEF_C0DE_u32.to_ne_bytes())
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        if location.is_file() {
            return vec![location.to_owned(), lock_file(location)];
        }
        vec![location.to_owned()]
    }

    fn reading_changes(&self, location: &Path, _: &Settings, _: Batch) -> Option<String> {
        let _opened = lock::hold(&OPENED);
        (self.recognises(location) && is_shared(location)).then(|| {
            "it is open elsewhere, and a reader enters itself in the lock file then".to_owned()
        })
    }

    fn reads_unguarded(&self, location: &Path) -> bool {
        !is_shared(location)
    }

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        let (settings, access) = (asked.clone(), Access::Read);
        let options = OpenOptions { settings, access, keys: KeyKind::Names };
        part::find(DATABASE, asked, location, || {
            let sizes = || databases::sizes(&*environment(location, &options)?);
            StoreName::intern(location).at_work(sizes)
        })
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        if location.is_file() {
            return Ok(Vec::new());
        }
        at::other_files(location, &["data.mdb", "lock.mdb"])
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::folder(location, || {
            let environment = Environment::open(location, &options.settings, Access::Write, false)?;
            LmdbStore::create(environment, options)
        })
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        opened(location, options, false)
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        opened(location, options, true)
    }
}

/// Returns the data file of an environment: in its folder, or the location itself if that is a file.
fn data_file(location: &Path) -> PathBuf {
    if location.is_file() { location.to_owned() } else { location.join("data.mdb") }
}

/// Returns the lock file that belongs to the data file.
fn lock_file(location: &Path) -> PathBuf {
    if !location.is_file() {
        return location.join("lock.mdb");
    }
    let mut name = location.as_os_str().to_owned();
    name.push("-lock");
    name.into()
}

/// Opens the store at `location`; `joined` is whether another process has it open.
fn opened(location: &Path, options: &OpenOptions, joined: bool) -> Result<Box<dyn Store>> {
    StoreName::intern(location).at_work(|| {
        Ok(Box::new(LmdbStore::open(environment(location, options)?, &options.settings, joined)?)
            as Box<dyn Store>)
    })
}

fn environment(location: &Path, options: &OpenOptions) -> Result<Arc<Environment>> {
    at::check(&Lmdb, location)?;
    let mut opened = lock::hold(&OPENED);
    opened.retain(|environment| environment.strong_count() > 0);
    let serving = opened.iter().filter_map(Weak::upgrade).find(|e| e.serves(location, options));
    if let Some(environment) = serving {
        return Ok(environment);
    }
    let shared = is_shared(location);
    let environment = Environment::open(location, &options.settings, options.access, shared)?;
    let environment = Arc::new(environment);
    opened.push(Arc::downgrade(&environment));
    Ok(environment)
}

/// The open environments, as LMDB opens each only once in a process: stores that are opened to read
/// in the same way share theirs. The lock is also held while a lock file is looked at: closing it
/// gives up all locks that this process has on it.
static OPENED: Mutex<Vec<Weak<Environment>>> = Mutex::new(Vec::new());

/// Returns whether this or another process has the environment open. If none has, it is read
/// without locks, which changes nothing; a writer that comes meanwhile is not guarded against.
fn is_shared(location: &Path) -> bool {
    let own = || heed::env_closing_event(location.canonicalize().ok()?);
    own().is_some() || os::is_open_elsewhere(&lock_file(location))
}
