//! What a process does: what it spends and asks of the system.

use std::sync::{Mutex, PoisonError};

use model::{Cost, Io};
use serde::{Deserialize, Serialize};

/// The usage of one or several processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The processor time, faults, context switches and flushes.
    pub cost: Cost,
    /// The input and output; `None` if the system does not report it.
    pub io: Option<Io>,
}

impl Usage {
    /// No usage.
    pub const NONE: Self = Self {
        cost: Cost {
            user_ns: 0,
            system_ns: 0,
            minor_faults: Some(0),
            major_faults: Some(0),
            voluntary_switches: Some(0),
            involuntary_switches: Some(0),
            flushes: Some(0),
        },
        io: Some(Io::NONE),
    };

    /// Combines two counter by counter; what either of them lacks is `None`.
    pub(crate) fn combine(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            cost: combine_costs(self.cost, other.cost, with),
            io: self.io.zip(other.io).map(|(one, other)| combine_io(one, other, with)),
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// Returns this usage without the calls that `others` counts.
    #[must_use]
    pub fn without_calls(self, others: Io) -> Self {
        let io = self.io.map(|all| combine_io(all, others, u64::saturating_sub));
        Self { io, ..self }
    }
}

static REPORTED: Mutex<Usage> = Mutex::new(Usage::NONE);

/// Adds the usage of a worker process in a pass, as that reports it.
pub fn add_usage(usage: Usage) {
    let mut sum = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    *sum = sum.plus(usage);
}

/// Returns the usage that worker processes have reported so far.
pub(crate) fn reported_usage() -> Usage {
    *REPORTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Combines two costs counter by counter: `saturating_sub` gives what was spent between them,
/// `saturating_add` their sum. A counter that one of them lacks is `None`.
pub(crate) fn combine_costs(one: Cost, other: Cost, with: fn(u64, u64) -> u64) -> Cost {
    let both = |one: Option<u64>, other| one.zip(other).map(|(one, other)| with(one, other));
    Cost {
        user_ns: with(one.user_ns, other.user_ns),
        system_ns: with(one.system_ns, other.system_ns),
        minor_faults: both(one.minor_faults, other.minor_faults),
        major_faults: both(one.major_faults, other.major_faults),
        voluntary_switches: both(one.voluntary_switches, other.voluntary_switches),
        involuntary_switches: both(one.involuntary_switches, other.involuntary_switches),
        flushes: both(one.flushes, other.flushes),
    }
}

/// Combines the counters of two processes, or of one at two times. A counter that one of them lacks is
/// `None`.
pub(crate) fn combine_io(one: Io, other: Io, with: fn(u64, u64) -> u64) -> Io {
    let both = |one: Option<u64>, other| one.zip(other).map(|(one, other)| with(one, other));
    Io {
        read_calls: both(one.read_calls, other.read_calls),
        read_bytes: both(one.read_bytes, other.read_bytes),
        write_calls: both(one.write_calls, other.write_calls),
        written_bytes: both(one.written_bytes, other.written_bytes),
        device_read_bytes: both(one.device_read_bytes, other.device_read_bytes),
        device_written_bytes: both(one.device_written_bytes, other.device_written_bytes),
    }
}
