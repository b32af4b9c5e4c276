//! A folder of its own with room for one store.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::SystemTime,
};

/// A folder in that of temporary files, removed with all in it when dropped.
pub struct StoreFolder {
    /// The folder.
    pub folder: PathBuf,
    /// The path of the store, where nothing is yet.
    pub path: PathBuf,
}

/// What is below a folder: the bytes of each file, and when files and folders last changed.
pub type Snapshot = BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>;

impl StoreFolder {
    /// Creates the folder.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be created.
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("storemark-check-{}-{number}", process::id());
            let folder = env::temp_dir().join(name);
            match fs::create_dir(&folder) {
                // An earlier process with this number was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            }
            // A server's user passes through it.
            #[cfg(unix)]
            fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o711))?;
            return Ok(Self { path: folder.join("store"), folder });
        }
    }

    /// Keeps the folder, and returns it.
    pub fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.folder)
    }

    /// Returns everything below the folder.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        let mut found = Snapshot::new();
        snapshot(&self.folder, &mut found)?;
        Ok(found)
    }
}

impl Drop for StoreFolder {
    fn drop(&mut self) {
        if !self.folder.as_os_str().is_empty() {
            // A check that failed says so; what is left is among temporary files.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn snapshot(path: &Path, found: &mut Snapshot) -> io::Result<()> {
    let meta = path.symlink_metadata()?;
    let bytes = if meta.is_file() { Some(fs::read(path)?) } else { None };
    found.insert(path.to_owned(), (bytes, meta.modified()?));
    if meta.is_dir() {
        for entry in path.read_dir()? {
            snapshot(&entry?.path(), found)?;
        }
    }
    Ok(())
}
