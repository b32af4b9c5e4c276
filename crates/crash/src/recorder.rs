//! A recorded folder, mounted.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use rustix::{
    mount::{UnmountFlags, unmount},
    process::geteuid,
};

use crate::{
    Attributes, Operation, ROOT, Record,
    filesystem::RecordedFolder,
    shared::{ACKNOWLEDGEMENTS, OUTPUT, Shared},
};

/// How long the end of the file system is waited for once it is unmounted.
const ENDING: Duration = Duration::from_secs(2);

/// The folder of the files that are in the recorded one, and the file with all that was written.
const BYTES: &str = "recorded.bytes";
const SPOOL: &str = "recorded.spool";

/// A folder whose operations are recorded while this lives.
pub struct Recorder {
    point: PathBuf,
    shared: Arc<Mutex<Shared>>,
    session: Option<BackgroundSession>,
}

impl Recorder {
    /// Mounts a recorded folder at `work/recorded.mount`, which belongs to `owner` (user and
    /// group) or to this user, with its bytes next to it in `work`.
    ///
    /// If this process is killed, the mount stays until somebody unmounts it: a cleanup guard of
    /// `work` has to.
    ///
    /// # Errors
    ///
    /// Fails if FUSE is not available to this user.
    pub fn mount(work: &Path, owner: Option<(u32, u32)>) -> io::Result<Self> {
        let point = work.join("recorded.mount");
        let bytes = work.join(BYTES);
        fs::create_dir(&bytes)?;
        fs::create_dir(&point)?;
        let own = (geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (user, group) = owner.unwrap_or(own);
        let mut record = Record::create(&work.join(SPOOL))?;
        // The owner of each state's folder.
        let attributes =
            Attributes { user: Some(user), group: Some(group), ..Attributes::default() };
        record.add(Operation::Attributes { inode: ROOT, attributes });
        let shared = Arc::new(Mutex::new(Shared::new(record, &bytes, user, group)));
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("storemark".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoSuid,
        ];
        // Other users may enter only what root mounts, unless the system's settings allow more.
        config.acl = if geteuid().is_root() { SessionACL::All } else { SessionACL::Owner };
        let session = Session::new(RecordedFolder(shared.clone()), &point, &config)?.spawn()?;
        Ok(Self { point, shared, session: Some(session) })
    }

    /// Returns the recorded folder.
    pub fn folder(&self) -> &Path {
        &self.point
    }

    /// Returns the file whose every line is an acknowledgement.
    pub fn acknowledgements(&self) -> PathBuf {
        self.point.join(ACKNOWLEDGEMENTS)
    }

    /// Returns the file that the program has as its standard output.
    pub fn output(&self) -> PathBuf {
        self.point.join(OUTPUT)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Declares that all that is in the folder is on the disk.
    pub fn set_prepared(&self) {
        self.shared().record.set_prepared();
    }

    /// Fails one flush of a file with EIO: the one after `before` others, counted from now on.
    pub fn fail_flush(&self, before: u64) {
        self.shared().before_failure = Some(before);
    }

    /// Removes what a recorder that has finished left in `work`, so that another one can be mounted. Its
    /// record can still be read.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be removed.
    pub fn clear(work: &Path) -> io::Result<()> {
        fs::remove_dir_all(work.join(BYTES))?;
        fs::remove_file(work.join(SPOOL))
    }

    /// Returns whether the program has acknowledged anything.
    pub fn has_acknowledged(&self) -> bool {
        let mut shared = self.shared();
        shared.finish();
        let all = shared.record.operations().len();
        shared.record.acknowledged(all).next().is_some()
    }

    /// Records an acknowledgement.
    pub fn acknowledge(&self, text: &str) {
        self.shared().record.add(Operation::Acknowledge { text: text.to_owned() });
    }

    /// Unmounts the folder and returns the record and the lines of output that acknowledge nothing.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be unmounted, or something still uses it.
    pub fn finish(self) -> io::Result<(Record, Vec<String>)> {
        let shared = self.shared.clone();
        drop(self);
        let busy = || io::Error::other("a process still uses the recorded folder");
        let shared = Arc::into_inner(shared).ok_or_else(busy)?;
        let Shared { record, output, .. } =
            shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((record, output))
    }

    fn unmount(&mut self) {
        let Some(session) = self.session.take() else { return };
        if unmount(&self.point, UnmountFlags::DETACH).is_err() {
            // Not root: the system's program may.
            let mut command = Command::new("fusermount3");
            command.args(["-u", "-z", "-q", "--"]).arg(&self.point);
            let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        // A mount namespace of another process, as a container has, may have a copy of the mount. The kernel
        // removes the copies with the folder.
        let _ = fs::remove_dir(&self.point);
        let until = Instant::now() + ENDING;
        while !session.guard.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        if session.guard.is_finished() {
            let _ = session.join();
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.unmount();
    }
}
