//! The machine and the software that a record comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Flush;

/// Where a run took place. What the system does not report is absent, not guessed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// storemark's version.
    pub storemark: String,
    /// Whether this is a debug build of storemark.
    pub debug_build: bool,
    /// Operating system (`linux`).
    pub os: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Processor.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Kind of virtual machine; absent: none was seen.
    pub virtualised: Option<String>,
    /// The file systems that the targets' stores are on, each once.
    pub filesystems: Vec<Filesystem>,
    /// Libraries under the engines in use.
    pub libraries: Vec<Library>,
    /// Two reads of the clock, back to back.
    pub clock_ns: u64,
    /// The tool's own cost per operation: the loop around an engine that does nothing.
    pub loop_ns: f64,
}

/// Processor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Model as the system names it.
    pub model: Option<String>,
    /// Logical processors this process may use.
    pub count: u32,
    /// Size of the last-level cache.
    pub last_level_cache_bytes: Option<u64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
}

/// Memory in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// All of it.
    pub total_bytes: Option<u64>,
    /// What was free for new work at the start.
    pub available_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Filesystem {
    /// Mount point.
    pub mount: String,
    /// Type (`ext4`).
    pub kind: String,
    /// Mount options.
    pub options: String,
    /// Source device as mounted.
    pub device: String,
    /// Whether the device reports that it rotates.
    pub rotational: Option<bool>,
    /// Whether a loop device reads its file past the page cache; absent: it is no loop device.
    #[serde(default)]
    pub loop_direct_io: Option<bool>,
    /// How it compresses what is written; absent: not at all.
    #[serde(default)]
    pub compression: Option<String>,
    /// Flushing 4 KiB to it; absent: not measured.
    #[serde(default)]
    pub flush: Option<Flush>,
}

/// A library under an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// Its name.
    pub name: String,
    /// Its version as it reports it.
    pub version: String,
    /// What it was compiled with, if it reports that.
    pub options: Vec<String>,
}
