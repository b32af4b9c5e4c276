//! Throw-away database servers: found on this machine, started as an unprivileged user, and
//! surely ended: by their store, or by their keeper once storemark is gone.

mod account;
mod claim;
mod greeting;
mod program;
mod variable;

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

pub(crate) use account::{account, check_enters, give};
pub(crate) use claim::claim;
pub(crate) use greeting::greeted;
pub(crate) use program::Program;
pub(crate) use variable::check_inside;

/// A shell, since it must outlive storemark.
const KEEPER: &str = include_str!("keeper.sh");
/// Longest time until a server answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two questions whether it answers.
const PAUSE: Duration = Duration::from_millis(20);
/// Lines that an error shows of what a program said.
const FEW: usize = 3;
/// Lines that a server says from its start on, about; before them stands what an earlier one said.
const LAST_START: usize = 30;
/// Longest path of a Unix socket, the final zero left out (Linux 107, Apple's systems 103).
const LONGEST_SOCKET: usize = 103;

/// How a server is started and ended.
pub(crate) struct Recipe {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The program and what it is given.
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// As whom it runs; `None`: as this process.
    pub(crate) account: Option<Account>,
    /// What it prints is appended here.
    pub(crate) log: PathBuf,
    /// Signals (`TERM`) for an end that leaves all data in its files, and for one at once.
    pub(crate) clean: &'static str,
    pub(crate) quick: &'static str,
}

/// A server that runs. Dropped, it is ended cleanly.
pub(crate) struct Server {
    name: &'static str,
    log: PathBuf,
    keeper: Child,
    /// A line on it asks for a clean end. Closed without one, the server is ended at once.
    ask: Option<ChildStdin>,
    pid: u32,
}

impl Server {
    /// Starts a server and waits until it `answers`.
    pub(crate) fn start(recipe: &Recipe, mut answers: impl FnMut() -> bool) -> Result<Self> {
        let mut server = Self::spawn(recipe)?;
        let begun = Instant::now();
        while !answers() {
            if let Ok(Some(status)) = server.keeper.try_wait() {
                return Err(server.failed(&format!("did not start ({status})")));
            }
            if begun.elapsed() > PATIENCE {
                let why = format!("does not answer after {} s", PATIENCE.as_secs());
                return Err(server.failed(&why));
            }
            sleep(PAUSE);
        }
        Ok(server)
    }

    fn spawn(recipe: &Recipe) -> Result<Self> {
        let mut shell = command("/bin/sh".as_ref(), recipe.account);
        // In a group of its own a terminal's interrupt does not reach it.
        shell.process_group(0).arg("-c").arg(KEEPER).arg("storemark-keeper");
        shell.args([recipe.clean, recipe.quick]).arg(&recipe.log);
        shell.arg(&recipe.program).args(&recipe.arguments);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |e| Error::io(recipe.program.display(), e);
        let mut keeper = shell.spawn().map_err(failed)?;
        let ask = keeper.stdin.take();
        let mut pid = String::new();
        if let Some(said) = keeper.stdout.take() {
            BufReader::new(said).read_line(&mut pid).map_err(failed)?;
        }
        let pid = pid.trim().parse().unwrap_or(0);
        Ok(Self { name: recipe.name, log: recipe.log.clone(), keeper, ask, pid })
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// An error that tells what the server said last.
    pub(crate) fn failed(&self, why: &str) -> Error {
        failed(self.name, why, &self.log)
    }

    /// Whether it ended by itself, and how that reads.
    pub(crate) fn died(&mut self) -> Option<Error> {
        let status = self.keeper.try_wait().ok()??;
        Some(self.failed(&format!("ended by itself ({status})")))
    }

    /// Ends it and waits until it is gone.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.end().map_err(|e| Error::io(self.name, e))
    }

    fn end(&mut self) -> std::io::Result<()> {
        if let Some(mut ask) = self.ask.take() {
            // A keeper that is gone cannot be asked, and need not be.
            let _ = ask.write_all(b"end\n");
        }
        self.keeper.wait().map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nowhere to report to.
        let _ = self.end();
    }
}

/// An error that tells what the server called `name` said last.
pub(crate) fn failed(name: &str, why: &str, log: &Path) -> Error {
    Error::failed(format!("{name} {why}{}", last_lines(log)))
}

/// `; it said: …`, the end of a server's log on one line.
fn last_lines(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<_> = text.lines().collect();
    let last = gist(&lines[lines.len().saturating_sub(LAST_START)..]);
    if last.is_empty() { String::new() } else { format!("; it said: {last}") }
}

/// A few of `lines` as one: the first that tell of errors, which the others follow from; where none
/// does, the last.
fn gist(lines: &[&str]) -> String {
    let said: Vec<_> = lines.iter().map(|line| line.trim()).filter(|s| !s.is_empty()).collect();
    let errors: Vec<_> = said.iter().copied().filter(|line| is_error(line)).collect();
    match errors.len() {
        0 => said[said.len().saturating_sub(FEW)..].join(" | "),
        count => errors[..count.min(FEW)].join(" | "),
    }
}

/// MariaDB's last word tells nothing of why.
fn is_error(line: &str) -> bool {
    !line.ends_with("[ERROR] Aborting")
        && ["ERROR", "FATAL", "PANIC"].iter().any(|level| line.contains(level))
}

/// Runs a program that comes with a server to its end; what it printed, or an error that tells the
/// gist of it.
pub(crate) fn run(
    program: &Path,
    arguments: &[OsString],
    as_whom: Option<Account>,
) -> Result<String> {
    let output = command(program, as_whom)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| Error::io(program.display(), e))?;
    let [said, complained] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    if output.status.success() {
        return Ok(said.trim().replace('\n', " | "));
    }
    let lines: Vec<_> = said.lines().chain(complained.lines()).collect();
    let why = gist(&lines);
    Err(Error::failed(format!("{} failed ({}): {why}", program.display(), output.status)))
}

/// `program` as another user, in a language that can be read. Some are shell scripts, which need
/// the system's tools wherever else the path leads.
fn command(program: &Path, as_whom: Option<Account>) -> Command {
    let mut path = env::var_os("PATH").unwrap_or_default();
    path.push(":/usr/bin:/bin:/usr/sbin:/sbin");
    let mut command = Command::new(program);
    command.current_dir("/").env("LC_ALL", "C").env("PATH", path);
    if let Some(Account { user, group }) = as_whom {
        command.uid(user).gid(group);
    }
    command
}

/// Refuses a socket whose path is longer than systems take.
pub(crate) fn check_socket(path: &Path) -> Result<()> {
    let length = path.as_os_str().len();
    if length <= LONGEST_SOCKET {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}: too long for the path of a socket ({length} bytes, at most {LONGEST_SOCKET}); \
         --scratch DIR names a place with a shorter one",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says a line and then waits.
    fn recipe(folder: &Path, script: &str) -> Recipe {
        Recipe {
            name: "shell",
            program: "/bin/sh".into(),
            arguments: ["-c", script].map(OsString::from).to_vec(),
            account: None,
            log: folder.join("log"),
            clean: "TERM",
            quick: "KILL",
        }
    }

    fn lives(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    fn dies(pid: u32) -> bool {
        (0..500).any(|_| {
            sleep(Duration::from_millis(10));
            !lives(pid)
        })
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
    fn it_is_gone_soon_after_its_owner_is() {
        let folder = tempfile::tempdir().unwrap();
        let script = "trap '' TERM; while :; do sleep 0.05; done";
        let mut server = Server::start(&recipe(folder.path(), script), || true).unwrap();
        let pid = server.pid();
        // What happens to the pipe when the process that holds it is killed.
        drop(server.ask.take());
        assert!(dies(pid));
    }

    #[test]
    fn one_that_does_not_start_tells_what_it_said() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe(folder.path(), "echo first; echo no room >&2; exit 3");
        let error = Server::start(&recipe, || false).err().unwrap().to_string();
        assert!(error.contains("did not start (exit status: 3)"), "{error}");
        assert!(error.contains("first | no room"), "{error}");
    }

    #[test]
    fn errors_are_told_before_what_follows_from_them() {
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
        let noticed = (0..500).find_map(|_| {
            sleep(Duration::from_millis(10));
            server.died()
        });
        assert!(noticed.unwrap().to_string().contains("ended by itself"));
    }

    #[test]
    fn a_tool_that_fails_tells_what_it_said() {
        let run = |script: &str| run("/bin/sh".as_ref(), &["-c", script].map(OsString::from), None);
        assert_eq!(run("echo a; echo b").unwrap(), "a | b");
        let error = run("echo out; echo err >&2; exit 2").unwrap_err().to_string();
        assert!(error.contains("exit status: 2") && error.contains("out | err"), "{error}");
    }

    #[test]
    fn a_socket_with_a_long_path_is_refused() {
        check_socket("/tmp/socket".as_ref()).unwrap();
        let error = check_socket(format!("/{}", "x".repeat(110)).as_ref()).unwrap_err();
        assert!(error.to_string().contains("--scratch DIR"), "{error}");
    }
}
