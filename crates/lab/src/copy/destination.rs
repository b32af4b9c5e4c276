//! What may be at the destination before the copy.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{Access, Error, ErrorKind, KeyKind, OpenOptions, Result, Settings};

use super::{CopyJob, Place, partial};

/// What is at the destination and may be replaced by the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Nothing,
    EmptyFolder,
    File,
    Folder,
}

/// Refuses a destination where something would be lost. Changes nothing.
pub(super) fn check(job: &CopyJob) -> Result<Existing> {
    check_place(&job.to)?;
    check_apart(&job.from.path, &job.to.path)?;
    let meta = match fs::symlink_metadata(&job.to.path) {
        Ok(meta) => meta,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return nothing(&job.to),
        Err(cause) => return Err(Error::io(job.to.path.display(), cause)),
    };
    let to = job.to.path.display();
    if meta.is_symlink() {
        return exists(format!("{to} is a symbolic link; name what it points to"));
    }
    if meta.is_dir() && is_empty(&job.to.path)? && job.to.engine.recognises(&job.to.path) {
        check_no_mount(&job.to.path)?;
        return Ok(Existing::EmptyFolder);
    }
    if !job.force
        && job.to.engine.recognises(&job.to.path)
        && job.to.engine.reads_a_copy(&job.to.path)?
    {
        return exists(format!("{to} exists; --force replaces it"));
    }
    // What --force would not replace either is refused for that reason.
    let existing = match (meta.is_dir(), meta.is_file()) {
        (true, _) => {
            check_replaceable(&job.to)?;
            check_no_mount(&job.to.path)?;
            Existing::Folder
        }
        (_, true) => {
            check_replaceable(&job.to)?;
            Existing::File
        }
        _ => return exists(format!("{to} is neither a file nor a folder; it is not replaced")),
    };
    if job.force { Ok(existing) } else { exists(format!("{to} exists; --force replaces it")) }
}

fn exists<T>(message: String) -> Result<T> {
    Err(Error::new(ErrorKind::Exists, message))
}

fn check_place(to: &Place) -> Result<()> {
    let path = to.path.display();
    if !to.engine.capabilities().persistent {
        let name = to.engine.name();
        return Err(Error::usage(format!("{name} keeps nothing; a copy needs a store on disk")));
    }
    if to.path.file_name().is_none() {
        return Err(Error::usage(format!("{path:?} does not end in the name of a file or folder")));
    }
    let parent = parent(&to.path);
    match fs::metadata(&parent) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Err(Error::usage(format!("{} is not a folder", parent.display()))),
        Err(cause) => return Err(Error::io(format!("{path}: {}", parent.display()), cause)),
    }
    let old = old(&to.path);
    if fs::symlink_metadata(&old).is_ok() {
        return exists(format!(
            "{} was left by an interrupted --force; rename it to {path}, or remove it",
            old.display()
        ));
    }
    Ok(())
}

/// Refuses to copy a store onto itself, into itself, or over a folder that holds it.
fn check_apart(from: &Path, to: &Path) -> Result<()> {
    let refuse =
        |what: &str| Err(Error::usage(format!("{} {what} {}", to.display(), from.display())));
    // A source that cannot be found cannot be opened either, and that error is clearer.
    let Ok(source) = from.canonicalize() else { return Ok(()) };
    let name = to.file_name().unwrap_or_default();
    let target = parent(to).canonicalize().map_err(|e| Error::io(to.display(), e))?.join(name);
    if source == target || identity(&source).is_some_and(|id| identity(&target) == Some(id)) {
        return refuse("is the same as");
    }
    if target.starts_with(&source) {
        return refuse("is inside");
    }
    if source.starts_with(&target) || source.starts_with(partial::folder_for(&target)) {
        return refuse("contains");
    }
    Ok(())
}

/// The store's other files must be absent too: they would be taken for the copy's.
fn nothing(to: &Place) -> Result<Existing> {
    match to.engine.files(&to.path).into_iter().find(|file| fs::symlink_metadata(file).is_ok()) {
        None => Ok(Existing::Nothing),
        Some(file) => exists(format!(
            "{} exists without {}; it would be taken for a part of the copy",
            file.display(),
            to.path.display()
        )),
    }
}

/// Refuses if more than a dataset would be lost.
fn check_replaceable(to: &Place) -> Result<()> {
    let path = to.path.display();
    let not = |why: String| exists(format!("{path} is not replaced: {why}"));
    if !to.engine.recognises(&to.path) {
        return not(format!("it is not a {} store", to.engine.name()));
    }
    let keys = match keys(to) {
        Ok(keys) => keys,
        Err(error) => return not(error.to_string()),
    };
    if to.path.is_dir() && keys == KeyKind::Names {
        return not(
            "only folders of kvtest's numbered files are, and this one has names".to_owned()
        );
    }
    match to.engine.others(&to.path)?.as_slice() {
        [] => Ok(()),
        others => not(format!("it also holds {}", others.join(", "))),
    }
}

fn keys(to: &Place) -> Result<KeyKind> {
    let settings = Settings::default();
    let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
    let store = to.engine.open(&to.path, &options)?;
    let keys = store.keys();
    store.close().map(|()| keys)
}

/// A folder on which a file system is mounted cannot be renamed or removed.
fn check_no_mount(folder: &Path) -> Result<()> {
    let device = |path: &Path| identity(path).map(|(device, _)| device);
    if device(folder) == device(&parent(folder)) {
        return Ok(());
    }
    let folder = folder.display();
    Err(Error::usage(format!("{folder} is a mount point; name a folder within it")))
}

/// The folder that `path` is in.
pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// `path` with `suffix` at the end of its name.
pub(super) fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// The name of a replaced folder until the copy has its name.
pub(super) fn old(destination: &Path) -> PathBuf {
    sibling(destination, ".storemark-old")
}

pub(super) fn is_empty(folder: &Path) -> Result<bool> {
    let mut entries = fs::read_dir(folder).map_err(|e| Error::io(folder.display(), e))?;
    Ok(entries.next().is_none())
}

/// Device and inode of what `path` points to.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}
