//! Values under keys: an open store, and one worker's use of it.

use std::{
    any::Any,
    fmt,
    io::{self, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::{Deserialize, Serialize};

use crate::{
    Arrangement, Durability, Error, Key, KeyKind, Maintenance, Meta, OwnedKey, Result, Settings,
    Shown, TableFacts, ValueType, words::words,
};

/// An open store, shared by the sessions of all workers.
pub trait Store: Send + Sync {
    /// Returns the kind of the store's keys.
    fn keys(&self) -> KeyKind;

    /// Opens a worker's own session on the store. It is called on the thread that uses the session.
    fn session(&self) -> Result<Box<dyn Session + '_>>;

    /// Returns all settings as read back from the engine, asked for or not, and the durability
    /// class that they give. A store without settings has none, and the class `none`.
    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok((Settings::default(), Durability::None))
    }

    /// Returns the other processes that do the store's work (a server's); all their descendants
    /// count with them.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns the store itself if a worker of another program has it open and can make passes over it;
    /// `None` if this process has it open.
    fn in_worker(&self) -> Option<&dyn Any> {
        None
    }

    /// Returns what the engine does in the background now, each by a name such as `compaction`;
    /// `None` if the engine does not report it. It is called many times a second while workers
    /// work.
    fn background_work(&self) -> Option<Vec<&'static str>> {
        None
    }

    /// Flushes the remaining writes that the durability class requires after the last commit (a
    /// checkpoint, for example).
    fn flush_writes(&self) -> Result<()> {
        Ok(())
    }

    /// Returns whether sessions read and write long values in parts, so that none has to fit into memory.
    fn has_parts(&self) -> bool {
        false
    }

    /// Runs the engine's own integrity check and returns its complaints; `None` if the engine has
    /// no check.
    fn integrity(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Checks that a batch of writes could start at once.
    ///
    /// # Errors
    ///
    /// Fails if another process keeps its lock for some seconds.
    fn check_unlocked(&self) -> Result<()> {
        Ok(())
    }

    /// Checks that the store can hold a key, and a value of this length.
    ///
    /// # Errors
    ///
    /// Fails if it cannot; the sentence names the limit.
    fn check_item(&self, _key: Key<'_>, _length: u64) -> Result<()> {
        Ok(())
    }

    /// Returns the entries of the store that a scan does not show, in no particular order.
    fn left_out(&self) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }

    /// Returns what is special about a table of the user's own; `None` for any other store.
    fn table(&self) -> Result<Option<TableFacts>> {
        Ok(None)
    }

    /// Returns the files that were removed when the store was opened to write.
    fn removed(&self) -> Removed {
        Removed::default()
    }

    /// Returns how the values are arranged in the store's files; `None` if the engine does not
    /// report it. It may read the whole store.
    fn arrangement(&self) -> Result<Option<Arrangement>> {
        Ok(None)
    }

    /// Returns the file that contains the value of `key` and nothing else; `None` if values share files.
    fn file_of(&self, _key: Key<'_>) -> Option<PathBuf> {
        None
    }

    /// Performs maintenance that [`Declaration::maintenance`](crate::Declaration::maintenance) names, while
    /// sessions work. A copy is written to `to`, where nothing exists. Returns whether it finished: what
    /// starts again when the store changes gives up once `is_over` returns `true`.
    fn maintain(&self, _: Maintenance, _to: &Path, _is_over: &dyn Fn() -> bool) -> Result<bool> {
        Err(Error::unsupported("the engine has no such maintenance"))
    }

    /// Gives the space of deleted values back to the file system, in the way that
    /// [`Declaration::reclaim`](crate::Declaration::reclaim) describes, and closes the store. It is
    /// only called for engines that describe one, on a store that is open once and has no session.
    fn reclaim(self: Box<Self>) -> Result<()> {
        Err(Error::unsupported("the engine gives no space back"))
    }

    /// Closes the store, and reports errors that only show on closing.
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

words! {
    /// The reason why an entry of a store is not a value.
    pub enum EntryKind {
        /// A symbolic link.
        Link = "symbolic link",
        /// A device, socket, pipe, or what an archive calls so.
        Special = "device, socket or pipe",
        /// A folder with nothing in it.
        EmptyFolder = "empty folder",
        /// A folder, of which a store keeps mode and time.
        Folder = "folder",
        /// An object whose key has such a part, which clients drop from an address.
        Dots = "object with \".\" or \"..\" in its key",
        /// A row that has no text for a name.
        Nameless = "row without a name",
        /// Another table, or a column that values do not have.
        Further = "other table or column",
        /// A file in the store's own folder that contains no value: it is left of an interrupted write.
        Orphan = "file that no row names",
        /// A temporary file of a write that is under way or was cut off.
        Temporary = "temporary file of storemark",
        /// An entry of an archive that a later one of the same name replaces.
        Earlier = "earlier entry of a name that occurs again",
        /// Another name of the same file, which becomes a file of its own.
        HardLink = "hard link",
        /// An access list: the mode keeps what it gives to the owner, the owner's group and others.
        AccessList = "access list (ACL)",
        /// An attribute besides mode and time.
        Attribute = "extended attribute",
        /// A file with parts that are not on disk, which are filled with zeros.
        Holes = "file with holes",
        /// The bits of a mode above reading, writing and executing.
        SpecialBits = "setuid, setgid or sticky bit",
    }
}

impl EntryKind {
    /// Returns whether it is a property of a value, and no entry of its own.
    pub fn is_property(self) -> bool {
        use EntryKind::{AccessList, Attribute, HardLink, Holes, SpecialBits};

        matches!(self, AccessList | Attribute | HardLink | Holes | SpecialBits)
    }
}

/// The files without a value that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of files.
    pub files: u64,
    /// The sum of their bytes.
    pub bytes: u64,
}

/// An entry of a store that is not a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The path or name.
    pub name: Vec<u8>,
    /// The reason why it is not a value.
    pub kind: EntryKind,
    /// The target of a link; empty for other entries.
    pub content: Vec<u8>,
}

impl Entry {
    /// Returns whether it is a single entry, as a path in a file system is: other tables, folders
    /// that values are in, and orphans are not.
    pub fn is_single(&self) -> bool {
        !matches!(self.kind, EntryKind::Folder | EntryKind::Further | EntryKind::Orphan)
    }
}

/// Shows the kind and the name.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, Shown(&self.name))
    }
}

/// The answer of a visitor of [`Session::scan`]: whether to continue.
pub type Visit = Result<ControlFlow<()>>;

/// The function that a scan shows each item to.
pub type Visitor<'v> = dyn FnMut(Item<'_>) -> Visit + 'v;

/// One worker's use of a store.
pub trait Session {
    /// Copies the value of `key` to the front of `into` and returns its length; `None` if there is
    /// no such key. A value longer than `into` is not copied; the returned length is the room that
    /// it needs.
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>>;

    /// Returns the length of a value, if possible without reading it; `None` if there is no such
    /// key.
    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        Ok(self.get(key, &mut [])?.map(|length| length as u64))
    }

    /// Writes a value. Returns `false`, and writes nothing, if [`Put::how`] forbids it.
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool>;

    /// Writes the value of `key` to `to` in parts. It is called for values that a scan shows without their
    /// bytes ([`Scan::longest`]).
    fn read_parts(&mut self, key: Key<'_>, _to: &mut dyn Write) -> Result<()> {
        Err(Error::unsupported(format!("the value of {key} is read as a whole")))
    }

    /// Writes a value as [`put`](Self::put) does, in parts. It is called for stores that have parts.
    fn put_parts(&mut self, key: Key<'_>, _parts: Parts<'_>, _put: &Put) -> Result<bool> {
        Err(Error::unsupported(format!("the value of {key} is written as a whole")))
    }

    /// Removes a value; returns `false` if there was none.
    fn delete(&mut self, key: Key<'_>) -> Result<bool>;

    /// Starts a batch, which lasts until `commit`. Outside a batch, each read and write is a batch
    /// of its own.
    fn begin(&mut self, _mode: Mode) -> Result<()> {
        Ok(())
    }

    /// Undoes the open batch, if there is one. It is called after an error of the kind
    /// [`Busy`](crate::ErrorKind::Busy).
    fn roll_back(&mut self) {}

    /// Finishes a batch. When it returns, the store's durability class holds for all writes in it.
    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    /// Visits items in key order. A store that keeps no order has to sort them first.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()>;

    /// Visits the items of these keys, which have values of about these lengths, in their order. A key
    /// that has gone is left out.
    fn visit_each(&mut self, keys: &[(OwnedKey, u64)], visit: &mut Visitor<'_>) -> Result<()> {
        let mut buffer = Vec::new();
        for (key, length) in keys {
            let key = key.as_key();
            buffer.resize(usize::try_from(*length).unwrap_or(usize::MAX), 0);
            let Some(length) = self.get(key, &mut buffer)? else { continue };
            if length > buffer.len() {
                buffer.resize(length, 0);
                self.get(key, &mut buffer)?;
            }
            if visit(Item::new(key, &buffer[..length], None))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Visits keys with the lengths of their values, in key order: all, or if there are more than about
    /// `most`, some from many parts of the store. Returns whether these are all; `None` if listing all
    /// costs no requests.
    fn scan_some(&mut self, _most: u64, _visit: &mut Visitor<'_>) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Returns whether the store has this value, with this mode and time if it keeps them, without
    /// reading it; `None` if only reading it would show that.
    fn has_value(&mut self, _item: &Item<'_>) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Returns the engine's own counters for this session since the last call, named with their
    /// units. Waiting for other sessions is counted under [`LOCK_WAITS`], [`LOCK_WAIT_NS`] and
    /// [`BUSY_RETRIES`].
    fn statistics(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    /// Returns the background work that the session's own calls did (a checkpoint, for example)
    /// since the last call.
    fn background_work(&self) -> Vec<FinishedWork> {
        Vec::new()
    }
}

/// A value that is written in parts.
pub struct Parts<'p> {
    /// Its length in bytes.
    pub length: u64,
    /// Writes the bytes to where the engine has them.
    pub write: &'p mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
}

/// A piece of background work that has finished.
#[derive(Clone, Copy, Debug)]
pub struct FinishedWork {
    /// The engine's own word for it.
    pub name: &'static str,
    /// The time at which it started.
    pub started: Instant,
    /// The time at which it ended.
    pub ended: Instant,
}

/// The counter of operations that had to wait for another session's lock, in
/// [`Session::statistics`].
pub const LOCK_WAITS: &str = "lock waits";
/// The counter of the nanoseconds of these waits, in [`Session::statistics`].
pub const LOCK_WAIT_NS: &str = "lock wait (ns)";
/// The counter of operations that the store refused because it was busy.
pub const BUSY_ERRORS: &str = "busy errors";
/// The counter of attempts that found the store busy and were repeated, in [`Session::statistics`].
pub const BUSY_RETRIES: &str = "busy retries";

/// The range of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Scan<'k> {
    /// The least key that is shown; `None` if all are.
    pub from: Option<Key<'k>>,
    /// The greatest number of items that are shown.
    pub limit: u64,
    /// Whether the caller needs values, modes and times, or only keys and lengths.
    pub values: bool,
    /// Whether the caller needs lengths, which a folder has to look up for each file. An engine that has
    /// them at hand shows them in any case; others show 0.
    pub lengths: bool,
    /// The length in bytes above which a value is shown without its bytes if the session reads it in parts
    /// ([`Session::read_parts`]).
    pub longest: u64,
}

impl Scan<'_> {
    /// A scan of every item.
    pub const ALL: Self =
        Self { from: None, limit: u64::MAX, values: true, lengths: true, longest: u64::MAX };
    /// A scan of every key with the length of its value.
    pub const LENGTHS: Self = Self { values: false, ..Self::ALL };
    /// A scan of every key, with the length of its value only where that costs nothing.
    pub const KEYS: Self = Self { lengths: false, ..Self::LENGTHS };
}

/// A key with its value, as a scan shows it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// The key.
    pub key: Key<'a>,
    /// The value; it may be empty if the scan needs none, or it is too long for it.
    pub value: &'a [u8],
    /// The length of the value.
    pub length: u64,
    /// Mode and time; `None` if the store does not keep them.
    pub meta: Option<Meta>,
    /// The type of the value.
    pub value_type: ValueType,
}

impl<'a> Item<'a> {
    /// Creates an item of bytes.
    #[inline]
    pub const fn new(key: Key<'a>, value: &'a [u8], meta: Option<Meta>) -> Self {
        Self { key, value, length: value.len() as u64, meta, value_type: ValueType::Bytes }
    }

    /// Returns the item of a value of this length, which the scan did not need.
    #[inline]
    #[must_use]
    pub const fn with_length(self, length: u64) -> Self {
        Self { length, ..self }
    }
}

/// Copies `value` to the front of `into` if it fits, and returns its length, as [`Session::get`]
/// does.
#[inline]
pub fn copy_value(value: &[u8], into: &mut [u8]) -> usize {
    if let Some(front) = into.get_mut(..value.len()) {
        front.copy_from_slice(value);
    }
    value.len()
}

/// The options of [`Session::put`].
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Put {
    /// Whether the key must or must not exist yet.
    pub how: How,
    /// Mode and time to keep with a named value; `None` to keep none.
    pub meta: Option<Meta>,
    /// The type of the value; types other than bytes are allowed only if [`Capabilities::types`] is
    /// set.
    ///
    /// [`Capabilities::types`]: crate::Capabilities::types
    pub value_type: ValueType,
}

impl Put {
    /// Creates the options to put bytes without mode and time.
    pub const fn new(how: How) -> Self {
        Self { how, meta: None, value_type: ValueType::Bytes }
    }
}

/// The choice whether a put inserts, updates, or does what fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// Insert or replace.
    #[default]
    Upsert,
    /// Only if the key does not exist.
    Insert,
    /// Only if the key exists.
    Update,
}

/// The kind of operations that a batch will contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Only read.
    Read,
    /// Read and write.
    Write,
    /// Read, and write from some moment on: the lock of a writer is taken only then. Engines that
    /// cannot do this take it at once.
    Deferred,
}

/// The choice whether a store is opened to read or to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing in the store may change, not even a timestamp the engine could avoid.
    Read,
    /// Reads and writes.
    Write,
}

/// The options to open or create a store with.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The checked settings.
    pub settings: Settings,
    /// Whether the store is opened to read or to write.
    pub access: Access,
    /// The kind of keys of a new store. An existing store knows its own, but a folder of files is
    /// read as names if these are asked for.
    pub keys: KeyKind,
}
