//! ClamAV's daemon, clamd: started for a run, with one signature of its own, and reached over a socket in
//! a scratch folder only.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Error, Result};

use crate::{os, programs::program, text::entries};

/// The script that starts the daemon and ends it as soon as standard input ends, which storemark
/// holds and the system closes however storemark ends. Its arguments are the command.
const GUARD: &str = r#"
trap '' HUP INT
exec 3<&0 </dev/null
"$@" 3<&- &
clamd=$!
( read -r _ <&3; kill -s KILL "$clamd" ) &
guard=$!
exec 3<&-
wait "$clamd"
kill -s KILL "$guard"
wait "$guard"
"#;

/// The only signature of the daemon, since it does not start without one: a name, any type of file,
/// any place in it, and the bytes "storemark scanner test signature".
const SIGNATURE: &str =
    "Storemark.Test:0:*:73746f72656d61726b207363616e6e65722074657374207369676e6174757265\n";

/// The most bytes of a file that the daemon scans; it leaves out what is longer.
pub(crate) const MOST_BYTES: u64 = 25_000_000;

/// The longest time until the daemon answers: it has one signature to load.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// The files in the daemon's folder, which is its current folder: paths of sockets are short.
const CONFIGURATION: &str = "clamd.conf";
const DATABASE: &str = "database";
const SOCKET: &str = "socket";
const LOG: &str = "log";

/// A running daemon, which ends when this is dropped.
pub(crate) struct Clamd {
    guard: Child,
    socket: PathBuf,
    /// The socket is reached through it.
    _folder: File,
}

impl Clamd {
    /// Starts a daemon in a new folder in `parent`, a scratch folder, and waits until it answers.
    ///
    /// # Errors
    ///
    /// Fails if clamd is not installed or does not answer in time.
    pub(crate) fn start(parent: &Path) -> Result<Self> {
        let program = program("clamd").ok_or_else(|| {
            Error::usage("clamd is not installed (Debian: apt-get install clamav-daemon)")
        })?;
        let folder = parent.join(format!("{}-clamd", entries(parent).count()));
        prepare(&folder).map_err(|e| Error::io(folder.display(), e))?;
        let mut daemon = Self::spawn(&program, &folder).map_err(|e| Error::io("clamd", e))?;
        let started = Instant::now();
        while !daemon.answers() {
            let ended = daemon.guard.try_wait().is_ok_and(|ended| ended.is_some());
            if ended || started.elapsed() > PATIENCE {
                let log = fs::read_to_string(folder.join(LOG)).unwrap_or_default();
                let said = log.lines().last().unwrap_or("nothing");
                return Err(Error::failed(format!("clamd does not answer; it said: {said}")));
            }
            sleep(PAUSE);
        }
        Ok(daemon)
    }

    fn spawn(program: &Path, folder: &Path) -> std::io::Result<Self> {
        let log = File::create(folder.join(LOG))?;
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", GUARD, "storemark-clamd"]).arg(program);
        shell.args(["--config-file", CONFIGURATION]).current_dir(folder);
        shell.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        // In a group of its own a terminal's interrupt does not reach it.
        let guard = os::in_own_group(&mut shell).spawn()?;
        let folder = File::open(folder)?;
        Ok(Self { guard, socket: os::through(&folder).join(SOCKET), _folder: folder })
    }

    fn answers(&self) -> bool {
        os::ask_server(&self.socket, b"zPING\0", None)
            .is_ok_and(|answer| answer.starts_with("PONG"))
    }

    /// Passes the open file to the daemon, as ClamAV's own client does for on-access scanning, and
    /// returns whether it is clean. A file that the daemon cannot read is not clean.
    pub(crate) fn is_clean(&self, file: &File) -> bool {
        // The file comes with the byte after the command.
        let answer = os::ask_server(&self.socket, b"zFILDES\0\0", Some(file));
        answer.is_ok_and(|answer| answer.trim_end_matches('\0').ends_with(": OK"))
    }
}

impl Drop for Clamd {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Writes the configuration and the signature. Without `User` the daemon runs as the user of this
/// process.
fn prepare(folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder)?;
    fs::create_dir(folder.join(DATABASE))?;
    fs::write(folder.join(DATABASE).join("storemark.ndb"), SIGNATURE)?;
    let configuration = format!(
        "Foreground yes\nLocalSocket {SOCKET}\nLocalSocketMode 600\nDatabaseDirectory {DATABASE}\n\
         TemporaryDirectory .\nMaxFileSize {MOST_BYTES}\nSelfCheck 0\n"
    );
    fs::write(folder.join(CONFIGURATION), configuration)
}
