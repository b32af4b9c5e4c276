//! One worker process, seen from the one that started it.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, BufWriter, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::Sender,
    thread,
    time::{Duration, Instant},
};

use model::{Error, Result};

use super::message::{Request, send};
use crate::dataset::Dataset;

/// A process that ends with its owner.
pub(super) struct WorkerProcess {
    child: Child,
    /// Its standard input; none once it is to end.
    input: Option<ChildStdin>,
}

/// How long a process may take to end by itself before it is killed.
const ENDING: Duration = Duration::from_secs(5);

impl WorkerProcess {
    /// Starts process number `number`; the lines that it writes go to `lines`, `None` at their end.
    pub(super) fn start(
        number: usize,
        command: &[OsString],
        lines: &Sender<(usize, Option<String>)>,
    ) -> Result<Self> {
        let (program, arguments) =
            command.split_first().ok_or_else(|| Error::usage("no command starts a worker"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        leave_group(&mut command);
        let mut child = command.spawn().map_err(|e| {
            Error::io(format!("a worker process ({}) cannot be started", program.display()), e)
        })?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let lines = lines.clone();
        let pass_on = move |output| read(output, |line| lines.send((number, line)).is_ok());
        output.map(|output| thread::spawn(move || pass_on(output)));
        Ok(Self { child, input })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// A process that has ended cannot be asked; why it ended is found when it does not reply.
    pub(super) fn ask(&mut self, request: &Request) -> Result<()> {
        match self.input.as_mut().map_or(Ok(()), |input| send(input, request)) {
            Err(error) if error.kind() == model::ErrorKind::Failed => Ok(()),
            other => other,
        }
    }

    /// Sends what [`Request::Data`] announced.
    pub(super) fn send_data(&mut self, dataset: &Dataset) {
        let Some(input) = &mut self.input else { return };
        let mut to = BufWriter::with_capacity(1 << 16, input);
        // As in `ask`.
        let _ = dataset.send(&mut to).and_then(|()| to.flush());
    }

    /// The error of a process that ended in the middle.
    pub(super) fn lost(&mut self) -> Error {
        let how = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        Error::failed(format!("ended before its work was done ({how})"))
    }
}

fn read(output: ChildStdout, pass_on: impl Fn(Option<String>) -> bool) {
    for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
        if !pass_on(Some(line)) {
            return;
        }
    }
    pass_on(None);
}

impl Drop for WorkerProcess {
    /// Lets it end, and kills it if it does not.
    fn drop(&mut self) {
        drop(self.input.take());
        let start = Instant::now();
        while let Ok(None) = self.child.try_wait() {
            if start.elapsed() > ENDING {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// In a group of its own, so that a terminal's Ctrl-C reaches only the first process, which ends
/// the others.
#[cfg(unix)]
fn leave_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn leave_group(_: &mut Command) {}
