//! What reading the clock costs.

use std::{hint::black_box, time::Instant};

/// Enough for a median that interrupts do not move; a fraction of a millisecond in all.
const READS: usize = 4001;

/// Median time of two reads of the clock, back to back: what a clock per operation adds to the
/// wall time of that operation.
pub fn clock_ns() -> u64 {
    let mut costs: Vec<u64> = (0..READS).map(|_| two_reads()).collect();
    let (_, median, _) = costs.select_nth_unstable(READS / 2);
    *median
}

/// Of three reads, the first and the last bracket the cost of two.
fn two_reads() -> u64 {
    let begun = Instant::now();
    black_box(Instant::now());
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_read_is_neither_free_nor_slow() {
        let cost = clock_ns();
        assert!((1..1_000_000).contains(&cost), "{cost}");
    }
}
