//! Removes a folder, with what is mounted in it, or a control group, if this process ends without
//! having removed it.

use std::{
    ffi::OsString,
    io::Write,
    path::Path,
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use crate::os;

/// The script of the guard. It waits for the end of its standard input, which this process holds
/// and the system closes however the process ends. Until then it reads which process groups this process
/// started and which ended; it kills the others. A server may still be writing when the script
/// starts to remove. Images are those of [`crate::mount_image`]; one that is in use is detached as
/// soon as it is not. A control group can be removed once no process is in it, its files only
/// together with it.
///
/// A file system that somebody else mounted below the folder stays, with the folders above it: `find`
/// stays on one file system, and if anything is mounted, which may be a folder of the same one,
/// each entry is compared with the list of mounts.
const SCRIPT: &str = r#"
trap '' HUP INT
groups=' '
while read -r what group; do
  case $what in
    started) groups="$groups$group " ;;
    ended) case $groups in
      *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
PATH=$PATH:/usr/sbin:/sbin
mounts() {
  [ -r /proc/self/mountinfo ] || return
  while read -r _ _ _ _ point _; do
    case $point in *\\*) point=$(printf '%b' "$(printf '%s' "$point" | sed 's/\\/\\0/g')") ;; esac
    case $point in "$1"/*) printf '%s\n' "$point" ;; esac
  done < /proc/self/mountinfo
}
within() {
  case "
$mounted
" in *"
$1
"*) return ;; esac
  if [ -d "$1" ] && [ ! -L "$1" ]; then
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
      if [ -e "$entry" ] || [ -L "$entry" ]; then within "$entry"; fi
    done
    rmdir -- "$1"
  else
    rm -f -- "$1"
  fi
}
remove() {
  mounted=$(mounts "$1")
  if [ -n "$mounted" ]; then within "$1"; return; fi
  find "$1" -xdev ! -type d -exec rm -f -- {} +
  find "$1" -xdev -depth -type d -exec rmdir -- {} +
}
tries=20
while [ -e "$1" ] && [ "$tries" -gt 0 ]; do
  for mount in "$1"/*.mount; do
    # A file system whose process ended cannot be looked at.
    [ "$mount" = "$1/*.mount" ] || umount -- "$mount" || umount -l -- "$mount" ||
      fusermount3 -u -z -- "$mount" || fusermount -u -z -- "$mount"
  done
  for image in "$1"/*.image; do
    [ -e "$image" ] && losetup -j "$image" | while IFS=: read -r device _; do
      losetup -d "$device"
    done
  done
  rmdir -- "$1" || remove "$1"
  [ -e "$1" ] && sleep 0.5
  tries=$((tries - 1))
done
"#;

/// The shell of the script. Windows has none, and Android's is elsewhere.
const SHELL: &str = "/bin/sh";

/// The program, with its first arguments, that guards a folder where there is no shell.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the program that guards scratch folders where there is no shell. It is started with the folder as its
/// last argument, and calls [`crate::guard`].
pub fn guard_with(program: Vec<OsString>) {
    // Whoever comes first is this program too.
    let _ = PROGRAM.set(program);
}

/// Returns the command that waits to remove `folder`; `None` if there is none.
fn command(folder: &Path) -> Option<Command> {
    if !cfg!(unix) || !Path::new(SHELL).exists() {
        let (program, arguments) = PROGRAM.get()?.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(folder);
        return Some(command);
    }
    let mut command = Command::new(SHELL);
    command.args(["-c", SCRIPT, "storemark-cleanup"]).arg(folder);
    Some(command)
}

/// A shell that removes a folder when this process ends, or this program again.
#[derive(Debug)]
pub(crate) struct CleanupGuard {
    shell: Child,
}

impl CleanupGuard {
    /// Starts a guard that waits to remove `folder`, which need not exist yet; its parent must.
    /// Returns `None` if there is no shell: then the next run removes the folder.
    pub(crate) fn start(folder: &Path) -> Option<Self> {
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        let mut command = command(&parent.join(folder.file_name()?))?;
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Neither the interrupt of a terminal nor its end may reach it.
        Some(Self { shell: os::without_terminal(&mut command).current_dir("/").spawn().ok()? })
    }

    /// Asks the guard to kill the process group `group` if this process ends before it.
    pub(crate) fn started(&self, group: u32) {
        self.send("started", group);
    }

    /// Informs the guard that the process group has ended.
    pub(crate) fn ended(&self, group: u32) {
        self.send("ended", group);
    }

    fn send(&self, what: &str, group: u32) {
        // A guard that was killed guards nothing.
        let _ = self
            .shell
            .stdin
            .as_ref()
            .map(|mut pipe| pipe.write_all(format!("{what} {group}\n").as_bytes()));
    }

    /// Ends the guard once the folder has been removed. A guard that is dropped instead removes the
    /// folder.
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
        let mut guard = CleanupGuard::start(&folder).unwrap();
        assert!(folder.exists());
        // The pipe closes like this when the process that holds it is killed.
        drop(guard.shell.stdin.take());
        guard.shell.wait().unwrap();
        assert!(!folder.exists() && parent.path().exists());
    }

    /// Mounts below a scratch folder, with the guard's own name for the folder: a file system of its own,
    /// and a folder of the same one. `false`: this user may not mount.
    fn mount(kind: &str, source: &Path, point: &Path) -> bool {
        fs::create_dir_all(point).unwrap();
        let mut command = Command::new("mount");
        let options: &[&str] = if kind == "bind" { &["--bind"] } else { &["-t", "tmpfs"] };
        let mounted = command.args(options).args([source, point]).stderr(Stdio::null()).status();
        mounted.is_ok_and(|status| status.success())
    }

    fn unmount(point: &Path) {
        assert!(Command::new("umount").arg(point).status().unwrap().success());
    }

    #[test]
    fn what_others_mounted_below_it_is_left() {
        let parent = tempfile::tempdir().unwrap();
        let precious = parent.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("thesis"), "years of work").unwrap();
        let folder = parent.path().join("scratch folder");
        for (kind, name) in [("bind", "in/a b"), ("tmpfs", "in/t")] {
            let point = folder.join(name);
            if !mount(kind, &precious, &point) {
                eprintln!("this user may not mount");
                return;
            }
            fs::write(point.join("mine"), "x").unwrap();
            fs::write(folder.join("in/other"), "x").unwrap();
            let mut guard = CleanupGuard::start(&folder).unwrap();
            drop(guard.shell.stdin.take());
            let gone = || !folder.join("in/other").exists();
            for _ in 0..200 {
                if gone() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            let left = point.join("mine").exists();
            let same = crate::removal::remove_all(&folder).unwrap_err();
            let still = point.join("mine").exists();
            unmount(&point);
            // Now nothing is in its way.
            guard.shell.wait().unwrap();
            assert!(gone() && left && still, "{kind}: {same}");
            assert!(same.to_string().contains("a file system is mounted on"), "{same}");
            assert!(!folder.exists(), "{kind}");
        }
        assert_eq!(fs::read(precious.join("thesis")).unwrap(), b"years of work");
    }

    #[test]
    fn one_that_is_dismissed_touches_nothing() {
        let parent = tempfile::tempdir().unwrap();
        let guard = CleanupGuard::start(parent.path()).unwrap();
        guard.dismiss();
        // It has ended: nothing removes the folder any more.
        assert!(parent.path().exists());
    }
}
