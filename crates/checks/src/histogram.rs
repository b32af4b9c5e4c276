//! Latency histograms as they are in a record: HDR V2 with DEFLATE, in base64.

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};

/// The histogram in `text`; `None` if it cannot be read.
pub fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

pub fn encode(histogram: &Histogram<u64>) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok()?;
    Some(BASE64_STANDARD.encode(bytes))
}

/// Adds the histogram in `text` to `whole`; one that cannot be read adds nothing.
pub fn add(whole: &mut Option<Histogram<u64>>, text: &str) {
    let Some(part) = decode(text) else { return };
    if let Some(whole) = whole {
        whole.add(part).expect("a histogram that grows takes every value");
    } else {
        whole.insert(part).auto(true);
    }
}

/// All of `texts` in one, without those that cannot be read; `None` when that leaves nothing.
pub fn merge<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Histogram<u64>> {
    let mut whole = None;
    texts.for_each(|text| add(&mut whole, text));
    whole.filter(|whole| !whole.is_empty())
}
