//! Where scratch stores get their data: made from a seed, or read from another store.

use std::ops::ControlFlow;

use model::{DatasetSpec, Error, How, Item, KeyKind, Mode, Put, Result, Session, Store, Visit};

use crate::{
    Place, Progress, Stop,
    dataset::{Dataset, Sampler},
    made::made,
    request::{Data, Request},
};

/// Keys with their bytes, in key order, as often as they are asked for.
pub(crate) struct Source(Box<dyn Store>);

impl Source {
    /// The source that `request` names.
    pub(crate) fn open(request: &Request) -> Result<(Self, DatasetSpec)> {
        let (engine, path, settings, spec) = match &request.data {
            Data::Generated(spec) => {
                return Ok((Self(made(*spec)?.open()?), DatasetSpec::Generated(*spec)));
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
        let place = Place { engine, path: path.clone(), settings: settings.clone() };
        Ok((Self(place.open()?), spec))
    }

    /// The kind of its keys.
    pub(crate) fn keys(&self) -> KeyKind {
        self.0.keys()
    }

    /// Bytes of all values.
    pub(crate) fn bytes(&self, stop: &Stop) -> Result<u64> {
        let mut bytes = 0;
        self.0.session()?.list(&mut |_, length| {
            stop.check()?;
            bytes += length;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(bytes)
    }

    /// Visits every item in key order.
    fn scan(&self, visit: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        self.0.session()?.scan(visit)
    }

    /// The dataset, every value read once.
    pub(crate) fn dataset(&self, progress: &dyn Progress, stop: &Stop) -> Result<Dataset> {
        progress.stage("reading the data", None);
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
