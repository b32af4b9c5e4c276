//! Processes that make checks: one that ends within a check has failed that, and another goes on.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use conformance::{Case, Check};
use host::ProcessGroup;
use lab::Stop;
use model::{Error, Result};

use super::{
    line::{CRASHED, Outcome},
    part,
};

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// The interval at which a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Makes the checks over a case, with stores below `scratch`, and shows the outcome of each.
///
/// # Errors
///
/// Fails if a process cannot be started, or the user wishes to stop.
pub(super) fn run_checks(
    case: &Case,
    checks: &[&'static Check],
    scratch: &Path,
    stop: &Stop,
    mut show: impl FnMut(&'static Check, &Outcome),
) -> Result<()> {
    let mut left = checks;
    while let [next, ..] = left {
        let process = Process::start(case, left, scratch)?;
        let mut done = 0;
        let lost = loop {
            if done == left.len() {
                break None;
            }
            match process.next(stop)? {
                Ok(outcome) => show(left[done], &outcome),
                Err(why) => break Some(why),
            }
            done += 1;
        };
        left = &left[done..];
        if let (Some(why), [failed, rest @ ..]) = (lost, left) {
            show(failed, &Outcome::Failed(process.end(&why)));
            left = rest;
        } else if done == 0 {
            return Err(Error::failed(format!("nothing came of the check {}", next.name)));
        }
    }
    Ok(())
}

/// A process that makes checks.
struct Process {
    child: Child,
    group: ProcessGroup,
    lines: Receiver<String>,
}

impl Process {
    fn start(case: &Case, checks: &[&Check], scratch: &Path) -> Result<Self> {
        let names: Vec<_> = checks.iter().map(|check| check.name).collect();
        let scratch = scratch.canonicalize().map_err(|e| Error::io(scratch.display(), e))?;
        let mut command = part::command(case)?;
        command.args(["--checks", &names.join(",")]).env("TMPDIR", &scratch).env("TMP", scratch);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let failed = |error| Error::io("a process for the checks cannot be started", error);
        let (mut child, group) = ProcessGroup::start(&mut command).map_err(failed)?;
        let (sender, lines) = channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            lines.map_while(std::io::Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, group, lines })
    }

    /// Waits for the next outcome; returns why there is none.
    fn next(&self, stop: &Stop) -> Result<std::result::Result<Outcome, String>> {
        let until = Instant::now() + PATIENCE;
        loop {
            stop.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => {
                    let said = || line.strip_prefix(CRASHED).unwrap_or(&line).to_owned();
                    return Ok(Outcome::parse(&line).ok_or_else(said));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(Err("is not done after three minutes".to_owned()));
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(String::new())),
            }
        }
    }

    /// Ends the process, and returns what it is said to have ended by.
    fn end(mut self, why: &str) -> String {
        if why.is_empty() {
            let how = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
            return format!("its process ended ({how})");
        }
        why.to_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
