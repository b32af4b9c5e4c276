//! The wish of the user, or of the system, that this process ends.

use model::{Error, Result};

use crate::os;

/// Calls `handler`, in a thread of its own, each time that the user or the system asks this process to
/// end: by Ctrl-C, and by SIGTERM and SIGHUP, or on Windows by Ctrl-Break and when the window closes.
///
/// # Errors
///
/// Fails if the system refuses, or on Windows if there is a handler already.
pub fn on_interrupt(handler: impl Fn() + Send + Sync + 'static) -> Result<()> {
    os::on_interrupt(handler).map_err(|cause| Error::io("signals cannot be caught", cause))
}
