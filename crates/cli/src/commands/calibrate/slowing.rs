//! How the subject is slowed.

use engines::Slowed;
use model::{Blobs, Error, Result, record::Record};

/// The subject's engine with a wait before each operation.
pub(super) struct Slowing {
    pub(super) engine: &'static Slowed,
    /// Share of an operation's time.
    pub(super) share: f64,
    /// What an operation takes by itself.
    pub(super) operation_ns: f64,
    pub(super) asked_ns: f64,
    /// What the wait came to over an engine that does nothing.
    pub(super) measured_ns: f64,
}

impl Slowing {
    /// Slows `engine` by `share` of what its operations took in the run `pace`.
    pub(super) fn of(engine: &'static dyn Blobs, pace: &Record, share: f64) -> Result<Self> {
        let time = report::figures(pace).first().and_then(|row| row.us_per_op);
        let operation_ns = time.ok_or_else(|| Error::failed("nothing was timed"))?.point * 1e3;
        let asked_ns = operation_ns * share;
        let slowed = Slowed::new(engine, asked_ns).ok_or_else(|| {
            Error::usage(format!(
                "--slow-down: {asked_ns:.2} ns of {operation_ns:.0} ns an operation is shorter \
                 than any wait; about a nanosecond can be had"
            ))
        })?;
        // The lab takes engines that live for ever, and a command makes one of these.
        let engine: &'static Slowed = Box::leak(Box::new(slowed));
        Ok(Self { engine, share, operation_ns, asked_ns, measured_ns: engine.measured_ns()? })
    }

    /// Whether the wait is what was asked for, as near as can be expected.
    pub(super) fn is_exact(&self) -> bool {
        (self.measured_ns - self.asked_ns).abs() <= (self.asked_ns / 10.0).max(10.0)
    }
}
