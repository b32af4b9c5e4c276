//! Runs the programs of a server to their end.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use model::{Account, Error, Result};

/// The number of lines of a program's output that an error shows.
const FEW: usize = 3;

/// Joins a few lines of a program's output: the first errors, because later ones follow from them;
/// without errors the last lines.
pub(super) fn important_lines(output: &str) -> String {
    let said: Vec<_> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if let Some(reason) = said.last().and_then(|line| redis_warning(line)) {
        return reason.to_owned();
    }
    let errors: Vec<_> = said.iter().copied().filter(|line| is_error(line)).take(FEW).collect();
    let few = if errors.is_empty() { &said[said.len().saturating_sub(FEW)..] } else { &errors };
    few.join(" | ")
}

/// Returns the message of a warning of Redis or Valkey (`17:M 26 Nov 2026 10:00:00.123 # message`); `None` for
/// another line. The server ends itself after one.
fn redis_warning(line: &str) -> Option<&str> {
    let mut words = line.splitn(7, ' ');
    let (process, _) = words.next()?.split_once(':')?;
    process.parse::<u32>().ok()?;
    words.nth(4).filter(|level| *level == "#")?;
    words.next()
}

/// Returns whether a line shows an error. MariaDB's last line does not have the reason why it
/// aborts.
fn is_error(line: &str) -> bool {
    !line.ends_with("[ERROR] Aborting")
        && (["ERROR", "FATAL", "PANIC"].iter().any(|level| line.contains(level))
            // Valkey shows the line of its configuration that is wrong in this way.
            || line.starts_with(">>> "))
}

/// Runs a program that comes with a server to its end. Returns its output, or an error with the
/// most important lines of it.
pub(crate) fn run(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    account: Option<Account>,
) -> Result<String> {
    output(program, command(program, account).args(arguments).stdin(Stdio::null()))
}

/// Runs a program that comes with a server to its end, as this process's user, with `folder` open as its
/// standard input, and writes its output into the new file `to`.
pub(super) fn run_into(
    program: &Path,
    arguments: &[OsString],
    folder: &Path,
    to: &Path,
) -> Result<()> {
    let open = |path: &Path, file: io::Result<File>| file.map_err(|e| Error::io(path.display(), e));
    let (input, to) = (open(folder, File::open(folder))?, open(to, File::create_new(to))?);
    output(program, command(program, None).args(arguments).stdin(input).stdout(to)).map(drop)
}

fn output(program: &Path, command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|e| Error::io(program.display(), e))?;
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    if output.status.success() {
        return Ok(out.trim().replace('\n', " | "));
    }
    let why = important_lines(&format!("{out}\n{err}"));
    Err(Error::failed(format!("{} failed ({}): {why}", program.display(), output.status)))
}

/// Returns a command that runs `program` as `account` with messages in English. Some programs are
/// shell scripts, which need the system's tools even if the path does not lead to them.
pub(super) fn command(program: &Path, account: Option<Account>) -> Command {
    let mut path = env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/bin:/bin:/usr/sbin:/sbin");
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C").env("PATH", path);
    if let Some(Account { user, group }) = account {
        command.uid(user).gid(group);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_errors_are_shown() {
        let log = "[Note] a\n[ERROR] b\n\n[ERROR] c\n[Note] d\nFATAL: e\nERROR f";
        assert_eq!(important_lines(log), "[ERROR] b | [ERROR] c | FATAL: e");
        assert_eq!(important_lines("a\nb\n c\n\nd"), "b | c | d");
        assert_eq!(important_lines("why\n[ERROR] Aborting"), "why | [ERROR] Aborting");
        assert_eq!(important_lines(""), "");
    }

    #[test]
    fn of_redis_the_reason_alone_is_shown() {
        let started = "7:M 26 Nov 2026 10:00:00.123 # Server initialized\n\
                       7:M 26 Nov 2026 10:00:00.123 * Loading RDB";
        let log = format!("{started}\n7:M 26 Nov 2026 10:00:00.124 # Bad file format: use --fix\n");
        assert_eq!(important_lines(&log), "Bad file format: use --fix");
        assert_eq!(important_lines(started), started.replace('\n', " | "));
    }

    #[test]
    fn the_output_of_a_tool_that_fails_is_shown() {
        let run = |script: &str| run("/bin/sh".as_ref(), &["-c", script], None);
        assert_eq!(run("echo a; echo b").unwrap(), "a | b");
        let error = run("echo out; echo err >&2; exit 2").unwrap_err().to_string();
        assert!(error.contains("exit status: 2") && error.contains("out | err"), "{error}");
    }
}
