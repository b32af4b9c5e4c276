//! The destination: what may exist there before the copy, and how the complete copy gets its name.

use std::{
    fs::{self, Permissions},
    io,
    path::{Path, PathBuf},
};

use model::{Access, EntryKind, Error, ErrorKind, KeyKind, Result, Shown};

use super::{
    CopyJob,
    location::{StoreLocation, parent},
    partial::{self, Partial, is_empty},
};
use crate::host::{self, FileAccess};

/// The kind of thing at the destination that the copy may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    Nothing,
    EmptyFolder,
    File,
    Folder,
}

/// Checks the destination and returns what is there. Fails if something would be lost; changes
/// nothing.
pub(super) fn check(job: &CopyJob) -> Result<Existing> {
    let StoreLocation { engine, path, .. } = &job.to;
    check_place(&job.to)?;
    check_apart(&job.from, path)?;
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return nothing(&job.to),
        Err(cause) => return Err(Error::io(path.display(), cause)),
    };
    let to = path.display();
    if meta.is_symlink() {
        return exists(format!("{to} is a symbolic link; name what it points to"));
    }
    if !meta.is_dir() && !meta.is_file() {
        return exists(format!("{to} is neither a file nor a folder; it is not replaced"));
    }
    let recognised = engine.recognises(path);
    if meta.is_dir() && is_empty(path)? && recognised {
        return check_no_mount(path).map(|()| Existing::EmptyFolder);
    }
    // What --force would not replace either is refused for that reason; a store that could only be
    // read as a copy is not looked into without it.
    if job.force || !recognised || !engine.reads_a_copy(path)? {
        check_replaceable(&job.to)?;
        if meta.is_dir() {
            check_no_mount(path)?;
        }
    }
    match (job.force, meta.is_dir()) {
        (false, _) => exists(format!("{to} exists; --force replaces it")),
        (true, true) => Ok(Existing::Folder),
        (true, false) => Ok(Existing::File),
    }
}

fn exists<T>(message: String) -> Result<T> {
    Err(Error::new(ErrorKind::Exists, message))
}

fn check_place(to: &StoreLocation) -> Result<()> {
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
    Ok(())
}

/// Fails if a store would be copied onto itself, into itself, or over a folder that contains it.
pub(super) fn check_apart(from: &StoreLocation, to: &Path) -> Result<()> {
    let Some(from) = from.file() else { return Ok(()) };
    // A source that cannot be found cannot be opened either, and that error is clearer.
    let Ok(source) = from.canonicalize() else { return Ok(()) };
    let name = to.file_name().unwrap_or_default();
    let target = parent(to).canonicalize().map_err(|e| Error::io(to.display(), e))?.join(name);
    let what = if source == target || host::is_same_file(&source, &target) {
        "is the same as"
    } else if target.starts_with(&source) {
        "is inside"
    } else if source.starts_with(&target) || source.starts_with(partial::folder_for(&target)) {
        "contains"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("{} {what} {}", to.display(), from.display())))
}

/// Fails if other files of the store exist: they would be taken for the copy's.
fn nothing(to: &StoreLocation) -> Result<Existing> {
    match to.engine.files(&to.path).into_iter().find(|file| fs::symlink_metadata(file).is_ok()) {
        None => Ok(Existing::Nothing),
        Some(file) => exists(format!(
            "{} exists without {}; it would be taken for a part of the copy",
            file.display(),
            to.path.display()
        )),
    }
}

/// Fails if more than a dataset would be lost.
fn check_replaceable(to: &StoreLocation) -> Result<()> {
    let path = to.path.display();
    let not = |why: String| exists(format!("{path} is not replaced: {why}"));
    if !to.engine.recognises(&to.path) {
        return not(format!("it is not a {} store", to.engine.name()));
    }
    let looked = to.open_plain(&to.path, Access::Read, KeyKind::Integers).and_then(|store| {
        // If it has the files alone, nothing else shows it.
        let is_users = store.table()?.is_some_and(|table| !table.shares_files);
        let keys = store.keys();
        let further = store.left_out()?.into_iter().filter(|of| of.kind == EntryKind::Further);
        let further: Vec<_> = further.map(|of| Shown(&of.name).to_string()).collect();
        store.close().map(|()| (keys, is_users, further))
    });
    let (keys, is_users, further) = match looked {
        Err(error) => return not(error.to_string()),
        Ok(looked) => looked,
    };
    match keys {
        // Nobody can say that storemark made it: it may be anybody's folder.
        KeyKind::Names if to.engine.capabilities().paths => {
            let why =
                "it is a folder of files with names of their own; remove it, or name another place";
            return not(why.to_owned());
        }
        _ => {}
    }
    let mut others = to.engine.other_contents(&to.path)?;
    // SQLite's are found with and without opening the store.
    let more: Vec<_> = further.into_iter().filter(|name| !others.contains(name)).collect();
    others.extend(more);
    match &others[..] {
        [] if is_users => not("another program made it".to_owned()),
        [] => Ok(()),
        others => not(format!("it also holds {}", others.join(", "))),
    }
}

/// Fails if a file system is mounted on the folder, which then cannot be renamed or removed.
fn check_no_mount(folder: &Path) -> Result<()> {
    if !host::is_mount_point(folder) {
        return Ok(());
    }
    let folder = folder.display();
    Err(Error::usage(format!("{folder} is a mount point; name a folder within it")))
}

/// Renames the store at `new` to the destination, which is checked again: it may have changed since
/// the copy started. Until then the store was in a folder that only this user can enter.
pub(super) fn move_into_place(new: &Path, job: &CopyJob) -> Result<()> {
    let to = &job.to.path;
    let existing = check(job)?;
    // A rename moves one file or folder; a closed store must have no other.
    if let Some(file) = side_file(&job.to, new) {
        return Err(Error::failed(format!("{} is left after closing", file.display())));
    }
    let failed = |cause| Error::io(to.display(), cause);
    give_access(new, job, existing)?;
    match existing {
        Existing::Nothing => rename(new, to),
        Existing::File => {
            tidy(&job.to)?;
            fs::rename(new, to).map_err(failed)
        }
        // Fails if it is no longer empty.
        Existing::EmptyFolder => replace_empty(new, to),
        Existing::Folder => replace(new, to),
    }
}

/// Gives the new store to the source's owner, or to that of what it replaces, and allows no one to
/// use it who may not use both.
fn give_access(new: &Path, job: &CopyJob, existing: Existing) -> Result<()> {
    let CopyJob { from, to, .. } = job;
    // A server's folder is its user's alone; generated values and those of a service are nobody's.
    let Some(path) = from.file().filter(|_| to.engine.account().is_none()) else { return Ok(()) };
    let source = FileAccess::read(path)?;
    let access = match existing {
        Existing::Nothing => source,
        _ => FileAccess::read(&to.path)?.and(source),
    };
    let paths = |place: &StoreLocation| place.engine.capabilities().paths;
    let like = existing == Existing::Nothing && paths(from) && paths(to);
    access.give(new, like.then_some(path))
}

/// Renames a file or folder that comes from another folder.
fn rename(from: &Path, to: &Path) -> Result<()> {
    let locked = unlock(from)?;
    let renamed = host::rename_new(from, to);
    lock(locked, if renamed.is_ok() { to } else { from })?;
    renamed
}

/// Renames a folder to an empty one, in one step if the system can.
fn replace_empty(new: &Path, to: &Path) -> Result<()> {
    let locked = unlock(new)?;
    if fs::rename(new, to).is_ok() {
        return lock(locked, to);
    }
    lock(locked, new)?;
    fs::remove_dir(to).map_err(|cause| Error::io(to.display(), cause))?;
    rename(new, to)
}

/// Moves a folder to the place of another one, which is then next to where the new one was. At
/// every moment the old folder or the new one has the name; if the system cannot exchange two
/// names, the next copy puts the old one back ([`partial::put_back`]).
fn replace(new: &Path, to: &Path) -> Result<()> {
    let locked = [unlock(new)?, unlock(to)?];
    let [new_locked, old_locked] = locked;
    // A killed copy must not leave the old folder under the name of what is resumed.
    let other = new.with_file_name(partial::REPLACED);
    host::rename_new(new, &other)?;
    match host::exchange(&other, to) {
        Some(Ok(())) => return lock(new_locked, to),
        failed => {
            host::rename_new(&other, new)?;
            if let Some(failed) = failed {
                lock(old_locked, to)?;
                return failed;
            }
        }
    }
    let aside = new.with_file_name(partial::ASIDE);
    host::rename_new(to, &aside)?;
    let renamed = host::rename_new(new, to);
    if renamed.is_err() {
        // If this fails too, the next copy does it.
        let _ = host::rename_new(&aside, to).and_then(|()| lock(old_locked, to));
        return renamed;
    }
    lock(new_locked, to)
}

/// Allows the owner of a folder to move it to another one; returns its permissions if they had to
/// be changed.
fn unlock(folder: &Path) -> Result<Option<Permissions>> {
    let failed = |cause| Error::io(folder.display(), cause);
    let meta = fs::metadata(folder).map_err(failed)?;
    if !meta.is_dir() || host::may_be_moved(&meta) {
        return Ok(None);
    }
    host::set_mode(folder, 0o700).map_err(failed)?;
    Ok(Some(meta.permissions()))
}

fn lock(permissions: Option<Permissions>, folder: &Path) -> Result<()> {
    let Some(permissions) = permissions else { return Ok(()) };
    fs::set_permissions(folder, permissions).map_err(|cause| Error::io(folder.display(), cause))
}

/// Makes the new name durable, and only then removes a folder that was replaced.
pub(super) fn finish(to: &Path, partial: Partial) -> Result<()> {
    let whole = |error: Error| error.context(format!("{} is whole, but", to.display()));
    host::sync_dir(&parent(to)).map_err(whole)?;
    let folder = partial.folder().display().to_string();
    partial.release().map_err(|cause| whole(Error::io(folder, cause)))
}

fn side_file(place: &StoreLocation, path: &Path) -> Option<PathBuf> {
    place.engine.files(path).into_iter().find(|file| file != path && file.exists())
}

/// Makes the engine merge the old store's other files, such as a write-ahead log, which would be
/// taken for a part of the new one.
fn tidy(to: &StoreLocation) -> Result<()> {
    if side_file(to, &to.path).is_none() {
        return Ok(());
    }
    let store = to.open_plain(&to.path, Access::Write, KeyKind::Integers)?;
    store.flush_writes()?;
    store.close()?;
    match side_file(to, &to.path) {
        None => Ok(()),
        Some(file) => exists(format!("{} is in use: {} exists", to.path.display(), file.display())),
    }
}
