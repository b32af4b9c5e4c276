//! Where scratch stores get their data: generated from a seed, or read from another store.

use std::ops::ControlFlow;

use model::{Error, Generated, How, KeyKind, Mode, Put, Result, Scan, Session, Store, Visitor};

use super::{Data, Job};
use crate::{
    Amount, Place, Progress, Stop,
    copy::{Readable, generated},
    dataset::{Dataset, Sampler},
    progress::tick,
};

/// Keys with their bytes, in key order, as often as they are asked for.
pub(super) struct Source {
    keys: KeyKind,
    from: From,
}

enum From {
    Generated(Box<dyn Store>, Generated),
    /// Opened for each use: meanwhile it may have to be copied, or opened by a target.
    Existing(Readable),
}

impl Source {
    /// The source that the request names.
    pub(super) fn open(Job { request, part, progress, stop }: Job<'_>) -> Result<Self> {
        let (engine, path, settings) = match &part.data {
            Data::Generated(spec) => {
                let store = generated(*spec)?.open()?;
                return Ok(Self { keys: store.keys(), from: From::Generated(store, *spec) });
            }
            Data::Store { engine, path, settings } => (*engine, path, settings),
            Data::Targets => {
                let located = part.targets.iter().find_map(|target| {
                    Some((target.engine, target.location.as_ref()?, &target.settings))
                });
                located.ok_or_else(|| Error::usage("no target names a store of its own"))?
            }
        };
        let place = Place { engine, path: path.clone(), settings: settings.clone() };
        let scratch = request.scratch.as_deref();
        if !part.short_of_room {
            place.check_room(scratch)?;
        }
        let readable = place.readable(scratch, progress, stop)?;
        let store = readable.place.open()?;
        let keys = store.keys();
        store.close()?;
        Ok(Self { keys, from: From::Existing(readable) })
    }

    fn with<T>(&self, use_it: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let place = match &self.from {
            From::Generated(store, _) => return use_it(&**store),
            From::Existing(readable) => &readable.place,
        };
        let store = place.open()?;
        let result = use_it(&*store)?;
        store.close().map(|()| result)
    }

    /// The kind of its keys.
    pub(super) fn keys(&self) -> KeyKind {
        self.keys
    }

    /// How much there is. Generated values are not generated for it.
    pub(super) fn amount(&self, stop: &Stop) -> Result<Amount> {
        match &self.from {
            // Sizes are even around the middle one.
            From::Generated(_, Generated { count, size, .. }) => {
                Ok(Amount { count: *count, bytes: count.saturating_mul(*size) })
            }
            From::Existing(_) => self.with(|store| Amount::of(store, stop)),
        }
    }

    /// Visits every item in key order.
    fn scan(&self, visit: &mut Visitor<'_>) -> Result<()> {
        self.with(|store| store.session()?.scan(Scan::ALL, visit))
    }

    /// The dataset of `count` values, every one read once.
    pub(super) fn dataset(
        &self,
        count: u64,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Dataset> {
        progress.stage("reading the data", Some(count));
        let mut dataset = Dataset::new(self.keys());
        let mut sampler = Sampler::new();
        let mut seen = 0;
        self.scan(&mut |item| {
            stop.check()?;
            dataset.push(item.key, item.value)?;
            sampler.look(item.value);
            seen += 1;
            tick(progress, seen);
            Ok(ControlFlow::Continue(()))
        })?;
        dataset.deflated = sampler.deflated();
        Ok(dataset)
    }

    /// Writes every item into an empty store.
    pub(super) fn fill(
        &self,
        session: &mut dyn Session,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<()> {
        let (mut written, mut bytes) = (0, 0);
        session.begin(Mode::Write)?;
        self.scan(&mut |item| {
            stop.check()?;
            session.put(item.key, item.value, &Put { how: How::Insert, meta: item.meta })?;
            written += 1;
            bytes += item.value.len();
            tick(progress, written);
            if u64::is_multiple_of(written, FILL_BATCH) || bytes > FILL_BYTES {
                bytes = 0;
                session.commit()?;
                session.begin(Mode::Write)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        session.commit()
    }
}

/// Items per commit when a scratch store is filled.
const FILL_BATCH: u64 = 4096;
/// Bytes per commit: some engines keep a batch in memory.
const FILL_BYTES: usize = 64 << 20;
