//! The program that writes: how it is started, and how it may end.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use model::{Error, ErrorKind, Result, units::show_duration};

use super::{CrashRequest, failed, with_folder};

/// The variable that names the file of acknowledgements.
pub(super) const ACKNOWLEDGEMENTS: &str = "STOREMARK_ACK";

const ENTER: &str = r#"cd -- "$1" && exec >>"$2" && shift 2 && exec "$@""#;

/// Returns the command of the program in `folder`, with its standard output and standard error.
pub(super) fn command(
    request: &CrashRequest,
    folder: &Path,
    output: &Path,
    errors: &Path,
) -> Result<Command> {
    let Some((program, arguments)) = request.program.split_first() else {
        return Err(Error::usage("no program was given"));
    };
    // A path such as ./writer.py is where storemark was started.
    let path = Path::new(program);
    let path = if path.components().count() > 1 { path.canonicalize() } else { Ok(path.into()) };
    let path: PathBuf = path.map_err(|cause| not_started(request, cause))?;
    // The shell enters the folder and opens the output: until then the new process holds all that this
    // one has open, and must not wait for a folder that this one serves.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", ENTER, "sh"]).args([folder, output]).arg(path);
    command.args(arguments.iter().map(|argument| with_folder(argument, folder)));
    command.envs(request.program_env.iter().cloned());
    command.stdin(Stdio::null()).stderr(File::create(errors).map_err(failed(errors))?);
    Ok(command)
}

fn name(request: &CrashRequest) -> String {
    request.program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn not_started(request: &CrashRequest, cause: io::Error) -> Error {
    Error::io(name(request), cause).with_kind(ErrorKind::Usage)
}

/// Checks how the program ended.
pub(super) fn end(
    request: &CrashRequest,
    status: io::Result<Option<ExitStatus>>,
    errors: &Path,
    time: Duration,
) -> Result<()> {
    let status = status.map_err(|cause| not_started(request, cause))?;
    let said = fs::read(errors).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let said = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed no error");
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            Err(Error::failed(format!("ended with {status}: {said}")).at(name(request)))
        }
        None => {
            let time = show_duration(time);
            let what = format!("did not end in {time} (--program-limit): {said}");
            Err(Error::new(ErrorKind::Overdue, what).at(name(request)))
        }
    }
}

/// Copies what is in a folder into another one, with modes and owners.
pub(super) fn copy_into(from: &Path, to: &Path) -> Result<()> {
    let mut copy = Command::new("cp");
    copy.args(["-a", "--"]).arg(from.join(".")).arg(to).stdin(Stdio::null());
    let output = copy.output().map_err(failed(Path::new("cp")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::failed(format!("cannot be copied: {}", said.trim())).at(from.display()))
}
