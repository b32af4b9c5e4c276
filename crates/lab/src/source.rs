//! Where scratch stores get their data: made from a seed, or read from another store.

use std::ops::ControlFlow;

use model::{
    Access, DatasetSpec, Error, How, Item, Key, KeyKind, Mode, OpenOptions, Put, Result, Session,
    Store, Visit,
};

use crate::{
    Progress, Stop,
    dataset::{Dataset, Generator},
    request::{Data, Request},
};

/// Keys with their bytes, in key order, as often as they are asked for.
pub(crate) enum Source {
    Made(Generator),
    Store(Box<dyn Store>),
}

impl Source {
    /// The source that `request` names.
    pub(crate) fn open(request: &Request) -> Result<(Self, DatasetSpec)> {
        let (engine, path, settings, spec) = match &request.data {
            Data::Generated(spec) => {
                return Ok((Self::Made(Generator::new(*spec)?), DatasetSpec::Generated(*spec)));
            }
            Data::Store { engine, path, settings } => {
                let spec = DatasetSpec::Directory { path: path.display().to_string() };
                (*engine, path, settings, spec)
            }
            Data::Targets => {
                let located = request.targets.iter().find_map(|target| {
                    Some((target.engine, target.location.as_ref()?, &target.settings))
                });
                let (engine, path, settings) =
                    located.ok_or_else(|| Error::usage("no target names a store of its own"))?;
                (engine, path, settings, DatasetSpec::Targets)
            }
        };
        let options = OpenOptions {
            settings: settings.clone(),
            access: Access::Read,
            keys: KeyKind::Integers,
        };
        Ok((Self::Store(engine.open(path, &options)?), spec))
    }

    /// The kind of its keys.
    pub(crate) fn keys(&self) -> KeyKind {
        match self {
            Self::Made(_) => KeyKind::Integers,
            Self::Store(store) => store.keys(),
        }
    }

    /// Bytes of all values; of made ones, on average.
    pub(crate) fn bytes(&self, stop: &Stop) -> Result<u64> {
        let store = match self {
            Self::Made(generator) => return Ok(generator.expected_bytes()),
            Self::Store(store) => store,
        };
        let mut bytes = 0;
        store.session()?.list(&mut |_, length| {
            stop.check()?;
            bytes += length;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(bytes)
    }

    /// Visits every item in key order.
    pub(crate) fn scan(&self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        match self {
            Self::Made(generator) => make(generator, visit),
            Self::Store(store) => store.session()?.scan(visit),
        }
    }

    /// The dataset, every value read once.
    pub(crate) fn dataset(&self, progress: &dyn Progress, stop: &Stop) -> Result<Dataset> {
        progress.stage("reading the data", None);
        let mut dataset = Dataset::new(self.keys());
        let mut seen = 0;
        self.scan(&mut |item| {
            stop.check()?;
            dataset.push(item.key, item.value)?;
            seen += 1;
            tick(progress, seen);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(dataset)
    }

    /// Writes every item into an empty store.
    pub(crate) fn fill(
        &self,
        session: &mut dyn Session,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<()> {
        let mut written = 0;
        session.begin(Mode::Write)?;
        self.scan(&mut |item| {
            stop.check()?;
            session.put(item.key, item.value, &Put { how: How::Insert, meta: item.meta })?;
            written += 1;
            tick(progress, written);
            if u64::is_multiple_of(written, FILL_BATCH) {
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

/// Tells how far things are, not too often.
pub(crate) fn tick(progress: &dyn Progress, done: u64) {
    if done.is_multiple_of(512) {
        progress.done(done);
    }
}

fn make(generator: &Generator, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
    let mut value = Vec::new();
    for key in 1..=generator.count() {
        generator.value(key, &mut value);
        let key = i64::try_from(key)
            .map_err(|_| Error::usage("more keys than a 64-bit integer counts"))?;
        if visit(Item { key: Key::Int(key), value: &value, meta: None })?.is_break() {
            break;
        }
    }
    Ok(())
}
