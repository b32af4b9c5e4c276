//! The clock that all processes share, and what reading a clock costs.

use std::{
    hint::{black_box, spin_loop},
    sync::atomic::{AtomicI64, Ordering},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::os;

/// The nanoseconds that [`set_clock`] adds to the clock of this host.
static SHIFT_NS: AtomicI64 = AtomicI64::new(0);

/// Returns nanoseconds on a clock that never goes back; on Unix it is the same in all processes of a
/// host, and with [`set_clock`] in those of several hosts.
pub fn now_ns() -> u64 {
    os::now_ns().wrapping_add_signed(SHIFT_NS.load(Ordering::Relaxed))
}

/// Makes [`now_ns`] of this process return the host's clock plus `shift_ns`: the time on the host
/// of the process that it works for. Nothing may be timed meanwhile.
pub fn set_clock(shift_ns: i64) {
    SHIFT_NS.store(shift_ns, Ordering::Relaxed);
}

/// Returns the time of day as nanoseconds since 1970, which another program may set.
pub fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// The time by which a sleeper is woken late; a wait ends with that much time on the processor.
const WAKING: Duration = Duration::from_micros(100);

/// Waits until `ns` of [`now_ns`], and returns at once if that is past.
pub fn wait_until(ns: u64) {
    let left = Duration::from_nanos(ns.saturating_sub(now_ns()));
    thread::sleep(left.saturating_sub(WAKING));
    while now_ns() < ns {
        spin_loop();
    }
}

/// The number of readings: enough for a median that interrupts do not move, a fraction of a
/// millisecond in all.
const READS: usize = 4001;

/// Measures the median time of two reads of the clock, back to back: what a clock per operation
/// adds to the wall time of that operation.
pub fn clock_ns() -> u64 {
    let mut costs: Vec<u64> = (0..READS).map(|_| two_reads()).collect();
    let (_, median, _) = costs.select_nth_unstable(READS / 2);
    *median
}

/// Measures the cost of two reads by the first and the last of three.
fn two_reads() -> u64 {
    let start = now_ns();
    black_box(now_ns());
    now_ns() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_in_time_and_never_early() {
        let start = now_ns();
        wait_until(start);
        wait_until(start + 3_000_000);
        assert!(now_ns() >= start + 3_000_000);
    }

    #[test]
    fn a_clock_read_is_neither_free_nor_slow() {
        let cost = clock_ns();
        assert!((1..1_000_000).contains(&cost), "{cost}");
    }
}
