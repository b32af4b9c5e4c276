//! A temporary folder that is always removed: by its owner, or by the next run.

use std::{
    env,
    fs::{self, File},
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use model::{Account, Error, Result};

use crate::{
    cleanup_guard::CleanupGuard,
    file_lock::FileLock,
    files::{check_writable, create_folder, is_mine},
    image, os,
    removal::remove_all,
    text::entries,
};

const PREFIX: &str = "storemark-scratch-";
/// A lock that was moved out of its folder to be removed.
const MOVED_LOCK: &str = "storemark-lock-";

/// The file whose lock shows that a folder's owner is running. The system drops the lock with the
/// process, however that ends.
pub const LOCK: &str = "lock";

/// Creates and takes the lock of `folder`; returns `None` if the file system has no locks.
///
/// # Errors
///
/// Fails with `WouldBlock` if another process has it, or has removed the folder in between.
pub fn lock_folder(folder: &Path) -> io::Result<Option<FileLock>> {
    let file = folder.join(LOCK);
    let opened = match File::create_new(&file) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            File::options().read(true).write(true).open(&file)
        }
        created => created,
    };
    let opened = opened.map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => io::ErrorKind::WouldBlock.into(),
        _ => cause,
    })?;
    match FileLock::exclusive(opened)? {
        // Another process may have held it until now, and have removed the folder.
        Some(_) if !file.exists() => Err(io::ErrorKind::WouldBlock.into()),
        lock => Ok(lock),
    }
}

/// Removes all that is in `folder` except its lock.
///
/// # Errors
///
/// Fails if the folder cannot be listed, or an entry cannot be removed; the others are then removed
/// nevertheless.
pub fn empty_folder(folder: &Path) -> io::Result<()> {
    let mut emptied = Ok(());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            emptied = emptied.and(remove_all(&entry.path()));
        }
    }
    emptied
}

/// Removes `folder`, whose lock is `lock`, with all in it. The lock is removed last: if this is interrupted,
/// what remains can still be recognised.
///
/// # Errors
///
/// Fails if an entry cannot be removed; the lock then stays.
pub fn remove_folder(folder: &Path, lock: Option<FileLock>) -> io::Result<()> {
    empty_folder(folder)?;
    remove_lock(folder)?;
    fs::remove_dir(folder)?;
    // Until now nobody else could take it.
    drop(lock);
    Ok(())
}

/// Removes the lock file of `folder`, which may be open. On Windows such a file stays in its folder until
/// everyone has closed it, so it is moved out of it first.
fn remove_lock(folder: &Path) -> io::Result<()> {
    let lock = folder.join(LOCK);
    if !cfg!(windows) {
        return fs::remove_file(lock);
    }
    let aside = folder.with_file_name(format!("{MOVED_LOCK}{:016x}", random()));
    fs::rename(lock, &aside)?;
    // Another run may be sweeping it.
    let _ = fs::remove_file(aside);
    Ok(())
}

/// A folder of this run, removed with all in it when dropped, or soon after this process was
/// killed.
///
/// A folder that was left behind nevertheless is removed by the next [`Scratch::new_in`] with the
/// same parent.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The lock, which is held as long as the folder exists.
    lock: Option<FileLock>,
    guard: Option<CleanupGuard>,
}

impl Scratch {
    /// Creates `parent/storemark-scratch-PID-RANDOM/`, which only this user can list, after
    /// removing what killed runs left in `parent`.
    ///
    /// # Errors
    ///
    /// Fails if `parent` cannot be written to.
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

    /// Returns the folder. It contains a file named `lock`, which must stay.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Asks the guard to kill the process group `group` if this process ends before [`Self::ended`] names it.
    pub fn started(&self, group: u32) {
        self.guard.iter().for_each(|guard| guard.started(group));
    }

    /// Declares that the process group has ended.
    pub fn ended(&self, group: u32) {
        self.guard.iter().for_each(|guard| guard.ended(group));
    }

    fn claim(parent: &Path) -> io::Result<Self> {
        let path = parent.join(name());
        // Started first, so that no moment is left in which a killed process leaves the folder.
        let guard = CleanupGuard::start(&path);
        match Self::create(&path) {
            Ok(lock) => Ok(Self { path, lock: Some(lock), guard }),
            Err(cause) => {
                if let Some(guard) = guard {
                    guard.dismiss();
                }
                Err(cause)
            }
        }
    }

    fn create(path: &Path) -> io::Result<FileLock> {
        // A server's user passes through it to the folder that is its own.
        create_folder(path, 0o711)?;
        let lock = lock_folder(path).and_then(|lock| lock.ok_or(io::ErrorKind::Unsupported.into()));
        lock.inspect_err(|_| {
            // Best effort: another run may be removing it at the same time.
            let _ = remove(path, None);
        })
    }

    /// Creates a folder in it for `owner` alone, or for this user if that is `None`.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be created, or not be given to `owner`.
    pub fn folder(&self, name: &str, owner: Option<Account>) -> Result<PathBuf> {
        let path = self.path.join(name);
        if !path.exists() {
            let created = create_folder(&path, 0o700).and_then(|()| give(&path, owner));
            created.map_err(|e| Error::io(path.display(), e))?;
        }
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nowhere to report to; the guard removes what is left, or else the next run.
        if remove(&self.path, self.lock.take()).is_ok()
            && let Some(guard) = self.guard.take()
        {
            guard.dismiss();
        }
    }
}

/// Removes what killed runs of this user left in `parent`: folders of exactly the name that
/// [`Scratch`] gives that are empty or have a lock file that nobody holds, and empty locks that were
/// moved out of theirs. Anything else stays untouched, and so does what cannot be removed: it does not
/// prevent the run.
fn sweep(parent: &Path) {
    for entry in entries(parent) {
        let (name, path) = (entry.file_name(), entry.path());
        let Some(name) = name.to_str() else { continue };
        let Some(meta) = entry.metadata().ok().filter(is_mine) else { continue };
        if is_name(name) && meta.is_dir() {
            let _ = sweep_one(&path);
        } else if is_moved_lock(name) && meta.is_file() && meta.len() == 0 {
            let _ = fs::remove_file(path);
        }
    }
}

fn sweep_one(path: &Path) -> io::Result<()> {
    // Its owner was killed after removing the lock. One that has yet to make it tries again.
    if fs::remove_dir(path).is_ok() {
        return Ok(());
    }
    if fs::symlink_metadata(path.join(LOCK))?.is_file()
        // Held until the folder is removed, so that only one run at a time removes it.
        && let Some(lock) = lock_folder(path)?
    {
        remove(path, Some(lock))?;
    }
    Ok(())
}

/// How often a guard tries to remove a folder, and how long it waits in between: files of processes that are
/// being ended may still be open.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// Waits until `input` ends, as it does with the process that holds its other end, and then removes the
/// scratch folder `folder` of that process. Nothing else is removed, and no folder whose owner runs.
pub fn guard(folder: &Path, mut input: impl io::Read) {
    let is_scratch = folder.file_name().and_then(|name| name.to_str()).is_some_and(is_name);
    // Lines about processes need no answer: on Windows those end with their owner, and no server is started
    // where there is no shell.
    if !is_scratch || io::copy(&mut input, &mut io::sink()).is_err() {
        return;
    }
    for _ in 0..TRIES {
        let _ = sweep_one(folder);
        if !folder.exists() {
            return;
        }
        thread::sleep(PAUSE);
    }
}

fn name() -> String {
    named(std::process::id(), random())
}

/// Returns a random number that no other process has.
pub fn random() -> u64 {
    // Each `RandomState` has a new seed.
    RandomState::new().build_hasher().finish()
}

fn named(pid: u32, random: u64) -> String {
    format!("{PREFIX}{pid}-{random:016x}")
}

fn is_moved_lock(name: &str) -> bool {
    let random = name.strip_prefix(MOVED_LOCK).and_then(|hex| u64::from_str_radix(hex, 16).ok());
    random.is_some_and(|random| name == format!("{MOVED_LOCK}{random:016x}"))
}

fn is_name(name: &str) -> bool {
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, random)| match (pid.parse(), u64::from_str_radix(random, 16)) {
        (Ok(pid), Ok(random)) => name == named(pid, random),
        _ => false,
    })
}

/// Returns `parent` if `account` can enter it, else a place that it can enter: on the same file
/// system if one is found. It returns `parent` itself if there is none, or it does not exist: what
/// is done there fails.
pub fn enterable(parent: &Path, account: Option<Account>) -> PathBuf {
    let full = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    let is_open = |place: &Path| account.is_none_or(|account| enters(place, account));
    if is_open(&full) || !full.exists() {
        return parent.to_owned();
    }
    let usual = [PathBuf::from("/var/tmp"), env::temp_dir()];
    let above = full.ancestors().skip(1).map(Path::to_owned);
    let open =
        usual.into_iter().chain(above).filter(|place| is_open(place) && os::is_writable(place));
    let mut open: Vec<_> = open.collect();
    open.sort_by_key(|place| !same_filesystem(place, &full));
    open.into_iter().next().unwrap_or_else(|| parent.to_owned())
}

/// Returns whether two paths are on one file system.
fn same_filesystem(one: &Path, other: &Path) -> bool {
    device(one).is_some() && device(one) == device(other)
}

fn device(path: &Path) -> Option<u64> {
    Some(os::file_identity(path)?.0)
}

fn enters(place: &Path, account: Account) -> bool {
    place.ancestors().all(|folder| {
        fs::metadata(folder).is_ok_and(|meta| {
            let (user, group) = os::owner(&meta);
            account.can_enter(Account { user, group }, os::mode(&meta))
        })
    })
}

fn give(path: &Path, owner: Option<Account>) -> io::Result<()> {
    owner.map_or(Ok(()), |to| os::chown(path, Some(to.user), Some(to.group)))
}

fn remove(path: &Path, lock: Option<FileLock>) -> io::Result<()> {
    image::release(path);
    remove_folder(path, lock)
}

/// Fails as [`Scratch::new_in`] does if `parent` cannot be written to.
pub fn check_scratch(parent: &Path) -> Result<()> {
    check_writable(parent).map_err(|cause| refused(parent, &cause))
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
    Error::usage(format!("{cause}; --scratch DIR names another place")).at(&why)
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
    fn what_a_run_leaves_that_is_killed_while_it_removes_its_folder_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let left =
            [name(), format!("{MOVED_LOCK}{:016x}", random())].map(|n| parent.path().join(n));
        let others = ["storemark-lock-1", "storemark-lock-0123456789abcdeF"];
        let full = format!("{MOVED_LOCK}{:016x}", random());
        let others = others.map(|name| (name, "")).into_iter().chain([(&*full, "x")]);
        fs::create_dir(&left[0]).unwrap();
        fs::write(&left[1], "").unwrap();
        others.clone().for_each(|(name, text)| fs::write(parent.path().join(name), text).unwrap());
        sweep(parent.path());
        assert!(left.iter().all(|path| !path.exists()));
        assert!(others.clone().all(|(name, _)| parent.path().join(name).exists()));
    }

    #[test]
    fn a_guard_removes_the_folder_of_an_ended_owner_alone() {
        let parent = tempfile::tempdir().unwrap();
        let mine = abandoned(parent.path(), "mine");
        guard(&mine, io::empty());
        let living = Scratch::new_in(parent.path()).unwrap();
        let (reader, writer) = io::pipe().unwrap();
        let dead = abandoned(parent.path(), &name());
        thread::scope(|scope| {
            let guarding = scope.spawn(|| guard(&dead, reader));
            assert!(dead.exists() && !guarding.is_finished(), "its owner may run");
            drop(writer);
            guarding.join().unwrap();
        });
        assert!(mine.exists() && living.path().exists() && !dead.exists());
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
        let left: Vec<_> = entries(parent.path()).map(|entry| entry.path()).collect();
        let inside: Vec<_> = left.iter().flat_map(|l| entries(l)).map(|e| e.path()).collect();
        assert!(left.is_empty(), "{left:?} {inside:?}");
    }

    #[test]
    #[cfg(unix)]
    fn a_place_that_a_user_cannot_enter_is_replaced() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let closed = parent.path().canonicalize().unwrap();
        let set = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
        set(0o700);
        let account = Account { user: 4_000_000, group: 4_000_000 };
        let stranger = Some(account);
        let other = enterable(&closed, stranger);
        assert!(other != closed && enters(&other, account), "{}", other.display());
        let above = closed.ancestors().skip(1).find(|place| os::is_writable(place));
        assert!(above.is_none_or(
            |above| same_filesystem(above, &closed) <= same_filesystem(&other, &closed)
        ));
        assert_eq!(enterable(&closed, None), closed);
        set(0o711);
        assert_eq!(enterable(&closed, stranger), closed);
        assert_eq!(enterable("absent".as_ref(), stranger), Path::new("absent"));
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
