//! An engine that keeps its values in memory, one small file a value beside them for the page
//! cache to hold, and notes what it is asked for.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use model::{
    Blobs, Capabilities, Declaration, Durability, Engine, Error, Item, Key, KeyKind, Mode,
    OpenOptions, Put, Result, Scan, Session, Store, ValueType, Visitor,
};

/// What was asked for, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    Began(Mode),
    Got,
    /// Where the bytes stood, and whether they were there already.
    Put {
        address: usize,
        same: bool,
    },
    Committed,
    /// A session is open, and when.
    Ready(Instant),
    Closed(Instant),
}

/// Which operations, by their number.
pub(crate) type Which = fn(u64) -> bool;

/// How it behaves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Habits {
    /// How long opening a session takes.
    pub(crate) opening: Duration,
    /// How long settling takes.
    pub(crate) settling: Duration,
    /// How long a get takes.
    pub(crate) getting: Duration,
    /// How many gets of all sessions are quick, and how long each later one takes.
    pub(crate) thrashing: Option<(usize, Duration)>,
    /// Before which gets of a session it takes a nap, and how long; the store tells of it.
    pub(crate) nap: Option<(Which, Duration)>,
    /// Bytes by which key 7 is too short, from the second batch on; as many as it has: absent.
    pub(crate) lost: usize,
    /// Files that leave the page cache whenever the store is closed after as many gets as
    /// [`Self::tolerated`].
    pub(crate) evicted: u64,
    pub(crate) tolerated: u64,
    /// Whether a get reads the file of its key, too, which has some pages.
    pub(crate) reads_files: bool,
}

/// What it keeps and saw.
pub(crate) struct RecordingEngine {
    habits: Habits,
    stores: Mutex<BTreeMap<PathBuf, Values>>,
    events: Mutex<Vec<Event>>,
    napping: AtomicBool,
}

type Values = Arc<Mutex<BTreeMap<i64, Vec<u8>>>>;

impl RecordingEngine {
    pub(crate) fn new(habits: Habits) -> Self {
        Self {
            habits,
            stores: Mutex::default(),
            events: Mutex::default(),
            napping: AtomicBool::new(false),
        }
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }

    fn note(&self, event: Event) {
        lock(&self.events).push(event);
    }

    /// Gets so far.
    pub(crate) fn gets(&self) -> usize {
        lock(&self.events).iter().filter(|event| **event == Event::Got).count()
    }

    fn batches(&self) -> usize {
        lock(&self.events).iter().filter(|event| **event == Event::Committed).count()
    }

    fn store(&'static self, location: &Path) -> Box<dyn Store> {
        let values = lock(&self.stores).entry(location.to_owned()).or_default().clone();
        let (location, gets) = (location.to_owned(), AtomicU64::new(0));
        Box::new(Watched { spy: self, location, values, gets })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

/// The engine: a spy that lives as long as the test.
pub(crate) struct Watching(pub(crate) &'static RecordingEngine);

static DECLARATION: Declaration = Declaration {
    durability: &[
        Durability::None.kept_by(&[], ""),
        Durability::Consistent.kept_by(&[], ""),
        Durability::Durable.kept_by(&[], ""),
    ],
    capabilities: Capabilities { meta: false, ..Capabilities::IN_ONE_PROCESS },
    ..Declaration::new("spy", "notes what it is asked for")
};

impl Engine for Watching {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Watching {
    fn create(&self, location: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        fs::create_dir(location).map_err(|e| Error::io(location.display(), e))?;
        Ok(self.0.store(location))
    }

    fn open(&self, location: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(self.0.store(location))
    }
}

struct Watched {
    spy: &'static RecordingEngine,
    location: PathBuf,
    values: Values,
    /// Gets since it was opened.
    gets: AtomicU64,
}

impl Store for Watched {
    fn keys(&self) -> KeyKind {
        KeyKind::Integers
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        sleep(self.spy.habits.opening);
        self.spy.note(Event::Ready(Instant::now()));
        Ok(Box::new(Noting(self, 0)))
    }

    fn file_of(&self, key: Key<'_>) -> Option<PathBuf> {
        Some(self.location.join(key.to_string()))
    }

    fn background_work(&self) -> Option<Vec<&'static str>> {
        self.spy
            .habits
            .nap
            .map(|_| if self.spy.napping.load(Relaxed) { vec!["nap"] } else { vec![] })
    }

    fn flush_writes(&self) -> Result<()> {
        sleep(self.spy.habits.settling);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.spy.note(Event::Closed(Instant::now()));
        if self.gets.load(Relaxed) < self.spy.habits.tolerated {
            return Ok(());
        }
        let evicted = (1..=self.spy.habits.evicted).map(|key| self.location.join(key.to_string()));
        let evicted = pagecache::Files::below(evicted).and_then(|files| files.evict());
        evicted.map_err(|e| Error::io("evicting", e))
    }
}

const PAGES: usize = 3;

/// Counts its gets.
struct Noting<'s>(&'s Watched, u64);

impl Noting<'_> {
    fn rest(&mut self) {
        let Habits { getting, nap, thrashing, .. } = self.0.spy.habits;
        self.1 += 1;
        sleep(getting);
        if let Some((_, long)) = thrashing.filter(|(quick, _)| self.0.spy.gets() > *quick) {
            sleep(long);
        }
        if let Some((_, long)) = nap.filter(|(before, _)| before(self.1)) {
            self.0.spy.napping.store(true, Relaxed);
            sleep(long);
            self.0.spy.napping.store(false, Relaxed);
        }
    }
}

impl Session for Noting<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let Key::Int(key) = key else { return Ok(None) };
        self.0.spy.note(Event::Got);
        self.0.gets.fetch_add(1, Relaxed);
        if self.0.spy.habits.reads_files {
            let file = self.0.location.join(key.to_string());
            fs::read(&file).map_err(|e| Error::io(file.display(), e))?;
        }
        self.rest();
        let values = lock(&self.0.values);
        let Some(value) = values.get(&key) else { return Ok(None) };
        let lost = if key == 7 && self.0.spy.batches() > 1 { self.0.spy.habits.lost } else { 0 };
        let length = value.len() - lost;
        if let Some(front) = into.get_mut(..length) {
            front.copy_from_slice(&value[..length]);
        }
        Ok((length > 0).then_some(length))
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], _: &Put) -> Result<bool> {
        let Key::Int(key) = key else { return Ok(false) };
        let old = lock(&self.0.values).insert(key, value.to_vec());
        if old.is_none() {
            let file = self.0.location.join(key.to_string());
            let pages = if self.0.spy.habits.reads_files { PAGES } else { 0 };
            fs::write(&file, vec![1; pages * 4096 + 1])
                .map_err(|e| Error::io(file.display(), e))?;
        } else {
            let same = old.as_deref() == Some(value);
            self.0.spy.note(Event::Put { address: value.as_ptr().addr(), same });
        }
        Ok(true)
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Err(Error::unsupported("nothing is deleted here"))
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.0.spy.note(Event::Began(mode));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.0.spy.note(Event::Committed);
        Ok(())
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        if scan.from.is_some() {
            return Err(Error::unsupported("nothing is scanned from a key here"));
        }
        for (key, value) in lock(&self.0.values).iter() {
            let (key, length) = (Key::Int(*key), value.len() as u64);
            if visit(Item { key, value, length, meta: None, value_type: ValueType::Bytes })?
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }
}
