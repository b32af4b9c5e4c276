//! Has a command check a state.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use crash::{Loss, Record, State};
use model::{CrashModel, Error, Result, units::show_duration};
use serde::Deserialize;

use super::{CrashRequest, failed, process, with_folder};
use crate::{Stop, host::Scratch};

/// The variables of the command: a file with the acknowledgements before the cut, and the model.
const ACKNOWLEDGED: &str = "STOREMARK_ACKED";
const MODEL: &str = "STOREMARK_MODEL";

/// The most characters of a reason.
const LONGEST_REASON: usize = 300;

/// What checks states, and where they are made.
pub(super) struct Checker<'a> {
    pub(super) request: &'a CrashRequest,
    pub(super) scratch: &'a Scratch,
    pub(super) stop: &'a Stop,
}

/// What the command says of a state, as the line of JSON that it may print has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    pub(super) reason: Option<String>,
    /// Acknowledged commits that are not there, out of so many.
    pub(super) lost: u64,
    pub(super) acked: u64,
    /// Values of no version, values that are partly new, deleted values that came back.
    pub(super) wrong: u64,
    pub(super) torn: u64,
    pub(super) returned: u64,
    pub(super) opened: Option<bool>,
    /// The repair that was needed.
    pub(super) repaired: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) holds: bool,
    /// Why it does not hold; empty if it does.
    pub(super) reason: String,
    pub(super) is_overdue: bool,
    pub(super) details: Details,
}

/// The files of a check, next to each other in the scratch folder.
pub(super) struct CheckFiles {
    pub(super) state: PathBuf,
    acknowledged: PathBuf,
    output: PathBuf,
    errors: PathBuf,
}

impl Checker<'_> {
    /// Returns the files of the check that this thread makes.
    pub(super) fn files(&self, worker: usize) -> CheckFiles {
        let file = |name: &str| self.scratch.path().join(format!("{name}-{worker}"));
        CheckFiles {
            state: file("state"),
            acknowledged: file("acknowledged"),
            output: file("stdout"),
            errors: file("stderr"),
        }
    }

    /// Makes the state before operation `cut` without what is lost, checks it, and removes it. One at a time.
    pub(super) fn check_loss(
        &self,
        record: &Record,
        cut: usize,
        model: CrashModel,
        loss: &Loss,
    ) -> Result<Verdict> {
        // No worker has this number.
        let files = self.files(usize::MAX);
        self.check(record, cut, model, &State::new(record, cut, loss), &files)
    }

    /// Writes a state, checks it, and removes it.
    pub(super) fn check(
        &self,
        record: &Record,
        cut: usize,
        model: CrashModel,
        state: &State<'_>,
        files: &CheckFiles,
    ) -> Result<Verdict> {
        state.write(&files.state).map_err(failed(&files.state))?;
        let acknowledged = record.acknowledged(cut);
        let verdict = self.verdict(model, acknowledged, files);
        remove(&files.state);
        verdict
    }

    /// Runs the command on the state's folder.
    pub(super) fn verdict<'a>(
        &self,
        model: CrashModel,
        acknowledged: impl Iterator<Item = &'a str>,
        files: &CheckFiles,
    ) -> Result<Verdict> {
        let mut lines = String::new();
        acknowledged.for_each(|text| {
            lines.push_str(text);
            lines.push('\n');
        });
        fs::write(&files.acknowledged, lines).map_err(failed(&files.acknowledged))?;
        let mut command = self.command(model, files).map_err(failed(self.scratch.path()))?;
        let limit = self.request.check_limit;
        let status = process::run(&mut command, limit, self.scratch, self.stop);
        self.stop.check()?;
        let status = status.map_err(|cause| {
            Error::io(self.request.check[0].to_string_lossy(), cause)
                .with_kind(model::ErrorKind::Usage)
        })?;
        let read = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(self.judge(status, &read(&files.output), &read(&files.errors)))
    }

    fn command(&self, model: CrashModel, files: &CheckFiles) -> io::Result<Command> {
        let argument = |argument: &OsStr| with_folder(argument, &files.state);
        let mut arguments = self.request.check.iter().map(|word| argument(word));
        let mut command = Command::new(arguments.next().unwrap_or_default());
        command.args(arguments).envs(self.request.check_env.iter().cloned());
        command.env(ACKNOWLEDGED, &files.acknowledged).env(MODEL, model.as_str());
        command.stdin(Stdio::null());
        command.stdout(File::create(&files.output)?).stderr(File::create(&files.errors)?);
        Ok(command)
    }

    fn judge(&self, status: Option<ExitStatus>, output: &str, errors: &str) -> Verdict {
        let json = output.lines().rev().find(|line| line.starts_with('{'));
        let details: Option<Details> = json.and_then(|line| serde_json::from_str(line).ok());
        let details = details.unwrap_or_default();
        let first =
            |text: &str| text.lines().find(|line| !line.trim().is_empty()).map(str::to_owned);
        let said = || details.reason.clone().or_else(|| first(errors)).or_else(|| first(output));
        let holds = status.is_some_and(|status| status.success());
        let reason = match status {
            _ if holds => String::new(),
            Some(status) => said().unwrap_or_else(|| status.to_string()),
            None => format!("did not end in {}", show_duration(self.request.check_limit)),
        };
        Verdict { holds, reason: shorten(reason), is_overdue: status.is_none(), details }
    }
}

/// Cuts a reason that is too long after a word.
fn shorten(reason: String) -> String {
    let Some((end, _)) = reason.char_indices().nth(LONGEST_REASON) else { return reason };
    let start = &reason[..end];
    format!("{} …", start.rsplit_once(' ').map_or(start, |(words, _)| words))
}

/// How long a process that is just ending may still write to a state: a server ends some seconds after
/// the check that started it was killed.
const ENDING: Duration = Duration::from_secs(5);

/// Removes a state. What is then still there is removed with the scratch folder.
pub(super) fn remove(state: &Path) {
    let until = Instant::now() + ENDING;
    while let Err(error) = fs::remove_dir_all(state)
        && error.kind() != io::ErrorKind::NotFound
        && Instant::now() < until
    {
        thread::sleep(Duration::from_millis(10));
    }
}
