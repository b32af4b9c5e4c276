//! A machine as storemark sees it before anything is measured on it.

use serde::Serialize;

use crate::{Cache, Environment, Flush, Severity, Suggestion};

/// What a machine offers to measurements. What it does not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DoctorReport {
    /// Whether figures taken here can be relied on.
    pub fitness: Fitness,
    /// The machine. Of the file systems only the one under the folder; of the libraries all that
    /// this build has.
    pub environment: Environment,
    /// Effective user; 0 is root.
    pub user_id: Option<u32>,
    /// The folder that stores would be in.
    pub folder: Folder,
    /// Other local file systems that stores could be on.
    pub other_filesystems: Vec<Volume>,
    /// Which cache states can be reached in the folder.
    pub caches: Vec<Reach>,
    /// Servers and libraries of the system.
    pub programs: Vec<Program>,
    /// Targets measured against themselves.
    pub noise: Vec<Noise>,
    /// What could not be tried, and why.
    pub untried: Vec<String>,
    /// What to do about it, the weightiest first.
    pub advice: Vec<Suggestion>,
}

/// Whether a machine is fit to measure on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Nothing was found above a note.
    #[default]
    Fit,
    /// Something may mislead.
    Doubts,
    /// Nothing can be written, or figures would be wrong.
    Unfit,
}

impl DoctorReport {
    /// What the advice and the folder amount to.
    pub fn judge(&mut self) {
        let worst = self.advice.iter().map(|advice| advice.severity).max();
        self.fitness = match worst {
            _ if self.folder.unwritable.is_some() => Fitness::Unfit,
            Some(Severity::Wrong) => Fitness::Unfit,
            Some(Severity::Warning) => Fitness::Doubts,
            _ => Fitness::Fit,
        };
    }
}

/// The folder that stores would be in.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// Why nothing can be written there; absent: something can.
    pub unwritable: Option<String>,
    /// What this user may still write.
    pub free_bytes: Option<u64>,
    /// The block device under it.
    pub disk: Option<Disk>,
    /// Flushing 4 KiB.
    pub flush: Option<Flush>,
    /// What flushes like this.
    pub flushes_like: Option<String>,
}

/// A block device and its queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Disk {
    /// The kernel's name (`nvme0n1`).
    pub name: String,
    /// Model as the device names it.
    pub model: Option<String>,
    /// Whether it reports that it rotates.
    pub rotational: Option<bool>,
    /// Scheduler in use.
    pub scheduler: Option<String>,
    /// `write back`: a cache that a flush has to empty; `write through`: none.
    pub write_cache: Option<String>,
    /// Requests that may wait in its queue.
    pub queue_requests: Option<u64>,
    /// What the kernel reads ahead at most.
    pub read_ahead_bytes: Option<u64>,
    /// Whether it can discard blocks that are free again.
    pub discards: Option<bool>,
    /// The file under a loop device.
    pub loop_file: Option<String>,
    /// The devices that it consists of.
    pub made_of: Vec<String>,
}

/// A local file system in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Volume {
    /// Mount point.
    pub mount: String,
    /// Type.
    pub kind: String,
    /// Source device as mounted.
    pub device: String,
    /// What this user may still write.
    pub free_bytes: Option<u64>,
}

/// Whether a cache state can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reach {
    /// Which.
    pub cache: Cache,
    /// Absent: unknown.
    pub reached: Option<bool>,
    /// How, or why not.
    pub why: String,
}

/// A server or a library that storemark could use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Where it is; absent: not installed.
    pub path: Option<String>,
    /// The first line of its own report of its version.
    pub version: Option<String>,
    /// Debian's package.
    pub package: String,
}

/// A target measured against itself: any difference is noise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The target.
    pub target: String,
    /// Rounds that were run.
    pub rounds: u32,
    /// How long they took.
    pub seconds: f64,
    /// Ratio of its times, paired by round.
    pub ratio: f64,
    /// Lower end of the 95 % interval.
    pub ratio_low: f64,
    /// Upper end.
    pub ratio_high: f64,
    /// Whether no difference shows, as in 95 % of runs.
    pub even: bool,
    /// Rounds of a minute.
    pub rounds_a_minute: u32,
    /// The smallest difference that a minute shows with a probability of 90 %: 0.02 is 2 %.
    pub detectable_share: f64,
}
