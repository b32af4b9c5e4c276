//! The folder of a store: the server's data, its socket and its log. One process at a time uses it,
//! also between two starts of its server.

use std::{
    fs::{self, DirBuilder, File, Permissions, TryLockError},
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    os::fd::AsRawFd,
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown},
        net::UnixStream,
    },
    path::{Path, PathBuf},
    sync::Mutex,
    thread::sleep,
    time::{Duration, Instant},
};

use kit::lock;
use model::{Accepts, Account, Error, Facet, Result, Setting};
use nix::unistd::User;
use rustix::process::{Pid, test_kill_process};
use walkdir::WalkDir;

use super::software::Software;

/// The longest time for the server of a killed storemark to end.
const ENDING: Duration = Duration::from_secs(5);
/// The longest path of a Unix socket without the final zero (Linux 107, Apple's systems 103).
const LONGEST_SOCKET: usize = 103;

/// The setting for how the workers of rows reach a server that storemark starts.
pub(crate) const VIA: Setting = Setting::new(
    "via",
    Accepts::Words(&["socket", "tcp"]),
    "how workers reach the server: its Unix socket, or TCP on 127.0.0.1 with a password",
)
.only_for(&[Facet::Rows]);

/// The folder of a store, by its full path.
#[derive(Clone)]
pub(crate) struct ServerFolder {
    path: PathBuf,
    pub(super) software: &'static Software,
}

impl ServerFolder {
    /// Returns the folder at `path`, which need not exist; its parent must.
    pub(crate) fn new(path: &Path, software: &'static Software) -> Result<Self> {
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let full = parent.canonicalize().map_err(|e| Error::io(path.display(), e))?;
        let folder = Self { path: full.join(path.file_name().unwrap_or_default()), software };
        if !cfg!(target_os = "linux") {
            check_socket(&folder.socket())?;
        }
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the folder at `path` is a whole store.
    pub(crate) fn is_one(path: &Path, software: &Software) -> bool {
        path.join(software.mark.0).is_file() && path.join(software.sign).exists()
    }

    /// Creates the folder, empty.
    ///
    /// # Errors
    ///
    /// Fails if anything exists at its path.
    pub(crate) fn create(&self) -> Result<()> {
        let account = self.software.account();
        self.check_enters(account)?;
        private_builder().create(&self.path).map_err(|e| self.folder_error(e))?;
        self.give(account)?;
        claim(&self.path)
    }

    /// Prepares the folder of an existing store for its server.
    pub(crate) fn adopt(&self) -> Result<()> {
        let account = self.software.account();
        self.check_free()?;
        self.check_enters(account)?;
        self.give(account)?;
        let mode = Permissions::from_mode(0o700);
        let mut folders = [self.path.clone(), self.data()].into_iter();
        let private = folders.try_for_each(|folder| fs::set_permissions(folder, mode.clone()));
        private.map_err(|e| self.folder_error(e))
    }

    /// Creates the folders that the server needs, and makes its user the owner of everything in the
    /// folder, which a copy may have lost.
    fn give(&self, account: Option<Account>) -> Result<()> {
        let mut needed = self.software.folders.iter().map(|name| self.path.join(name));
        let created = needed.try_for_each(|path| private_builder().recursive(true).create(path));
        created.map_err(|e| self.folder_error(e))?;
        give(&self.path, account)
    }

    fn folder_error(&self, cause: io::Error) -> Error {
        Error::io(self.path.display(), cause)
    }

    fn check_enters(&self, account: Option<Account>) -> Result<()> {
        check_enters(self.path.parent().unwrap_or(&self.path), account)
    }

    /// Chooses a free port and a password for a server that listens on TCP as well.
    pub(crate) fn choose_tcp(&self) -> Result<()> {
        let chosen = || {
            let mut secret = [0; 16];
            File::open("/dev/urandom")?.read_exact(&mut secret)?;
            let [port] = free_ports()?;
            Ok(format!("{:032x}\n{port}\n", u128::from_ne_bytes(secret)))
        };
        let text = chosen().map_err(|e| self.folder_error(e))?;
        self.write(TCP, &text).map(drop)
    }

    /// Returns the port and the password of its server on TCP; `None` if it does not listen there.
    pub(crate) fn tcp(&self) -> Option<Tcp> {
        let text = fs::read_to_string(self.tcp_file()).ok()?;
        let (password, port) = text.trim_end().split_once('\n')?;
        Some(Tcp { port: port.parse().ok()?, password: password.to_owned() })
    }

    /// Returns the path of the file whose first line is the password for TCP.
    pub(crate) fn tcp_file(&self) -> PathBuf {
        self.path.join(TCP)
    }

    /// Writes a file that the server's user alone can read.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|e| Error::io(path.display(), e))?;
        give(&path, self.software.account()).map(|()| path)
    }

    /// Writes the mark of a whole store.
    pub(crate) fn mark(&self) -> Result<()> {
        let (name, text) = self.software.mark;
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|e| Error::io(path.display(), e))
    }

    /// Claims the folder for this process.
    ///
    /// # Errors
    ///
    /// Fails if it is no store, another process has it open, or a server still runs on it.
    pub(crate) fn check_free(&self) -> Result<()> {
        fs::metadata(&self.path).map_err(|e| self.folder_error(e))?;
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
                return if self.answers()? {
                    let why = format!("another process has it open: its server is process {pid}");
                    Err(Error::usage(why.clone()).at(&shown))
                } else {
                    Ok(())
                };
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns whether a server listens on its socket or port.
    fn answers(&self) -> Result<bool> {
        let tcp = || self.tcp().is_some_and(|tcp| TcpStream::connect((LOOPBACK, tcp.port)).is_ok());
        Ok(UnixStream::connect(self.reach()?.socket()).is_ok() || tcp())
    }

    /// Returns the process id of the server that runs on it.
    fn server(&self) -> Option<i32> {
        let file = fs::read_to_string(self.pid_file()).ok()?;
        let number: i32 = file.lines().next()?.trim().parse().ok()?;
        let found = test_kill_process(Pid::from_raw(number)?);
        (found != Err(rustix::io::Errno::SRCH)).then_some(number)
    }

    /// Checks that a server runs on it that a process could join.
    pub(crate) fn check_served(&self) -> Result<()> {
        let none = || Error::failed("no server runs there").at(self.path.display());
        self.server().map(drop).ok_or_else(none)
    }

    pub(crate) fn remove(&self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|e| self.folder_error(e))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join(self.software.socket)
    }

    /// Returns the path of the folder for a program that has it open as its standard input.
    pub(crate) fn as_input(path: &Path) -> &Path {
        if cfg!(target_os = "linux") { Path::new("/proc/self/fd/0") } else { path }
    }

    /// Returns the folder by a path for sockets.
    pub(crate) fn reach(&self) -> Result<Reach> {
        let (path, software) = (self.path.clone(), self.software);
        if !cfg!(target_os = "linux") {
            return Ok(Reach { folder: Self { path, software }, _open: None });
        }
        let open = File::open(&path).map_err(|e| self.folder_error(e))?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        Ok(Reach { folder: Self { path, software }, _open: Some(open) })
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.path.join(self.software.pid)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }
}

/// A folder by a short path, because a socket's has at most about 100 bytes: on Linux by the
/// descriptor that this holds open.
pub(crate) struct Reach {
    folder: ServerFolder,
    _open: Option<File>,
}

impl Reach {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.socket()
    }
}

/// The port and the password of a server that storemark starts and that also listens on TCP, on
/// this machine alone.
pub(crate) struct Tcp {
    pub(crate) port: u16,
    pub(crate) password: String,
}

/// Returns ports on which nothing listens now; no two are the same.
pub(crate) fn free_ports<const COUNT: usize>() -> io::Result<[u16; COUNT]> {
    let mut listeners = Vec::with_capacity(COUNT);
    let mut ports = [0; COUNT];
    for port in &mut ports {
        let listener = TcpListener::bind((LOOPBACK, 0))?;
        *port = listener.local_addr()?.port();
        // Held, so that the next is another one.
        listeners.push(listener);
    }
    Ok(ports)
}

/// The name of the user that connects over TCP.
pub(crate) const TCP_USER: &str = "storemark";
/// The address on which such a server listens.
pub(crate) const LOOPBACK: &str = "127.0.0.1";
/// The file with the password, and the port in its second line.
const TCP: &str = "tcp";

/// Creates folders that only their owner can enter.
fn private_builder() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.mode(0o700);
    folders
}

/// Checks that the path of a socket is not longer than systems accept.
fn check_socket(path: &Path) -> Result<()> {
    let length = path.as_os_str().len();
    if length <= LONGEST_SOCKET {
        return Ok(());
    }
    Err(Error::usage(format!(
        "too long for the path of a socket ({length} bytes, at most {LONGEST_SOCKET}); \
         --scratch DIR names a place with a shorter one"
    ))
    .at(path.display()))
}

/// The folders that are locked until this process ends, however it ends.
static CLAIMED: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Locks `folder` for this process.
///
/// # Errors
///
/// Fails if another process has it.
fn claim(folder: &Path) -> Result<()> {
    let shown = folder.display();
    let file = File::open(folder).map_err(|e| Error::io(&shown, e))?;
    let identity = |file: &File| file.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let mut claimed = lock::hold(&CLAIMED);
    // Folders that were removed no longer need their lock.
    claimed.retain(|file| file.metadata().is_ok_and(|meta| meta.nlink() > 0));
    if claimed.iter().any(|other| identity(other) == identity(&file)) {
        return Ok(());
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(Error::usage("another process has it open").at(&shown));
        }
        // The file system has no locks.
        Err(TryLockError::Error(_)) => {}
        Ok(()) => claimed.push(file),
    }
    Ok(())
}

/// Gives a folder and everything in it to `account`; links are not followed.
fn give(folder: &Path, account: Option<Account>) -> Result<()> {
    let Some(Account { user, group }) = account else { return Ok(()) };
    WalkDir::new(folder).into_iter().try_for_each(|entry| {
        let entry = entry.map_err(|e| Error::failed(e.to_string()))?;
        lchown(entry.path(), Some(user), Some(group))
            .map_err(|e| Error::io(entry.path().display(), e))
    })
}

/// Checks that `account` can enter `folder`.
fn check_enters(folder: &Path, account: Option<Account>) -> Result<()> {
    let Some(account) = account else { return Ok(()) };
    let real = folder.canonicalize().map_err(|e| Error::io(folder.display(), e))?;
    let Some(closed) = real.ancestors().find(|folder| !can_enter(folder, account)) else {
        return Ok(());
    };
    let name = User::from_uid(account.user.into()).ok().flatten().map(|user| user.name);
    let name = name.unwrap_or_else(|| account.user.to_string());
    let mode = fs::metadata(closed).map_or(0, |meta| meta.mode() & 0o7777);
    Err(Error::usage(format!(
        "user {name}, which the server runs as, cannot enter {} (mode {mode:04o}); name a folder \
         that it can enter",
        closed.display(),
    )))
}

fn can_enter(folder: &Path, account: Account) -> bool {
    fs::metadata(folder).is_ok_and(|meta| {
        account.can_enter(Account { user: meta.uid(), group: meta.gid() }, meta.mode())
    })
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;
    use crate::server::tests::shell;

    fn folder(parent: &tempfile::TempDir) -> ServerFolder {
        // The server's user must be able to enter it.
        fs::set_permissions(parent.path(), Permissions::from_mode(0o711)).unwrap();
        ServerFolder::new(&parent.path().join("store"), shell()).unwrap()
    }

    #[test]
    fn only_a_whole_store_is_recognised() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(&parent);
        let kind = |result: Result<()>| result.unwrap_err().kind();
        assert_eq!(kind(folder.adopt()), ErrorKind::Missing);
        folder.create().unwrap();
        assert!(!ServerFolder::is_one(folder.path(), folder.software));
        assert_eq!(kind(folder.check_free()), ErrorKind::Usage);
        folder.mark().unwrap();
        assert!(ServerFolder::is_one(folder.path(), folder.software));
        assert_eq!(kind(folder.create()), ErrorKind::Exists);
        folder.adopt().unwrap();
        assert_eq!(kind(folder.check_served()), ErrorKind::Failed);
        folder.remove().unwrap();
    }

    #[test]
    fn the_server_of_a_folder_is_found_by_its_process_id() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder(&parent);
        folder.create().unwrap();
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

    #[test]
    fn a_claimed_folder_is_locked() {
        let folder = tempfile::tempdir().unwrap();
        let other = File::open(folder.path()).unwrap();
        other.lock().unwrap();
        let error = claim(folder.path()).unwrap_err();
        assert!(error.to_string().ends_with(": another process has it open"), "{error}");
        other.unlock().unwrap();
        claim(folder.path()).unwrap();
        claim(folder.path()).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    }

    #[test]
    fn a_closed_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let stranger = Some(Account { user: 4_000_000, group: 4_000_000 });
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let error = check_enters(&inner, stranger).unwrap_err().to_string();
        assert!(error.contains("user 4000000") && error.contains("(mode 0700)"), "{error}");
        assert!(!error.contains("inner"), "{error}");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
        check_enters(&inner, stranger).unwrap();
        check_enters(&inner, None).unwrap();
    }
}
