//! An engine made slower by a known time per operation, to see whether a comparison detects it. It
//! is in no registry: no target string names it.

use std::{
    any::Any,
    hint::black_box,
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use model::{
    Arrangement, Batch, Blobs, CopiedValues, Declaration, Durability, Engine, Entry, Facet,
    FinishedWork, FoundValues, Idle, Item, Key, KeyKind, Library, Maintenance, Mode, OpenOptions,
    OwnedKey, Parts, Put, Removed, Result, Scan, Session, Settings, Store, TableFacts, Visitor,
    units::whole,
};

use crate::{forward::forward, registry};

/// Another engine whose sessions wait before each get, put, delete and scan from a key.
pub struct Slowed {
    engine: &'static dyn Blobs,
    steps: u64,
}

/// The character between the name of an engine and the steps of its wait.
const STEPS: char = '+';

impl Slowed {
    /// Returns the engine with this [full name](Engine::full_name), slowed or not, for the rest of
    /// the process.
    ///
    /// # Errors
    ///
    /// Fails if there is no such engine.
    pub fn find(name: &str) -> Result<&'static dyn Blobs> {
        let slowed =
            name.split_once(STEPS).and_then(|(name, steps)| Some((name, steps.parse().ok()?)));
        let Some((name, steps)) = slowed else { return registry::blobs(name) };
        Ok(Box::leak(Box::new(Self { engine: registry::blobs(name)?, steps })))
    }

    /// Slows `engine` by `ns` nanoseconds an operation; returns `None` if that is less than the
    /// shortest wait, about a nanosecond.
    pub fn new(engine: &'static dyn Blobs, ns: f64) -> Option<Self> {
        let steps = (ns / step_ns()).round();
        (steps >= 1.0).then_some(Self { engine, steps: whole(steps) })
    }

    /// Measures the wait in nanoseconds: the mean over many calls of an engine that does nothing,
    /// with the wait less without it.
    pub fn measured_ns(&self) -> Result<f64> {
        // Hidden from the compiler, which would see that they do nothing.
        let mut plain: Box<dyn Session> = black_box(Box::new(Idle));
        let mut slowed = black_box(slowed(Box::new(Idle), self.steps));
        let mut differences = [0.0; TRIES];
        // One after the other, so that what slows the machine for a while slows both.
        for difference in &mut differences {
            let without = mean_ns(&mut *plain)?;
            *difference = mean_ns(&mut *slowed)? - without;
        }
        let (_, median, _) = differences.select_nth_unstable_by(TRIES / 2, f64::total_cmp);
        Ok(*median)
    }

    fn slow(&self, store: Result<Box<dyn Store>>) -> Result<Box<dyn Store>> {
        Ok(Box::new(SlowedStore { store: store?, steps: self.steps }))
    }
}

/// The number of tries. Each takes a moment; an interrupt spoils one or two of them.
const TRIES: usize = 33;

fn mean_ns(session: &mut dyn Session) -> Result<f64> {
    const GETS: u32 = 200;
    let start = Instant::now();
    for _ in 0..GETS {
        black_box(session.get(black_box(Key::Int(1)), &mut [])?);
    }
    Ok(start.elapsed().as_nanos() as f64 / f64::from(GETS))
}

/// Waits by squaring an odd number `steps` times. It reads no clock, since that may take longer
/// than the wait. The number stays odd, but the compiler does not know; and each step needs the one
/// before.
#[inline(never)]
fn chain(odd: u64, steps: u64) -> u64 {
    let mut odd = black_box(odd);
    for _ in 0..steps {
        odd = odd.wrapping_mul(odd);
    }
    black_box(odd)
}

/// The number at which chains start.
const ODD: u64 = 3;

/// Measures the nanoseconds of a step, from the fastest of many tries: the others were disturbed.
fn step_ns() -> f64 {
    const STEPS: u64 = 1 << 16;
    let tries = (0..TRIES).map(|_| {
        let start = Instant::now();
        black_box(chain(ODD, STEPS));
        start.elapsed().as_nanos() as f64 / STEPS as f64
    });
    tries.fold(f64::INFINITY, f64::min)
}

#[deny(clippy::missing_trait_methods, reason = "its default would answer for the engine")]
impl Engine for Slowed {
    forward! { engine:
        fn declaration(&self) -> &'static Declaration;
        fn library(&self, settings: &Settings) -> Option<Library>;
        fn check(&self, facet: Facet, settings: &Settings) -> Result<()>;
        fn program(&self) -> Option<&Path>;
        fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String>;
    }

    fn full_name(&self) -> String {
        format!("{}{STEPS}{}", self.engine.name(), self.steps)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

#[deny(clippy::missing_trait_methods, reason = "its default would answer for the engine")]
impl Blobs for Slowed {
    forward! { engine:
        fn cache(&self, bytes: u64, sessions: u32) -> Option<u64>;
        fn recognises(&self, path: &Path) -> bool;
        fn files(&self, location: &Path) -> Vec<PathBuf>;
        fn logs(&self, location: &Path) -> Vec<PathBuf>;
        fn only_read(&self, location: &Path, settings: &Settings) -> Result<Option<String>>;
        fn reading_changes(&self, location: &Path, settings: &Settings, batch: Batch) -> Option<String>;
        fn shares_files(&self, own: &Settings, other: &Settings) -> bool;
        fn reads_a_copy(&self, location: &Path) -> Result<bool>;
        fn worker_settings(&self, location: &Path, keys: KeyKind) -> Settings;
        fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>>;
        fn replace_by_paths(&self, copied: &CopiedValues<'_>) -> Result<Option<Vec<String>>>;
        fn reads_unguarded(&self, location: &Path) -> bool;
        fn other_contents(&self, location: &Path) -> Result<Vec<String>>;
        fn repair(&self, location: &Path) -> Option<String>;
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.slow(self.engine.create(location, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.slow(self.engine.open(location, options))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.slow(self.engine.join(location, options))
    }
}

/// A store whose sessions wait.
struct SlowedStore {
    store: Box<dyn Store>,
    steps: u64,
}

#[deny(clippy::missing_trait_methods, reason = "its default would answer for the engine")]
impl Store for SlowedStore {
    forward! { store:
        fn keys(&self) -> KeyKind;
        fn in_effect(&self) -> Result<(Settings, Durability)>;
        fn processes(&self) -> Vec<u32>;
        fn in_worker(&self) -> Option<&dyn Any>;
        fn background_work(&self) -> Option<Vec<&'static str>>;
        fn flush_writes(&self) -> Result<()>;
        fn has_parts(&self) -> bool;
        fn integrity(&self) -> Result<Option<Vec<String>>>;
        fn check_unlocked(&self) -> Result<()>;
        fn check_item(&self, key: Key<'_>, length: u64) -> Result<()>;
        fn left_out(&self) -> Result<Vec<Entry>>;
        fn arrangement(&self) -> Result<Option<Arrangement>>;
        fn table(&self) -> Result<Option<TableFacts>>;
        fn file_of(&self, key: Key<'_>) -> Option<PathBuf>;
        fn removed(&self) -> Removed;
        fn maintain(&self, what: Maintenance, to: &Path, is_over: &dyn Fn() -> bool) -> Result<bool>;
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(slowed(self.store.session()?, self.steps))
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.store.reclaim()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.close()
    }
}

/// A session that waits.
struct SlowedSession<'s> {
    session: Box<dyn Session + 's>,
    steps: u64,
    /// The end of the last chain, where the next one starts: a processor that executes out of
    /// order would run two at a time.
    odd: u64,
}

fn slowed<'s>(session: Box<dyn Session + 's>, steps: u64) -> Box<dyn Session + 's> {
    Box::new(SlowedSession { session, steps, odd: ODD })
}

impl SlowedSession<'_> {
    /// Waits, and returns `key`. It is computed from the chain's end, or the processor would look
    /// it up meanwhile.
    #[inline]
    fn wait<'k>(&mut self, key: Key<'k>) -> Key<'k> {
        self.odd = chain(self.odd, self.steps);
        let even = self.odd.is_multiple_of(2);
        match key {
            Key::Int(key) => Key::Int(key ^ i64::from(even)),
            Key::Name(name) => Key::Name(&name[usize::from(even)..]),
        }
    }
}

#[deny(clippy::missing_trait_methods, reason = "its default would answer for the engine")]
impl Session for SlowedSession<'_> {
    fn get(&mut self, key: Key<'_>, into: &mut [u8]) -> Result<Option<usize>> {
        let key = self.wait(key);
        self.session.get(key, into)
    }

    fn visit_each(&mut self, keys: &[(OwnedKey, u64)], visit: &mut Visitor<'_>) -> Result<()> {
        self.session.visit_each(keys, visit)
    }

    fn scan_some(&mut self, most: u64, visit: &mut Visitor<'_>) -> Result<Option<bool>> {
        self.session.scan_some(most, visit)
    }

    fn has_value(&mut self, item: &Item<'_>) -> Result<Option<bool>> {
        self.session.has_value(item)
    }

    fn length(&mut self, key: Key<'_>) -> Result<Option<u64>> {
        let key = self.wait(key);
        self.session.length(key)
    }

    fn put(&mut self, key: Key<'_>, value: &[u8], put: &Put) -> Result<bool> {
        let key = self.wait(key);
        self.session.put(key, value, put)
    }

    fn read_parts(&mut self, key: Key<'_>, to: &mut dyn Write) -> Result<()> {
        self.session.read_parts(key, to)
    }

    fn put_parts(&mut self, key: Key<'_>, parts: Parts<'_>, put: &Put) -> Result<bool> {
        self.session.put_parts(key, parts, put)
    }

    fn delete(&mut self, key: Key<'_>) -> Result<bool> {
        let key = self.wait(key);
        self.session.delete(key)
    }

    fn begin(&mut self, mode: Mode) -> Result<()> {
        self.session.begin(mode)
    }

    fn roll_back(&mut self) {
        self.session.roll_back();
    }

    fn commit(&mut self) -> Result<()> {
        self.session.commit()
    }

    fn scan(&mut self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let from = scan.from.map(|from| self.wait(from));
        self.session.scan(Scan { from, ..scan }, visit)
    }

    forward! { session:
        fn statistics(&self) -> Vec<(&'static str, i64)>;
        fn background_work(&self) -> Vec<FinishedWork>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::Null;

    #[test]
    fn a_wait_shorter_than_a_step_is_refused() {
        for ns in [0.0, -1.0, 1e-6, f64::NAN] {
            assert!(Slowed::new(&Null, ns).is_none(), "{ns}");
        }
        assert!(Slowed::new(&Null, 100.0).is_some());
    }
}
