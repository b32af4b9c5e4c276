//! Whether a trial was in the cache state that it was meant for.

use crate::{Cache, Operation, Sample, Work};

/// The answer to whether a trial was in its cache state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Nothing that is known contradicts the state.
    Reached,
    /// The trial did not start in the state.
    NotReached,
    /// A warm pass fetched so many bytes from a device for each byte of the values: pages that were
    /// dropped and read again meanwhile show in no count of pages.
    Fetched(f64),
    /// A cold pass fetched only so many bytes for each byte of the values: another process, or
    /// opening the store, had read the rest.
    NotFetched(f64),
    /// The state is cold, and nothing proves it.
    Unproven,
}

/// The share of its time that a warm pass of reads may wait for a device.
const WAITING: f64 = 0.02;
/// The nanoseconds that a common device takes for each byte that is fetched at random: 100 µs for a
/// page of 4 KiB.
const FETCHING: f64 = 100e3 / 4096.0;
/// The share of its bytes that a warm pass of anything else may fetch: one page in a hundred may be
/// missing, and is read with its neighbours.
const STRAY: f64 = 0.02;
/// The bytes that a warm pass of reads may fetch however short it is.
const FEW_PAGES: f64 = 65_536.0;
/// The bytes that a warm pass of anything else may fetch however short it is.
const METADATA: f64 = 262_144.0;
/// The least bytes that a cold read pass must fetch for each byte of the values. Values that a file
/// system has compressed may be less; everything else is read whole, and more with it.
const LEAST_FETCHED: f64 = 0.5;

impl Sample {
    /// Returns whether the trial was in its cache state, judged by the pages at its start and the
    /// bytes that it fetched.
    pub fn state(&self, work: Work) -> State {
        // A cold read fetches all that it reads; a limited one only what does not fit.
        let is_read = self.cache.is_cold() && work.operation() == Some(Operation::Read);
        let before = self.before.unwrap_or_default();
        let unknown = self.before.is_none() || before.resident_share().is_none();
        if self.cache == Cache::AsFound || self.as_found && self.cache == Cache::Warm {
            return State::Reached;
        }
        if !unknown && !before.shows(self.cache) {
            return State::NotReached;
        }
        match (self.cache, self.fetched(work)) {
            (Cache::Warm, Some(fetched)) if fetched > 0.0 => State::Fetched(fetched),
            (_, Some(fetched)) if is_read && fetched < LEAST_FETCHED => State::NotFetched(fetched),
            // If nobody could see the pages, only the device can show that they were not in memory.
            (_, Some(_)) if is_read => State::Reached,
            (Cache::Warm, _) => State::Reached,
            _ if unknown => State::Unproven,
            _ => State::Reached,
        }
    }

    /// Returns the bytes fetched from a device for each byte of the values, 0 for as few as a pass in
    /// this state may fetch; `None` if the system does not report them or there are no values.
    fn fetched(&self, work: Work) -> Option<f64> {
        let (fetched, bytes) = (self.io?.device_read_bytes? as f64, self.bytes as f64);
        let may = match (self.cache, work.updates()) {
            (Cache::Warm, false) => FEW_PAGES.max(self.wall_ns as f64 * WAITING / FETCHING),
            (Cache::Warm, true) => METADATA.max(bytes * STRAY),
            _ => 0.0,
        };
        (self.bytes > 0).then(|| if fetched > may { fetched / bytes } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Io, Residency};

    fn residency(resident: u64, unknown: u64, cached_names: Option<u64>) -> Residency {
        Residency { pages: 1000, resident, unknown, names: Some(100), cached_names }
    }

    fn work(operation: Operation) -> Work {
        crate::BlobWork { operation, order: crate::Order::Permutation, rate: None }.into()
    }

    const SECOND: u64 = 1_000_000_000;

    /// Returns the state after 100 MB were read in a second in `cache`.
    fn read(cache: Cache, before: Option<Residency>, device_read_bytes: Option<u64>) -> State {
        let io = Some(Io { device_read_bytes, ..Io::default() });
        let sample =
            Sample { cache, bytes: 100_000_000, wall_ns: SECOND, before, io, ..Sample::default() };
        sample.state(work(Operation::Read))
    }

    #[test]
    fn a_warm_pass_fetches_nothing() {
        let warm = Some(residency(1000, 0, None));
        assert_eq!(read(Cache::Warm, warm, Some(800_000)), State::Reached);
        assert_eq!(read(Cache::Warm, warm, Some(1_000_000)), State::Fetched(0.01), "244 pages");
        assert_eq!(read(Cache::Warm, warm, Some(50_000_000)), State::Fetched(0.5));
        assert_eq!(read(Cache::Warm, warm, None), State::Reached);
        assert_eq!(read(Cache::Warm, None, None), State::Reached);
        assert_eq!(read(Cache::Warm, Some(residency(500, 0, None)), Some(0)), State::NotReached);
    }

    #[test]
    fn a_cold_pass_fetches_what_it_reads() {
        let cold = Some(residency(0, 0, None));
        assert_eq!(read(Cache::DataCold, cold, Some(100_000_000)), State::Reached);
        assert_eq!(read(Cache::DataCold, cold, Some(10_000_000)), State::NotFetched(0.1));
        assert_eq!(read(Cache::DataCold, cold, None), State::Reached);
    }

    #[test]
    fn a_cold_state_that_nobody_can_see_is_not_taken_for_one() {
        let unseen = Some(residency(0, 1000, None));
        for before in [None, unseen] {
            assert_eq!(read(Cache::Cold, before, None), State::Unproven);
            assert_eq!(read(Cache::Cold, before, Some(0)), State::NotFetched(0.0));
            assert_eq!(read(Cache::Cold, before, Some(100_000_000)), State::Reached);
        }
        let sample = Sample { cache: Cache::Cold, before: unseen, ..Sample::default() };
        assert_eq!(sample.state(work(Operation::Update)), State::Unproven);
    }
}
