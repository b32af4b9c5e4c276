//! The file with the id of a process that continues in the background (Unix).

use std::{fs, io, io::Write, path::Path};

use model::{Error, Result};

/// A new file with this process's id, removed when dropped.
#[derive(Debug)]
pub struct PidFile<'a>(&'a Path);

impl<'a> PidFile<'a> {
    /// Creates the file. It replaces only the file of a process that has ended.
    ///
    /// # Errors
    ///
    /// Fails if the file exists and is not that of a process that has ended, or cannot be written.
    pub fn write(path: &'a Path) -> Result<Self> {
        if is_stale(path) {
            let _ = fs::remove_file(path);
        }
        // Neither follows a link nor waits for the reader of a pipe.
        fs::File::create_new(path)
            .and_then(|mut file| file.write_all(pid_line().as_bytes()))
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Error::usage(
                    "exists already; a pidfile must be new, or that of a process that has ended",
                )
                .at(path.display()),
                _ => Error::io(path.display(), error),
            })?;
        Ok(Self(path))
    }
}

impl Drop for PidFile<'_> {
    fn drop(&mut self) {
        // Another process may have replaced it by its own.
        if text(self.0).is_some_and(|text| text == pid_line()) {
            let _ = fs::remove_file(self.0);
        }
    }
}

fn pid_line() -> String {
    format!("{}\n", std::process::id())
}

/// Reads a pidfile. Its content is short, so longer files are not read.
fn text(path: &Path) -> Option<String> {
    const LONGEST: u64 = 16;
    let meta = fs::symlink_metadata(path).ok()?;
    (meta.is_file() && meta.len() <= LONGEST).then(|| fs::read_to_string(path).ok())?
}

fn is_stale(path: &Path) -> bool {
    let id = text(path).and_then(|text| text.strip_suffix('\n')?.parse().ok());
    let process = id.and_then(rustix::process::Pid::from_raw);
    // The system reports about another user's process only that it exists.
    process.is_some_and(|process| {
        rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH)
    })
}

/// Detaches this process from the terminal and from the reader of its output.
///
/// # Errors
///
/// Fails if `/dev/null` cannot take the place of the standard streams.
pub fn leave_terminal() -> io::Result<()> {
    // Fails for the leader of a group, which no terminal disturbs either.
    let _ = rustix::process::setsid();
    let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_of_an_ended_process_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let ended = child.id();
        child.wait().unwrap();
        fs::write(&path, format!("{ended}\n")).unwrap();
        drop(PidFile::write(&path).unwrap());
        assert!(!path.exists());
        for other in ["work of years".to_owned(), String::new(), pid_line()] {
            fs::write(&path, &other).unwrap();
            assert!(PidFile::write(&path).is_err(), "{other:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
    }

    #[test]
    fn a_link_is_left_alone_and_so_is_anothers_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("mine"), "bytes").unwrap();
        std::os::unix::fs::symlink("mine", at("link")).unwrap();
        assert!(PidFile::write(&at("link")).is_err());
        assert_eq!(fs::read_to_string(at("link")).unwrap(), "bytes");
        let path = at("pid");
        let pidfile = PidFile::write(&path).unwrap();
        fs::write(&path, "1\n").unwrap();
        drop(pidfile);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1\n");
    }
}
