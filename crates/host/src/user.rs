//! Who we are, and what that allows.

use std::{io, path::Path};

/// The effective user; 0 is root.
#[cfg(unix)]
pub fn user_id() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// Not told here.
#[cfg(not(unix))]
pub fn user_id() -> Option<u32> {
    None
}

/// Whether this user may make files in `folder`.
#[cfg(target_os = "linux")]
pub fn check_writable(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};

    let access = Access::WRITE_OK | Access::EXEC_OK;
    Ok(accessat(CWD, folder, access, AtFlags::EACCESS)?)
}

/// Only whether it is there; the rest shows when it is tried.
#[cfg(not(target_os = "linux"))]
pub fn check_writable(folder: &Path) -> io::Result<()> {
    folder.metadata().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_ones_own_is_writable() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(folder.path()).unwrap();
        check_writable(&folder.path().join("absent")).unwrap_err();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn it_is_told_as_it_is() {
        use std::{fs, os::unix::fs::PermissionsExt};

        let folder = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o555, 0o666] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            // Root may in any case.
            let can = fs::write(folder.path().join(format!("{mode:o}")), "").is_ok();
            assert_eq!(check_writable(folder.path()).is_ok(), can, "{mode:o}");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}
