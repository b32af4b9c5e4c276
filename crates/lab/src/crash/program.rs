//! The program that writes: how it is started, and how it may end.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt, lchown, symlink},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use model::{Error, Result, units::show_duration};

use super::{CrashRequest, failed, with_folder};

/// The variable that names the file of acknowledgements.
pub(super) const ACKNOWLEDGEMENTS: &str = "STOREMARK_ACK";

/// Returns the command of the program in `folder`, without its standard output.
pub(super) fn command(request: &CrashRequest, folder: &Path, errors: &Path) -> Result<Command> {
    let Some((program, arguments)) = request.program.split_first() else {
        return Err(Error::usage("no program was given"));
    };
    // A path such as ./writer.py is where storemark was started.
    let path = Path::new(program);
    let path = if path.components().count() > 1 { path.canonicalize() } else { Ok(path.into()) };
    let path: PathBuf = path.map_err(|cause| not_started(request, cause))?;
    let mut command = Command::new(path);
    command.args(arguments.iter().map(|argument| with_folder(argument, folder)));
    command.current_dir(folder).envs(request.program_env.iter().cloned());
    command.stdin(Stdio::null()).stderr(File::create(errors).map_err(failed(errors))?);
    Ok(command)
}

fn name(request: &CrashRequest) -> String {
    request.program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn not_started(request: &CrashRequest, cause: io::Error) -> Error {
    Error::io(name(request), cause).with_kind(model::ErrorKind::Usage)
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
            Err(Error::failed(what).at(name(request)))
        }
    }
}

/// Copies what is in a folder into another one, with modes and owners.
pub(super) fn copy_into(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let source = entry.map_err(failed(from))?.path();
        let copy = to.join(source.file_name().unwrap_or_default());
        copy_entry(&source, &copy).map_err(failed(&source))?;
        if source.is_dir() && !source.is_symlink() {
            copy_into(&source, &copy)?;
        }
    }
    Ok(())
}

fn copy_entry(source: &Path, copy: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(source)?;
    if meta.is_symlink() {
        return symlink(fs::read_link(source)?, copy);
    }
    if meta.is_dir() {
        fs::create_dir(copy)?;
        fs::set_permissions(copy, meta.permissions())?;
    } else if meta.is_file() {
        fs::copy(source, copy)?;
    } else {
        return Ok(());
    }
    // Only root may give a file away; for others it has the right owner.
    let _ = lchown(copy, Some(meta.uid()), Some(meta.gid()));
    Ok(())
}
