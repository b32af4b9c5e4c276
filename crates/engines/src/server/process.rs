//! The process of a server: started as an unprivileged user and ended by its store, or by its
//! guard once storemark is gone.

use std::{
    env,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Account, Error, Result};

/// A shell, because it must outlive storemark.
const GUARD: &str = include_str!("server_guard.sh");
/// Longest time until a server answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(20);
/// Longest time that a server takes to end after its connections broke.
const ENDING: Duration = Duration::from_secs(3);
/// Lines of a program's output that an error shows.
const FEW: usize = 3;
/// About as many lines as a server prints when it starts; earlier lines are of no interest.
const LAST_START: usize = 30;

/// How a server is started and ended.
pub(crate) struct Recipe {
    /// What people call it.
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The user that it runs as; `None`: the user of this process.
    pub(crate) account: Option<Account>,
    /// Its output is appended to this file.
    pub(crate) log: PathBuf,
    pub(crate) signals: Signals,
}

/// Names of the signals that end a server.
#[derive(Clone, Copy)]
pub(crate) struct Signals {
    /// It writes all data to its files first.
    pub(crate) clean: &'static str,
    /// It ends at once.
    pub(crate) quick: &'static str,
}

/// A server that runs. Dropping it ends it cleanly.
pub(crate) struct Server {
    name: &'static str,
    log: PathBuf,
    guard: Child,
    /// A line on it asks for a clean end. If it closes without one, the server ends at once.
    ask: Option<ChildStdin>,
    pid: u32,
}

impl Server {
    /// Starts a server and waits until it `answers`.
    pub(crate) fn start(recipe: &Recipe, mut answers: impl FnMut() -> bool) -> Result<Self> {
        let mut server = Self::spawn(recipe)?;
        let started = Instant::now();
        while !answers() {
            if let Ok(Some(status)) = server.guard.try_wait() {
                return Err(server.failed(&format!("did not start ({status})")));
            }
            if started.elapsed() > PATIENCE {
                let why = format!("does not answer after {} s", PATIENCE.as_secs());
                return Err(server.failed(&why));
            }
            sleep(PAUSE);
        }
        Ok(server)
    }

    fn spawn(recipe: &Recipe) -> Result<Self> {
        let mut shell = command("/bin/sh".as_ref(), recipe.account);
        // A terminal's interrupt does not reach another process group.
        shell.process_group(0).arg("-c").arg(GUARD).arg("storemark-server-guard");
        shell.args([recipe.signals.clean, recipe.signals.quick]).arg(&recipe.log);
        shell.arg(&recipe.program).args(&recipe.arguments);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |e| Error::io(recipe.program.display(), e);
        let mut guard = shell.spawn().map_err(failed)?;
        let ask = guard.stdin.take();
        let mut pid = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut pid).map_err(failed)?;
        }
        let pid = pid.trim().parse().unwrap_or(0);
        Ok(Self { name: recipe.name, log: recipe.log.clone(), guard, ask, pid })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns an error that ends with the last lines of the server's log.
    fn failed(&self, why: &str) -> Error {
        failed(self.name, why, &self.log)
    }

    /// Returns an error if the server ended by itself.
    fn died(&mut self) -> Option<Error> {
        let status = self.guard.try_wait().ok()??;
        Some(self.failed(&format!("ended by itself ({status})")))
    }

    /// Waits a moment for the end of a server whose connections broke; `None`: it still runs.
    pub(crate) fn dies(&mut self) -> Option<Error> {
        let started = Instant::now();
        loop {
            let died = self.died();
            if died.is_some() || started.elapsed() > ENDING {
                return died;
            }
            sleep(PAUSE);
        }
    }

    /// Ends it and waits until it is gone. If it ended by itself it may have lost what was
    /// committed, which is an error.
    pub(crate) fn stop(mut self) -> Result<()> {
        match self.died() {
            Some(died) => Err(died),
            None => self.end().map_err(|e| Error::io(self.name, e)),
        }
    }

    fn end(&mut self) -> std::io::Result<()> {
        if let Some(mut ask) = self.ask.take() {
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
pub(crate) fn failed(name: &str, why: &str, log: &Path) -> Error {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    let last = gist(&lines[lines.len().saturating_sub(LAST_START)..]);
    let said = if last.is_empty() { String::new() } else { format!("; it said: {last}") };
    Error::failed(format!("{name} {why}{said}"))
}

/// Joins a few of `lines`: the first errors, because later ones follow from them; without errors
/// the last lines.
fn gist(lines: &[&str]) -> String {
    let said: Vec<_> = lines.iter().map(|line| line.trim()).filter(|s| !s.is_empty()).collect();
    let errors: Vec<_> = said.iter().copied().filter(|line| is_error(line)).collect();
    match errors.len() {
        0 => said[said.len().saturating_sub(FEW)..].join(" | "),
        count => errors[..count.min(FEW)].join(" | "),
    }
}

/// MariaDB's last line does not say why it aborts.
fn is_error(line: &str) -> bool {
    !line.ends_with("[ERROR] Aborting")
        && ["ERROR", "FATAL", "PANIC"].iter().any(|level| line.contains(level))
}

/// Runs a program that comes with a server to its end. Returns its output, or an error with the
/// most important lines of it.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    account: Option<Account>,
) -> Result<String> {
    let output = command(program, account)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::io(program.display(), e))?;
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    if output.status.success() {
        return Ok(out.trim().replace('\n', " | "));
    }
    let lines: Vec<_> = out.lines().chain(err.lines()).collect();
    let why = gist(&lines);
    Err(Error::failed(format!("{} failed ({}): {why}", program.display(), output.status)))
}

/// `program` run by `account` with messages in English. Some programs are shell scripts, which
/// need the system's tools even if the path does not lead to them.
fn command(program: &Path, account: Option<Account>) -> Command {
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

    /// A server that is a shell script.
    fn recipe(folder: &Path, script: &str) -> Recipe {
        Recipe {
            name: "shell",
            program: "/bin/sh".into(),
            arguments: ["-c", script].map(OsString::from).to_vec(),
            account: None,
            log: folder.join("log"),
            signals: Signals { clean: "TERM", quick: "KILL" },
        }
    }

    fn lives(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn it_answers_and_is_gone_when_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let script = format!("touch {}; while :; do sleep 0.05; done", ready.display());
        let server = Server::start(&recipe(folder.path(), &script), || ready.exists()).unwrap();
        let pid = server.pid();
        assert!(pid > 1);
        #[cfg(target_os = "linux")]
        assert!(lives(pid));
        server.stop().unwrap();
        assert!(!lives(pid));
    }

    #[test]
    fn it_ends_soon_after_storemark() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; while :; do sleep 0.05; done";
        let mut server = Server::start(&recipe(folder.path(), script), || true).unwrap();
        let pid = server.pid();
        // The system closes the pipe when it ends the process that holds it.
        drop(server.ask.take());
        assert!(server.dies().is_some());
        assert!(!lives(pid));
    }

    #[test]
    fn the_output_of_one_that_does_not_start_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe(folder.path(), "echo first; echo no room >&2; exit 3");
        let error = Server::start(&recipe, || false).err().unwrap().to_string();
        assert!(error.contains("did not start (exit status: 3)"), "{error}");
        assert!(error.contains("first | no room"), "{error}");
    }

    #[test]
    fn the_first_errors_are_shown() {
        let log = ["[Note] a", "[ERROR] b", "", "[ERROR] c", "[Note] d", "FATAL: e", "ERROR f"];
        assert_eq!(gist(&log), "[ERROR] b | [ERROR] c | FATAL: e");
        assert_eq!(gist(&["a", "b", " c", "", "d"]), "b | c | d");
        assert_eq!(gist(&["why", "[ERROR] Aborting"]), "why | [ERROR] Aborting");
        assert_eq!(gist(&[]), "");
    }

    #[test]
    fn one_that_ends_by_itself_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe(folder.path(), "exit 1");
        let mut server = Server::start(&recipe, || true).unwrap();
        assert!(server.dies().unwrap().to_string().contains("ended by itself"));
    }

    #[test]
    fn the_output_of_a_tool_that_fails_is_shown() {
        let run = |script: &str| run("/bin/sh".as_ref(), &["-c", script].map(OsString::from), None);
        assert_eq!(run("echo a; echo b").unwrap(), "a | b");
        let error = run("echo out; echo err >&2; exit 2").unwrap_err().to_string();
        assert!(error.contains("exit status: 2") && error.contains("out | err"), "{error}");
    }
}
