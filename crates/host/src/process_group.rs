//! A process with all that it starts, which are ended together.

use std::{
    io,
    process::{Child, Command},
};

use crate::os;

/// The group of a process that this one has started. On Windows the group ends when this is dropped, and
/// when this process ends.
#[derive(Debug)]
pub struct ProcessGroup(os::Group);

impl ProcessGroup {
    /// Starts a process in a group of its own, so that a terminal's Ctrl-C reaches only this process, which
    /// ends the others.
    ///
    /// # Errors
    ///
    /// Fails if the process cannot be started.
    pub fn start(command: &mut Command) -> io::Result<(Child, Self)> {
        let child = os::in_own_group(command).spawn()?;
        let group = Self(os::Group::with(&child));
        Ok((child, group))
    }

    /// Ends all processes of the group of `child`, which has not been waited for.
    pub fn kill(&self, child: &Child) {
        self.0.kill(child);
    }
}
