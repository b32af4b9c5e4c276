//! A temporary folder that is surely removed: by its owner, or by the next run.

use std::{
    fs::{self, DirBuilder, File, Metadata},
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
};

use model::{Account, Error, Result};

use super::{image, remove::remove_all, undertaker::Undertaker};

const PREFIX: &str = "storemark-scratch-";

/// The file whose lock says that the owner lives. The system drops the lock with the process,
/// however that ends.
const LOCK: &str = "lock";

/// A folder of one's own, removed with all in it when dropped, or soon after this process was
/// killed.
///
/// A folder that was left behind after all is removed by the next [`Scratch::new_in`] beside it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Held as long as the folder stands.
    _lock: File,
    undertaker: Option<Undertaker>,
}

impl Scratch {
    /// Makes `parent/storemark-scratch-PID-RANDOM/`, whose names this user only can list, after
    /// removing what killed runs left in `parent`.
    pub fn new_in(parent: &Path) -> Result<Self> {
        sweep(parent);
        loop {
            match Self::claim(parent) {
                // Another run swept the folder before it was locked.
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                claimed => return claimed.map_err(|cause| refused(parent, &cause)),
            }
        }
    }

    /// The folder. It holds a file named `lock`, which must stay.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn claim(parent: &Path) -> io::Result<Self> {
        let path = parent.join(name());
        // A server's user passes through it to the folder that is its own.
        make(&path, 0o711)?;
        let lock = lock(&path).inspect_err(|_| {
            // Best effort: a sweeper may be removing it at the same time.
            let _ = remove(&path);
        })?;
        let undertaker = Undertaker::of(&path);
        Ok(Self { path, _lock: lock, undertaker })
    }

    /// Makes a folder in it for `owner` alone; `None`: for this user.
    pub fn folder(&self, name: &str, owner: Option<Account>) -> Result<PathBuf> {
        let path = self.path.join(name);
        if !path.exists() {
            make(&path, 0o700).map_err(|e| Error::io(path.display(), e))?;
            give(&path, owner).map_err(|e| Error::io(path.display(), e))?;
        }
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nowhere to report to; what is left the undertaker removes, or else the next run.
        if remove(&self.path).is_ok()
            && let Some(undertaker) = self.undertaker.take()
        {
            undertaker.dismiss();
        }
    }
}

/// Removes what killed runs of this user left in `parent`: folders of exactly the name that
/// [`Scratch`] gives, with a lock file that nobody holds. Anything else stays untouched, and so
/// does what cannot be removed: it is no reason not to go on.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(is_name);
        if ours && entry.metadata().is_ok_and(|meta| meta.is_dir() && is_mine(&meta)) {
            let _ = sweep_one(&entry.path());
        }
    }
}

fn sweep_one(path: &Path) -> io::Result<()> {
    let lock = path.join(LOCK);
    if !fs::symlink_metadata(&lock)?.is_file() {
        return Ok(());
    }
    let lock = File::options().read(true).write(true).open(lock)?;
    // Held until the folder is gone, so that one sweeper at a time is at it.
    lock.try_lock()?;
    remove(path)
}

/// In a folder open to all, another user may have set a trap under our name.
#[cfg(unix)]
fn is_mine(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_mine(_: &Metadata) -> bool {
    true
}

fn name() -> String {
    // Each `RandomState` is seeded anew.
    let random = RandomState::new().build_hasher().finish();
    format!("{PREFIX}{}-{random:016x}", std::process::id())
}

fn is_name(name: &str) -> bool {
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-')).is_some_and(|(pid, random)| {
        !pid.is_empty()
            && pid.bytes().all(|byte| byte.is_ascii_digit())
            && random.len() == 16
            && random.bytes().all(hex)
    })
}

#[cfg(unix)]
fn make(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().mode(mode).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path, _: u32) -> io::Result<()> {
    DirBuilder::new().create(path)
}

#[cfg(unix)]
fn give(path: &Path, owner: Option<Account>) -> io::Result<()> {
    let Some(Account { user, group }) = owner else { return Ok(()) };
    std::os::unix::fs::chown(path, Some(user), Some(group))
}

#[cfg(not(unix))]
fn give(_: &Path, _: Option<Account>) -> io::Result<()> {
    Ok(())
}

/// Makes and takes the lock. `WouldBlock`: a sweeper came in between.
fn lock(path: &Path) -> io::Result<File> {
    let swept = || io::Error::from(io::ErrorKind::WouldBlock);
    let file = path.join(LOCK);
    let lock = File::create_new(&file).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => swept(),
        _ => cause,
    })?;
    lock.try_lock()?;
    // The lock was free, but a sweeper may have had it, and be done.
    if file.exists() { Ok(lock) } else { Err(swept()) }
}

/// The lock goes last: a removal that is cut short leaves a folder that can still be swept.
fn remove(path: &Path) -> io::Result<()> {
    image::release(path);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            remove_all(&entry.path())?;
        }
    }
    fs::remove_file(path.join(LOCK))?;
    fs::remove_dir(path)
}

fn refused(parent: &Path, cause: &io::Error) -> Error {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};

    let parent = parent.display();
    let why = match cause.kind() {
        PermissionDenied | ReadOnlyFilesystem => format!("{parent} is not writable"),
        NotFound => format!("{parent} does not exist"),
        NotADirectory => format!("{parent} is not a folder"),
        _ => format!("cannot make a scratch folder in {parent}"),
    };
    Error::usage(format!("{why}: {cause}; --scratch DIR names another place"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as [`Scratch`] makes it, with nobody holding the lock.
    fn abandoned(parent: &Path, name: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir_all(path.join("deep/er")).unwrap();
        fs::write(path.join("deep/er/file"), "x").unwrap();
        fs::write(path.join(LOCK), "").unwrap();
        path
    }

    #[test]
    fn it_is_there_while_needed_and_gone_afterwards() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(parent.path()).unwrap();
        let path = scratch.path().to_owned();
        fs::create_dir(path.join("store")).unwrap();
        fs::write(path.join("store/000001"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_panic_leaves_nothing_behind() {
        let parent = tempfile::tempdir().unwrap();
        let outcome = std::panic::catch_unwind(|| {
            let _scratch = Scratch::new_in(parent.path()).unwrap();
            panic!("on purpose");
        });
        assert!(outcome.is_err());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_dead_are_swept_and_the_living_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = abandoned(parent.path(), &name());
        let living = Scratch::new_in(parent.path()).unwrap();
        assert!(!dead.exists());
        let another = Scratch::new_in(parent.path()).unwrap();
        assert!(living.path().join(LOCK).exists());
        assert_ne!(living.path(), another.path());
    }

    #[test]
    fn look_alikes_stay() {
        let parent = tempfile::tempdir().unwrap();
        let unlocked = abandoned(parent.path(), &name());
        fs::remove_file(unlocked.join(LOCK)).unwrap();
        let folder_for_lock = abandoned(parent.path(), &name());
        fs::remove_file(folder_for_lock.join(LOCK)).unwrap();
        fs::create_dir(folder_for_lock.join(LOCK)).unwrap();
        let renamed = abandoned(parent.path(), &format!("{}.keep", name()));
        sweep(parent.path());
        assert!([unlocked, folder_for_lock, renamed].iter().all(|path| path.exists()));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_with_the_right_name_stays() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = abandoned(parent.path(), "elsewhere");
        std::os::unix::fs::symlink(&elsewhere, parent.path().join(name())).unwrap();
        sweep(parent.path());
        assert!(elsewhere.join("deep/er/file").exists());
    }

    #[test]
    fn only_the_exact_name_is_ours() {
        assert!(is_name(&name()));
        assert!(is_name("storemark-scratch-1-0123456789abcdef"));
        for other in [
            "storemark-scratch-",
            "storemark-scratch--0123456789abcdef",
            "storemark-scratch-1-0123456789ABCDEF",
            "storemark-scratch-1-0123456789abcde",
            "storemark-scratch-x-0123456789abcdef",
            "storemark-scratch-1-0123456789abcdef-",
            "my-storemark-scratch-1-0123456789abcdef",
        ] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn runs_that_start_together_do_not_sweep_each_other() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let scratch = Scratch::new_in(parent.path()).unwrap();
                        fs::write(scratch.path().join("mine"), "x").unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let parent = tempfile::tempdir().unwrap();
        let absent = Scratch::new_in(&parent.path().join("absent")).unwrap_err().to_string();
        assert!(absent.contains("does not exist") && absent.contains("--scratch DIR"), "{absent}");
        let denied = refused(Path::new("/data"), &io::ErrorKind::PermissionDenied.into());
        assert!(denied.to_string().starts_with("/data is not writable: "), "{denied}");
    }
}
