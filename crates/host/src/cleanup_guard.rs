//! Removes a folder, with what is mounted in it, or a control group, if this process ends without
//! having done so itself.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::os;

/// A shell waits for the end of its standard input, which this process holds and the system closes
/// however the process ends. A server may still be writing when the shell starts to remove. Images
/// are those of [`crate::mount_image`]; one that is in use is detached as soon as it is not.
/// A control group can be removed once no process is in it, its files only together with it.
const SCRIPT: &str = r#"
trap '' HUP INT
read -r _
PATH=$PATH:/usr/sbin:/sbin
tries=20
while [ -e "$1" ] && [ "$tries" -gt 0 ]; do
  for mount in "$1"/*.mount; do
    [ -e "$mount" ] && { umount -- "$mount" || umount -l -- "$mount"; }
  done
  for image in "$1"/*.image; do
    [ -e "$image" ] && losetup -j "$image" | while IFS=: read -r device _; do
      losetup -d "$device"
    done
  done
  rmdir -- "$1" || rm -rf -- "$1"
  [ -e "$1" ] && sleep 0.5
  tries=$((tries - 1))
done
"#;

#[derive(Debug)]
pub(crate) struct CleanupGuard {
    shell: Child,
}

impl CleanupGuard {
    /// Waits to remove `folder`, which need not exist yet; its parent must. `None` if there is no
    /// shell: then the next run removes it.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        if !cfg!(unix) {
            return None;
        }
        let mut command = Command::new("/bin/sh");
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        let folder = parent.join(folder.file_name()?);
        command.args(["-c", SCRIPT, "storemark-cleanup"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own a terminal's interrupt does not reach it.
        Some(Self { shell: os::apart(&mut command).current_dir("/").spawn().ok()? })
    }

    /// Ends it once the folder has been removed. One that is dropped instead removes the folder.
    pub(crate) fn dismiss(mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_removed_soon_after_its_owner_ends() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a 'folder'; with $words");
        fs::create_dir_all(folder.join("deep/er")).unwrap();
        fs::write(folder.join("deep/er/file"), "x").unwrap();
        let mut guard = CleanupGuard::of(&folder).unwrap();
        assert!(folder.exists());
        // What happens to the pipe when the process that holds it is killed.
        drop(guard.shell.stdin.take());
        guard.shell.wait().unwrap();
        assert!(!folder.exists() && parent.path().exists());
    }

    #[test]
    fn one_that_is_dismissed_touches_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let guard = CleanupGuard::of(parent.path()).unwrap();
        guard.dismiss();
        // It has ended: nothing removes the folder any more.
        assert!(parent.path().exists());
    }
}
