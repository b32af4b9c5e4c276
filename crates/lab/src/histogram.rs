//! A histogram of latencies as text: HDR V2 with DEFLATE, in base64.

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};
use model::{Error, Result};
use serde::{Deserialize, Serialize, de::Error as _, ser::Error as _};

use crate::worker;

/// As it stands in a record.
pub(crate) fn encode(histogram: &Histogram<u64>) -> Result<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .map_err(|e| Error::failed(format!("a histogram could not be written: {e}")))?;
    Ok(BASE64_STANDARD.encode(bytes))
}

/// With the bounds that all latencies have here, so that it can be added to others.
fn decode(text: &str) -> Result<Histogram<u64>> {
    let wrong = |what: &dyn std::fmt::Display| {
        Error::corrupt(format!("a histogram could not be read: {what}"))
    };
    let bytes = BASE64_STANDARD.decode(text).map_err(|e| wrong(&e))?;
    let read: Histogram<u64> =
        Deserializer::new().deserialize(&mut &*bytes).map_err(|e| wrong(&e))?;
    let mut histogram = worker::histogram();
    histogram.add(&read).map_err(|e| wrong(&e))?;
    Ok(histogram)
}

/// One that serde writes and reads as text.
#[derive(Clone)]
pub(crate) struct Kept(pub(crate) Histogram<u64>);

impl Serialize for Kept {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(&encode(&self.0).map_err(S::Error::custom)?)
    }
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        decode(&String::deserialize(from)?).map(Kept).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_damage_is_told() {
        let mut histogram = worker::histogram();
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
        assert!(decode(&encode(&wide).unwrap()).is_err(), "beyond the bounds");
    }
}
