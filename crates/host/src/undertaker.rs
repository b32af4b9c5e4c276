//! Removes a folder, with what is mounted in it, or a control group, when this process ends without
//! having done so itself.

use std::path::Path;

/// A shell that waits for the end of its standard input, which this process holds and the system
/// closes, however the process ends. A server may still be writing when it begins. Images are those of
/// [`super::mount_image`]; detaching one that is in use means once it is not.
/// A control group goes once no process is in it, and its files only with it.
#[cfg(unix)]
const UNDERTAKER: &str = r#"
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

/// Waits beside this process.
#[derive(Debug)]
pub(super) struct Undertaker {
    #[cfg(unix)]
    shell: std::process::Child,
}

impl Undertaker {
    /// Stands by to remove `folder`; `None` where there is no shell: then the next run removes it.
    #[cfg(unix)]
    pub(super) fn of(folder: &Path) -> Option<Self> {
        use std::{
            os::unix::process::CommandExt,
            process::{Command, Stdio},
        };
        let folder = folder.canonicalize().ok()?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", UNDERTAKER, "storemark-undertaker"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own a terminal's interrupt does not reach it.
        let shell = command.current_dir("/").process_group(0).spawn().ok()?;
        Some(Self { shell })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_: &Path) -> Option<Self> {
        None
    }

    /// Sends it home, the folder being gone. One that is dropped instead begins its work.
    #[cfg(unix)]
    pub(super) fn dismiss(mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }

    #[cfg(not(unix))]
    pub(super) fn dismiss(self) {}
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::{fs, thread::sleep, time::Duration};

    use super::*;

    #[test]
    fn a_folder_is_gone_soon_after_its_owner_is() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("a 'folder'; with $words");
        fs::create_dir_all(folder.join("deep/er")).unwrap();
        fs::write(folder.join("deep/er/file"), "x").unwrap();
        let mut undertaker = Undertaker::of(&folder).unwrap();
        assert!(folder.exists());
        // What happens to the pipe when the process that holds it is killed.
        drop(undertaker.shell.stdin.take());
        undertaker.shell.wait().unwrap();
        assert!(!folder.exists() && parent.path().exists());
    }

    #[test]
    fn one_that_is_dismissed_touches_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let undertaker = Undertaker::of(parent.path()).unwrap();
        undertaker.dismiss();
        sleep(Duration::from_millis(50));
        assert!(parent.path().exists());
    }
}
