//! A process with a time limit, in a group of its own that is killed at the end.

use std::{
    io,
    process::{Child, Command, ExitStatus},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::{
    Stop,
    host::{ProcessGroup, Scratch},
};

/// The longest time between two looks at a process.
const LONGEST_NAP: Duration = Duration::from_millis(2);

/// Runs a command, and kills what is left of its process group once it has ended, `limit` is over, or the
/// user wants to stop. Returns `None` if it was killed; if this process is killed, so is the group.
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    scratch: &Scratch,
    stop: &Stop,
) -> io::Result<Option<ExitStatus>> {
    let (mut child, group) = ProcessGroup::start(command)?;
    scratch.started(child.id());
    let has_ended = wait(&child, limit, stop);
    // The first process is waited for only after that: its number stays its group's.
    group.kill(&child);
    let status = child.wait();
    scratch.ended(child.id());
    Ok(has_ended.then_some(status?))
}

/// Waits until a process has ended, without taking its status.
fn wait(child: &Child, limit: Duration, stop: &Stop) -> bool {
    let until = Instant::now() + limit;
    let mut nap = Duration::from_micros(100);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(child)), options) {
            Ok(Some(_)) | Err(rustix::io::Errno::CHILD) => return true,
            _ if Instant::now() >= until || stop.check().is_err() => return false,
            _ => thread::sleep(nap),
        }
        nap = (nap * 2).min(LONGEST_NAP);
    }
}
