//! Servers and libraries that are installed.

use std::{
    env,
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use model::Program;

use crate::text::{self, entries};

/// The servers: name, binaries, Debian's package.
const SERVERS: [(&str, &[&str], &str); 4] = [
    ("MariaDB, MySQL", &["mariadbd", "mysqld"], "mariadb-server"),
    ("PostgreSQL", &["postgres"], "postgresql"),
    ("rclone", &["rclone"], "rclone"),
    ("Valkey, Redis", &["valkey-server", "redis-server"], "redis-server"),
];

/// The folders of servers, which users do not start themselves.
const SERVER_FOLDERS: [&str; 5] =
    ["/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/opt/homebrew/bin", "/usr/local/bin"];

/// The time after which a program is taken to have no version to print.
const PATIENCE: Duration = Duration::from_secs(2);

/// Returns the programs that storemark can use in addition to what is built in. Servers only print
/// their version, they are not started. On Windows there are none.
pub fn programs() -> Vec<Program> {
    if cfg!(windows) {
        return Vec::new();
    }
    let entry = |name: &str, package: &str, version, path: Option<PathBuf>| Program {
        name: name.to_owned(),
        version,
        path: path.map(|path| path.display().to_string()),
        package: package.to_owned(),
    };
    let sqlite = library_folders().iter().find_map(|folder| library(folder, "libsqlite3.so"));
    let folders = server_folders();
    let servers = SERVERS.iter().map(|(name, binaries, package)| {
        let path = find(&folders, binaries);
        entry(name, package, path.as_deref().and_then(version), path)
    });
    [entry("libsqlite3", "libsqlite3-0", None, sqlite)].into_iter().chain(servers).collect()
}

/// Returns the path of a program for administrators.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    find(&server_folders(), &[name])
}

/// Returns the folders in `PATH`, without those that depend on the current folder, then the usual
/// places.
fn server_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let named = env::split_paths(&path).filter(|folder| folder.is_absolute());
    let usual = SERVER_FOLDERS.iter().map(PathBuf::from);
    // Debian keeps each major version in a folder of its own; the newest first.
    let mut debian: Vec<_> = below(Path::new("/usr/lib/postgresql")).collect();
    debian.sort_by_key(|folder| std::cmp::Reverse(number(folder)));
    named.chain(usual).chain(debian.into_iter().map(|folder| folder.join("bin"))).collect()
}

fn number(folder: &Path) -> Option<u32> {
    folder.file_name().and_then(OsStr::to_str)?.parse().ok()
}

/// Returns the folders of libraries: Debian and its derivatives have one for each kind of
/// processor.
fn library_folders() -> Vec<PathBuf> {
    let bases = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/opt/homebrew/lib"];
    let bases = bases.map(PathBuf::from);
    let kinds = below(&bases[0]).filter(|folder| folder.to_string_lossy().contains("-linux-"));
    bases.iter().cloned().chain(kinds).collect()
}

fn below(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(folder).map(|entry| entry.path())
}

/// Finds a library by the start of its name: the version follows.
fn library(folder: &Path, name: &str) -> Option<PathBuf> {
    let is_it = |path: &PathBuf| {
        path.file_name().and_then(OsStr::to_str).is_some_and(|file| file.starts_with(name))
    };
    below(folder).filter(is_it).min()
}

fn find(folders: &[PathBuf], binaries: &[&str]) -> Option<PathBuf> {
    let places = binaries.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
    places.into_iter().find(|path| path.is_file())
}

/// Returns the first line that `program --version` prints, if it does so in time.
fn version(program: &Path) -> Option<String> {
    first_line(Command::new(program).arg("--version"), PATIENCE)
}

fn first_line(command: &mut Command, patience: Duration) -> Option<String> {
    let quiet = command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.stdout(Stdio::piped()).spawn().ok()?;
    let text = output(&mut child, patience);
    // It has ended by itself, or has had its time.
    let _ = child.kill();
    let _ = child.wait();
    text::first_line(&String::from_utf8_lossy(&text?))
}

/// Returns what a program prints. It is read on a thread of its own: a program may neither print
/// nor end.
fn output(child: &mut Child, patience: Duration) -> Option<Vec<u8>> {
    let out = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        // Text that was read before an error still counts; the receiver may have given up.
        let _ = out.take(1000).read_to_end(&mut text);
        let _ = sender.send(text);
    });
    receiver.recv_timeout(patience).ok()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::{fs, time::Instant};

    use super::*;

    fn printed(script: &str, patience: Duration) -> Option<String> {
        first_line(Command::new("sh").args(["-c", script]), patience)
    }

    #[test]
    fn a_version_is_the_first_line() {
        let long = Duration::from_secs(60);
        assert_eq!(printed("echo ' served 5'; echo more", long).as_deref(), Some("served 5"));
        assert_eq!(printed("echo served >&2; exit 1", long), None);
        assert_eq!(version(Path::new("/no/such/program")), None);
        assert!(printed("yes | head -c 100000", long).is_some());
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let start = Instant::now();
        assert_eq!(printed("exec sleep 600", Duration::from_millis(50)), None);
        assert!(start.elapsed() < Duration::from_secs(300));
    }

    #[test]
    fn the_first_name_in_the_first_folder_is_found() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let folders = folders.each_ref().map(|folder| folder.path().to_owned());
        fs::write(folders[1].join("served"), "").unwrap();
        assert_eq!(find(&folders, &["absent", "served"]), Some(folders[1].join("served")));
        assert_eq!(find(&folders, &["absent"]), None);
    }

    #[test]
    fn libraries_are_found_by_the_start_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("libx.so.2"), "").unwrap();
        fs::write(folder.path().join("liby.so"), "").unwrap();
        assert_eq!(library(folder.path(), "libx.so"), Some(folder.path().join("libx.so.2")));
        assert_eq!(library(folder.path(), "libz.so"), None);
    }

    #[test]
    fn every_program_is_listed() {
        let programs = programs();
        assert_eq!(programs.len(), 5);
        assert!(programs.iter().all(|program| !program.package.is_empty()));
    }
}
