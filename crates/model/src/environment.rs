//! The environment of a record: the machine and the software that it comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine and the software of a run. What the system does not report is `None`, not guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The machine's own name; `None` if it has none or an older storemark wrote the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// storemark's version.
    pub storemark: String,
    /// Whether this is a debug build of storemark.
    pub debug_build: bool,
    /// Operating system (`linux`).
    pub os: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// The processor.
    pub cpu: Cpu,
    /// The memory.
    pub memory: Memory,
    /// The kind of virtual machine; `None` if none was detected.
    pub virtualised: Option<String>,
    /// The emulator that plays the machine or its system, with its version; `None` if none was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// Whether Windows Defender runs; `None` on other systems, and if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defender: Option<bool>,
    /// Whether it leaves out the folders of all stores; `None` if it does not run, and if this user may
    /// not read its exclusions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defender_excludes: Option<bool>,
    /// The file systems that the targets' stores are on, each once.
    pub filesystems: Vec<Filesystem>,
    /// The libraries under the engines in use.
    pub libraries: Vec<Library>,
    /// The time of two reads of the clock, back to back.
    pub clock_ns: u64,
    /// The tool's own cost per operation: the time of the loop around an engine that does nothing.
    pub loop_ns: f64,
}

/// The processor of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// The model as the system names it.
    pub model: Option<String>,
    /// The number of logical processors that this process may use.
    pub count: u32,
    /// The size of the last-level cache.
    pub last_level_cache_bytes: Option<u64>,
    /// The frequency governor of the first processor.
    pub governor: Option<String>,
}

/// The memory of a machine, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// All memory of the machine.
    pub total_bytes: Option<u64>,
    /// The memory that was free for new work at the start.
    pub available_bytes: Option<u64>,
    /// The swap space.
    pub swap_bytes: Option<u64>,
    /// The addresses that the process may use; `None` if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_space_bytes: Option<u64>,
    /// The seconds after which the kernel moves unused pages out of memory, however much is free;
    /// `None` if it does not, or only root may know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages_out_after_s: Option<u64>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filesystem {
    /// The mount point.
    pub mount: String,
    /// The type (`ext4`).
    pub kind: String,
    /// The mount options.
    pub options: String,
    /// The source device as mounted.
    pub device: String,
    /// Whether the device reports that it rotates; `None` if it does not say.
    pub rotational: Option<bool>,
    /// The bytes that its device reads ahead at once; `None` if they are not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readahead_bytes: Option<u64>,
    /// Whether a loop device reads its file past the page cache; `None` if it is no loop device.
    pub loop_direct_io: Option<bool>,
    /// Whether it passes each deletion to the device at once.
    #[serde(default)]
    pub discards: bool,
    /// Whether it is an ext4 without a journal.
    #[serde(default)]
    pub no_journal: bool,
    /// The way in which it compresses data; `None` if it does not.
    pub compression: Option<String>,
    /// The times of flushing 4 KiB to it; `None` if they were not measured.
    pub flush: Option<Flush>,
}

/// A library under an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// The name of the library.
    pub name: String,
    /// The version as the library reports it.
    pub version: String,
    /// The exact name of its source; `None` if it does not report that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The setting `lib` of the targets that it was loaded for; `None` if it is part of storemark,
    /// or a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<String>,
    /// The setting `worker` of the targets that it works for; `None` if it is part of the program that
    /// measures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The version and commit of the storemark program that it is part of; `None` unless a target of the
    /// run names a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The options that it was compiled with, as far as it reports them.
    pub options: Vec<String>,
}

impl Library {
    /// Creates the description of a library that reports only its version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }

    /// Returns the library's name, where it was loaded from, and the program that it is part of.
    pub fn title(&self) -> String {
        let loaded = self.loaded.as_ref().map(|lib| format!(" lib={lib}"));
        let worker = self.worker.as_ref().map(|worker| format!(" worker={worker}"));
        [Some(self.name.clone()), loaded, worker].into_iter().flatten().collect()
    }
}

/// `SQLite lib=./old.so 3.40.1`.
impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.title(), self.version)
    }
}

/// The times of writing 4 KiB to the end of a file and flushing it to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flush {
    /// The number of flushes.
    pub count: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}

/// The least time in which a drive can have stored something: the fastest ones need 10 µs for one
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
    /// Returns whether no device can be that fast.
    pub fn is_too_fast(&self) -> bool {
        self.p50_ns < FASTEST_DEVICE_NS
    }

    /// Returns what usually takes as long as the median.
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
