//! A limit on all memory that some processes use, the page cache of the files that they read
//! included: a control group of their own (Linux, usually as root, see cgroups(7)).

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    cleanup_guard::CleanupGuard,
    memory::{Group, Version},
    processes,
    text::{count, entries, read_line, read_number},
};

const PREFIX: &str = "storemark-memory-";

/// A limited control group, created for this process and those it starts. When it is dropped, its
/// processes return to the group this process was in, and it is removed; it is also removed soon
/// after this process was killed. A group that was left behind nevertheless is removed by the next
/// run.
#[derive(Debug)]
pub struct MemoryGroup {
    folder: PathBuf,
    home: PathBuf,
    version: &'static Version,
    mount: PathBuf,
    limit_bytes: u64,
    /// The guard that removes the group; it is not in it.
    guard: Option<CleanupGuard>,
}

impl MemoryGroup {
    /// Creates a group that may use `bytes`, with no process in it yet.
    ///
    /// # Errors
    ///
    /// Fails if the system has no control groups for memory or this user may not create one.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").map_err(|cause| {
            io::Error::new(cause.kind(), "this system has no control groups for memory")
        })?;
        let own = std::process::id();
        let started = processes::start_time(own).ok_or(ErrorKind::Unsupported)?;
        let root = Path::new("/sys/fs/cgroup");
        let mut created = Self::below(root, &groups, &name(own, started), bytes)?;
        created.guard = CleanupGuard::start(&created.folder);
        Ok(created)
    }

    fn below(root: &Path, groups: &str, name: &str, bytes: u64) -> io::Result<Self> {
        // If both versions are mounted, only one has the controller, and version 1 shows which.
        let group = Group::parse_all(root, groups).min_by_key(|group| group.version.number);
        let group = group.filter(|group| group.folder().is_dir()).ok_or_else(|| {
            io::Error::new(ErrorKind::Unsupported, "no control group for memory is mounted here")
        })?;
        let home = group.folder();
        let parent = parent(&group, &home)?;
        sweep(&parent);
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(refused("a control group cannot be made in", &parent))?;
        // From here on dropping it removes it.
        let version = group.version;
        let mount = group.mount;
        let mut created = Self { folder, home, version, mount, limit_bytes: 0, guard: None };
        created.limit_bytes = created.limit(bytes)?;
        Ok(created)
    }

    fn limit(&self, bytes: u64) -> io::Result<u64> {
        let set = |file: &Path, bytes: u64| {
            fs::write(file, bytes.to_string()).map_err(refused("cannot limit", file))
        };
        let file = self.folder.join(self.version.limit);
        set(&file, bytes)?;
        let swap = self.folder.join(self.version.swap);
        // Kernels without accounting of swap have no such file.
        if swap.exists() {
            set(&swap, (self.version.swap_value)(bytes))?;
        }
        let unread = || refused("no limit can be read from", &file)(ErrorKind::InvalidData.into());
        read_number(&file).ok_or_else(unread)?;
        self.version.in_force(&self.folder, &self.mount).ok_or_else(unread)
    }

    /// Returns the limit in force: that of a group above may be smaller than what was asked for.
    pub fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Moves this process and `others` into the group. What they have used so far still counts in
    /// the group where they used it.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses to move one of the processes.
    pub fn enter(&self, others: &[u32]) -> io::Result<()> {
        let ids = [std::process::id()].into_iter().chain(others.iter().copied());
        ids.into_iter().try_for_each(|id| move_to(&self.folder, &id.to_string()))
    }

    /// Returns how many processes in the group the system has killed because it was full.
    pub fn killed(&self) -> u64 {
        let text = fs::read_to_string(self.folder.join(self.version.killed)).unwrap_or_default();
        count("oom_kill", ' ', &text).unwrap_or(0)
    }
}

/// The number of attempts to remove the group, a hundredth of a second apart: a process that has
/// just ended still counts.
const TRIES: u32 = 200;

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let inside = fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default();
        for id in inside.lines() {
            // One that has ended meanwhile cannot be moved, and need not be.
            let _ = move_to(&self.home, id);
        }
        for _ in 0..TRIES {
            match fs::remove_dir(&self.folder) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                    thread::sleep(Duration::from_millis(10));
                }
                Ok(()) => return self.guard.take().map_or((), CleanupGuard::dismiss),
                // Nowhere to report to; the guard removes what is left, or else the next run.
                Err(_) => return,
            }
        }
    }
}

fn move_to(folder: &Path, id: &str) -> io::Result<()> {
    let file = folder.join("cgroup.procs");
    fs::write(&file, id).map_err(refused("cannot be moved to", &file))
}

fn refused(what: &str, path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |cause| {
        let denied = cause.kind() == ErrorKind::PermissionDenied;
        let root = if denied { " (it needs root)" } else { "" };
        io::Error::new(cause.kind(), format!("{what} {}: {cause}{root}", path.display()))
    }
}

/// Returns the folder in which a group can be created. In version 2 a group that has processes of
/// its own has no limited groups below it, unless it is the root: so the new one is created next to
/// that of this process.
///
/// # Errors
///
/// Fails if memory cannot be limited below any group.
fn parent(group: &Group, home: &Path) -> io::Result<PathBuf> {
    if group.version.number == 1 {
        return Ok(home.to_owned());
    }
    let gives = |folder: &&Path| {
        let control = read_line(folder.join("cgroup.subtree_control")).unwrap_or_default();
        control.split(' ').any(|controller| controller == "memory")
    };
    let mut above = home.ancestors().take_while(|folder| folder.starts_with(&group.mount));
    if let Some(folder) = above.find(gives) {
        return Ok(folder.to_owned());
    }
    let control = group.mount.join("cgroup.subtree_control");
    let enabled = fs::write(&control, "+memory");
    enabled.map_err(refused("memory cannot be limited below", &control))?;
    Ok(group.mount.clone())
}

/// Returns the name of a group, which contains the process that created it: its id alone may be
/// reused.
fn name(pid: u32, started: u64) -> String {
    format!("{PREFIX}{pid}-{started}")
}

/// Returns the process that a group is named after.
fn creator(name: &str) -> Option<(u32, u64)> {
    let (pid, started) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let (pid, started) = (pid.parse().ok()?, started.parse().ok()?);
    (name == self::name(pid, started)).then_some((pid, started))
}

/// Removes the groups in `parent` whose creators have ended. The system keeps a group that still
/// has processes.
fn sweep(parent: &Path) {
    for entry in entries(parent) {
        let creator = entry.file_name().to_str().and_then(creator);
        if creator.is_some_and(|(pid, started)| processes::start_time(pid) != Some(started)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::survives;

    const V1_GROUPS: &str = "5:cpuset:/x\n4:memory:/a\n0::/\n";

    fn create(root: &Path, groups: &str) -> io::Result<MemoryGroup> {
        MemoryGroup::below(root, groups, "storemark-memory-1-2", 1 << 20)
    }

    #[test]
    fn version_1_creates_it_below_the_own_group() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("memory/a")).unwrap();
        let group = create(root.path(), V1_GROUPS).unwrap();
        let folder = root.path().join("memory/a/storemark-memory-1-2");
        assert_eq!(fs::read_to_string(folder.join("memory.limit_in_bytes")).unwrap(), "1048576");
        assert_eq!(group.limit_bytes(), 1 << 20);
        fs::write(folder.join("memory.oom_control"), "under_oom 0\noom_kill 3\n").unwrap();
        assert_eq!(group.killed(), 3);
        fs::write(folder.join("memory.memsw.limit_in_bytes"), "0").unwrap();
        assert_eq!(group.limit(4096).unwrap(), 4096);
        assert_eq!(fs::read_to_string(folder.join("memory.memsw.limit_in_bytes")).unwrap(), "4096");
        fs::write(folder.join("cgroup.procs"), "77\n").unwrap();
        drop(group);
        assert_eq!(fs::read_to_string(root.path().join("memory/a/cgroup.procs")).unwrap(), "77");
    }

    fn v2(root: &Path, controls: [&str; 3]) {
        for (folder, control) in ["", "a", "a/b"].into_iter().zip(controls) {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("cgroup.subtree_control"), control).unwrap();
        }
    }

    #[test]
    fn version_2_creates_it_next_to_the_own_group() {
        let root = tempfile::tempdir().unwrap();
        v2(root.path(), ["cpu memory\n", "cpu memory io\n", "\n"]);
        let group = create(root.path(), "0::/a/b\n").unwrap();
        let folder = root.path().join("a/storemark-memory-1-2");
        assert_eq!(fs::read_to_string(folder.join("memory.max")).unwrap(), "1048576");
        group.enter(&[5]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("cgroup.procs")).unwrap(), "5", "the last");
        fs::write(folder.join("memory.swap.max"), "max\n").unwrap();
        group.limit(4096).unwrap();
        assert_eq!(fs::read_to_string(folder.join("memory.swap.max")).unwrap(), "0");
        fs::write(folder.join("memory.events"), "oom 2\noom_kill 1\n").unwrap();
        assert_eq!(group.killed(), 1);
    }

    #[test]
    fn the_smallest_limit_of_all_groups_above_holds() {
        let limited = |limits: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            v2(root.path(), ["memory\n", "memory\n", "\n"]);
            for (file, limit) in limits {
                fs::write(root.path().join(file), limit).unwrap();
            }
            create(root.path(), "0::/a/b\n").unwrap().limit_bytes()
        };
        assert_eq!(limited(&[("a/memory.max", "max\n")]), 1 << 20);
        assert_eq!(limited(&[("a/memory.max", "524288\n")]), 524_288);
        assert_eq!(limited(&[("a/memory.high", "4096\n"), ("a/memory.max", "524288\n")]), 4096);
        assert_eq!(limited(&[("memory.max", "8192\n"), ("a/memory.max", "524288\n")]), 8192);
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("memory/a")).unwrap();
        fs::write(root.path().join("memory/a/memory.limit_in_bytes"), "65536\n").unwrap();
        assert_eq!(create(root.path(), V1_GROUPS).unwrap().limit_bytes(), 65_536);
    }

    #[test]
    fn version_2_enables_memory_at_the_root_if_no_group_does() {
        let root = tempfile::tempdir().unwrap();
        v2(root.path(), ["cpu memory_x\n", "\n", "\n"]);
        create(root.path(), "0::/a/b\n").unwrap();
        let control = root.path().join("cgroup.subtree_control");
        assert_eq!(fs::read_to_string(control).unwrap(), "+memory");
        assert!(root.path().join("storemark-memory-1-2").is_dir());
    }

    #[test]
    fn without_a_group_for_memory_the_error_says_so() {
        let root = tempfile::tempdir().unwrap();
        for groups in ["", "4:cpuset:/a\n", "x", "4:memory:/a\n"] {
            let error = create(root.path(), groups).unwrap_err().to_string();
            assert!(error.contains("no control group for memory"), "{error}");
        }
        survives(V1_GROUPS, |groups| create(root.path(), groups).err());
    }

    #[test]
    fn groups_of_ended_processes_are_removed_and_others_stay() {
        let parent = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let started = processes::start_time(own).unwrap_or_default();
        let folder = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let dead = folder(&name(own, started + 1));
        let others = [name(own, started), format!("{PREFIX}01-2"), format!("{PREFIX}x-2")];
        let stay = [folder(&others[0]), folder(&others[1]), folder(&others[2])];
        sweep(parent.path());
        // A system that does not report when processes started takes living ones for ended.
        assert!(!dead.exists());
        let living = usize::from(!cfg!(target_os = "linux"));
        assert!(stay[living..].iter().all(|path| path.exists()));
        survives(&name(7, 8), creator);
    }
}
