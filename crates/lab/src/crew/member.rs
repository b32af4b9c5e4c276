//! One worker process, as it is seen from outside.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, BufWriter, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::Sender,
    thread,
    time::{Duration, Instant},
};

use model::{Error, Result};

use super::message::{Answer, Ask, heard, say};
use crate::dataset::Dataset;

/// Ends with its owner.
pub(super) struct Member {
    child: Child,
    /// Its standard input; none once it is to end.
    input: Option<ChildStdin>,
}

/// What came from a process.
pub(super) enum Heard {
    Line(String),
    /// Nothing more will.
    Silence,
}

impl Heard {
    pub(super) fn understood(self) -> Result<Answer> {
        let answer = match self {
            Self::Line(line) => heard(&line)?,
            Self::Silence => return Err(Error::failed("ended before its work was done")),
        };
        match answer {
            Answer::Failed { interrupted: true, .. } => Err(Error::interrupted()),
            Answer::Failed { message, .. } => Err(Error::failed(message)),
            answer => Ok(answer),
        }
    }
}

/// How long a process may take to end by itself before it is killed.
const ENDING: Duration = Duration::from_secs(5);

impl Member {
    /// Starts process number `process`; what it says goes to `tell`.
    pub(super) fn start(
        process: u32,
        program: &[OsString],
        tell: &Sender<(usize, Heard)>,
    ) -> Result<Self> {
        let wrong = |e| Error::io("a worker process cannot be started", e);
        let (name, arguments) = program.split_first().expect("a worker is a program");
        let mut command = Command::new(name);
        command.args(arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(wrong)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let tell = tell.clone();
        let listen =
            move |output| listen(output, |heard| tell.send((process as usize, heard)).is_ok());
        output.map(|output| thread::spawn(move || listen(output)));
        Ok(Self { child, input })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn tell(&mut self, ask: &Ask) -> Result<()> {
        self.input.as_mut().map_or(Ok(()), |input| say(input, ask))
    }

    /// Sends what [`Ask::Begin`] announced.
    pub(super) fn send(&mut self, dataset: &Dataset) -> Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        let mut to = BufWriter::with_capacity(1 << 16, input);
        dataset
            .send(&mut to)
            .and_then(|()| to.flush())
            .map_err(|e| Error::io("a worker process", e))
    }
}

fn listen(output: ChildStdout, tell: impl Fn(Heard) -> bool) {
    for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
        if !tell(Heard::Line(line)) {
            return;
        }
    }
    tell(Heard::Silence);
}

impl Drop for Member {
    /// Lets it end, and ends it where it does not.
    fn drop(&mut self) {
        drop(self.input.take());
        let begun = Instant::now();
        while let Ok(None) = self.child.try_wait() {
            if begun.elapsed() > ENDING {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}
