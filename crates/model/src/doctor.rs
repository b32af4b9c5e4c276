//! The machine as `storemark doctor` describes it before anything is measured on it.

use serde::Serialize;

use crate::{Cache, Environment, Flush, Severity, Suggestion};

/// The report on a machine: what it offers to measurements. What the machine does not report is
/// `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DoctorReport {
    /// Whether figures taken here can be relied on.
    pub fitness: Fitness,
    /// The machine. It lists only the file system under the folder, and all libraries of this
    /// build.
    pub environment: Environment,
    /// The effective user; 0 is root.
    pub user_id: Option<u32>,
    /// The folder that stores would be in.
    pub folder: Folder,
    /// Other local file systems that stores could be on.
    pub other_filesystems: Vec<Volume>,
    /// The cache states, and whether they can be reached in the folder.
    pub caches: Vec<Reach>,
    /// The servers and libraries of the system.
    pub programs: Vec<Program>,
    /// The targets that were measured against themselves.
    pub noise: Vec<Noise>,
    /// The checks that could not be tried, each with its reason as a sentence.
    pub untried: Vec<String>,
    /// The advice on the findings, the weightiest first.
    pub advice: Vec<Suggestion>,
}

/// The verdict on whether a machine is fit to measure on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Nothing was found above a note.
    #[default]
    Fit,
    /// Something may mislead.
    FitWithFindings,
    /// Nothing can be written, or figures would be wrong.
    Unfit,
}

impl DoctorReport {
    /// Sets the fitness from the worst suggestion and from whether the folder can be written to.
    pub fn judge(&mut self) {
        let worst = self.advice.iter().map(|advice| advice.severity).max();
        self.fitness = match worst {
            _ if self.folder.unwritable.is_some() => Fitness::Unfit,
            Some(Severity::Wrong) => Fitness::Unfit,
            Some(Severity::Warning) => Fitness::FitWithFindings,
            _ => Fitness::Fit,
        };
    }
}

/// The folder that stores would be in, and the device under it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Folder {
    /// The path of the location.
    pub path: String,
    /// The reason why nothing can be written there; `None` if writing is possible.
    pub unwritable: Option<String>,
    /// Bytes that this user may still write; `None` if the system does not report them.
    pub free_bytes: Option<u64>,
    /// The block device under it; `None` if there is none or the system does not report it.
    pub disk: Option<Disk>,
    /// The times of flushing 4 KiB; `None` if they were not measured.
    pub flush: Option<Flush>,
    /// The kind of device that usually flushes in this time; `None` if no flush was measured.
    pub flushes_like: Option<String>,
}

/// A block device and its queue. What the kernel does not report is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// The kernel's name (`nvme0n1`).
    pub name: String,
    /// The model as the device names it.
    pub model: Option<String>,
    /// Whether the device reports that it rotates.
    pub rotational: Option<bool>,
    /// The scheduler in use.
    pub scheduler: Option<String>,
    /// `write back` if a cache has to be emptied by a flush, `write through` if there is none.
    pub write_cache: Option<String>,
    /// The number of requests that may wait in its queue.
    pub queue_requests: Option<u64>,
    /// The bytes that the kernel reads ahead at most.
    pub read_ahead_bytes: Option<u64>,
    /// Whether it can discard blocks that are free again.
    pub discards: Option<bool>,
    /// The file under a loop device; `None` for other devices.
    pub loop_file: Option<String>,
    /// The names of the devices that it consists of.
    pub made_of: Vec<String>,
}

/// A local file system that stores could be on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// The mount point.
    pub mount: String,
    /// The type (`ext4`).
    pub kind: String,
    /// The source device as mounted.
    pub device: String,
    /// Bytes that this user may still write; `None` if the system does not report them.
    pub free_bytes: Option<u64>,
}

/// The answer to whether a cache state can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// The cache state.
    pub cache: Cache,
    /// Whether it can be reached; `None` if that is unknown.
    pub reached: Option<bool>,
    /// The address of the server, or the reason why it cannot be reached.
    pub why: String,
}

/// A server or a library that storemark can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The name of the program.
    pub name: String,
    /// The path of the program; `None` if it is not installed.
    pub path: Option<String>,
    /// The first line that it prints about its version; `None` if it prints none.
    pub version: Option<String>,
    /// The name of Debian's package.
    pub package: String,
}

/// The outcome of measuring a target against itself: any difference is noise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The target.
    pub target: String,
    /// The number of rounds.
    pub rounds: u32,
    /// The time that the rounds took, in seconds.
    pub seconds: f64,
    /// The ratio of the target's two times, paired by round.
    pub ratio: f64,
    /// The lower end of the ratio's 95 % interval.
    pub ratio_low: f64,
    /// The upper end of the ratio's 95 % interval.
    pub ratio_high: f64,
    /// Whether no difference shows, which is so in 95 % of runs.
    pub even: bool,
    /// The number of rounds that fit into a minute.
    pub rounds_a_minute: u32,
    /// The smallest difference that a minute shows with a probability of 90 %: 0.02 is 2 %.
    pub detectable_share: f64,
}
