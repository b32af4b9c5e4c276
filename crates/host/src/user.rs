//! The user that runs this process, and what that allows.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// Returns the effective user (0 is root), if the system has such numbers.
pub fn user_id() -> Option<u32> {
    #[cfg(unix)]
    return Some(rustix::process::geteuid().as_raw());
    #[cfg(not(unix))]
    None
}

/// Checks that this user can create files in `folder`, by doing so: permissions do not show it for
/// root, nor for file systems like proc.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let number = TRIED.fetch_add(1, Relaxed);
    let file = folder.join(format!(".storemark-{}-{number}", std::process::id()));
    File::create_new(&file)?;
    fs::remove_file(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_ones_own_is_writable() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        check_writable(&folder.path().join("absent")).unwrap_err();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn not_even_root_can_write_to_proc() {
        check_writable(Path::new("/proc")).unwrap_err();
    }
}
