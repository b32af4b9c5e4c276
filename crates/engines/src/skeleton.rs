//! A whole engine in one file, to copy for a new one: a map in memory, read from a file when a store
//! is opened and written to it when a pass ends. It is in no registry, and passes the conformance
//! suite. A hook that is not here has a default, which `docs/adding-an-engine.md` lists.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::RwLock,
};

use kit::{lock, refusal};
use model::{
    Access, Blobs, Capabilities, Declaration, Durability, Engine, Error, How, Item, Key, KeyKind,
    OpenOptions, Put, Result, Scan, Session, Store, Visitor, copy_value,
};

use crate::{at, fresh, table::Table};

/// The engine. It has no state: what is open is in the store.
pub struct Skeleton;

/// Everything that is known without opening a store. Settings, if there were any, would be declared
/// here, and each durability class would name those that it needs.
static DECLARATION: Declaration = Declaration {
    // The class is `none` if nothing is flushed. The sentence names the calls as manual pages do.
    durability: &[Durability::None
        .kept_by(
            &[],
            "the whole file, by write(2) when a pass ends, no flush: a power cut or a killed process \
             loses what was written since, and may leave no readable store",
        )
        .lost_if_killed()],
    // What a user has to do without, a phrase each.
    limitations: &["names in order: a scan looks at all of them"],
    // Nothing locks the file against other processes. Modes and times are dropped.
    capabilities: Capabilities {
        resident: true,
        meta: false,
        snapshots: false,
        ..Capabilities::IN_ONE_PROCESS
    },
    // It starts with "a checksum" if each flipped byte of a value is detected.
    integrity: Some("a checksum of the whole file, compared when it is opened"),
    // Advice never names it: a reference is only compared with.
    reference: true,
    // The facets that it has.
    blobs: Some(&Skeleton),
    ..Declaration::new("skeleton", "a map in memory that is kept in a file")
};

impl Engine for Skeleton {
    /// Returns what is known without a store. Called whenever anything is asked about the engine.
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Skeleton {
    /// Recognises a store. Called for a path without an engine's name: reads as little as shows
    /// what is there.
    fn recognises(&self, path: &Path) -> bool {
        at::start(path) == Some(MAGIC)
    }

    /// Creates an empty store. Called once for each that storemark fills. `fresh` refuses a path
    /// where anything is, and removes the file after a failure.
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::file(location, |_| {
            let store = SkeletonStore {
                path: location.to_owned(),
                access: Access::Write,
                state: RwLock::new(State { values: Table::new(options.keys), changed: true }),
            };
            // From now on it is recognised.
            store.flush_writes().map(|()| store)
        })
    }

    /// Opens a store. Called for each trial, and in each process that measures. `at` refuses a path
    /// where nothing is, or something else.
    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        at::check(self, location)?;
        let bytes = fs::read(location).map_err(|e| Error::io(location.display(), e))?;
        let values = decode(&bytes).ok_or_else(|| {
            Error::corrupt(format!("{}: is damaged: its checksum differs", location.display()))
        })?;
        let state = RwLock::new(State { values, changed: false });
        Ok(Box::new(SkeletonStore { path: location.to_owned(), access: options.access, state }))
    }
}

/// An open store, which the sessions of all threads share.
struct SkeletonStore {
    path: PathBuf,
    access: Access,
    state: RwLock<State>,
}

struct State {
    values: Table<Vec<u8>>,
    /// Whether the map has changes that the file has not.
    changed: bool,
}

impl Store for SkeletonStore {
    /// Returns the kind of keys. Called after opening: a store knows its own, whatever was asked
    /// for.
    fn keys(&self) -> KeyKind {
        lock::read(&self.state).values.keys()
    }

    /// Opens a session. Called once in each thread that works.
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(SkeletonSession { store: self }))
    }

    /// Checks the limits. Called before a copy writes anything, for each of its keys. `decode`
    /// counts in 32 bits.
    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        refusal::check_value(key, length, u32::MAX.into())
    }

    /// Writes what the file lacks. Called at the end of each pass, on the clock.
    fn flush_writes(&self) -> Result<()> {
        let mut state = lock::write(&self.state);
        if state.changed {
            let bytes = encode(&state.values)?;
            fs::write(&self.path, bytes).map_err(|e| Error::io(self.path.display(), e))?;
            state.changed = false;
        }
        Ok(())
    }

    /// Closes the store. Called when it is no longer used, off the clock: the last moment for an
    /// error.
    fn close(self: Box<Self>) -> Result<()> {
        self.flush_writes()
    }
}

/// Writes what a store has that is dropped, not closed (another store failed), as far as possible.
impl Drop for SkeletonStore {
    fn drop(&mut self) {
        let _ = self.flush_writes();
    }
}

/// One thread's use of a store. Everything here is on the clock: nothing allocates, formats or locks
/// that the library does not.
struct SkeletonSession<'s> {
    store: &'s SkeletonStore,
}

impl SkeletonSession<'_> {
    /// Changes the values; `change` returns whether it did.
    fn change(&self, change: impl FnOnce(&mut Table<Vec<u8>>) -> Result<bool>) -> Result<bool> {
        if self.store.access == Access::Read {
            return Err(refusal::read_only());
        }
        let mut state = lock::write(&self.store.state);
        let is_changed = change(&mut state.values)?;
        state.changed |= is_changed;
        Ok(is_changed)
    }
}

impl Session for SkeletonSession<'_> {
    /// Copies a value. Called for each read: the value goes into the caller's buffer, if it fits.
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let state = lock::read(&self.store.state);
        Ok(state.values.get(&key)?.map(|value| copy_value(value, into)))
    }

    /// Writes a value. Called for each write. Returns `false`, and writes nothing, if `put.how` forbids it.
    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        self.change(|values| {
            match (values.get_mut(&key)?, put.how) {
                (Some(_), How::Insert) | (None, How::Update) => return Ok(false),
                (Some(old), _) => {
                    old.clear();
                    old.extend_from_slice(value);
                }
                (None, _) => drop(values.insert(key, value.to_vec())?),
            }
            Ok(true)
        })
    }

    /// Removes a value, and returns whether there was one. Called for each delete.
    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        self.change(|values| Ok(values.remove(key)?.is_some()))
    }

    /// Visits values. Called to list or copy a store, and for each scan: items in the order of
    /// their keys.
    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let state = lock::read(&self.store.state);
        for (key, value) in state.values.sorted(scan.from, scan.limit)? {
            if visit(Item::new(key, value, None))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// The start of a file. It is followed by the kind of keys (a byte), keys and values (each with its
/// length before it, in 4 bytes), and a CRC-32 of all.
const MAGIC: [u8; 8] = *b"skeleton";

fn encode(values: &Table<Vec<u8>>) -> Result<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.push((values.keys() == KeyKind::Names).into());
    for (key, value) in values.sorted(None, u64::MAX)? {
        let number = match key {
            Key::Int(number) => number.to_le_bytes(),
            Key::Name(_) => [0; 8],
        };
        let key = if let Key::Name(name) = key { name } else { &number };
        for part in [key, value] {
            let length = u32::try_from(part.len())
                .map_err(|_| Error::unsupported("a key or value of 4 GiB or more"))?;
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(part);
        }
    }
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Returns the values in a file; `None` if it is no whole file.
fn decode(bytes: &[u8]) -> Option<Table<Vec<u8>>> {
    let (bytes, checksum) = bytes.split_last_chunk()?;
    let (kind, mut rest) = bytes.strip_prefix(&MAGIC)?.split_first()?;
    let is_whole = crc32fast::hash(bytes) == u32::from_le_bytes(*checksum);
    let keys = if *kind == 1 { KeyKind::Names } else { KeyKind::Integers };
    let mut values = Table::new(keys);
    while is_whole && !rest.is_empty() {
        let key = split_part(&mut rest)?;
        let key = match keys {
            KeyKind::Integers => Key::Int(i64::from_le_bytes(key.try_into().ok()?)),
            KeyKind::Names => Key::Name(key),
        };
        values.insert(key, split_part(&mut rest)?.to_vec()).ok()?;
    }
    is_whole.then_some(values)
}

fn split_part<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, after) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(part)
}
