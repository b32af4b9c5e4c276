//! The block device under a folder: what it is and what it did (Linux: sysfs), and the other file
//! systems that stores could be on.

use std::{fs, path::Path};

use model::{Device, Disk, Filesystem, Volume};

use crate::{
    mounts,
    space::free_bytes,
    text::{entries, number, read_line, read_number},
};

/// Returns the local file systems that stores could be on, except the one that `folder` is on.
pub fn other_filesystems(folder: &Path) -> Vec<Volume> {
    let here = mounts::filesystems(&[folder.to_owned()]);
    let is_here = |other: &Filesystem| {
        here.iter().any(|here| (&here.mount, &here.device) == (&other.mount, &other.device))
    };
    let volume = |other: Filesystem| Volume {
        free_bytes: free_bytes(Path::new(&other.mount)).ok(),
        mount: other.mount,
        kind: other.kind,
        device: other.device,
    };
    mounts::local().into_iter().filter(|other| !is_here(other)).map(volume).collect()
}

/// Returns the block device under `folder`, as the system describes it.
pub fn disk(folder: &Path) -> Option<Disk> {
    describe(&fs::canonicalize(mounts::device_folder(folder)?).ok()?)
}

/// Describes the disk at `entry`, or the one that `entry` is a partition of: see sysfs-block in the
/// kernel's ABI documents.
fn describe(entry: &Path) -> Option<Disk> {
    let disk = if entry.join("partition").exists() { entry.parent()? } else { entry };
    let read = |name: &str| read_line(disk.join(name));
    let number = |name: &str| read_number(disk.join(name));
    Some(Disk {
        name: disk.file_name()?.to_string_lossy().into_owned(),
        model: read("device/model").or_else(|| read("dm/name")),
        rotational: read("queue/rotational").map(|answer| answer == "1"),
        scheduler: read("queue/scheduler").map(|line| active(&line).to_owned()),
        write_cache: read("queue/write_cache"),
        queue_requests: number("queue/nr_requests"),
        read_ahead_bytes: number("queue/read_ahead_kb").map(|kb| kb * 1024),
        discards: number("queue/discard_max_bytes").map(|most| most > 0),
        loop_file: read("loop/backing_file"),
        made_of: names(&disk.join("slaves")),
    })
}

/// Returns the scheduler in brackets of a list such as `none [mq-deadline] kyber`.
fn active(schedulers: &str) -> &str {
    let inside = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(schedulers, |(name, _)| name)
}

fn names(folder: &Path) -> Vec<String> {
    let names = entries(folder).map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// The unit of the block layer's counters, whatever the device's own sectors are: see
/// `Documentation/block/stat.rst` in the kernel's source.
const SECTOR: u64 = 512;

/// Returns the bytes moved so far, by all processes, by the block device under the file system that
/// holds `path` or will hold it; if it has several devices, by the one it was mounted from. `None`
/// if there is no such device, or the system does not report it.
pub fn device(path: &Path) -> Option<Device> {
    // A partition has counters of its own.
    parse_counters(&read_line(mounts::device_folder(path)?.join("stat"))?)
}

/// Parses the counters of a device: requests read, merged, sectors read, milliseconds; the same of
/// writes; and more.
fn parse_counters(stat: &str) -> Option<Device> {
    let mut columns = stat.split_whitespace();
    let mut bytes = |column| Some(number(columns.nth(column)?)? * SECTOR);
    // The second count continues after the first.
    Some(Device { read_bytes: bytes(2)?, written_bytes: bytes(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::survives;

    #[test]
    fn a_partition_is_described_by_its_disk() {
        let folder = tempfile::tempdir().unwrap();
        let disk_folder = folder.path().join("sda");
        for (name, text) in [
            ("device/model", "Fast Disk 3000   \n"),
            ("queue/rotational", "0\n"),
            ("queue/scheduler", "none [mq-deadline] kyber\n"),
            ("queue/write_cache", "write back\n"),
            ("queue/nr_requests", "64\n"),
            ("queue/read_ahead_kb", "128\n"),
            ("queue/discard_max_bytes", "0\n"),
            ("sda1/partition", "1\n"),
        ] {
            let path = disk_folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let disk = describe(&disk_folder.join("sda1")).unwrap();
        assert_eq!(disk.name, "sda");
        assert_eq!(disk.model.as_deref(), Some("Fast Disk 3000"));
        assert_eq!((disk.rotational, disk.discards), (Some(false), Some(false)));
        assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!((disk.queue_requests, disk.read_ahead_bytes), (Some(64), Some(128 << 10)));
        assert_eq!(disk.loop_file, None);
        assert_eq!(disk.made_of, [""; 0]);
    }

    #[test]
    fn a_loop_device_names_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("loop0");
        fs::create_dir_all(entry.join("loop")).unwrap();
        fs::write(entry.join("loop/backing_file"), "/srv/image\n").unwrap();
        let disk = describe(&entry).unwrap();
        assert_eq!(disk.loop_file.as_deref(), Some("/srv/image"));
    }

    #[test]
    fn odd_values_are_absent() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("queue")).unwrap();
        for odd in ["", "-1", "x", "99999999999999999999999", "18446744073709551615"] {
            fs::write(folder.path().join("queue/read_ahead_kb"), odd).unwrap();
            assert_eq!(describe(folder.path()).unwrap().read_ahead_bytes, None, "{odd}");
        }
        for (line, name) in [("none", "none"), ("[a", "[a"), ("a]", "a]"), ("[]", "")] {
            assert_eq!(active(line), name);
        }
        survives("none [mq-deadline] kyber\n", |line| active(line).len());
    }

    const STAT: &str =
        "   68962    32690 22915026   105376    15687   152905 23505864   208890   0";

    #[test]
    fn sectors_become_bytes() {
        let device = parse_counters(STAT).unwrap();
        assert_eq!(device.read_bytes, 22_915_026 * 512);
        assert_eq!(device.written_bytes, 23_505_864 * 512);
        for text in ["", "1 2 3 4 5 6", "1 2 x 4 5 6 7", "1 2 -3 4 5 6 7"] {
            assert_eq!(parse_counters(text), None, "{text}");
        }
        assert_eq!(parse_counters(&format!("1 2 {} 4 5 6 7", u64::MAX)), None);
        survives(STAT, parse_counters);
    }

    #[test]
    fn there_is_no_device_under_proc() {
        assert_eq!(device(Path::new("/proc/self")), None);
    }
}
