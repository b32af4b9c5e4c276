//! Whether a trial was in the cache state that it is to be of.

use crate::{Cache, Operation, Sample, Work};

/// Whether a trial was in its cache state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// Nothing that is known speaks against it.
    Reached,
    /// It did not begin in it.
    NotReached,
    /// A warm pass fetched so many bytes from a device for each byte of the values: pages that
    /// were dropped and read again meanwhile show in no count of pages.
    Fetched(f64),
    /// A cold pass fetched only so many: another process, or opening the store, had read them.
    NotFetched(f64),
    /// A cold state that nothing proves.
    Unproven,
}

/// Share of its bytes that a warm pass may fetch: of the pages one in a hundred may be missing, and
/// is read with its neighbours.
const STRAY: f64 = 0.02;
/// Bytes that a warm pass may fetch whatever its size.
const METADATA: f64 = 262_144.0;
/// Least bytes that a cold read pass must fetch for each byte of the values. Values that a file
/// system has compressed may be less; everything else is read whole, and more with it.
const LEAST_FETCHED: f64 = 0.5;

impl Sample {
    /// What speaks against the cache state it is to be of, or leaves it unproven.
    pub fn state(&self, work: Work) -> State {
        // A cold read fetches all that it reads; a limited one only what does not fit.
        let is_read = self.cache.is_cold() && work.operation() == Some(Operation::Read);
        let before = self.before.unwrap_or_default();
        let unknown = self.before.is_none() || before.resident_share().is_none();
        if self.as_found && self.cache == Cache::Warm {
            return State::Reached;
        }
        if !unknown && !before.shows(self.cache) {
            return State::NotReached;
        }
        match (self.cache, self.fetched()) {
            (Cache::Warm, Some(fetched)) if fetched > 0.0 => State::Fetched(fetched),
            (_, Some(fetched)) if is_read && fetched < LEAST_FETCHED => State::NotFetched(fetched),
            // Of pages that nobody could see only the device can show that they were not there.
            (_, Some(_)) if is_read => State::Reached,
            (Cache::Warm, _) => State::Reached,
            _ if unknown => State::Unproven,
            _ => State::Reached,
        }
    }

    /// Bytes fetched from a device for each byte of the values, but for metadata of the file
    /// system.
    fn fetched(&self) -> Option<f64> {
        let fetched = self.io?.device_read_bytes as f64;
        let least =
            if self.cache == Cache::Warm { METADATA.max(self.bytes as f64 * STRAY) } else { 0.0 };
        (self.bytes > 0).then(|| if fetched > least { fetched / self.bytes as f64 } else { 0.0 })
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
        Work::Blobs { operation, order: crate::Order::Permutation, rate: None }
    }

    /// Of 100 MB read in `cache`.
    fn read(cache: Cache, before: Option<Residency>, device_read_bytes: Option<u64>) -> State {
        let io =
            device_read_bytes.map(|device_read_bytes| Io { device_read_bytes, ..Io::default() });
        let sample = Sample { cache, bytes: 100_000_000, before, io, ..Sample::default() };
        sample.state(work(Operation::Read))
    }

    #[test]
    fn a_warm_pass_fetches_nothing() {
        let warm = Some(residency(1000, 0, None));
        assert_eq!(read(Cache::Warm, warm, Some(1_000_000)), State::Reached);
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
