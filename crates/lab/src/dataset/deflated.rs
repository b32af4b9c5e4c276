//! The compressibility of a dataset: the size of a sample of its values after DEFLATE.

use std::{collections::BTreeMap, io::Write};

use flate2::{Compression, write::DeflateEncoder};

const SAMPLE: usize = 1 << 20;
/// The largest number of bytes of one value, so that a sample of large values has many of them.
const PIECE: usize = 16 << 10;
/// The largest number of values of the sample, however small they are.
const PIECES: usize = 16 << 10;

/// A sample of values, spread evenly over all of them however many there are.
pub(crate) struct Sampler {
    /// By the place of the value.
    pieces: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
    /// One value in so many is taken.
    stride: u64,
}

impl Sampler {
    pub(crate) fn new() -> Self {
        Self { pieces: BTreeMap::new(), bytes: 0, stride: 1 }
    }

    /// Adds the value at a place, if it is in the sample. In which order values come does not matter.
    pub(crate) fn add(&mut self, place: u64, value: &[u8]) {
        if place.is_multiple_of(self.stride) {
            let piece = &value[..value.len().min(PIECE)];
            self.bytes += piece.len();
            self.pieces.insert(place, piece.to_vec());
            while self.bytes > SAMPLE || self.pieces.len() > PIECES {
                self.thin();
            }
        }
    }

    /// Drops about every second piece. What remains are the values of twice the stride.
    fn thin(&mut self) {
        self.stride *= 2;
        self.pieces.retain(|place, _| place.is_multiple_of(self.stride));
        self.bytes = self.pieces.values().map(Vec::len).sum();
    }

    /// Returns the size of the sample after DEFLATE divided by its size; `None` without bytes.
    pub(crate) fn deflated(&self) -> Option<f64> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        self.pieces.values().try_for_each(|piece| encoder.write_all(piece)).ok()?;
        let deflated = encoder.finish().ok()?.len();
        (self.bytes > 0).then(|| deflated as f64 / self.bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use model::Generated;

    use super::{super::Generator, *};

    fn deflated(values: impl IntoIterator<Item = Vec<u8>>) -> Option<f64> {
        let mut sampler = Sampler::new();
        (0..).zip(values).for_each(|(place, value)| sampler.add(place, &value));
        assert!(sampler.bytes <= SAMPLE && sampler.pieces.len() <= PIECES);
        sampler.deflated()
    }

    #[test]
    fn generated_values_compress_as_asked_for() {
        assert!((0.999..1.01).contains(&generated(100)), "{}", generated(100));
        for percent in [90, 50, 20, 5] {
            let (ratio, wanted) = (generated(percent), f64::from(percent) / 100.0);
            assert!((ratio - wanted).abs() < 0.04, "{percent} %: {ratio}");
        }
    }

    fn generated(random_percent: u8) -> f64 {
        let spec = Generated { seed: 7, count: 300, size: 10_000, variance: 2_000, random_percent };
        let generator = Generator::new(spec).unwrap();
        let ratio = deflated((1..=300).map(|key| {
            let mut value = Vec::new();
            generator.value(key, &mut value);
            value
        }));
        ratio.unwrap()
    }

    #[test]
    fn text_compresses() {
        let line = |n: u32| format!("{{\"id\": {n}, \"name\": \"thumbnail {n}\", \"tags\": []}}\n");
        let ratio = deflated((0..40_000).map(|n| line(n).into_bytes()));
        assert!((0.01..0.5).contains(&ratio.unwrap()), "{ratio:?}");
    }

    #[test]
    fn the_sample_is_spread_over_all_values() {
        let mut sampler = Sampler::new();
        // In another order than they are in the dataset.
        for place in (0..1_000).map(|n| n * 333 % 1_000) {
            sampler.add(place, &vec![u8::try_from(place / 4).unwrap(); 30_000]);
        }
        let firsts: Vec<u8> = sampler.pieces.values().map(|piece| piece[0]).collect();
        assert!((32..=64).contains(&firsts.len()), "{}", firsts.len());
        let steps: Vec<u8> = firsts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| *step == steps[0]), "{firsts:?}");
        assert!(firsts[0] == 0 && firsts[firsts.len() - 1] > 240, "{firsts:?}");
    }

    #[test]
    fn nothing_has_no_ratio() {
        assert_eq!(deflated([]), None);
        assert_eq!(deflated(vec![vec![]; 100_000]), None);
        assert!(deflated([vec![5]]).unwrap() > 1.0, "a byte costs more than a byte");
    }
}
