//! Histograms of latencies.

use std::{collections::BTreeMap, time::Duration};

pub(crate) use checks::LONGEST_NS;
use hdrhistogram::Histogram;
use model::{Error, Latency, Result};
use serde::{Deserialize, Serialize, de::Error as _, ser::Error as _};

/// Creates an empty histogram with the bounds that all have here: a latency beyond an hour counts
/// as one.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_NS, 3).expect("bounds of a histogram")
}

/// Encodes a histogram as a record holds it.
pub(crate) fn encode(histogram: &Histogram<u64>) -> Result<String> {
    checks::histogram::encode(histogram)
        .ok_or_else(|| Error::failed("a histogram could not be written"))
}

/// Decodes a histogram with the bounds that all have here, so that it can be added to others.
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

/// Sums histograms; `None` if there are none.
pub(crate) fn sum<'a>(parts: impl Iterator<Item = &'a AsText>) -> Option<Histogram<u64>> {
    parts.map(|part| part.0.clone()).reduce(|sum, part| sum + part)
}

/// Summarises the latencies in `all`, which add up to `sum`, each of them timed, in a pass that
/// took `wall`.
pub(crate) fn summarise(all: &Histogram<u64>, sum: Duration, wall: Duration) -> Result<Latency> {
    Ok(Latency {
        operations: all.len(),
        timed: all.len(),
        wall_ns: nanoseconds(wall),
        sum_ns: nanoseconds(sum),
        p50_ns: all.value_at_quantile(0.5),
        p99_ns: all.value_at_quantile(0.99),
        p999_ns: all.value_at_quantile(0.999),
        max_ns: all.max(),
        histogram: encode(all)?,
        actions: BTreeMap::new(),
    })
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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
