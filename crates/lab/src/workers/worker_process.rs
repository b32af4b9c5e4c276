//! One worker process, seen from the one that started it. It is ended with its owner.

use std::{
    ffi::OsString,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::Sender,
    thread,
    time::{Duration, Instant},
};

use host::ProcessGroup;
use model::{Error, HostClock, Result, WORKER, units};
use serde::Serialize;

use super::{
    message::{WorkerRequest, send},
    pipe::Pipe,
};
use crate::{Stop, dataset::Dataset};

/// A command that starts a worker process.
#[derive(Clone)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// The host that it runs on; `None` for this one, whose clock it has.
    pub(crate) host: Option<String>,
    /// How long it may say nothing.
    pub(crate) limit: Duration,
    /// The program as a target names it, of whatever version; `None` if it must be as this one.
    pub(crate) program: Option<PathBuf>,
}

/// How long a worker may take to start, or send nothing, if no limit is set.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);

impl Launch {
    /// Returns `count` launches on this host.
    pub(crate) fn here(command: &[OsString], count: u32) -> Vec<Self> {
        let launch = Self { command: command.to_vec(), host: None, limit: SILENCE, program: None };
        vec![launch; count as usize]
    }

    /// Returns a launch of the storemark program at `path`, of whatever version, on this host.
    pub(crate) fn of_program(path: &Path) -> Self {
        let command = vec![path.into(), "worker".into()];
        Self { command, host: None, limit: SILENCE, program: Some(path.to_owned()) }
    }
}

/// A process that ends with its owner.
pub(super) struct WorkerProcess {
    child: Child,
    /// What it has started to reach a host is in it too.
    group: ProcessGroup,
    /// Its standard input; none once it is to end.
    pub(super) input: Option<Pipe>,
    pub(super) command: Vec<OsString>,
    /// The host that it runs on; `None` for this one.
    pub(super) host: Option<String>,
    /// The program as a target names it; `None` if none does.
    pub(super) program: Option<PathBuf>,
    /// The clock of that host.
    pub(super) clock: HostClock,
    /// How long it may say nothing, and how long it has.
    pub(super) limit: Duration,
    pub(super) silent: Duration,
}

/// How long a process may take to end by itself before it is killed.
pub(super) const ENDING: Duration = Duration::from_secs(2);

impl WorkerProcess {
    /// Starts process number `number`; the lines that it writes go to `lines`, `None` at their end.
    pub(super) fn start(
        number: usize,
        launch: &Launch,
        lines: &Sender<(usize, Option<String>)>,
    ) -> Result<Self> {
        let (program, arguments) = launch
            .command
            .split_first()
            .ok_or_else(|| Error::usage("no command starts a worker"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        if launch.program.is_some() {
            // It may be any program. A worker writes why it ends to its standard output.
            command.stderr(Stdio::null());
        }
        let (mut child, group) = ProcessGroup::start(&mut command).map_err(|e| {
            Error::io(format!("a worker process ({}) cannot be started", program.display()), e)
        })?;
        let (input, output) = (child.stdin.take().map(Pipe::new), child.stdout.take());
        let lines = lines.clone();
        let pass_on = move |output| read(output, |line| lines.send((number, line)).is_ok());
        output.map(|output| thread::spawn(move || pass_on(output)));
        let Launch { command, host, limit, program } = launch.clone();
        let (clock, silent) = (HostClock::default(), Duration::ZERO);
        Ok(Self { child, group, input, command, host, program, clock, limit, silent })
    }

    pub(super) fn name(&self, process: usize) -> String {
        match (&self.program, &self.host) {
            (Some(program), _) if is_own(program) => "its worker process".to_owned(),
            (Some(program), _) => format!("{WORKER}={}", program.display()),
            (None, Some(host)) => format!("host {host}"),
            (None, None) => format!("worker process {}", process + 1),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request. A process that has ended cannot be asked; why it ended is found when it
    /// does not reply.
    pub(super) fn ask<P: Serialize>(&mut self, request: &WorkerRequest<P>, stop: &Stop) {
        let _ = self.input(stop).map(|mut input| send(&mut input, request));
    }

    /// Returns the standard input of the process; `None` if it is to end.
    fn input<'a>(&'a mut self, stop: &'a Stop) -> Option<Input<'a>> {
        let Self { input, limit, silent, .. } = self;
        Some(Input { pipe: input.as_mut()?, limit: *limit, silent, stop })
    }

    /// Sends what [`WorkerRequest::Start`] announced.
    pub(super) fn send_data(&mut self, dataset: &Dataset, stop: &Stop) {
        let Some(input) = self.input(stop) else { return };
        let mut to = BufWriter::with_capacity(1 << 16, input);
        // As in `ask`.
        let _ = dataset.send(&mut to).and_then(|()| to.flush());
    }

    /// Waits until it has ended, and kills it if it has not by `until`.
    pub(super) fn wait(&mut self, until: Instant) {
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() >= until {
                return self.kill();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends it, and what it has started to reach a host.
    fn kill(&mut self) {
        self.group.kill(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends a process that says nothing, and returns its error.
    pub(super) fn given_up(&mut self) -> Error {
        drop(self.input.take());
        self.kill();
        let limit = units::show_duration(self.limit);
        let option = if self.host.is_some() { " (--host-timeout is the limit)" } else { "" };
        Error::failed(format!("has said nothing for {limit}{option}"))
    }

    /// Returns the error of a process that ended before its work was done.
    pub(super) fn lost(&mut self) -> Error {
        // The program that carries its output may still run.
        drop(self.input.take());
        self.wait(Instant::now() + ENDING);
        let how = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        Error::failed(format!("ended before its work was done ({how})"))
    }
}

/// Returns whether the program at `path` is this one.
fn is_own(path: &Path) -> bool {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    own.is_ok_and(|own| own == path)
}

/// The standard input of a process that may not read it.
struct Input<'a> {
    pipe: &'a mut Pipe,
    limit: Duration,
    /// How long the process has said nothing.
    silent: &'a mut Duration,
    stop: &'a Stop,
}

impl Write for Input<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const PAUSE: Duration = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        loop {
            match self.pipe.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            if waited > self.limit {
                // The next wait for its reply ends at once.
                *self.silent = waited;
                return Err(io::ErrorKind::TimedOut.into());
            }
            if self.stop.is_set() {
                return Err(io::Error::other("the user wishes to stop"));
            }
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
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
        self.wait(Instant::now() + ENDING);
    }
}
