//! The source of the data of scratch stores: generated from a seed, or read from another store.

use std::{
    mem,
    ops::ControlFlow::{self, Break, Continue},
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use model::{
    Blobs, Error, ErrorKind, Generated, How, Item, KeyKind, Meta, Mode, OwnedKey, Put, Result,
    SampledFrom, Scan, Session, Settings, Store, ValueType, Visitor, units::show_duration,
};

use super::{
    Data, Job, draw,
    listing::{KEPT, Lister, Listing},
    refusals::{names_have_no_max, no_key_is_that_small},
    sample::stratified,
    stores::{Sampled, keep_layout},
};
use crate::{
    Amount, Progress, ResolvedTarget, Stop, StoreLocation,
    budget::shares::LISTING_AGAIN,
    copy::{Readable, generated},
    dataset::{Dataset, Entry, Sampler, Use, check_type, derive},
    progress::tick,
    store::{
        self,
        check::{self, Reading},
        written_since,
    },
};

/// Keys with their bytes, in key order, as often as they are asked for.
pub(in crate::experiment) struct Source {
    keys: KeyKind,
    from: From,
    /// If it is a sample: its values.
    chosen: Option<Vec<Chosen>>,
    /// If listing all of it would cost requests: how much was listed.
    listed: Option<Listed>,
}

/// The part of a store that was listed, because requests for all of it are charged for.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) all: Amount,
    /// Whether that is the whole store.
    pub(super) is_whole: bool,
}

/// A value of a sample.
struct Chosen {
    key: OwnedKey,
    length: u64,
    meta: Option<Meta>,
    /// The bytes, if they are kept because each read is charged for.
    value: Option<Vec<u8>>,
}

enum From {
    Generated(Box<dyn Store>, Generated),
    /// Opened for each use: meanwhile it may have to be copied, or opened by a target. With the time
    /// since which its files are to stay as they are.
    Existing(Readable, SystemTime),
}

fn changed_while_measured(readable: &Readable, what: &str) -> Error {
    Error::new(ErrorKind::Differs, store::changed(what)).at(readable.shown().display())
}

/// Returns the error that a file was written since then; `None` if none was.
fn file_changed(readable: &Readable, since: SystemTime) -> Option<Error> {
    let files = readable.place.engine.files(readable.shown());
    let file = written_since(&files, since)?;
    Some(changed_while_measured(readable, &format!("file {file}")))
}

impl Source {
    /// Opens the source that the request names.
    pub(super) fn open(Job { request, part, progress, stop, .. }: Job<'_>) -> Result<Self> {
        let scratch = request.scratch.as_deref();
        if let Some(place) = part.source_location().filter(|_| !part.short_of_room) {
            place.check_room(scratch)?;
        }
        Self::open_data(&part.data, &part.targets, (scratch, progress, stop))
    }

    /// Opens the source of `data`, or of the first of the targets that has values; with the folder for a
    /// copy, if reading would change the store.
    pub(in crate::experiment) fn open_data(
        data: &Data,
        targets: &[ResolvedTarget<dyn Blobs>],
        (scratch, progress, stop): (Option<&Path>, &dyn Progress, &Stop),
    ) -> Result<Self> {
        if let Data::Generated(spec) = data {
            return Self::generated(*spec);
        }
        let none = || Error::usage("no target names a store of its own");
        let place = data.location(targets).ok_or_else(none)?;
        Self::stored(&place, scratch, progress, stop)
    }

    /// Values generated from a seed.
    pub(in crate::experiment) fn generated(spec: Generated) -> Result<Self> {
        let store = generated(spec)?.open()?;
        Ok(Self {
            keys: store.keys(),
            from: From::Generated(store, spec),
            chosen: None,
            listed: None,
        })
    }

    /// The values of a store, which is read as a copy in `scratch` if reading would change it.
    pub(in crate::experiment) fn stored(
        place: &StoreLocation,
        scratch: Option<&Path>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Self> {
        let since = SystemTime::now();
        let mut readable = place.readable(scratch, progress, stop)?;
        let found = || {
            let store = readable.place.open()?;
            let found = (store.keys(), store.in_effect()?.0);
            store.close().map(|()| found)
        };
        let (keys, in_effect) = found().map_err(|error| readable.names(error))?;
        // A folder of many files is not listed again to find how they are named.
        keep_layout(readable.place.engine, &mut readable.place.settings, &in_effect);
        Ok(Self { keys, from: From::Existing(readable, since), chosen: None, listed: None })
    }

    fn with<T>(&self, use_it: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let (readable, since) = match &self.from {
            From::Generated(store, _) => return use_it(&**store),
            From::Existing(readable, since) => (readable, *since),
        };
        let used = || {
            let store = readable.place.open()?;
            let result = use_it(&*store)?;
            store.close().map(|()| result)
        };
        used().map_err(|error| {
            // What is read without locks may seem damaged while it is written to.
            let is_damage = error.kind() == ErrorKind::Corrupt;
            let changed = if is_damage { file_changed(readable, since) } else { None };
            changed.unwrap_or_else(|| readable.names(error))
        })
    }

    fn check_type(&self, item: &Item<'_>) -> Result<()> {
        check_type(item).map_err(|error| match &self.from {
            From::Generated(..) => error,
            From::Existing(readable, _) => error.at(readable.place.path.display()),
        })
    }

    pub(super) fn keys(&self) -> KeyKind {
        self.keys
    }

    /// Returns the settings with which the store is read, if it is the one at `path`.
    pub(super) fn layout_at(&self, path: Option<&Path>) -> Option<&Settings> {
        let From::Existing(readable, _) = &self.from else { return None };
        (path == Some(&readable.place.path)).then_some(&readable.place.settings)
    }

    /// Fails if it has no key up to `max`, as it does where keys are dropped.
    pub(super) fn check_max_key(&self, max: i64) -> Result<()> {
        if self.keys == KeyKind::Names {
            return Err(names_have_no_max());
        }
        let mut least = None;
        self.scan_keys(Scan { limit: 1, ..Scan::KEYS }, &mut |item| {
            least = Some(OwnedKey::from(item.key));
            Ok(Break(()))
        })?;
        match least {
            Some(OwnedKey::Int(least)) if least > max => Err(no_key_is_that_small(max)),
            _ => Ok(()),
        }
    }

    /// Returns the settings of the store that has the data, as read back. Files by their paths have
    /// only one way of being stored.
    pub(super) fn settings(&self) -> Result<Settings> {
        let From::Existing(readable, _) = &self.from else { return Ok(Settings::default()) };
        if readable.place.engine.capabilities().paths && self.keys == KeyKind::Names {
            return Ok(Settings::default());
        }
        self.with(|store| Ok(store.in_effect()?.0))
    }

    /// Returns the lengths of all values in key order.
    pub(super) fn lengths(&self, stop: &Stop) -> Result<Vec<u64>> {
        let mut lengths = Vec::new();
        self.scan_keys(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            lengths.push(item.length);
            Ok(Continue(()))
        })?;
        Ok(lengths)
    }

    /// Makes it a sample of `count` values.
    pub(super) fn sample(&mut self, count: u64, seed: u64, stop: &Stop) -> Result<()> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let places = stratified(&self.lengths(stop)?, count, derive(seed, Use::Sample, 0));
        if let Some(chosen) = self.chosen.as_mut() {
            // It is a sample of one, whose values may have been fetched.
            let mut all = mem::take(chosen).into_iter().map(Some).collect::<Vec<_>>();
            chosen.extend(places.into_iter().filter_map(|place| all[place].take()));
            return Ok(());
        }
        let (mut places, mut place) = (places.into_iter().peekable(), 0);
        let mut chosen = Vec::with_capacity(places.len());
        self.with(|store| {
            store.session()?.scan(Scan::LENGTHS, &mut |item| {
                self.check_type(&item)?;
                let Item { key, length, meta, .. } = item;
                if places.next_if_eq(&place).is_some() {
                    chosen.push(Chosen { key: key.into(), length, meta, value: None });
                }
                place += 1;
                Ok(if places.peek().is_some() { Continue(()) } else { Break(()) })
            })
        })?;
        self.chosen = Some(chosen);
        Ok(())
    }

    /// Makes it the values of `dataset`, in its order; `None` for all of them. Values that are charged for stay
    /// chosen.
    pub(super) fn choose(&mut self, dataset: Option<&Dataset>) {
        if self.listed.is_some() {
            return;
        }
        let chosen = |dataset: &Dataset| {
            let new = |entry: &Entry| Chosen {
                key: dataset.key(entry).into(),
                length: entry.size.into(),
                meta: None,
                value: None,
            };
            dataset.entries().iter().map(new).collect()
        };
        self.chosen = dataset.map(chosen);
    }

    /// Makes it a sample of the keys of a part, if listing all of it would cost requests, and fetches
    /// the values if stores are filled with them.
    pub(super) fn limit(&mut self, job: Job<'_>) -> Result<Option<Listed>> {
        let From::Existing(readable, _) = &self.from else { return Ok(None) };
        if !readable.place.is_charged() {
            return Ok(None);
        }
        job.progress.stage("listing keys", None);
        let most = job.request.time().map_or(MOST_LISTED, |time| {
            (time.as_secs() * LISTED_A_SECOND).clamp(FEWEST_LISTED, MOST_LISTED)
        });
        let (mut chosen, mut all) = (Vec::new(), Amount::default());
        let is_whole = self.with(|store| {
            store.session()?.scan_some(most, &mut |item| {
                job.stop.check()?;
                all.add(&item);
                let (key, length) = (item.key.into(), item.length);
                chosen.push(Chosen { key, length, meta: None, value: None });
                Ok(Continue(()))
            })
        })?;
        let Some(is_whole) = is_whole else { return Ok(None) };
        self.chosen = Some(chosen);
        self.sample(job.part.coverage.sample(all), job.request.seed, job.stop)?;
        let listed = Listed { all, is_whole };
        self.listed = Some(listed);
        Ok(Some(listed))
    }

    /// Reads the values of a sample that are charged for, so that each is read once however many stores
    /// are filled with it.
    pub(super) fn fetch(&mut self, job: Job<'_>) -> Result<()> {
        if self.listed.is_none() {
            return Ok(());
        }
        let Some(chosen) = self.chosen.take() else { return Ok(()) };
        job.progress.stage("reading the data", Some(chosen.len() as u64));
        let keys: Vec<_> = chosen.into_iter().map(|one| (one.key, one.length)).collect();
        let mut fetched = Vec::with_capacity(keys.len());
        self.with(|store| {
            store.session()?.visit_each(&keys, &mut |item| {
                job.stop.check()?;
                let Item { key, value, length, meta, .. } = item;
                let value = Some(value.to_vec());
                fetched.push(Chosen { key: key.into(), length, meta, value });
                tick(job.progress, fetched.len() as u64);
                Ok(Continue(()))
            })
        })?;
        self.chosen = Some(fetched);
        Ok(())
    }

    /// Returns the sample that it is of a store that is charged for; `None` if it is all of it.
    pub(super) fn sampled(&self, seed: u64) -> Option<Sampled> {
        let listed = self.listed.filter(|_| self.is_part())?;
        let from = SampledFrom { count: listed.all.count, bytes: listed.all.bytes };
        let count = self.chosen.as_ref().map_or(0, Vec::len) as u64;
        Some(Sampled { from, count, listed: None, seed, seconds: None })
    }

    /// Reports whether only a part of the keys of a store is known.
    pub(super) fn is_part(&self) -> bool {
        let chosen = self.chosen.as_ref().map_or(0, Vec::len) as u64;
        self.listed.is_some_and(|listed| !listed.is_whole || chosen < listed.all.count)
    }

    /// Lists the keys with the lengths of their values, which are not read.
    pub(super) fn list(&self, job: Job<'_>, within: Option<Duration>) -> Result<Listing> {
        let start = Instant::now();
        let list_all = || self.list_all(Scan::LENGTHS, job);
        let listed = match within {
            // A folder is read whole for each scan, and lengths are asked for one by one.
            Some(_) if self.chosen.is_none() && self.is_folder() => self.list_files(job, within)?,
            _ => match job.within(within, list_all)? {
                Some(listed) => listed,
                None => self.draw(job, within)?,
            },
        };
        Ok(Listing { took: start.elapsed(), ..listed })
    }

    /// Lists the files of a folder, with the lengths of as many as can be asked for.
    fn list_files(&self, job: Job<'_>, within: Option<Duration>) -> Result<Listing> {
        let listing = self.list_all(Scan::KEYS, job)?;
        // The store had the lengths at hand.
        if listing.all.bytes > 0 {
            return Ok(listing);
        }
        self.with(|store| {
            let all = || draw::all_lengths(&|| store.session(), &listing, job);
            let all = if listing.is_whole() { job.within(within, all)? } else { None };
            all.map_or_else(|| draw::lengths(&mut *store.session()?, listing, job, within), Ok)
        })
    }

    /// Lists keys that are too many for all of them to be listed with the lengths of their values.
    fn draw(&self, job: Job<'_>, within: Option<Duration>) -> Result<Listing> {
        if self.keys == KeyKind::Integers {
            let draw = |store: &dyn Store| draw::keys(&mut *store.session()?, job, within);
            if let Some(drawn) = self.with(draw)? {
                return Ok(drawn);
            }
        }
        let limit = job.request.time().map(|time| time.mul_f64(LISTING_AGAIN));
        let listing = job.within(limit, || self.list_all(Scan::KEYS, job))?;
        let listing = listing.ok_or_else(|| Self::takes_too_long(job, limit))?;
        // The store had the lengths at hand.
        if listing.all.bytes > 0 {
            return Ok(listing);
        }
        self.with(|store| draw::lengths(&mut *store.session()?, listing, job, within))
    }

    /// Returns the error that keys cannot be listed in the time `limit`. The first of them alone would not show
    /// what the others do.
    fn takes_too_long(job: Job<'_>, limit: Option<Duration>) -> Error {
        let limit = show_duration(limit.unwrap_or_default());
        let [time, _] = job.request.limit_options;
        let place = job.part.data.location(&job.part.targets);
        let name = place.map_or_else(|| "the data".to_owned(), |place| place.shown());
        Error::failed(format!(
            "listing its keys takes more than {limit}, their share of the time; use more {time}"
        ))
        .at(name)
    }

    /// Reports whether values are files of a folder.
    fn is_folder(&self) -> bool {
        match &self.from {
            From::Generated(..) => false,
            From::Existing(readable, _) => readable.place.engine.capabilities().paths,
        }
    }

    /// Lists all keys, of which a random part is kept if they are too many.
    fn list_all(&self, scan: Scan<'_>, job: Job<'_>) -> Result<Listing> {
        job.progress.stage("listing the keys", None);
        let mut lister = Lister::new(self.keys, KEPT, derive(job.request.seed, Use::Sample, 1));
        self.scan_keys(scan, &mut |item| {
            job.stop.check()?;
            self.check_type(&item)?;
            lister.add(&item)?;
            Ok(Continue(()))
        })?;
        Ok(lister.finish())
    }

    /// Visits every key in key order, with the length of its value if it is known or wanted.
    fn scan_keys(&self, scan: Scan<'_>, visit: &mut Visitor<'_>) -> Result<()> {
        let Some(chosen) = &self.chosen else {
            return self.with(|store| store.session()?.scan(scan, visit));
        };
        for Chosen { key, length, meta, .. } in chosen {
            let item = Item::new(key.as_key(), &[], *meta).with_length(*length);
            if visit(item)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Reads values of `dataset` in its order until the time is over; see [`check::note_values`].
    pub(super) fn note_values(
        &self,
        dataset: &mut Dataset,
        mut reading: Reading<'_>,
    ) -> Result<usize> {
        let mut sampler = Sampler::new();
        reading.progress.stage("reading the data", Some(dataset.entries().len() as u64));
        if let From::Existing(readable, _) = &self.from {
            reading = reading.for_engine(readable.place.engine);
        }
        let count = self.with(|store| check::note_values(dataset, store, &mut sampler, reading))?;
        dataset.deflated = sampler.deflated();
        Ok(count)
    }

    /// Returns `error`, or, if the data that `dataset` was read from have changed since, an error that says
    /// so: then no store that was filled from them is to blame.
    pub(super) fn blame(&self, error: Error, dataset: &Dataset, stop: &Stop) -> Error {
        let From::Existing(readable, since) = &self.from else { return error };
        if !matches!(error.kind(), ErrorKind::Differs | ErrorKind::Corrupt) {
            return error;
        }
        let changed =
            self.with(|store| check::first_changed(dataset, &mut *store.session()?, stop));
        // A value may have changed between filling and noting it, and not since.
        match changed {
            Ok(Some(key)) => changed_while_measured(readable, &format!("key {key}")),
            _ => file_changed(readable, *since).unwrap_or(error),
        }
    }

    /// How much there is. Generated values are not generated for it.
    pub(in crate::experiment) fn amount(&self, stop: &Stop) -> Result<Amount> {
        if let Some(chosen) = &self.chosen {
            let bytes = chosen.iter().map(|one| one.length).sum();
            return Ok(Amount { count: chosen.len() as u64, bytes });
        }
        match &self.from {
            // Sizes are even around the middle one.
            From::Generated(_, Generated { count, size, .. }) => {
                Ok(Amount { count: *count, bytes: count.saturating_mul(*size) })
            }
            From::Existing(..) => self.with(|store| Amount::measure(store, stop)),
        }
    }

    /// Visits every item in key order.
    pub(super) fn scan(&self, visit: &mut Visitor<'_>) -> Result<()> {
        self.with(|store| match &self.chosen {
            None => store.session()?.scan(Scan::ALL, visit),
            Some(chosen) if self.listed.is_some() => visit_fetched(store, chosen, visit),
            Some(chosen) => read_chosen(&mut *store.session()?, chosen, visit),
        })
    }

    /// The dataset of `count` values, every one read once.
    pub(in crate::experiment) fn dataset(
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
            self.check_type(&item)?;
            dataset.push(item.key, item.value)?;
            sampler.add(seen, item.value);
            seen += 1;
            tick(progress, seen);
            Ok(ControlFlow::Continue(()))
        })?;
        dataset.deflated = sampler.deflated();
        Ok(dataset)
    }

    /// Writes every item into an empty store.
    pub(in crate::experiment) fn fill(
        &self,
        session: &mut dyn Session,
        how: How,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<()> {
        self.fill_within(session, how, None, progress, stop).map(drop)
    }

    /// Writes items into an empty store for so long, and returns how many, and how long that took. Both
    /// times start with the first item: what lists the items first takes as long for a few.
    pub(super) fn fill_within(
        &self,
        session: &mut dyn Session,
        how: How,
        limit: Option<Duration>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<(u64, Duration)> {
        let (mut written, mut bytes, mut start) = (0, 0, None::<Instant>);
        session.begin(Mode::Write)?;
        self.scan(&mut |item| {
            stop.check()?;
            let start = start.get_or_insert_with(Instant::now);
            session.put(item.key, item.value, &Put { meta: item.meta, ..Put::new(how) })?;
            written += 1;
            bytes += item.value.len();
            tick(progress, written);
            if u64::is_multiple_of(written, FILL_BATCH) || bytes > FILL_BYTES {
                bytes = 0;
                session.commit()?;
                session.begin(Mode::Write)?;
            }
            let is_over = limit.is_some_and(|limit| start.elapsed() >= limit);
            Ok(if is_over { Break(()) } else { Continue(()) })
        })?;
        session.commit()?;
        Ok((written, start.map_or(Duration::ZERO, |start| start.elapsed())))
    }
}

/// The most keys that are listed of a store whose requests are charged for.
const MOST_LISTED: u64 = 100_000;
/// The fewest: those of one request.
const FEWEST_LISTED: u64 = 1_000;
/// The keys that are listed for each second of the run: a list of 1,000 may take a tenth of a second.
const LISTED_A_SECOND: u64 = 500;

/// Visits the values of a sample, which are read only if they were not fetched.
fn visit_fetched(store: &dyn Store, chosen: &[Chosen], visit: &mut Visitor<'_>) -> Result<()> {
    if chosen.iter().any(|one| one.value.is_none()) {
        let keys: Vec<_> = chosen.iter().map(|one| (one.key.clone(), one.length)).collect();
        return store.session()?.visit_each(&keys, visit);
    }
    for Chosen { key, meta, value, .. } in chosen {
        if visit(Item::new(key.as_key(), value.as_deref().unwrap_or_default(), *meta))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Visits the values of a sample.
fn read_chosen(
    session: &mut dyn Session,
    chosen: &[Chosen],
    visit: &mut Visitor<'_>,
) -> Result<()> {
    let mut is_over = false;
    session.begin(Mode::Read)?;
    for part in chosen.chunks(READ_TOGETHER) {
        let keys: Vec<_> = part.iter().map(|one| (one.key.clone(), one.length)).collect();
        let mut left = part.iter();
        session.visit_each(&keys, &mut |item| {
            // One that has gone is left out.
            if let Some(Chosen { key, meta, .. }) = left.next() {
                if key.as_key() != item.key {
                    return Err(check::changed(key.as_key()));
                }
                let of_chosen = Item { meta: *meta, value_type: ValueType::Bytes, ..item };
                is_over = visit(of_chosen)?.is_break();
            }
            Ok(if is_over { Break(()) } else { Continue(()) })
        })?;
        if is_over {
            break;
        }
        left.next().map_or(Ok(()), |gone| Err(check::changed(gone.key.as_key())))?;
    }
    session.commit()
}

/// The values of a sample that are asked for at once: a worker sends all of them, even if the first is enough.
const READ_TOGETHER: usize = 1 << 10;

/// The items per commit when a scratch store is filled.
const FILL_BATCH: u64 = 4096;
/// The bytes per commit: some engines keep a batch in memory.
const FILL_BYTES: usize = 64 << 20;
