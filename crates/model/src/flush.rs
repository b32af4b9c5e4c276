//! How fast a file system flushes, and which device that suggests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long it took to write 4 KiB to the end of a file and flush it to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flush {
    /// How often it was done.
    pub count: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

/// Least time in which a drive can have stored something: the fastest ones need 10 µs for one
/// command (Intel lists 10 µs for a write to an Optane P4800X), and a flush takes two, a write and
/// the flush itself.
const FASTEST_DEVICE_NS: u64 = 10_000;

/// The devices that flush in less than so many nanoseconds, in ascending order.
///
/// Drives with power-loss protection took 12 to 58 µs and others 0.9 ms and more in a comparison
/// (M. Callaghan, "SSDs, power loss protection and fsync latency", Small Datum, January 2026); one
/// without it took 3.5 ms at Percona ("Why Consumer SSD Reviews are Useless for Database
/// Performance Use Case", July 2018); Vitastor's manual has 0.5 to 1 ms as typical. A disk of
/// 7,200 revolutions a minute turns once in 8.3 ms.
const RANGES: [(u64, &str); 4] = [
    (FASTEST_DEVICE_NS, "no device: memory, or something that ignores flushes"),
    (200_000, "a drive with power-loss protection, or a virtual disk that its host caches"),
    (4_000_000, "an SSD without power-loss protection, or a virtual disk over a network"),
    (30_000_000, "a rotating disk, or an SSD that is slow to flush"),
];

impl Flush {
    /// Whether no device can be that fast.
    pub fn is_too_fast(&self) -> bool {
        self.p50_ns < FASTEST_DEVICE_NS
    }

    /// What usually takes that long, by its median.
    pub fn suggests(&self) -> &'static str {
        let range = RANGES.iter().find(|(below, _)| self.p50_ns < *below);
        range.map_or("a device that is overloaded or far away, or a memory card", |(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_decides() {
        let said = |p50_ns| Flush { p50_ns, max_ns: 1 << 40, ..Flush::default() }.suggests();
        assert!(said(9_999).starts_with("no device"));
        assert!(said(10_000).contains("with power-loss"));
        assert!(said(900_000).contains("without power-loss"));
        assert!(said(8_300_000).starts_with("a rotating disk"));
        assert!(said(u64::MAX).contains("overloaded"));
    }
}
