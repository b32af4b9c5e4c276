//! Latency histograms as they are in a record: HDR V2 with DEFLATE, in base64.

use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};

/// Decodes the histogram in `text`; `None` if it cannot be read.
pub fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).ok()
}

/// Encodes a histogram; `None` if it cannot be serialised.
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

/// Merges all of `texts`, without those that cannot be read; `None` if nothing remains.
pub fn merge<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Histogram<u64>> {
    let mut whole = None;
    texts.for_each(|text| add(&mut whole, text));
    whole.filter(|whole| !whole.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies of a host, by a generator of its own.
    fn latencies(seed: u64, count: usize) -> Vec<u64> {
        let next =
            |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        let drawn = std::iter::successors(Some(seed), next).skip(1).take(count);
        // Few are long, and more so on some hosts.
        drawn.map(|state| 1_000 + (1_u64 << ((state >> 33) % (8 + 5 * seed)))).collect()
    }

    #[test]
    fn percentiles_of_merged_histograms_are_those_of_all_latencies() {
        let hosts = [latencies(1, 5_000), latencies(2, 500), latencies(4, 20_000)];
        let encoded = hosts.iter().map(|host| {
            let mut histogram = Histogram::<u64>::new_with_max(3_600_000_000_000, 3).unwrap();
            for ns in host {
                histogram.record(*ns).unwrap();
            }
            encode(&histogram).unwrap()
        });
        let encoded: Vec<_> = encoded.collect();
        let merged = merge(encoded.iter().map(String::as_str)).unwrap();
        let mut all = hosts.concat();
        all.sort_unstable();
        assert_eq!(merged.len(), all.len() as u64);
        for permille in [500, 900, 990, 999] {
            let exact = all[(all.len() * permille).div_ceil(1000) - 1];
            let shown = merged.value_at_quantile(permille as f64 / 1000.0);
            assert!(shown.abs_diff(exact) <= exact / 1000, "{permille}: {shown} {exact}");
        }
        // The mean of the hosts' own percentiles is not.
        let own = |text: &String| decode(text).unwrap().value_at_quantile(0.99);
        let mean = encoded.iter().map(own).sum::<u64>() / 3;
        assert!(mean.abs_diff(merged.value_at_quantile(0.99)) > mean / 10);
    }
}
