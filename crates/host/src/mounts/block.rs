//! Block devices, by their numbers (Linux: `/sys/dev/block`).

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::text::read_line;

/// Device number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl From<u64> for Block {
    fn from(number: u64) -> Self {
        Self { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
    }
}

impl Block {
    /// Reads `major:minor`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// The folder in which the kernel describes it.
    pub(super) fn folder(self) -> PathBuf {
        format!("/sys/dev/block/{}:{}", self.major, self.minor).into()
    }

    /// Whether it reports that it rotates.
    pub(super) fn rotational(self) -> Option<bool> {
        own_or_disks(&self.folder(), "queue/rotational").map(|answer| answer == "1")
    }

    /// Whether it, or a loop device under it, reads its file without the page cache; absent: there
    /// is no loop device.
    pub(super) fn loop_direct_io(self) -> Option<bool> {
        loop_direct_io(&self.folder(), MAX_LAYERS)
    }
}

/// Devices above one another that are looked at: more than anyone has, and an end to a ring.
const MAX_LAYERS: u8 = 8;

fn loop_direct_io(folder: &Path, layers: u8) -> Option<bool> {
    if let Some(answer) = own_or_disks(folder, "loop/dio") {
        return Some(answer == "1");
    }
    // Mapped devices (dm, md) name those under them. One that is cached twice is enough.
    let under = fs::read_dir(folder.join("slaves")).ok()?.flatten();
    let layers = layers.checked_sub(1)?;
    under.filter_map(|slave| loop_direct_io(&slave.path(), layers)).min()
}

/// A line of the device itself or, as a partition has few files, of its disk: the folder above.
fn own_or_disks(folder: &Path, file: &str) -> Option<String> {
    [folder.join(file), folder.join("..").join(file)].into_iter().find_map(read_line)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A loop device with a partition, as sysfs shows them.
    fn looped(folder: &Path, name: &str, dio: &str) -> PathBuf {
        let device = folder.join(name);
        fs::create_dir_all(device.join("loop")).unwrap();
        fs::create_dir_all(device.join("slaves")).unwrap();
        fs::create_dir_all(device.join("part1")).unwrap();
        fs::write(device.join("loop/dio"), format!("{dio}\n")).unwrap();
        device
    }

    fn mapped(folder: &Path, name: &str, over: &[&Path]) -> PathBuf {
        let slaves = folder.join(name).join("slaves");
        fs::create_dir_all(&slaves).unwrap();
        for (index, under) in over.iter().enumerate() {
            symlink(under, slaves.join(index.to_string())).unwrap();
        }
        folder.join(name)
    }

    #[test]
    fn a_loop_device_is_seen_through_partitions_and_mapped_devices() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (cached, direct) = (looped(folder, "loop0", "0"), looped(folder, "loop1", "1"));
        let disk = mapped(folder, "sda", &[]);
        let look = |device: &Path| loop_direct_io(device, MAX_LAYERS);
        assert_eq!(look(&cached), Some(false));
        assert_eq!(look(&direct.join("part1")), Some(true));
        assert_eq!(look(&disk), None);
        assert_eq!(look(&folder.join("absent")), None);
        let over = mapped(folder, "dm-0", &[&disk, &direct.join("part1")]);
        assert_eq!(look(&over), Some(true));
        assert_eq!(look(&mapped(folder, "dm-1", &[&over, &cached])), Some(false));
    }

    #[test]
    fn a_ring_of_devices_has_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let ring = folder.path().join("dm-0");
        mapped(folder.path(), "dm-0", &[&ring]);
        assert_eq!(loop_direct_io(&ring, MAX_LAYERS), None);
    }

    #[test]
    fn numbers_of_another_form_are_not_read() {
        assert_eq!(Block::parse("254:16"), Some(Block { major: 254, minor: 16 }));
        for text in ["", ":", "8", "8:", "8:x", "-8:1", "8:1:2", "8:99999999999"] {
            assert_eq!(Block::parse(text), None, "{text}");
        }
    }
}
