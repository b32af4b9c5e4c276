//! Processes that make checks: one that ends within a check has failed that, and another goes on.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use conformance::{Case, Check};
use host::ProcessGroup;
use lab::Stop;
use model::{Error, Result, units::show_duration};

use super::{
    line::{CRASHED, Outcome},
    part,
};

/// The interval at which a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Where checks are made, and for how long.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    /// The folder of their stores.
    pub(super) scratch: &'a Path,
    /// The longest time of a check.
    pub(super) time: Duration,
    pub(super) stop: &'a Stop,
}

/// Makes the checks over a case, and shows the outcome of each, with what the library printed in it.
///
/// # Errors
///
/// Fails if a process cannot be started, or the user wishes to stop.
pub(super) fn run_checks(
    case: &Case,
    checks: &[&'static Check],
    limits: Limits<'_>,
    mut show: impl FnMut(&'static Check, Outcome, String),
) -> Result<()> {
    let mut left = checks;
    while let [next, ..] = left {
        let mut process = Process::start(case, left, limits)?;
        let mut finished = 0;
        let lost = loop {
            if finished == left.len() {
                break None;
            }
            match process.next()? {
                Ok(outcome) => show(left[finished], outcome, process.printed()),
                Err(why) => break Some(why),
            }
            finished += 1;
        };
        left = &left[finished..];
        if let (Some(why), [failed, rest @ ..]) = (lost, left) {
            let outcome = Outcome::Failed(process.reason(why));
            show(failed, outcome, process.printed());
            left = rest;
        } else if finished == 0 {
            return Err(Error::failed(format!("nothing came of the check {}", next.name)));
        }
    }
    Ok(())
}

/// A process that makes checks.
struct Process<'a> {
    child: Child,
    group: ProcessGroup,
    lines: Receiver<String>,
    /// What it prints to standard error, behind what was read of it.
    printed: File,
    limits: Limits<'a>,
}

impl<'a> Process<'a> {
    fn start(case: &Case, checks: &[&Check], limits: Limits<'a>) -> Result<Self> {
        let names: Vec<_> = checks.iter().map(|check| check.name).collect();
        let scratch = limits.scratch;
        let scratch = scratch.canonicalize().map_err(|e| Error::io(scratch.display(), e))?;
        let path = scratch.join("printed");
        let printed = File::create(&path).and_then(|writes| Ok((writes, File::open(&path)?)));
        let (writes, printed) = printed.map_err(|e| Error::io(path.display(), e))?;
        let mut command = part::command(case)?;
        command.args(["--checks", &names.join(",")]).env("TMPDIR", &scratch).env("TMP", scratch);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(writes);
        let failed = |error| Error::io("a process for the checks cannot be started", error);
        let (mut child, group) = ProcessGroup::start(&mut command).map_err(failed)?;
        let (sender, lines) = channel();
        let output = child.stdout.take();
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            lines.map_while(std::io::Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, group, lines, printed, limits })
    }

    /// Waits for the next outcome; returns why there is none.
    fn next(&self) -> Result<std::result::Result<Outcome, Lost>> {
        let until = Instant::now() + self.limits.time;
        loop {
            self.limits.stop.check()?;
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => return Ok(Outcome::parse(&line).ok_or(Lost::Said(line))),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => return Ok(Err(Lost::Late)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Err(Lost::Ended)),
            }
        }
    }

    /// Returns what was printed since this was asked for.
    fn printed(&mut self) -> String {
        let mut bytes = Vec::new();
        // What cannot be read is not shown.
        let _ = self.printed.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Ends the process if it is late, and returns in words why there is no outcome.
    fn reason(&mut self, lost: Lost) -> String {
        match lost {
            Lost::Said(line) => line.strip_prefix(CRASHED).unwrap_or(&line).to_owned(),
            Lost::Ended => {
                let ended = self.child.wait();
                let how = ended.map_or_else(|e| e.to_string(), |status| status.to_string());
                format!("its process ended ({how})")
            }
            Lost::Late => {
                let limit = show_duration(self.limits.time);
                let hook = self.last_line().map_or_else(String::new, |line| format!(": {line}"));
                format!("is not done after {limit}{hook}")
            }
        }
    }

    /// Ends the process by a signal whose handler names the hook that is at work; returns its line.
    #[cfg(unix)]
    fn last_line(&self) -> Option<String> {
        use rustix::process::{Pid, Signal, kill_process};

        kill_process(Pid::from_child(&self.child), Signal::XCPU).ok()?;
        let line = self.lines.recv_timeout(Duration::from_secs(2)).ok()?;
        line.strip_prefix(CRASHED).map(str::to_owned)
    }

    #[cfg(not(unix))]
    fn last_line(&self) -> Option<String> {
        None
    }
}

/// Why there is no outcome.
enum Lost {
    /// The process said this.
    Said(String),
    /// It has ended.
    Ended,
    /// It takes too long.
    Late,
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        self.group.kill(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
