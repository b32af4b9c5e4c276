//! Access rights: a copy is never open to more users than its source.

use std::{
    fs::{self, File, Metadata},
    io,
    path::Path,
};

use model::{Error, Result};

use crate::{
    os::{self, chown, mode, owner},
    space::walk,
};

/// The owner of a store, and what each class of users may do with its files, as the bits of reading
/// and writing in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAccess {
    user: u32,
    group: u32,
    mode: u32,
}

const READ: u32 = 0o444;
const WRITE: u32 = 0o222;
const OWNER: u32 = 0o700;
const GROUP: u32 = 0o070;
const OTHERS: u32 = 0o007;

impl FileAccess {
    /// Reads what the group and others may do with all that is at and below `path`, and the owner
    /// with `path` itself. If the system has no modes, they are those that Unix usually gives.
    ///
    /// # Errors
    ///
    /// Fails if `path` cannot be looked at.
    pub fn read(path: &Path) -> Result<Self> {
        let meta = fs::metadata(path).map_err(|cause| Error::io(path.display(), cause))?;
        let own = allowed(path, &meta);
        let mut all = own;
        let walked = walk(path, &mut |path, meta| {
            all &= allowed(path, meta);
            Ok(())
        });
        // A folder that this user cannot look into is closed to others as well.
        let all = if walked.is_ok() { all } else { 0 };
        let (user, group) = owner(&meta);
        Ok(Self { user, group, mode: own & OWNER | all & (GROUP | OTHERS) })
    }

    /// Returns the same rights without what `other` does not allow to the group and to others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        // The rights of one group say nothing about another group.
        let same = self.group == other.group;
        let group = if same { other.mode } else { other.mode << 3 } & GROUP;
        Self { mode: self.mode & (OWNER | group | other.mode & OTHERS), ..self }
    }

    /// Gives all that is at and below `path` to the owner, as far as this user may, and `path`
    /// these rights: what is in a folder is protected by the folder. An entry that has the same
    /// path below `like` gets the owner and the mode that it has there.
    ///
    /// # Errors
    ///
    /// Fails if a mode or an owner cannot be set.
    pub fn give(self, path: &Path, like: Option<&Path>) -> Result<()> {
        walk(path, &mut |found, meta| {
            let below = found.strip_prefix(path).unwrap_or(found);
            let twin = like.and_then(|like| {
                let at = like.join(below);
                let twin = at.symlink_metadata().ok()?;
                (twin.file_type() == meta.file_type()).then_some((at, twin))
            });
            let (to, wanted) = match twin {
                // Another owner must not get what `setuid` gives.
                Some((at, twin)) => {
                    (owner(&twin), real_mode(&at, &twin) & (OWNER | GROUP | OTHERS))
                }
                None if found == path => ((self.user, self.group), self.mode_of(meta)),
                None => ((self.user, self.group), mode(meta)),
            };
            set(found, meta, to, wanted)
        })
    }

    /// Returns the mode for a file or folder: a folder that may be read may be entered.
    fn mode_of(self, meta: &Metadata) -> u32 {
        if meta.is_dir() { self.mode | (self.mode & READ) >> 2 } else { self.mode }
    }
}

/// Sets owner and mode if they differ. If the group cannot be set, the file keeps this user's
/// group, which may then do no more than others.
fn set(path: &Path, meta: &Metadata, to: (u32, u32), wanted: u32) -> io::Result<()> {
    let kept = owner(meta) == to || give_to(path, to).is_ok();
    let wanted = if kept { wanted } else { wanted & (OWNER | OTHERS | (wanted & OTHERS) << 3) };
    // A change of the owner may have taken some bits away.
    if mode(&path.symlink_metadata()?) == wanted { Ok(()) } else { set_mode(path, wanted) }
}

/// Returns what each class may do with a file, or with what is in a folder.
fn allowed(path: &Path, meta: &Metadata) -> u32 {
    let mode = real_mode(path, meta);
    let read = if meta.is_dir() { mode & mode << 2 } else { mode };
    read & READ | mode & WRITE
}

/// Returns the mode with what the group and others may really do if the file has an access list.
fn real_mode(path: &Path, meta: &Metadata) -> u32 {
    mode_without_list(path, meta).map_or(mode(meta) & !GROUP, |(mode, _)| mode)
}

/// Sets owner and group, or the group alone if the user cannot be set.
fn give_to(path: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    chown(path, Some(user), Some(group)).or_else(|_| chown(path, None, Some(group)))
}

/// Returns the mode of the file or folder at `path`, which is not a link, without what its access
/// list adds, and whether it has such a list. The system reports the mask of a list as the rights
/// of the group, which may be more than the group has; a copy without the list must not give them
/// to the group.
///
/// # Errors
///
/// Fails if the list cannot be read.
pub fn mode_without_list(path: &Path, meta: &Metadata) -> io::Result<(u32, bool)> {
    without_list(mode(meta), || os::access_list(path))
}

/// Returns the same as [`mode_without_list`] for a file that is open.
///
/// # Errors
///
/// Fails if the list cannot be read.
pub fn mode_without_list_of(file: &File, meta: &Metadata) -> io::Result<(u32, bool)> {
    without_list(mode(meta), || os::access_list_of(file))
}

fn without_list(
    mode: u32,
    list: impl FnOnce() -> io::Result<Option<Vec<u8>>>,
) -> io::Result<(u32, bool)> {
    // Whoever is named may do nothing if the mask is empty, and becomes one of those who may not
    // either.
    if mode & (GROUP | OTHERS) == 0 {
        return Ok((mode, false));
    }
    let Some(list) = list()? else { return Ok((mode, false)) };
    Ok((model::mode_without_list(mode, &list), true))
}

/// Removes the access lists of a folder, as far as it has any, so that what is created in it has
/// none.
pub fn remove_access_lists(folder: &Path) {
    os::remove_access_lists(folder);
}

/// Makes the files and folders that this process creates from now on private to its user, whatever mode
/// they are created with, as far as the system has modes.
pub fn create_private() {
    os::create_private();
}

/// Sets the mode of a file or folder, where the system has modes.
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    os::set_mode(path, mode)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn folder(modes: &[(&str, u32)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, wanted) in modes {
            let path = folder.path().join(name);
            if name.is_empty() || name.ends_with('/') {
                fs::create_dir_all(&path).unwrap();
            } else {
                fs::write(&path, "x").unwrap();
            }
            set_mode(&path, *wanted).unwrap();
        }
        folder
    }

    fn mode_at(path: &Path) -> u32 {
        mode(&fs::metadata(path).unwrap())
    }

    #[test]
    fn the_most_private_file_decides() {
        for (modes, expected) in [
            (&[("", 0o755), ("a", 0o644)][..], 0o644),
            (&[("", 0o755), ("a", 0o644), ("b", 0o600)], 0o600),
            (&[("", 0o700), ("a", 0o644)], 0o600),
            (&[("", 0o775), ("in/", 0o750), ("in/a", 0o664)], 0o640),
            (&[("", 0o711), ("a", 0o644)], 0o600),
        ] {
            let folder = folder(modes);
            let found = FileAccess::read(folder.path()).unwrap();
            assert_eq!(found.mode, expected, "{modes:?}");
        }
    }

    #[test]
    fn a_folder_protects_what_is_in_it() {
        let to = folder(&[("in/", 0o755), ("in/a", 0o644)]);
        let from = folder(&[("", 0o750), ("a", 0o640)]);
        FileAccess::read(from.path()).unwrap().give(to.path(), None).unwrap();
        let modes = ["", "in", "in/a"].map(|name| mode_at(&to.path().join(name)));
        assert_eq!(modes, [0o750, 0o755, 0o644]);
    }

    #[test]
    fn what_has_a_twin_becomes_like_it() {
        let from = folder(&[("", 0o755), ("in/", 0o700), ("in/a", 0o755), ("b", 0o600)]);
        let to = folder(&[("in/", 0o755), ("in/a", 0o644), ("b", 0o644), ("other", 0o644)]);
        let access = FileAccess::read(from.path()).unwrap();
        access.give(to.path(), Some(from.path())).unwrap();
        let modes = ["", "in", "in/a", "b", "other"].map(|name| mode_at(&to.path().join(name)));
        assert_eq!(modes, [0o755, 0o700, 0o755, 0o600, 0o644]);
    }

    /// The lists are those of `setfacl -m u:nobody:rw,g::GROUP` for a file.
    #[test]
    fn the_mask_of_an_access_list_is_not_what_the_group_may_do() {
        let list = |entries: &[(u16, u16)]| {
            let mut list = 2_u32.to_le_bytes().to_vec();
            for (tag, rights) in entries {
                list.extend(tag.to_le_bytes());
                list.extend(rights.to_le_bytes());
                list.extend(u32::MAX.to_le_bytes());
            }
            list
        };
        for (mode, entries, expected) in [
            (0o660, &[(1, 6), (2, 6), (4, 0), (16, 6), (32, 0)][..], 0o600),
            (0o664, &[(1, 6), (2, 6), (4, 4), (16, 6), (32, 4)], 0o644),
            (0o640, &[(1, 6), (2, 6), (4, 7), (16, 4), (32, 0)], 0o640),
            (0o7775, &[(1, 7), (4, 5), (8, 7), (16, 7), (32, 5)], 0o7755),
            (0o670, &[(1, 6), (2, 7)], 0o600),
        ] {
            let found = without_list(mode, || Ok(Some(list(entries)))).unwrap();
            assert_eq!(found, (expected, true), "{mode:o} {entries:?}");
        }
        assert_eq!(without_list(0o664, || Ok(None)).unwrap(), (0o664, false));
        assert_eq!(without_list(0o664, || Ok(Some(vec![1, 0, 0, 0]))).unwrap(), (0o604, true));
        assert!(without_list(0o600, || panic!("nothing to ask for")).is_ok());
    }

    #[test]
    fn two_allow_what_both_allow() {
        let of = |group, mode| FileAccess { user: 1, group, mode };
        assert_eq!(of(1, 0o664).and(of(1, 0o640)).mode, 0o640);
        assert_eq!(of(1, 0o664).and(of(2, 0o660)).mode, 0o600);
        assert_eq!(of(1, 0o664).and(of(2, 0o604)).mode, 0o644);
        assert_eq!(of(1, 0o600).and(of(1, 0o444)).mode, 0o600);
    }
}
