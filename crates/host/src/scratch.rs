//! A temporary folder that is always removed: by its owner, or by the next run.

use std::{
    fs::{self, DirBuilder, File, Metadata},
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
};

use model::{Account, Error, Result};

use crate::{cleanup_guard::CleanupGuard, image, remove::remove_all};

const PREFIX: &str = "storemark-scratch-";

/// The file whose lock shows that the owner is running. The system drops the lock with the process,
/// however that ends.
const LOCK: &str = "lock";

/// A folder of this run, removed with all in it when dropped, or soon after this process was
/// killed.
///
/// A folder that was left behind in spite of that is removed by the next [`Scratch::new_in`] with
/// the same parent.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Held as long as the folder exists.
    _lock: File,
    guard: Option<CleanupGuard>,
}

impl Scratch {
    /// Creates `parent/storemark-scratch-PID-RANDOM/`, which only this user can list, after
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

    /// Returns the folder. It holds a file named `lock`, which must stay.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn claim(parent: &Path) -> io::Result<Self> {
        let path = parent.join(name());
        // A server's user passes through it to the folder that is its own.
        create(&path, 0o711)?;
        let lock = lock(&path).inspect_err(|_| {
            // Best effort: another run may be removing it at the same time.
            let _ = remove(&path);
        })?;
        let guard = CleanupGuard::of(&path);
        Ok(Self { path, _lock: lock, guard })
    }

    /// Creates a folder in it for `owner` alone; `None`: for this user.
    pub fn folder(&self, name: &str, owner: Option<Account>) -> Result<PathBuf> {
        let path = self.path.join(name);
        if !path.exists() {
            create(&path, 0o700).map_err(|e| Error::io(path.display(), e))?;
            give(&path, owner).map_err(|e| Error::io(path.display(), e))?;
        }
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nowhere to report to; the guard removes what is left, or else the next run.
        if remove(&self.path).is_ok()
            && let Some(guard) = self.guard.take()
        {
            guard.dismiss();
        }
    }
}

/// Removes what killed runs of this user left in `parent`: folders of exactly the name that
/// [`Scratch`] gives, with a lock file that nobody holds. Anything else stays untouched, and so
/// does what cannot be removed: it does not prevent the run.
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
    // Held until the folder is removed, so that only one run at a time removes it.
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
    // Each `RandomState` has a new seed.
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

#[cfg_attr(not(unix), allow(unused_variables, unused_mut, reason = "modes are Unix's"))]
fn create(path: &Path, mode: u32) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
    builder.create(path)
}

#[cfg_attr(not(unix), allow(unused_variables, reason = "owners are Unix's"))]
fn give(path: &Path, owner: Option<Account>) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(Account { user, group }) = owner {
        std::os::unix::fs::chown(path, Some(user), Some(group))?;
    }
    Ok(())
}

/// Creates and takes the lock. `WouldBlock`: another run removed the folder in between.
fn lock(path: &Path) -> io::Result<File> {
    let swept = || io::Error::from(io::ErrorKind::WouldBlock);
    let file = path.join(LOCK);
    let lock = File::create_new(&file).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => swept(),
        _ => cause,
    })?;
    lock.try_lock()?;
    // The lock was free, but another run may have held it, and have removed the folder.
    if file.exists() { Ok(lock) } else { Err(swept()) }
}

/// The lock is removed last: if this is interrupted, the next run can still remove the folder.
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

    /// A folder as [`Scratch`] creates it, with nobody holding the lock.
    fn abandoned(parent: &Path, name: &str) -> PathBuf {
        let path = parent.join(name);
        fs::create_dir_all(path.join("deep/er")).unwrap();
        fs::write(path.join("deep/er/file"), "x").unwrap();
        fs::write(path.join(LOCK), "").unwrap();
        path
    }

    #[test]
    fn the_folder_exists_until_it_is_dropped() {
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
    fn folders_of_ended_runs_are_removed_and_others_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = abandoned(parent.path(), &name());
        let living = Scratch::new_in(parent.path()).unwrap();
        assert!(!dead.exists());
        let another = Scratch::new_in(parent.path()).unwrap();
        assert!(living.path().join(LOCK).exists());
        assert_ne!(living.path(), another.path());
    }

    #[test]
    fn folders_of_a_similar_form_stay() {
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
    fn runs_that_start_together_keep_their_folders() {
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
    fn an_error_says_what_to_do() {
        let parent = tempfile::tempdir().unwrap();
        let absent = Scratch::new_in(&parent.path().join("absent")).unwrap_err().to_string();
        assert!(absent.contains("does not exist") && absent.contains("--scratch DIR"), "{absent}");
        let denied = refused(Path::new("/data"), &io::ErrorKind::PermissionDenied.into());
        assert!(denied.to_string().starts_with("/data is not writable: "), "{denied}");
    }
}
