//! The block device under a folder, and the other places that stores could be on.

use std::path::Path;

use model::{Disk, Volume};

use super::free_bytes;

/// The block device under `folder`, as the system describes it.
#[cfg(target_os = "linux")]
pub fn disk(folder: &Path) -> Option<Disk> {
    let entry = super::mounts::block_device(folder)?.folder();
    sysfs::disk(&std::fs::canonicalize(entry).ok()?)
}

/// Not told here.
#[cfg(not(target_os = "linux"))]
pub fn disk(_: &Path) -> Option<Disk> {
    None
}

/// The local file systems that stores could be on, but for the one that `folder` is on.
pub fn other_filesystems(folder: &Path) -> Vec<Volume> {
    let here = super::filesystems(&[folder.to_owned()]);
    let elsewhere = local().into_iter().filter(|told| {
        here.iter().all(|here| (&here.mount, &here.device) != (&told.mount, &told.device))
    });
    let volume = |told: model::Filesystem| Volume {
        free_bytes: free_bytes(Path::new(&told.mount)).ok(),
        mount: told.mount,
        kind: told.kind,
        device: told.device,
    };
    elsewhere.map(volume).collect()
}

#[cfg(target_os = "linux")]
fn local() -> Vec<model::Filesystem> {
    super::mounts::local()
}

#[cfg(not(target_os = "linux"))]
fn local() -> Vec<model::Filesystem> {
    Vec::new()
}

/// `/sys/block`, see sysfs-block in the kernel's ABI documents.
#[cfg(target_os = "linux")]
mod sysfs {
    use std::{fs, path::Path};

    use model::Disk;

    use super::super::cpu::read_line;

    /// The disk at `entry`, or the one that `entry` is a partition of.
    pub(super) fn disk(entry: &Path) -> Option<Disk> {
        let of = if entry.join("partition").exists() { entry.parent()? } else { entry };
        let read = |name: &str| read_line(of.join(name));
        let number = |name: &str| read(name)?.parse::<u64>().ok();
        let yes = |name: &str| read(name).map(|answer| answer == "1");
        Some(Disk {
            name: of.file_name()?.to_string_lossy().into_owned(),
            model: read("device/model").or_else(|| read("dm/name")),
            rotational: yes("queue/rotational"),
            scheduler: read("queue/scheduler").map(|line| chosen(&line).to_owned()),
            write_cache: read("queue/write_cache"),
            queue_requests: number("queue/nr_requests"),
            read_ahead_bytes: number("queue/read_ahead_kb").and_then(|kb| kb.checked_mul(1024)),
            discards: number("queue/discard_max_bytes").map(|most| most > 0),
            loop_file: read("loop/backing_file"),
            made_of: names(&of.join("slaves")),
        })
    }

    /// Of `none [mq-deadline] kyber` the one in brackets.
    fn chosen(schedulers: &str) -> &str {
        let inside = schedulers.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        inside.map_or(schedulers, |(name, _)| name)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_partition_is_told_by_its_disk() {
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
            let told = disk(&disk_folder.join("sda1")).unwrap();
            assert_eq!(told.name, "sda");
            assert_eq!(told.model.as_deref(), Some("Fast Disk 3000"));
            assert_eq!((told.rotational, told.discards), (Some(false), Some(false)));
            assert_eq!(told.scheduler.as_deref(), Some("mq-deadline"));
            assert_eq!((told.queue_requests, told.read_ahead_bytes), (Some(64), Some(128 << 10)));
            assert_eq!(told.loop_file, None);
            assert_eq!(told.made_of, [""; 0]);
        }

        #[test]
        fn a_loop_device_tells_its_file() {
            let folder = tempfile::tempdir().unwrap();
            let entry = folder.path().join("loop0");
            fs::create_dir_all(entry.join("loop")).unwrap();
            fs::write(entry.join("loop/backing_file"), "/srv/image\n").unwrap();
            let told = disk(&entry).unwrap();
            assert_eq!(told.loop_file.as_deref(), Some("/srv/image"));
        }

        #[test]
        fn what_is_odd_is_absent() {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("queue")).unwrap();
            for odd in ["", "-1", "x", "99999999999999999999999", "18446744073709551615"] {
                fs::write(folder.path().join("queue/read_ahead_kb"), odd).unwrap();
                assert_eq!(disk(folder.path()).unwrap().read_ahead_bytes, None, "{odd}");
            }
            for (line, name) in [("none", "none"), ("[a", "[a"), ("a]", "a]"), ("[]", "")] {
                assert_eq!(chosen(line), name);
            }
            for text in super::crate::mutilations(b"none [mq-deadline] kyber\n") {
                let _ = chosen(&String::from_utf8_lossy(&text));
            }
        }
    }
}
