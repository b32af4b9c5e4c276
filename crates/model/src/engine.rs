//! What an engine is to storemark: three small traits, from kind to open store to one worker's
//! use of it. All are synchronous and usable as trait objects.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::{Arrangement, Durability, Key, KeyKind, Meta, Result, Setting, Settings, rows, tasks};

/// What an engine stores: it has a facet for each experiment that it can take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facet {
    /// Values under keys.
    Blobs,
    /// Rows of two integers.
    Rows,
    /// Tasks of a queue.
    Tasks,
}

/// A kind of store: what is said of it once, whatever it stores, and its facets.
pub trait Engine: Sync {
    /// The word in a target string.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// The version of the library or server underneath, with its compile options if it reports them.
    fn library(&self) -> Option<crate::Library> {
        None
    }

    /// The settings a target string may carry.
    fn settings(&self, facet: Facet) -> &'static [Setting];

    /// How this engine keeps a durability class; `None` if it cannot give that class.
    fn durability_settings(&self, facet: Facet, class: Durability) -> Option<DurabilitySettings>;

    /// Why a store with `settings` cannot give `class` although the engine can; `None`: it can.
    fn unsupported_reason(
        &self,
        facet: Facet,
        class: Durability,
        settings: &Settings,
    ) -> Option<String> {
        let _ = (facet, class, settings);
        None
    }

    /// What it lacks besides what [`Capabilities`] show, a phrase each, for people.
    fn limitations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Why it cannot be used on this machine, and what would help (a package to install, say).
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    /// It as a store of values.
    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        None
    }

    /// It as a store of rows.
    fn rows(&'static self) -> Option<&'static dyn rows::Rows> {
        None
    }

    /// It as a store of tasks.
    fn tasks(&'static self) -> Option<&'static dyn tasks::Tasks> {
        None
    }
}

/// An engine that stores values under keys.
pub trait Blobs: Engine {
    /// What this engine can and cannot do.
    fn capabilities(&self) -> Capabilities;

    /// The user as whom another process works on its stores, and who must be able to enter their
    /// folder; `None`: this process's own.
    fn account(&self) -> Option<Account> {
        None
    }

    /// The value of its setting `cache` with which `sessions` of a store have a cache of `bytes`
    /// together; `None`: it has none of its own.
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        let _ = sessions;
        let cached = |setting: &Setting| setting.name == "cache";
        self.settings(Facet::Blobs).iter().any(cached).then_some(bytes)
    }

    /// How a new store is filled fast.
    fn fill(&self) -> Fill {
        let none = self.durability_settings(Facet::Blobs, Durability::None);
        let settings = none.map_or(&[][..], |none| none.settings);
        Fill { settings, sessions: 1, whole_blocks: false }
    }

    /// Whether the file or folder at `path` looks like one of this engine's stores.
    fn recognises(&self, path: &Path) -> bool;

    /// The files and folders that make up the store at `location`, present or not. A folder
    /// stands for all in it.
    fn files(&self, location: &Path) -> Vec<PathBuf>;

    /// Why the store at `location` cannot be opened for reading without changing or creating a
    /// file; `None` when it can.
    fn reading_changes(&self, location: &Path, settings: &Settings) -> Option<String> {
        let _ = (location, settings);
        None
    }

    /// Why several processes cannot write to a store opened with `settings`, and what lets them.
    /// Only asked of engines with [`Capabilities::processes`].
    fn writes_alone(&self, settings: &Settings) -> Option<String> {
        let _ = settings;
        None
    }

    /// Whether not even the keys of the store at `location` can be read without changing its
    /// files, so that a copy of them is opened instead; refused where another process works on
    /// them, and a copy would be torn.
    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        let _ = location;
        Ok(false)
    }

    /// What the store at `location` holds beside its dataset (other tables, say): what would be
    /// lost with it. For people.
    fn others(&self, location: &Path) -> Result<Vec<String>> {
        let _ = location;
        Ok(Vec::new())
    }

    /// Makes an empty store at `location`, where nothing may stand yet.
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location`; an absent one is an error, never a new store.
    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location` beside another process that has it open and keeps it open.
    /// Only asked of engines with [`Capabilities::processes`].
    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.open(location, options)
    }
}

/// How an engine keeps a durability class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurabilitySettings {
    /// The settings for it.
    pub settings: &'static [(&'static str, &'static str)],
    /// Which calls it makes with them, when, and what a power cut leaves. For people.
    pub how: &'static str,
}

/// A user of the system, by the numbers of the user and of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: u32,
    /// Its group.
    pub group: u32,
}

/// An open store, shared by the sessions of all workers.
pub trait Store: Send + Sync {
    /// The kind of its keys.
    fn keys(&self) -> KeyKind;

    /// A worker's own use of the store. Made on the thread that uses it.
    fn session(&self) -> Result<Box<dyn Session + '_>>;

    /// All settings as read back from the engine, asked for or not.
    fn in_effect(&self) -> Result<Settings>;

    /// The durability class that those settings give.
    fn durability(&self) -> Durability;

    /// Other processes that do its work (a server's), each with all that descend from it.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What is under way in the background now, each by a name such as `compaction`; `None`: the
    /// engine does not tell. It is asked many times a second while workers work.
    fn chores(&self) -> Option<Vec<&'static str>> {
        None
    }

    /// Does what the durability class still owes after the last commit (a checkpoint, say).
    fn settle(&self) -> Result<()> {
        Ok(())
    }

    /// What the engine's own integrity check complains of; `None` where it has none.
    fn integrity(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// How its values are arranged in its files; `None` where the engine does not tell. It may
    /// read the whole store.
    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(None)
    }

    /// Closes the store; an error that only shows on closing is not lost.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// What a visitor of [`Session::scan`] and [`Session::list`] answers: go on, or stop.
pub type Visit = Result<ControlFlow<()>>;

/// One worker's use of a store.
pub trait Session {
    /// Copies the value of `key` to the front of `into` and returns its length; `None` where
    /// there is no such key. A value longer than `into` is not copied: the length tells how
    /// much room it needs.
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>>;

    /// Writes a value. `false`: [`Put::how`] forbade it, and nothing was written.
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool>;

    /// Removes a value; `false` where there was none.
    fn delete(&mut self, key: Key<'_>) -> Result<bool>;

    /// Begins a batch. Reads and writes stand between `begin` and `commit`; without them, each
    /// is a batch of its own.
    fn begin(&mut self, mode: Mode) -> Result<()>;

    /// Ends a batch. When it returns, the store's durability class holds for all writes in it.
    fn commit(&mut self) -> Result<()>;

    /// Visits every key with the length of its value, in key order.
    fn list(&mut self, visit: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()>;

    /// Visits every item in key order.
    fn scan(&mut self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()>;

    /// Visits up to `limit` items in key order, from the first key on that is not less than
    /// `from`. A store that keeps no order has to find it first.
    fn scan_from(
        &mut self,
        from: Key<'_>,
        limit: u64,
        visit: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()>;

    /// The engine's own counters for this session since they were last asked for, named with
    /// their units. Waiting for others is told under [`LOCK_WAITS`] and [`BUSY_RETRIES`].
    fn statistics(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    /// What its own calls did beside what they were asked for (a checkpoint, say), since this was
    /// last asked for.
    fn chores(&self) -> Vec<Done> {
        Vec::new()
    }
}

/// A chore that is done.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// In the engine's own word.
    pub name: &'static str,
    /// When it began.
    pub began: Instant,
    /// When it ended.
    pub ended: Instant,
}

/// Counter of [`Session::statistics`]: operations that had to wait for another session's lock.
pub const LOCK_WAITS: &str = "lock waits";
/// Counter of [`Session::statistics`]: attempts that found the store busy and were repeated.
pub const BUSY_RETRIES: &str = "busy retries";

/// A key with its value, as a scan shows it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The value.
    pub value: &'a [u8],
    /// Mode and time, where the store keeps them.
    pub meta: Option<Meta>,
}

/// Variants of [`Session::put`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Put {
    /// Whether the key must or must not be there yet.
    pub how: How,
    /// Mode and time to keep beside a named value.
    pub meta: Option<Meta>,
}

/// Whether a put inserts, updates, or does what fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// Insert or replace.
    #[default]
    Upsert,
    /// Only if the key is not there.
    Insert,
    /// Only if the key is there.
    Update,
}

/// What a batch will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only read.
    Read,
    /// Read and write.
    Write,
}

/// Whether a store is opened to read or to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing in the store may change, not even a timestamp the engine could avoid.
    Read,
    /// Reads and writes.
    Write,
}

/// How to open or create a store.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Checked settings.
    pub settings: Settings,
    /// To read or to write.
    pub access: Access,
    /// The kind of keys a new store shall hold; an existing one knows its own, but a folder of
    /// files is taken for names where these are asked for.
    pub keys: KeyKind,
}

/// What an engine can do beyond the required.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent yes-or-no facts, named one by one")]
pub struct Capabilities {
    /// The store is on disk and is there after closing. One that is not is held open from its
    /// making to the end of a run.
    pub persistent: bool,
    /// It keeps what is written. `false` only for `null`, which measures the tool.
    pub retains: bool,
    /// It keeps mode and time beside a named value.
    pub meta: bool,
    /// Several sessions may write at once (they may wait for each other).
    pub concurrent_writes: bool,
    /// Several processes may have a store open at once, see [`Blobs::join`].
    pub processes: bool,
    /// A location is an address of a server that is there (`//user@host/database`), in which
    /// stores are made (`//user@host/database/table`) and dropped when they are closed.
    pub remote: bool,
}

/// How an engine fills a new store fast.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Settings without care for a power cut, against which the caller flushes. After a killed
    /// process the store holds what was committed, values of the last batch perhaps torn; or it
    /// does not open.
    pub settings: &'static [(&'static str, &'static str)],
    /// Sessions that are fastest together.
    pub sessions: usize,
    /// Every value takes up whole blocks of the file system.
    pub whole_blocks: bool,
}
