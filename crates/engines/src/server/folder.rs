//! The folder of a store: the server's data, its socket and its log.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::{
        fs::{DirBuilderExt, PermissionsExt},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Account, Error, Result};
use rustix::process::{Pid, test_kill_process};

use super::{
    account::{check_enters, give},
    claim::claim,
    software::Software,
};

/// Longest time for the server of a killed storemark to end.
const ENDING: Duration = Duration::from_secs(5);
/// Longest path of a Unix socket without the final zero (Linux 107, Apple's systems 103).
const LONGEST_SOCKET: usize = 103;

/// Where a kind of server has what in the folder of a store.
pub(crate) struct Layout {
    /// The file that marks a folder as a whole store, and the text in it.
    pub(crate) mark: (&'static str, &'static str),
    /// A file or folder that a data directory always has.
    pub(crate) sign: &'static str,
    /// Folders that the server needs and does not create.
    pub(crate) folders: &'static [&'static str],
    pub(crate) socket: &'static str,
    /// The file in which a running server has its process id.
    pub(crate) pid: &'static str,
}

/// The folder of a store, by its full path.
#[derive(Clone)]
pub(crate) struct Folder {
    path: PathBuf,
    software: &'static Software,
}

impl Folder {
    /// The folder at `path`, which need not exist; its parent must.
    pub(crate) fn at(path: &Path, software: &'static Software) -> Result<Self> {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let full = parent.canonicalize().map_err(|e| Error::io(path.display(), e))?;
        let folder = Self { path: full.join(path.file_name().unwrap_or_default()), software };
        check_socket(&folder.socket())?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder at `path` is a whole store.
    pub(crate) fn is_one(path: &Path, software: &Software) -> bool {
        let layout = &software.layout;
        path.join(layout.mark.0).is_file() && path.join(layout.sign).exists()
    }

    /// Creates it, empty; an error if anything exists at its path.
    pub(crate) fn create(&self, account: Option<Account>) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(_) => return Err(self.failed(io::ErrorKind::AlreadyExists.into())),
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(self.failed(cause)),
            Err(_) => {}
        }
        self.check_enters(account)?;
        DirBuilder::new().mode(0o700).create(&self.path).map_err(|e| self.failed(e))?;
        self.create_folders()?;
        give(&self.path, account)?;
        claim(&self.path)
    }

    fn create_folders(&self) -> Result<()> {
        let mut folders = DirBuilder::new();
        folders.mode(0o700).recursive(true);
        let mut all = self.software.layout.folders.iter().map(|name| self.path.join(name));
        all.try_for_each(|path| folders.create(&path)).map_err(|e| self.failed(e))
    }

    fn failed(&self, cause: io::Error) -> Error {
        Error::io(self.path.display(), cause)
    }

    fn check_enters(&self, account: Option<Account>) -> Result<()> {
        check_enters(self.path.parent().unwrap_or(&self.path), account)
    }

    /// Prepares the folder of an existing store for its server, whose user must own everything in
    /// it; a copy may have lost that.
    pub(crate) fn adopt(&self, account: Option<Account>) -> Result<()> {
        self.check_free()?;
        self.check_enters(account)?;
        self.create_folders()?;
        give(&self.path, account)?;
        let private = Permissions::from_mode(0o700);
        let mut folders = [self.path.clone(), self.data()].into_iter();
        folders
            .try_for_each(|f| fs::set_permissions(f, private.clone()))
            .map_err(|e| self.failed(e))
    }

    /// Writes the mark of a whole store.
    pub(crate) fn mark(&self) -> Result<()> {
        let (name, text) = self.software.layout.mark;
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|e| Error::io(path.display(), e))
    }

    /// Claims it for this process; an error if it is no store, or another process has it open, or
    /// a server still runs on it.
    pub(crate) fn check_free(&self) -> Result<()> {
        fs::metadata(&self.path).map_err(|e| self.failed(e))?;
        let shown = self.path.display();
        if !Self::is_one(&self.path, self.software) {
            let engine = self.software.engine;
            return Err(Error::usage(format!("{shown} is no store of the engine {engine}")));
        }
        claim(&self.path)?;
        let started = Instant::now();
        while let Some(pid) = self.server() {
            if started.elapsed() > ENDING {
                // After a crash of the system another program may have got the number.
                return if UnixStream::connect(self.socket()).is_err() {
                    Ok(())
                } else {
                    let why = format!("another process has it open: its server is process {pid}");
                    Err(Error::usage(format!("{shown}: {why}")))
                };
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns the process id of the server that runs on it.
    fn server(&self) -> Option<i32> {
        let file = fs::read_to_string(self.pid_file()).ok()?;
        let number: i32 = file.lines().next()?.trim().parse().ok()?;
        let found = test_kill_process(Pid::from_raw(number)?);
        (found != Err(rustix::io::Errno::SRCH)).then_some(number)
    }

    /// An error if no server runs on it that a process could join.
    pub(crate) fn check_served(&self) -> Result<()> {
        let none = || Error::failed(format!("{}: no server runs there", self.path.display()));
        self.server().map(drop).ok_or_else(none)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|e| self.failed(e))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join(self.software.layout.socket)
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.path.join(self.software.layout.pid)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }
}

/// An error if the path of a socket is longer than systems accept.
fn check_socket(path: &Path) -> Result<()> {
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
    use std::sync::OnceLock;

    use model::ErrorKind;

    use super::*;
    use crate::server::{Arguments, Expected, Program, Signals};

    const PROGRAM: Program = Program { names: &[], usual: &[], package: "" };

    static SOFTWARE: Software = Software {
        name: "Server",
        engine: "server",
        users: &[],
        server: PROGRAM,
        installer: PROGRAM,
        version: (&[], ""),
        least: "",
        otherwise: "",
        signals: Signals { clean: "TERM", quick: "KILL" },
        layout: Layout {
            mark: ("mark", "text"),
            sign: "data",
            folders: &["data"],
            socket: "socket",
            pid: "pid",
        },
        arguments: Arguments {
            install: |_, _| Ok(Vec::new()),
            start: |_, _, _| Ok(Vec::new()),
            expected: |_, _| Ok(Expected::new()),
            explain: |error, _| error,
        },
        found: OnceLock::new(),
    };

    #[test]
    fn only_a_whole_store_is_recognised() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(&parent.path().join("store"), &SOFTWARE).unwrap();
        let kind = |result: Result<()>| result.unwrap_err().kind();
        assert_eq!(kind(folder.adopt(None)), ErrorKind::Missing);
        folder.create(None).unwrap();
        assert!(!Folder::is_one(folder.path(), &SOFTWARE));
        assert_eq!(kind(folder.check_free()), ErrorKind::Usage);
        folder.mark().unwrap();
        assert!(Folder::is_one(folder.path(), &SOFTWARE));
        assert_eq!(kind(folder.create(None)), ErrorKind::Exists);
        folder.adopt(None).unwrap();
        assert_eq!(kind(folder.check_served()), ErrorKind::Failed);
        folder.remove().unwrap();
    }

    #[test]
    fn the_server_of_a_folder_is_found_by_its_process_id() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::at(&parent.path().join("store"), &SOFTWARE).unwrap();
        folder.create(None).unwrap();
        fs::write(folder.pid_file(), format!("{}\nmore\n", std::process::id())).unwrap();
        folder.check_served().unwrap();
        fs::write(folder.pid_file(), "4000000").unwrap();
        assert!(folder.check_served().is_err());
    }

    #[test]
    fn a_socket_with_a_long_path_is_refused() {
        check_socket("/tmp/socket".as_ref()).unwrap();
        let error = check_socket(format!("/{}", "x".repeat(110)).as_ref()).unwrap_err();
        assert!(error.to_string().contains("--scratch DIR"), "{error}");
    }
}
