//! `redb:FILE` is a redb database in one file. Values are in its table `integers` or `names`;
//! mode and time of named ones are in `meta`. A table of another program is only read.

mod check;
mod kind;
mod store;
mod tables;

use std::path::Path;

use model::{
    Accepts, Access, Batch, Blobs, Capabilities, Declaration, Durability, Engine, Fill,
    FoundValues, Maintenance, OpenOptions, Result, Setting, Settings, Store, Try,
};

use crate::{at, caught::catch, fresh, part};
use store::RedbStore;

pub(crate) struct Redb;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "cache",
            Accepts::Size(0, 1 << 46),
            "redb's own cache in bytes (Builder::set_cache_size)",
        ),
        Setting::new(
            "sync",
            Accepts::Words(&["off", "deferred", "immediate"]),
            "Durability::Immediate at each commit, the same without its flush (off), or \
             Durability::None and one immediate commit at the end of a pass (deferred)",
        ),
        Setting::new(
            "two_phase",
            Accepts::Words(&["off", "on"]),
            "flush the pages before the header that makes them current \
             (WriteTransaction::set_two_phase_commit)",
        ),
        Setting::new(
            "share",
            Accepts::Words(&["none", "readers", "writers"]),
            "which processes may have it open together with one that writes (ConcurrencyMode)",
        ),
        tables::setting(),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("sync", "off")],
            "Durability::Immediate over a file that is written but never flushed: a power cut may \
             leave no readable store",
        ),
        Durability::Consistent.kept_by(
            &[("sync", "deferred")],
            "Durability::None: commits stay in the cache, until one with Durability::Immediate at \
             the end of a pass (on the clock) writes and flushes all; a power cut or a killed \
             process leaves the store as that one left it",
        ).lost_if_killed(),
        Durability::Durable.kept_by(
            &[("sync", "immediate")],
            "Durability::Immediate: pages and header written, with checksums that show whether all \
             arrived, and fdatasync(2) before the commit returns",
        ),
    ],
    limitations: &[
        "two sessions that write at once: one waits",
        "several processes may read, but one that writes is alone, unless all open it with \
         share=readers or share=writers; then sync=deferred is not available",
        "after its writer was killed, it is read from end to end before it can be read again",
    ],
    fill: Some(Fill { settings: &[("sync", "off")], sessions: 1, whole_blocks_from: Some(1024) }),
    capabilities: Capabilities { reopens: false, ..Capabilities::ON_DISK },
    integrity: Some("a checksum for each page"),
    maintenance: &[(
        Maintenance::Compact,
        "Database::compact, which has the database alone: sessions start no transaction meanwhile; it \
         gives up if theirs do not end within 1 s",
    )],
    reclaim: Some("Database::compact"),
    linked: Some(("redb", env!("VERSION_OF_REDB"))),
    lets_several_write: Some(("share", "writers")),
    blobs: Some(&Redb),
    worth_trying: &[Try::new(
        "",
        "checksums; its own cache takes up to 1 GiB of memory, and one process has it open",
    )],
    extension: Some("redb"),
    ..Declaration::new(
        "redb",
        "a redb database: copied-on-write B-trees in a file, with a cache of its own",
    )
};

impl Engine for Redb {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Redb {
    fn recognises(&self, path: &Path) -> bool {
        flags(path).is_some()
    }

    fn reading_changes(&self, location: &Path, settings: &Settings, _: Batch) -> Option<String> {
        // Shared, it is read while its writer works.
        let alone = settings.get("share").is_none_or(|share| share == "none");
        (alone && flags(location)? & IN_USE != 0)
            .then(|| "its writer is at work or was killed, and redb repairs it then".to_owned())
    }

    fn only_read(&self, _: &Path, settings: &Settings) -> Result<Option<String>> {
        let is_users = settings.get(tables::TABLE).is_some();
        Ok(is_users.then(|| "is a table of another program, which is only read".to_owned()))
    }

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        part::find(tables::TABLE, asked, location, || {
            let file = at::open(location, Access::Read)?;
            at::check(self, location)?;
            catch(location, || RedbStore::sizes(location, file, asked))
        })
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::file(location, |file| RedbStore::create(location, file, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let file = at::open(location, options.access)?;
        // redb would turn an empty file into a database.
        at::check(self, location)?;
        Ok(Box::new(catch(location, || RedbStore::open(location, file, options))?))
    }
}

/// The flag that is set while a writer has the file open.
const IN_USE: u8 = 2;

/// Returns the flags of a file that starts as a redb database: a magic number, then their byte
/// (<https://github.com/cberner/redb/blob/master/docs/design.md>). `None` if it is no such file.
fn flags(path: &Path) -> Option<u8> {
    let start: [u8; 10] = at::start(path)?;
    start.starts_with(b"redb\x1A\x0A\xA9\x0D\x0A").then_some(start[9])
}
