//! A meter of what this process does.

use crate::{
    os::spent,
    processes::own_io,
    usage::{Usage, combine_io},
};

/// A meter of the work of this process, all its threads together, without what its clocks read.
#[derive(Clone, Copy, Debug)]
pub struct UsageMeter(Usage);

impl UsageMeter {
    /// Starts to measure.
    pub fn start() -> Self {
        let io = own_io().map(|(io, reading)| combine_io(io, reading, u64::saturating_add));
        Self(Usage { cost: spent(), io })
    }

    /// Returns the work since the start.
    pub fn stop(self) -> Usage {
        let cost = spent();
        let now = Usage { cost, io: own_io().map(|(io, _)| io) };
        now.combine(self.0, u64::saturating_sub)
    }
}
