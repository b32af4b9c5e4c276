//! The process of a server: started as an unprivileged user and ended by its store, or by its
//! guard once storemark is gone.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Error, Result};

use super::{
    command::{command, important_lines},
    folder::ServerFolder,
};

/// The script of the guard, a shell, because it must outlive storemark.
const GUARD: &str = include_str!("server_guard.sh");
/// The longest time until a server answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(20);
/// The longest time that a server takes to end after its connections broke.
const ENDING: Duration = Duration::from_secs(3);
/// About as many lines as a server prints when it starts; earlier lines are of no interest.
const LAST_START: usize = 30;

/// A running server. Dropping it ends it cleanly.
pub(crate) struct Server {
    name: &'static str,
    log: PathBuf,
    guard: Child,
    /// The pipe on which a line asks for a clean end. If it closes without one, the server ends at
    /// once.
    ask: Option<ChildStdin>,
    pid: u32,
    /// Whether the server has been silent for too long, so that it is not asked to end.
    is_silent: bool,
}

impl Server {
    /// Starts a server on `folder` and waits until it `answers`.
    pub(crate) fn start(
        folder: &ServerFolder,
        arguments: &[OsString],
        environment: &[(&str, String)],
        mut answers: impl FnMut() -> bool,
    ) -> Result<Self> {
        let mut server = Self::spawn(folder, arguments, environment)?;
        let started = Instant::now();
        while !answers() {
            if let Ok(Some(status)) = server.guard.try_wait() {
                return Err(server.server_error(&format!("did not start ({status})")));
            }
            if started.elapsed() > PATIENCE {
                let why = format!("does not answer after {} s", PATIENCE.as_secs());
                return Err(server.server_error(&why));
            }
            sleep(PAUSE);
        }
        Ok(server)
    }

    fn spawn(
        folder: &ServerFolder,
        arguments: &[OsString],
        environment: &[(&str, String)],
    ) -> Result<Self> {
        let (software, log) = (folder.software, folder.log());
        let program = &software.installed()?.server;
        let mut shell = command("/bin/sh".as_ref(), software.account());
        // A terminal's interrupt does not reach another process group.
        shell.process_group(0).arg("-c").arg(GUARD).arg("storemark-server-guard");
        shell.args(software.signals).arg(&log).arg(program).args(arguments);
        shell.envs(environment.iter().map(|(name, value)| (name, value)));
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |e| Error::io(program.display(), e);
        let mut guard = shell.spawn().map_err(failed)?;
        let ask = guard.stdin.take();
        let mut pid = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut pid).map_err(failed)?;
        }
        let pid = pid.trim().parse().unwrap_or(0);
        Ok(Self { name: software.name, log, guard, ask, pid, is_silent: false })
    }

    fn server_error(&self, why: &str) -> Error {
        server_error(self.name, why, &self.log)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns an error if the server ended by itself.
    pub(crate) fn exit_error(&mut self) -> Option<Error> {
        let status = self.guard.try_wait().ok()??;
        Some(self.server_error(&format!("ended by itself ({status})")))
    }

    /// Waits a moment for the end of a server whose connections broke; returns `None` if it still
    /// runs.
    pub(crate) fn dies(&mut self) -> Option<Error> {
        let started = Instant::now();
        loop {
            let died = self.exit_error();
            if died.is_some() || started.elapsed() > ENDING {
                return died;
            }
            sleep(PAUSE);
        }
    }

    /// Lets the server end at once, because it does not answer.
    pub(crate) fn give_up(&mut self) {
        self.is_silent = true;
    }

    /// Ends the server and waits until it is gone.
    ///
    /// # Errors
    ///
    /// Fails if it ended by itself, because it may then have lost what was committed.
    pub(crate) fn stop(mut self) -> Result<()> {
        match self.exit_error() {
            Some(died) => Err(died),
            None => self.end().map_err(|e| Error::io(self.name, e)),
        }
    }

    fn end(&mut self) -> std::io::Result<()> {
        // If the guard reads no line, it ends the server at once.
        if let Some(mut ask) = self.ask.take().filter(|_| !self.is_silent) {
            // This fails if the guard is gone, and then there is nothing to end.
            let _ = ask.write_all(b"end\n");
        }
        self.guard.wait().map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error has nowhere to go.
        let _ = self.end();
    }
}

/// Returns an error that ends with the last lines of the log of the server called `name`.
pub(crate) fn server_error(name: &str, why: &str, log: &Path) -> Error {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let start = text.rmatch_indices('\n').nth(LAST_START).map_or(0, |(at, _)| at);
    let last = important_lines(&text[start..]);
    let said = if last.is_empty() { String::new() } else { format!("; it said: {last}") };
    Error::failed(format!("{name} {why}{said}"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::server::tests::shell;

    /// The folder of a server that is a shell.
    fn folder(parent: &tempfile::TempDir) -> ServerFolder {
        fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o711)).unwrap();
        let software = shell();
        let folder = ServerFolder::new(&parent.path().join("store"), software).unwrap();
        folder.create().unwrap();
        folder
    }

    /// Starts a shell script as a server.
    fn start(folder: &ServerFolder, script: &str, answers: impl FnMut() -> bool) -> Result<Server> {
        Server::start(folder, &["-c", script].map(OsString::from), &[], answers)
    }

    fn is_alive(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn it_answers_and_is_gone_when_stopped() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(&parent);
        let ready = folder.path().join("ready");
        let script = format!("touch {}; while :; do sleep 0.05; done", ready.display());
        let server = start(&folder, &script, || ready.exists()).unwrap();
        let pid = server.pid;
        assert!(pid > 1);
        #[cfg(target_os = "linux")]
        assert!(is_alive(pid));
        server.stop().unwrap();
        assert!(!is_alive(pid));
    }

    #[test]
    fn it_ends_soon_after_storemark() {
        let parent = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; while :; do sleep 0.05; done";
        let mut server = start(&folder(&parent), script, || true).unwrap();
        let pid = server.pid;
        // The system closes the pipe when it ends the process that holds it.
        drop(server.ask.take());
        assert!(server.dies().is_some());
        assert!(!is_alive(pid));
    }

    #[test]
    fn it_ends_if_storemark_does_before_it_reads_the_process_id() {
        let parent = tempfile::tempdir().unwrap();
        let [log, started] = ["log", "started"].map(|name| parent.path().join(name));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let script = format!("echo $$ >{}; exec sleep 30", started.display());
        let mut guard = std::process::Command::new("/bin/sh");
        guard
            .args(["-c", GUARD, "guard", "TERM", "KILL"])
            .arg(log)
            .args(["/bin/sh", "-c", &script]);
        let mut guard =
            guard.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::null()).spawn().unwrap();
        while !fs::read_to_string(&started).is_ok_and(|text| !text.is_empty()) {
            sleep(PAUSE);
        }
        drop(guard.stdin.take());
        guard.wait().unwrap();
        let pid = fs::read_to_string(started).unwrap().trim().parse().unwrap();
        assert!(!is_alive(pid));
    }

    #[test]
    fn the_output_of_one_that_does_not_start_is_shown() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(&parent);
        fs::write(folder.log(), "of an earlier start\n").unwrap();
        fs::set_permissions(folder.log(), fs::Permissions::from_mode(0o666)).unwrap();
        let script = "echo first; echo no room >&2; exit 3";
        let error = start(&folder, script, || false).err().unwrap().to_string();
        assert!(error.contains("did not start (exit status: 3)"), "{error}");
        assert!(error.contains("it said: first | no room"), "{error}");
    }

    #[test]
    fn one_that_ends_by_itself_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let mut server = start(&folder(&parent), "exit 1", || true).unwrap();
        assert!(server.dies().unwrap().to_string().contains("ended by itself"));
    }
}
