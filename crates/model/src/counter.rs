//! Counters of a pass that do not depend on how fast it was.

use crate::{Sample, words::words};

words! {
    /// A counter of what a pass asked of the system.
    pub enum Counter as "counter" {
        /// Calls that flush to the device.
        Flushes = "flushes",
        /// Calls that read.
        Reads = "reads",
        /// Calls that write.
        Writes = "writes",
        /// Calls that read, write or flush.
        Calls = "calls",
        /// Page faults of both kinds.
        Faults = "faults",
        /// Bytes that calls read and wrote.
        Bytes = "bytes",
        /// Bytes that the processes fetched from a device, and had the system write to it.
        DeviceBytes = "device-bytes",
    }
}

impl Counter {
    /// Returns the count of a pass; `None` if the system does not report all of it.
    pub fn count(self, sample: &Sample) -> Option<u64> {
        let (cost, io) = (&sample.cost, sample.io.as_ref());
        let sum = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
        let (reads, writes) = (io.and_then(|io| io.read_calls), io.and_then(|io| io.write_calls));
        match self {
            Self::Flushes => cost.flushes,
            Self::Reads => reads,
            Self::Writes => writes,
            Self::Calls => sum(sum(reads, writes), cost.flushes),
            Self::Faults => sum(cost.minor_faults, cost.major_faults),
            Self::Bytes => io.and_then(|io| sum(io.read_bytes, io.written_bytes)),
            Self::DeviceBytes => {
                io.and_then(|io| sum(io.device_read_bytes, io.device_written_bytes))
            }
        }
    }
}
