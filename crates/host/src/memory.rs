//! Memory and swap of the machine, and the control groups of this process that limit memory
//! (Linux, see cgroups(7)).

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::Memory;

use crate::{
    os,
    text::{self, count, read_number},
};

/// Returns the memory as the system reports it. The available bytes are the lesser of what the
/// machine and the limits of control groups leave; the other fields are the machine's.
pub fn memory() -> Memory {
    let meminfo = text::read("/proc/meminfo");
    let memory = meminfo.map_or_else(os::memory, |text| parse(&text));
    let groups = text::read("/proc/self/cgroup").unwrap_or_default();
    let left = available_below(Path::new("/sys/fs/cgroup"), &groups);
    Memory {
        available_bytes: memory.available_bytes.into_iter().chain(left).min(),
        address_space_bytes: os::address_space(),
        ..memory
    }
}

/// Returns the most memory that this process has held, in bytes; `None` if the system does not report it.
pub fn peak_bytes() -> Option<u64> {
    text::bytes("VmHWM", &fs::read_to_string("/proc/self/status").ok()?)
}

/// Gives memory back to the system that was freed and that the allocator keeps, where it can be asked to.
pub fn release_freed_memory() {
    os::release_freed_memory();
}

fn parse(meminfo: &str) -> Memory {
    Memory {
        total_bytes: text::bytes("MemTotal", meminfo),
        available_bytes: text::bytes("MemAvailable", meminfo),
        swap_bytes: text::bytes("SwapTotal", meminfo),
        ..Memory::default()
    }
}

/// Returns the bytes moved to and from swap since the system started.
pub(crate) fn swapped_bytes() -> Option<u64> {
    let pages = swapped_pages(&text::read("/proc/vmstat")?)?;
    pages.checked_mul(pagecache::page_size())
}

/// Sums the pages moved to and from swap; `None` if a line is missing, as on a kernel without swap.
fn swapped_pages(vmstat: &str) -> Option<u64> {
    Some(count("pswpin", ' ', vmstat)? + count("pswpout", ' ', vmstat)?)
}

/// Returns the bytes that this process's group and those above it leave for new work, with
/// hierarchies that are mounted below `root`, as systemd and containers do it; `None` if there is
/// no limit.
fn available_below(root: &Path, groups: &str) -> Option<u64> {
    Group::parse_all(root, groups).filter_map(|group| group.available()).min()
}

/// A control group in a hierarchy that limits memory.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) version: &'static Version,
    pub(crate) mount: PathBuf,
    /// The path as the process sees it, without the leading slash.
    path: PathBuf,
}

/// A version of control groups, with the names of its files.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) number: u32,
    pub(crate) limit: &'static str,
    /// The files of all limits on a group and on those below it.
    limits: &'static [&'static str],
    used: &'static str,
    /// The counters of the page cache of files in `memory.stat`, groups below included.
    file_cache: [&'static str; 2],
    /// The file of the limit on swap.
    pub(crate) swap: &'static str,
    /// The value of the swap limit for a limit of memory of so many bytes, with which no swap may
    /// be used.
    pub(crate) swap_value: fn(u64) -> u64,
    pub(crate) killed: &'static str,
}

const V1: Version = Version {
    number: 1,
    limit: "memory.limit_in_bytes",
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    file_cache: ["total_active_file", "total_inactive_file"],
    // Memory and swap together.
    swap: "memory.memsw.limit_in_bytes",
    swap_value: |bytes| bytes,
    killed: "memory.oom_control",
};

const V2: Version = Version {
    number: 2,
    limit: "memory.max",
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    file_cache: ["active_file", "inactive_file"],
    swap: "memory.swap.max",
    swap_value: |_| 0,
    killed: "memory.events",
};

impl Version {
    /// Returns the smallest limit in bytes on the group in `folder`: its own, or that of a group above it up
    /// to `mount`; `None` if there is none.
    pub(crate) fn in_force(&self, folder: &Path, mount: &Path) -> Option<u64> {
        let above = folder.ancestors().take_while(|folder| folder.starts_with(mount));
        let limits = |folder: &Path| {
            let read = |name: &&str| read_number(folder.join(name));
            self.limits.iter().filter_map(read).min()
        };
        above.filter_map(limits).min()
    }
}

impl Group {
    /// Parses the groups in `/proc/self/cgroup`: `0::/path` in version 2, `4:memory:/path` in
    /// version 1.
    pub(crate) fn parse_all(root: &Path, groups: &str) -> impl Iterator<Item = Self> {
        groups.lines().filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let (version, mount) = match (number, controllers) {
                ("0", "") => (&V2, root.to_owned()),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    (&V1, root.join("memory"))
                }
                _ => return None,
            };
            Some(Self { version, mount, path: path.trim_start_matches('/').into() })
        })
    }

    /// Returns the group's folder. In a container the path may be one that is seen from outside
    /// only: the group is then the root here.
    pub(crate) fn folder(&self) -> PathBuf {
        let folder = self.mount.join(&self.path);
        if folder.is_dir() { folder } else { self.mount.clone() }
    }

    /// Returns the least bytes that a group leaves on the way up to the root. Folders that are
    /// absent, as in a container, are skipped.
    fn available(&self) -> Option<u64> {
        self.path.ancestors().filter_map(|path| self.available_in(&self.mount.join(path))).min()
    }

    /// Returns the limit less the use of the group in `folder`; `None` if it has no limit. File
    /// pages count as free, as in `MemAvailable`: the kernel drops them.
    fn available_in(&self, folder: &Path) -> Option<u64> {
        // If there is no limit, version 2 shows `max`, version 1 a number beyond any memory.
        let limits = self.version.limits.iter();
        let limit = limits.filter_map(|name| read_number(folder.join(name))).min()?;
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cached = self.version.file_cache.iter().filter_map(|name| count(name, ' ', &stat));
        let used = read_number(folder.join(self.version.used))?;
        Some(limit.saturating_sub(used.saturating_sub(cached.sum())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::survives;

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn memory_between_what_is_in_use_is_given_back() {
        let bytes = || text::bytes("RssAnon", &fs::read_to_string("/proc/self/status").unwrap());
        let blocks: Vec<_> = (0..50_000).map(|_| vec![1_u8; 4000]).collect();
        let last = vec![1_u8; 4000];
        drop(blocks);
        let before = bytes();
        release_freed_memory();
        assert!(bytes() < before.map(|bytes| bytes - 100_000_000), "{before:?}, {:?}", bytes());
        drop(last);
    }

    const MEMINFO: &str = "\
MemTotal:       16384000 kB
MemFree:          812345 kB
MemAvailable:    8192000 kB
SwapCached:            0 kB
SwapTotal:             0 kB
HugePages_Total:       0
";

    #[test]
    fn kilobytes_become_bytes() {
        let memory = parse(MEMINFO);
        assert_eq!(memory.total_bytes, Some(16_384_000 << 10));
        assert_eq!(memory.available_bytes, Some(8_192_000 << 10));
        assert_eq!(memory.swap_bytes, Some(0));
        assert_eq!(parse(""), Memory::default());
        survives(MEMINFO, parse);
    }

    #[test]
    fn both_directions_of_swap_count() {
        let vmstat = "nr_free_pages 5\npgpgin 77\npswpin 3\npswpout 40\npswpin_other 9\n";
        assert_eq!(swapped_pages(vmstat), Some(43));
        for text in ["", "pswpin 3", "pswpin 3\npswpout", "pswpin x\npswpout 4"] {
            assert_eq!(swapped_pages(text), None, "{text}");
        }
        survives(vmstat, swapped_pages);
    }
}

#[cfg(test)]
mod group_tests {
    use super::*;
    use crate::text::survives;

    fn write(folder: &Path, files: [(&str, &str); 3]) {
        fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    fn v2(folder: &Path, limit: &str, used: &str) {
        let stat = "anon 5\nfile 900\nactive_file 20\ninactive_file 10\n";
        write(folder, [("memory.max", limit), ("memory.current", used), ("memory.stat", stat)]);
    }

    #[test]
    fn the_tightest_group_on_the_way_up_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        v2(&root.join("a"), "1000\n", "530\n");
        v2(&root.join("a/b"), "max\n", "400\n");
        v2(&root.join("a/b/c"), "900\n", "330\n");
        assert_eq!(available_below(root, "0::/a/b\n"), Some(500));
        assert_eq!(available_below(root, "0::/a/b/c\n"), Some(500));
        v2(&root.join("a/b/c"), "700\n", "330\n");
        assert_eq!(available_below(root, "0::/a/b/c\n"), Some(400));
        fs::write(root.join("a/memory.high"), "800\n").unwrap();
        assert_eq!(available_below(root, "0::/a/b/c\n"), Some(300), "the kernel reclaims above it");
        assert_eq!(available_below(root, "0::/\n"), None);
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let root = tempfile::tempdir().unwrap();
        let stat = "total_active_file 7\ntotal_inactive_file 3\nactive_file 99\n";
        let limit = |limit| {
            let used = ("memory.usage_in_bytes", "60\n");
            let limit = ("memory.limit_in_bytes", limit);
            write(&root.path().join("memory"), [limit, used, ("memory.stat", stat)]);
            available_below(root.path(), "5:cpuset:/x\n4:memory:/docker/1f\n0::/docker/1f\n")
        };
        assert_eq!(limit("200\n"), Some(150));
        assert_eq!(limit("40\n"), Some(0), "a limit below the use leaves nothing");
        assert_eq!(limit("9223372036854771712\n"), None, "no limit");
    }

    #[test]
    fn files_of_another_form_set_no_limit() {
        let root = tempfile::tempdir().unwrap();
        for groups in ["", "0", "0:", "x:memory", "0:::", "4:memory:/../..", "9:name=systemd:/"] {
            assert_eq!(available_below(root.path(), groups), None, "{groups}");
        }
        for odd in ["", "x", "-1", "99999999999999999999"] {
            v2(root.path(), odd, "5\n");
            assert_eq!(available_below(root.path(), "0::/\n"), None, "{odd}");
        }
        v2(root.path(), "1000\n", "100\n");
        survives("4:memory:/a\n0::/b/c\n", |groups| available_below(root.path(), groups));
    }
}
