//! Latencies: the clock around operations, and histograms.

use std::{collections::BTreeMap, time::Duration};

pub(crate) use checks::LONGEST_NS;
use hdrhistogram::Histogram;
use host::now_ns;
use model::{Action, Error, Latency, Result};
use serde::{Deserialize, Serialize, de::Error as _, ser::Error as _};

use super::slices::Slices;

/// An empty histogram, with the bounds that all have here: a latency beyond an hour counts as one.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_NS, 3).expect("bounds of a histogram")
}

/// A histogram as a record holds it.
pub(crate) fn encode(histogram: &Histogram<u64>) -> Result<String> {
    checks::histogram::encode(histogram)
        .ok_or_else(|| Error::failed("a histogram could not be written"))
}

/// With the bounds that all have here, so that it can be added to others.
fn decode(text: &str) -> Option<Histogram<u64>> {
    let mut histogram = histogram();
    histogram.add(checks::histogram::decode(text)?).ok()?;
    Some(histogram)
}

/// A histogram that serde writes and reads as text.
#[derive(Clone)]
pub(crate) struct AsText(pub(crate) Histogram<u64>);

impl Serialize for AsText {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(&encode(&self.0).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for AsText {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let histogram = decode(&String::deserialize(from)?);
        histogram.map(Self).ok_or_else(|| D::Error::custom("a histogram could not be read"))
    }
}

/// The latencies in `all`, which are `sum` together, of a pass of so many `operations`.
pub(crate) fn summarise(
    all: &Histogram<u64>,
    sum: Duration,
    wall: Duration,
    operations: u64,
) -> Result<Latency> {
    Ok(Latency {
        operations,
        wall_ns: nanoseconds(wall),
        sum_ns: nanoseconds(sum),
        p50_ns: all.value_at_quantile(0.5),
        p99_ns: all.value_at_quantile(0.99),
        max_ns: all.max(),
        histogram: encode(all)?,
        actions: BTreeMap::new(),
    })
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads the clock around each operation, or does not.
pub(crate) trait Clock {
    /// Returns when the next operation is to start.
    #[inline]
    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    fn time<T>(&mut self, action: Action, operation: impl FnOnce() -> T) -> T;

    /// The operation that was timed last ended with the commit of several.
    #[inline]
    fn committed(&mut self) {}
}

/// For the throughput pass.
pub(crate) struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn time<T>(&mut self, _: Action, operation: impl FnOnce() -> T) -> T {
        operation()
    }
}

/// For the latency pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct EachOperation {
    /// By the number of the action; none for those that do not occur.
    pub(crate) histograms: Vec<Option<AsText>>,
    pub(crate) sum: Duration,
    pub(crate) slices: Slices,
}

impl EachOperation {
    /// For operations that do no other than `actions`, in a pass that starts at `start_ns` of
    /// [`now_ns`].
    pub(crate) fn new(actions: impl Iterator<Item = Action>, start_ns: u64) -> Self {
        let mut histograms = vec![None; Action::ALL.len()];
        actions.for_each(|action| histograms[action as usize] = Some(AsText(histogram())));
        Self { histograms, sum: Duration::ZERO, slices: Slices::new(start_ns) }
    }

    /// An operation took `ns` until `end_ns` of [`now_ns`].
    #[inline]
    pub(crate) fn record(&mut self, action: Action, ns: u64, end_ns: u64) {
        self.sum += Duration::from_nanos(ns);
        self.slices.note(ns, end_ns);
        if let Some(AsText(histogram)) = &mut self.histograms[action as usize] {
            histogram.saturating_record(ns);
        }
    }
}

impl Clock for EachOperation {
    #[inline]
    fn time<T>(&mut self, action: Action, operation: impl FnOnce() -> T) -> T {
        let start_ns = now_ns();
        let result = operation();
        let end_ns = now_ns();
        self.record(action, end_ns.saturating_sub(start_ns), end_ns);
        result
    }

    #[inline]
    fn committed(&mut self) {
        self.slices.committed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_read_as_it_was_written_and_damage_is_refused() {
        let mut histogram = histogram();
        for ns in [5, 70, 900_000, 3_600_000_000_000] {
            histogram.record(ns).unwrap();
        }
        let text = encode(&histogram).unwrap();
        assert_eq!(decode(&text).unwrap(), histogram);
        for text in host::mutilations(text.as_bytes()) {
            let _ = decode(&String::from_utf8_lossy(&text));
        }
        let mut wide = Histogram::<u64>::new_with_max(u64::MAX / 2, 3).unwrap();
        wide.record(u64::MAX / 4).unwrap();
        assert!(decode(&encode(&wide).unwrap()).is_none(), "beyond the bounds");
    }
}
