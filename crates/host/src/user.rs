//! The user that runs this process, and what that allows.

use std::{io, path::Path};

/// Returns the effective user (0 is root), if the system has such numbers.
pub fn user_id() -> Option<u32> {
    #[cfg(unix)]
    return Some(rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    None
}

/// Checks that this user may create files in `folder`.
#[cfg(target_os = "linux")]
pub fn check_writable(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};

    let access = Access::WRITE_OK | Access::EXEC_OK;
    Ok(accessat(CWD, folder, access, AtFlags::EACCESS)?)
}

/// Checks only that `folder` exists.
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
    fn the_answer_agrees_with_trying() {
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
