//! Values under keys: an open store, and one worker's use of it.

use std::{fmt, ops::ControlFlow, time::Instant};

use crate::{
    Arrangement, Durability, Error, Key, KeyKind, Meta, Result, Settings, Shown, ValueType,
    words::words,
};

/// An open store, shared by the sessions of all workers.
pub trait Store: Send + Sync {
    /// The kind of its keys.
    fn keys(&self) -> KeyKind;

    /// A worker's own use of the store. Created on the thread that uses it.
    fn session(&self) -> Result<Box<dyn Session + '_>>;

    /// All settings as read back from the engine, asked for or not, and the durability class that
    /// they give. Without settings there are none, and no class.
    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok((Settings::default(), Durability::None))
    }

    /// Other processes that do its work (a server's), each with all that descend from it.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// What the engine does in the background now, each by a name such as `compaction`; `None`: the
    /// engine does not report it. It is asked many times a second while workers work.
    fn background_work(&self) -> Option<Vec<&'static str>> {
        None
    }

    /// Flushes what the durability class asks for after the last commit (a checkpoint, say).
    fn flush_writes(&self) -> Result<()> {
        Ok(())
    }

    /// What the engine's own integrity check complains of; `None` if it has none.
    fn integrity(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Refuses a key, or a value of so many bytes, that it cannot hold.
    fn check_item(&self, _key: Key<'_>, _length: u64) -> Result<()> {
        Ok(())
    }

    /// What it holds that a scan does not show, in no particular order.
    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }

    /// What was removed as it was opened to write.
    fn removed(&self) -> Removed {
        Removed::default()
    }

    /// How its values are arranged in its files; `None` if the engine does not report it. It may
    /// read the whole store.
    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(None)
    }

    /// Gives the space of deleted values back to the file system, in the way that
    /// [`Declaration::reclaim`](crate::Declaration::reclaim) describes, and closes the store. Only
    /// asked of engines with one, of a store that is open once and has no session.
    fn reclaim(self: Box<Self>) -> Result<()> {
        Err(Error::unsupported("the engine gives no space back"))
    }

    /// Closes the store; an error that only shows on closing is not lost.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

words! {
    /// Why an entry of a store is no value.
    pub enum EntryKind {
        /// A symbolic link.
        Link = "symbolic link",
        /// A device, socket, pipe, or what an archive calls so.
        Special = "device, socket or pipe",
        /// A folder with nothing in it.
        EmptyFolder = "empty folder",
        /// A folder, of which a store keeps mode and time.
        Folder = "folder",
        /// A row that has no text for a name.
        Nameless = "row without a name",
        /// Another table, or a column that values do not have.
        Further = "other table or column",
        /// A file in the store's own folder that holds no value: the rest of a write that was cut off.
        Orphan = "file that no row names",
        /// A temporary file of a write that is under way or was cut off.
        Temporary = "temporary file of storemark",
        /// Another name of the same file, which becomes a file of its own.
        HardLink = "hard link",
        /// An access list: the mode keeps what it gives to the owner, the owner's group and others.
        AccessList = "access list (ACL)",
        /// An attribute besides mode and time.
        Attribute = "extended attribute",
        /// A file with parts that are not on disk, which are filled with zeros.
        Holes = "file with holes",
        /// What a mode has above reading, writing and executing.
        SpecialBits = "setuid, setgid or sticky bit",
    }
}

impl EntryKind {
    /// Whether it is a property of a value, and no entry of its own.
    pub fn is_property(self) -> bool {
        use EntryKind::{AccessList, Attribute, HardLink, Holes, SpecialBits};

        matches!(self, AccessList | Attribute | HardLink | Holes | SpecialBits)
    }
}

/// Files that held no value and are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Something in a store that is no value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its path or name.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// What a link leads to; empty for the others.
    pub content: Vec<u8>,
}

impl Entry {
    /// Whether it is an entry of its own, as a path in a file system is; what is further, or a folder
    /// that values are in, or an orphan is not.
    pub fn is_single(&self) -> bool {
        !matches!(self.kind, EntryKind::Folder | EntryKind::Further | EntryKind::Orphan)
    }
}

/// Kind and name.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, Shown(&self.name))
    }
}

/// What a visitor of [`Session::scan`] answers: go on, or stop.
pub type Visit = Result<ControlFlow<()>>;

/// What a scan shows each item to.
pub type Visitor<'v> = dyn FnMut(Item<'_>) -> Visit + 'v;

/// One worker's use of a store.
pub trait Session {
    /// Copies the value of `key` to the front of `into` and returns its length; `None` if
    /// there is no such key. A value longer than `into` is not copied: the length is the room
    /// that it needs.
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>>;

    /// Returns the length of a value, if possible without reading it; `None` if there is no such key.
    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        Ok(self.get(key, &mut [])?.map(|length| length as u64))
    }

    /// Writes a value. `false`: [`Put::how`] forbade it, and nothing was written.
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool>;

    /// Removes a value; `false` where there was none.
    fn delete(&mut self, key: Key<'_>) -> Result<bool>;

    /// Starts a batch. Reads and writes are between `begin` and `commit`; without them, each
    /// is a batch of its own.
    fn begin(&mut self, _mode: Mode) -> Result<()> {
        Ok(())
    }

    /// Finishes a batch. When it returns, the store's durability class holds for all writes in it.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits items in key order. A store that keeps no order has to find it first.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()>;

    /// The engine's own counters for this session since they were last asked for, named with
    /// their units. Waiting for others is counted under [`LOCK_WAITS`] and [`BUSY_RETRIES`].
    fn statistics(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    /// What its own calls did besides what they were asked for (a checkpoint, say), since this was
    /// last asked for.
    fn background_work(&self) -> Vec<FinishedWork> {
        Vec::new()
    }
}

/// Background work that is finished.
#[derive(Clone, Copy, Debug)]
pub struct FinishedWork {
    /// In the engine's own word.
    pub name: &'static str,
    /// When it started.
    pub started: Instant,
    /// When it ended.
    pub ended: Instant,
}

/// Counter of [`Session::statistics`]: operations that had to wait for another session's lock.
pub const LOCK_WAITS: &str = "lock waits";
/// Counter of [`Session::statistics`]: attempts that found the store busy and were repeated.
pub const BUSY_RETRIES: &str = "busy retries";

/// Which items a scan shows.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'k> {
    /// Those whose key is not less than this one; `None`: all.
    pub from: Option<Key<'k>>,
    /// The first of them, at most so many.
    pub limit: u64,
    /// Whether the caller needs values, modes and times, or keys and lengths alone.
    pub values: bool,
}

impl Scan<'_> {
    /// Every item.
    pub const ALL: Self = Self { from: None, limit: u64::MAX, values: true };
    /// Every key, with the length of its value.
    pub const LENGTHS: Self = Self { values: false, ..Self::ALL };
}

/// A key with its value, as a scan shows it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The value; it may be empty if the scan needs none.
    pub value: &'a [u8],
    /// The length of the value.
    pub length: u64,
    /// Mode and time, where the store keeps them.
    pub meta: Option<Meta>,
    /// The type of the value.
    pub value_type: ValueType,
}

/// Copies `value` to the front of `into` if it fits, and returns its length, as [`Session::get`] does.
#[inline]
pub fn copy_value(value: &[u8], into: &mut [u8]) -> usize {
    if let Some(front) = into.get_mut(..value.len()) {
        front.copy_from_slice(value);
    }
    value.len()
}

/// Variants of [`Session::put`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Put {
    /// Whether the key must or must not exist yet.
    pub how: How,
    /// Mode and time to keep with a named value.
    pub meta: Option<Meta>,
    /// The type of the value; other than bytes only where [`Capabilities::types`] says so.
    ///
    /// [`Capabilities::types`]: crate::Capabilities::types
    pub value_type: ValueType,
}

impl Put {
    /// A put of bytes alone.
    pub const fn new(how: How) -> Self {
        Self { how, meta: None, value_type: ValueType::Bytes }
    }
}

/// Whether a put inserts, updates, or does what fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// Insert or replace.
    #[default]
    Upsert,
    /// Only if the key does not exist.
    Insert,
    /// Only if the key exists.
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
