//! A scanner in the way, like one for viruses: the system asks it before a file is opened, and it
//! reads the file, or has clamd scan it, before it lets the opener continue.

use std::{
    fs::File,
    io::Read,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{Builder, JoinHandle},
};

use model::{Error, Result};

use crate::{
    clamd::{Clamd, MOST_BYTES},
    os::Opens,
};

/// A scanner that scans each file that is opened below a mount point, for as long as it lives.
/// However this process ends, the system then lets all openers continue.
pub(crate) struct Scanner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Scanner {
    /// Starts a scanner below `mount`. Without `clamd` it reads each file and looks for nothing.
    ///
    /// # Errors
    ///
    /// Fails if this user may not have the system ask.
    pub(crate) fn start(mount: &Path, clamd: Option<Clamd>) -> Result<Self> {
        let failed = |e| Error::io("the system asks no scanner", e);
        let opens = Opens::below(mount).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let scan = move || {
            let mut buffer = vec![0; 64 << 10];
            while !stopped.load(Relaxed) {
                opens.answer(|file| match &clamd {
                    Some(clamd) => clamd.is_clean(file),
                    None => read(file, &mut buffer),
                });
            }
        };
        let thread = Builder::new().name("scanner".to_owned()).spawn(scan).map_err(failed)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // A scanner that panicked has let all openers continue.
            let _ = thread.join();
        }
    }
}

/// Reads a file and lets it through. What cannot be read is let through as well, as if it were
/// clean.
fn read(file: &File, buffer: &mut [u8]) -> bool {
    let mut rest = file.take(MOST_BYTES);
    while rest.read(buffer).is_ok_and(|length| length > 0) {}
    true
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        panic::{AssertUnwindSafe, catch_unwind},
        sync::mpsc,
        time::{Duration, Instant},
    };

    use super::*;
    use crate::{files::user_id, scratch::Scratch, unchecked};

    /// Longest time to wait for an open.
    const LONGEST: Duration = Duration::from_secs(60);

    /// Each open as root waits for the scanner, also of files in folders that are newer than it; other
    /// users get one line that says why there is none.
    #[test]
    fn each_open_waits_until_the_file_was_read() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(parent.path()).unwrap();
        let mount = match crate::image::mount_again(scratch.path()) {
            Ok(mount) => mount,
            Err(error) => {
                let why = error.to_string();
                assert!(user_id() != Some(0) || why.contains("mount failed"), "{why}");
                return unchecked("root", why);
            }
        };
        fs::create_dir(mount.join("new")).unwrap();
        let file = mount.join("new/file");
        fs::write(&file, "content").unwrap();
        let opens = Opens::below(&mount).unwrap();
        let (sender, opened) = mpsc::channel();
        let waiting = std::thread::spawn(move || sender.send(File::open(file).is_ok()));
        let (mut read, started) = (String::new(), Instant::now());
        while read.is_empty() {
            assert!(started.elapsed() < LONGEST, "nobody opens the file");
            opens.answer(|mut file| {
                file.read_to_string(&mut read).unwrap();
                assert!(opened.try_recv().is_err(), "it waits for the answer");
                true
            });
        }
        assert_eq!((&*read, opened.recv_timeout(LONGEST)), ("content", Ok(true)));
        waiting.join().unwrap().unwrap();
    }

    /// Whoever waits when the listener is gone goes on: no process hangs on one that was killed.
    #[test]
    fn openers_go_on_without_the_scanner() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(parent.path()).unwrap();
        let mount = match crate::image::mount_again(scratch.path()) {
            Ok(mount) => mount,
            Err(error) => return unchecked("root", error),
        };
        let file = mount.join("file");
        fs::write(&file, "content").unwrap();
        let opens = Opens::below(&mount).unwrap();
        let waiting = file.clone();
        let opener = std::thread::spawn(move || fs::read(waiting));
        // The opener was asked about, and is never answered.
        let started = Instant::now();
        let gone = || {
            while started.elapsed() < LONGEST {
                opens.answer(|_| panic!("on purpose"));
            }
        };
        assert!(catch_unwind(AssertUnwindSafe(gone)).is_err());
        drop(opens);
        assert_eq!(opener.join().unwrap().unwrap(), b"content");
        let scanner = Scanner::start(&mount, None).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"content");
        drop(scanner);
        assert_eq!(fs::read(&file).unwrap(), b"content");
    }

    /// A file with its signature is refused, others are opened.
    #[test]
    #[cfg(target_os = "linux")]
    fn clamd_decides_what_is_opened() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(parent.path()).unwrap();
        let mount = match crate::image::mount_again(scratch.path()) {
            Ok(mount) => mount,
            Err(error) => return unchecked("root", error),
        };
        let clamd = Clamd::start(scratch.path()).unwrap();
        let file = |name: &str, content: &str| {
            fs::write(mount.join(name), content).unwrap();
            mount.join(name)
        };
        let clean = file("clean", "content");
        let infected = file("infected", "before storemark scanner test signature after");
        let scanner = Scanner::start(&mount, Some(clamd)).unwrap();
        assert_eq!(fs::read(&clean).unwrap(), b"content");
        file("new", "");
        let refused = || fs::read(&infected).map_err(|error| error.kind());
        assert_eq!(refused(), Err(std::io::ErrorKind::PermissionDenied));
        drop(scanner);
        assert!(refused().is_ok());
    }
}
