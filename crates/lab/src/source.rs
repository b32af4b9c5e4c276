//! Where scratch stores get their data: made from a seed, or read from another store.

use std::ops::ControlFlow;

use model::{Error, Generated, How, Item, KeyKind, Mode, Put, Result, Session, Store, Visit};

use crate::{
    Amount, Place, Progress, Stop,
    copy::{Readable, generated},
    dataset::{Dataset, Sampler},
    request::{Data, Request},
};

/// Keys with their bytes, in key order, as often as they are asked for.
pub(crate) struct Source {
    keys: KeyKind,
    from: From,
}

enum From {
    Made(Box<dyn Store>, Generated),
    /// Opened for each use: meanwhile it may have to be copied, or opened by a target.
    There(Readable),
}

impl Source {
    /// The source that `request` names.
    pub(crate) fn open(request: &Request, progress: &dyn Progress, stop: &Stop) -> Result<Self> {
        let (engine, path, settings) = match &request.data {
            Data::Generated(spec) => {
                let store = generated(*spec)?.open()?;
                return Ok(Self { keys: store.keys(), from: From::Made(store, *spec) });
            }
            Data::Store { engine, path, settings } => (*engine, path, settings),
            Data::Targets => {
                let located = request.targets.iter().find_map(|target| {
                    Some((target.engine, target.location.as_ref()?, &target.settings))
                });
                located.ok_or_else(|| Error::usage("no target names a store of its own"))?
            }
        };
        let place = Place { engine, path: path.clone(), settings: settings.clone() };
        if !request.short_of_room {
            place.check_room(request.scratch.as_deref())?;
        }
        let readable = place.readable(request.scratch.as_deref(), progress, stop)?;
        let store = readable.place.open()?;
        let keys = store.keys();
        store.close()?;
        Ok(Self { keys, from: From::There(readable) })
    }

    fn with<T>(&self, use_it: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let place = match &self.from {
            From::Made(store, _) => return use_it(&**store),
            From::There(readable) => &readable.place,
        };
        let store = place.open()?;
        let result = use_it(&*store)?;
        store.close().map(|()| result)
    }

    /// The kind of its keys.
    pub(crate) fn keys(&self) -> KeyKind {
        self.keys
    }

    /// How much there is. Made-up values are not made for it.
    pub(crate) fn amount(&self, stop: &Stop) -> Result<Amount> {
        match &self.from {
            // Sizes lie evenly around the middle one.
            From::Made(_, Generated { count, size, .. }) => {
                Ok(Amount { count: *count, bytes: count.saturating_mul(*size) })
            }
            From::There(_) => self.with(|store| Amount::of(store, stop)),
        }
    }

    /// Visits every item in key order.
    fn scan(&self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        self.with(|store| store.session()?.scan(visit))
    }

    /// The dataset of `count` values, every one read once.
    pub(crate) fn dataset(
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
    pub(crate) fn fill(
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

/// Tells how far things are, not too often.
pub(crate) fn tick(progress: &dyn Progress, done: u64) {
    if done.is_multiple_of(512) {
        progress.done(done);
    }
}
