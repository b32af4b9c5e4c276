//! One recorded seed, many independent uses.

/// What a derived seed is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Use {
    Keys,
    Trials,
    Payloads,
    Picks,
    Pool,
    Check,
    Series,
    Ageing,
}

/// A seed for one use and index, from the run's seed.
pub(crate) fn derive(seed: u64, purpose: Use, index: u64) -> u64 {
    let mut input = [0; 24];
    input[..8].copy_from_slice(&seed.to_le_bytes());
    input[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    input[16..].copy_from_slice(&index.to_le_bytes());
    let mut seed = [0; 8];
    seed.copy_from_slice(&blake3::hash(&input).as_bytes()[..8]);
    u64::from_le_bytes(seed)
}

/// The seed of the `index`-th in a series of runs: 32 bits, which are easy to type again.
pub fn nth_seed(seed: u64, index: u64) -> u64 {
    derive(seed, Use::Series, index) >> 32
}
