//! Names what differs most between a target and the baseline, and goes the same way as the time.
//!
//! This is arithmetic: it shows what coincides with a difference, not what causes it.

use crate::{Explained, Figures, Judgement};

/// Figures that coincide with a part of the time differ by at least this share of the larger.
const CLEAR: f64 = 0.1;

/// And by at least this much per operation, or per byte: less explains no microseconds.
const LEAST: f64 = 0.05;

/// A figure that two targets can be compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Microseconds in user mode.
    User,
    /// Microseconds in kernel mode.
    Kernel,
    /// Microseconds in which the worker did not run.
    OffCpu,
    /// Calls that read or write.
    Calls,
    /// Page faults served from memory.
    MinorFaults,
    /// Page faults that waited for a device.
    MajorFaults,
    /// Context switches.
    Switches,
    /// Bytes from the device per byte.
    DeviceRead,
    /// Bytes to the device per byte.
    DeviceWritten,
}

/// A figure of the baseline and of a target, per operation or per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Which figure.
    pub aspect: Aspect,
    /// The baseline's.
    pub baseline: f64,
    /// The target's.
    pub target: f64,
}

/// What coincides with a verdict, two at most: of user mode, kernel mode and the rest, which
/// add up to the time, the one that differs most in the verdict's direction; then the first
/// figure that belongs to it and clearly goes the same way. Nothing where
/// there is no difference, or not all three parts are known.
pub fn differences(baseline: &Explained, row: &Figures, target: &Explained) -> Vec<Difference> {
    let direction = match row.judgement {
        Judgement::Faster => -1.0,
        Judgement::Slower => 1.0,
        _ => return vec![],
    };
    // It is the rest, and known only where the other two are.
    if baseline.off_cpu_us.is_none() || target.off_cpu_us.is_none() {
        return vec![];
    }
    let ahead = |aspect: &Aspect| {
        aspect.between(baseline, target).filter(|differs| differs.change() * direction > 0.0)
    };
    let parts = Aspect::PARTS.iter().filter_map(ahead);
    let Some(part) = parts.max_by(|a, b| a.change().abs().total_cmp(&b.change().abs())) else {
        return vec![];
    };
    let related = part.aspect.related().iter().filter_map(ahead).find(Difference::is_clear);
    [Some(part), related].into_iter().flatten().collect()
}

impl Aspect {
    /// They add up to the time of a worker.
    const PARTS: [Self; 3] = [Self::User, Self::Kernel, Self::OffCpu];

    /// What takes this part of the time, what says most first: who waits for bytes from a device
    /// switches as well.
    fn related(self) -> &'static [Self] {
        match self {
            Self::Kernel => &[Self::Calls, Self::MinorFaults],
            Self::OffCpu => {
                &[Self::DeviceRead, Self::DeviceWritten, Self::MajorFaults, Self::Switches]
            }
            _ => &[],
        }
    }

    fn between(self, baseline: &Explained, target: &Explained) -> Option<Difference> {
        let (baseline, target) = (self.of(baseline)?, self.of(target)?);
        Some(Difference { aspect: self, baseline, target })
    }

    fn of(self, row: &Explained) -> Option<f64> {
        match self {
            Self::User => row.user_us,
            Self::Kernel => row.system_us,
            Self::OffCpu => row.off_cpu_us,
            Self::Calls => Some(row.read_calls? + row.write_calls?),
            Self::MinorFaults => row.minor_faults,
            Self::MajorFaults => row.major_faults,
            Self::Switches => row.switches,
            Self::DeviceRead => row.device_read,
            Self::DeviceWritten => row.device_written,
        }
    }
}

impl Difference {
    /// The target's less the baseline's.
    pub fn change(&self) -> f64 {
        self.target - self.baseline
    }

    /// The change as a share of the larger.
    fn share(&self) -> f64 {
        self.change().abs() / self.baseline.max(self.target)
    }

    fn is_clear(&self) -> bool {
        self.change().abs() >= LEAST && self.share() >= CLEAR
    }
}
