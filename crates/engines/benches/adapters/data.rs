//! Keys and values. A value is a piece of a pool of random bytes, so that a dataset takes no
//! memory of its own and every value can be had again to compare.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Values are 8 to 12 kB long, as in kvtest's `--size 10k --variance 2k`.
const SHORTEST: u64 = 8_000;
pub(crate) const LONGEST: usize = 12_000;

/// Larger than a processor's cache, so that payloads come from memory as they do in a run.
const POOL: usize = 64 << 20;

const SEED: u64 = 0x5707_EA4B;

pub(crate) struct Data {
    pool: Vec<u8>,
    keys: i64,
}

impl Data {
    pub(crate) fn new(keys: i64) -> Self {
        let mut pool = vec![0; POOL + LONGEST];
        Xoshiro256PlusPlus::seed_from_u64(SEED).fill_bytes(&mut pool);
        Self { pool, keys }
    }

    /// 1 to the number of keys, as kvtest's are.
    pub(crate) fn keys(&self) -> impl Iterator<Item = i64> + use<> {
        1..=self.keys
    }

    /// The value that every store is filled with.
    pub(crate) fn value(&self, key: i64) -> &[u8] {
        self.payload(key, 0)
    }

    /// As long as the value of `key`; other bytes for each `salt`.
    #[inline]
    pub(crate) fn payload(&self, key: i64, salt: u64) -> &[u8] {
        let range = SHORTEST..=LONGEST as u64;
        let length = range.start() + mix(key, 0) % (range.end() - range.start() + 1);
        let start = place(mix(key, salt + 1) % POOL as u64);
        &self.pool[start..start + place(length)]
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number).expect("numbers here are below the size of the pool")
}

/// One step of the generator splitmix64.
fn mix(key: i64, salt: u64) -> u64 {
    let mut z = key.cast_unsigned().wrapping_add(salt << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Fisher and Yates.
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let other = random.next_u64() % (last as u64 + 1);
        items.swap(last, place(other));
    }
}
