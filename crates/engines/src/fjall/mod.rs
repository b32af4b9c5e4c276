//! The engine fjall: a folder with a log-structured merge tree. The keyspace with the dataset has
//! the name of the kind of its keys; another program's has any name.

mod manifest;
mod store;

use std::{
    fs::{File, TryLockError},
    path::Path,
};

use model::{
    Accepts, Batch, Blobs, Capabilities, Declaration, Durability, Engine, Error, Fill, Maintenance,
    OpenOptions, Result, Setting, Settings, Store,
};

use crate::{at, caught::catch, fresh, lsm, part};
use store::FjallStore;

pub(crate) struct Fjall;

/// The setting that names the keyspace with the values.
const KEYSPACE: &str = "keyspace";

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "cache",
            Accepts::Size(0, 1 << 47),
            "cache of blocks and values in bytes; the library's default is 32 MiB",
        ),
        Setting::new(
            "compression",
            Accepts::Words(&["none", "lz4"]),
            "of the journal, blocks and values; fixed once the store is created. none by default \
             (the library's is lz4): blobs seldom shrink, and other engines do not try",
        ),
        Setting::new(
            "sync",
            Accepts::Words(&["off", "buffer", "data", "all"]),
            "what a commit does with the journal: leaves it in the library's buffer, or \
             PersistMode::Buffer, SyncData or SyncAll",
        ),
        Setting::new(
            "blobs",
            Accepts::Words(&["on", "off"]),
            "values of 1 KiB and more in files of their own (key-value separation), so that \
             compaction does not move them; fixed once the store is created. on by default (the \
             library's is off): it is meant for blobs",
        ),
        part::setting(KEYSPACE, "the keyspace with the values, in a store of another program"),
    ],
    durability: &[
        Durability::None.kept_by(
            &[("sync", "off")],
            "commits end in the library's buffer of the journal, which write(2) empties when it is \
             full: a power cut or a killed process may undo the last commits",
        ).lost_if_killed(),
        Durability::Consistent.kept_by(
            &[("sync", "buffer")],
            "write(2) of the journal before a commit returns (PersistMode::Buffer), no flush: a \
             power cut may undo the last commits, or leave a journal that fjall refuses",
        ),
        Durability::Durable.kept_by(
            &[("sync", "data")],
            "write(2) and fdatasync(2) of the journal before a commit returns \
             (PersistMode::SyncData)",
        ),
    ],
    limitations: &[
        "a write does not report whether its key existed: an insert or update looks first",
        "a batch is held in memory until it is committed; one session writes at a time",
        "a journal that a power cut tore before its end (a page of a commit missing, a later one \
         there) is refused; nothing torn is read",
        "no way to open a store to read only: opening recovers its journal",
        "how long writers wait for flushes and compactions is not reported",
    ],
    capabilities: Capabilities::IN_ONE_PROCESS,

    // Commits are handed to the system, so that those of a killed process stay readable.
    fill: Some(Fill { settings: &[("sync", "buffer")], sessions: 1, whole_blocks_from: None }),
    integrity: Some("a checksum for each block, compared as it is read"),
    maintenance: &[(Maintenance::Compact, "a major compaction")],
    reclaim: Some("two major compactions; most files of values that are partly in use stay"),
    linked: Some(("fjall", env!("VERSION_OF_FJALL"))),
    blobs: Some(&Fjall),
    worth_trying: lsm::WORTH_TRYING,
    extension: Some("fjall"),
    ..Declaration::new(
        "fjall",
        "a log-structured merge tree in Rust: a journal, sorted tables, files of values",
    )
};

impl Engine for Fjall {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Fjall {
    fn recognises(&self, path: &Path) -> bool {
        path.join("keyspaces").is_dir() && at::start(&path.join("version")) == Some(*b"FJL")
    }

    /// Returns why opening to read changes files. Values stay where they are: opened to read, a
    /// store has no threads that would move them.
    fn reading_changes(&self, location: &Path, _: &Settings, _: Batch) -> Option<String> {
        location.exists().then(|| {
            "opening a fjall store cuts its journal to its length and removes what no longer \
             belongs to it"
                .to_owned()
        })
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        take_lock(location).map(|_| true)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::folder(location, || FjallStore::create(location, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        at::check(self, location)?;
        // A process that has it open changes the lists meanwhile.
        let lock = take_lock(location)?;
        manifest::check(location)?;
        // A program that is just being started still has a copy of the file.
        let _ = lock.as_ref().map(File::unlock);
        Ok(Box::new(catch(location, || FjallStore::open(location, options))?))
    }
}

/// Takes the library's own lock, as no process has the store open. A store that never had a lock is
/// in use by nobody.
fn take_lock(location: &Path) -> Result<Option<File>> {
    let lock = File::open(location.join("lock")).ok();
    let taken = lock.as_ref().map(File::try_lock);
    if let Some(Err(TryLockError::WouldBlock)) = taken {
        let shown = location.display();
        return Err(Error::usage(format!(
            "is open already, in another process or in this one, which holds its lock (the \
             file {shown}/lock)"
        ))
        .at(&shown));
    }
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use model::{Access, KeyKind};

    use super::*;

    #[test]
    fn the_lists_of_a_store_that_is_open_are_not_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
        let store = Fjall.create(&path, &options).unwrap();
        let lists = std::fs::read_dir(path.join("keyspaces")).unwrap().flatten();
        for list in lists.map(|tree| tree.path().join("current")).filter(|list| list.exists()) {
            std::fs::write(list, "as if half written").unwrap();
        }
        let said = |store: Result<Box<dyn Store>>| store.err().unwrap().to_string();
        assert!(said(Fjall.open(&path, &options)).contains("is open already"));
        drop(store);
        assert!(said(Fjall.open(&path, &options)).contains("its checksum is another"));
    }
}
