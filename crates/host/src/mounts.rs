//! The mounted file systems that paths are on (Linux).

use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt},
    },
    path::{Path, PathBuf},
};

use model::Filesystem;

use crate::{
    space::nearest_existing,
    text::{entries, read_line},
};

/// Returns the file systems that hold `paths`, or will hold them, each once and in the order of
/// `paths`.
pub fn filesystems(paths: &[PathBuf]) -> Vec<Filesystem> {
    let mounts = mounts();
    let mut found: Vec<&Mount> = Vec::new();
    for path in paths {
        let mount = find_mount(&mounts, path);
        found.extend(mount.filter(|mount| !found.contains(mount)));
    }
    found.into_iter().map(Mount::describe).collect()
}

/// Returns the local file systems that stores could be on, each once: not those that are read-only,
/// nor those that the system has for itself.
pub(crate) fn local() -> Vec<Filesystem> {
    usable(&mounts()).map(Mount::describe).collect()
}

fn usable(mounts: &[Mount]) -> impl Iterator<Item = &Mount> {
    let hidden = |i: usize| mounts[i + 1..].iter().any(|later| later.point == mounts[i].point);
    let again = |i: usize| mounts[..i].iter().any(|other| other.device == mounts[i].device);
    let visible = (0..mounts.len()).filter(move |i| !hidden(*i) && !again(*i));
    visible.map(|i| &mounts[i]).filter(|mount| mount.is_for_stores())
}

/// The folders that the system has for itself, also on file systems that could hold more.
const SYSTEM: [&str; 4] = ["/proc", "/sys", "/run", "/boot"];

/// Returns the folder in which the kernel describes the block device under the file system that
/// holds `path`, or will hold it.
pub(crate) fn device_folder(path: &Path) -> Option<PathBuf> {
    find_mount(&mounts(), path)?.block_device()
}

/// Returns the mount points at and below a folder, given by its full path.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    mounts()
        .into_iter()
        .map(|mount| mount.point)
        .filter(|point| point.starts_with(folder))
        .collect()
}

fn mounts() -> Vec<Mount> {
    fs::read("/proc/self/mountinfo").map_or_else(|_| Vec::new(), |text| parse(&text))
}

fn find_mount<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let place = nearest_existing(path);
    let device = fs::metadata(&place).ok().map(|meta| Block::from(meta.dev()));
    holding(mounts, device, &place)
}

/// The number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    major: u32,
    minor: u32,
}

impl From<u64> for Block {
    fn from(number: u64) -> Self {
        Self { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
    }
}

impl Block {
    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

/// A line of `/proc/self/mountinfo`; see proc(5).
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: Block,
    point: PathBuf,
    options: String,
    kind: String,
    source: PathBuf,
}

impl Mount {
    fn describe(&self) -> Filesystem {
        let block = self.block_device();
        let queue = |file| block.as_ref().and_then(|block| own_or_disks(block, file));
        let rotational = queue("queue/rotational");
        let number = |file| queue(file).and_then(|number| number.parse::<u64>().ok());
        let readahead = number("queue/read_ahead_kb");
        let can_discard = number("queue/discard_max_bytes").is_some_and(|bytes| bytes > 0);
        Filesystem {
            mount: self.point.display().to_string(),
            kind: self.kind.clone(),
            options: self.options.clone(),
            device: self.source.display().to_string(),
            rotational: rotational.map(|answer| answer == "1"),
            readahead_bytes: readahead.and_then(|kib| kib.checked_mul(1024)),
            no_journal: block.as_ref().is_some_and(|block| no_journal(block, Path::new(EXT4))),
            loop_direct_io: block.and_then(|block| loop_direct_io(&block, MAX_LAYERS)),
            discards: can_discard && discards(&self.options),
            compression: compression(&self.kind, &self.options),
            flush: None,
        }
    }

    fn is_for_stores(&self) -> bool {
        let on_disk = self.source.starts_with("/dev") || self.kind == "zfs";
        let writable = self.options.split(',').all(|option| option != "ro");
        let of_system = SYSTEM.iter().any(|folder| self.point.starts_with(folder));
        (on_disk || self.kind == "tmpfs") && writable && !of_system
    }

    /// Returns the folder in which the kernel describes the block device underneath. btrfs and
    /// similar file systems have a number of their own with major 0; for them the source decides.
    fn block_device(&self) -> Option<PathBuf> {
        let mut block = self.device;
        if block.major == 0 {
            let meta = fs::metadata(&self.source).ok()?;
            block = meta.file_type().is_block_device().then(|| Block::from(meta.rdev()))?;
        }
        Some(format!("/sys/dev/block/{}:{}", block.major, block.minor).into())
    }
}

/// The greatest number of devices above one another that are looked at: more than anyone has, and
/// an end to a ring.
const MAX_LAYERS: u8 = 8;

/// Returns whether a device, or a loop device under it, reads its file without the page cache;
/// `None` if there is no loop device.
fn loop_direct_io(folder: &Path, layers: u8) -> Option<bool> {
    if let Some(answer) = own_or_disks(folder, "loop/dio") {
        return Some(answer == "1");
    }
    // Mapped devices (dm, md) name those under them. One that is cached twice is enough.
    let layers = layers.checked_sub(1)?;
    let under = entries(&folder.join("slaves"));
    under.filter_map(|slave| loop_direct_io(&slave.path(), layers)).min()
}

/// The folder in which the kernel describes each mounted ext4, by the name of its device.
const EXT4: &str = "/sys/fs/ext4";

/// Returns whether a device has an ext4 without a journal, which `file_systems` describes.
fn no_journal(device: &Path, file_systems: &Path) -> bool {
    let device = device.canonicalize().ok();
    let name = device.as_deref().and_then(Path::file_name);
    let task = name.and_then(|name| read_line(file_systems.join(name).join("journal_task")));
    task.as_deref() == Some("<none>")
}

/// Reads a line of the device itself or, as a partition has few files, of its disk: the folder
/// above.
fn own_or_disks(folder: &Path, file: &str) -> Option<String> {
    [folder.join(file), folder.join("..").join(file)].into_iter().find_map(read_line)
}

/// Returns the value of a mount option; `on` for an option without a value.
fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    options.split(',').find_map(|option| match option.split_once('=') {
        Some((key, value)) => (key == name).then_some(value),
        None => (option == name).then_some("on"),
    })
}

/// Returns whether blocks are discarded when they are freed; btrfs may also do it later.
fn discards(options: &str) -> bool {
    matches!(option(options, "discard"), Some("on" | "sync"))
}

/// Returns how a file system compresses what is written to it, as far as its type and mount options
/// show; `None` if it does not. Options of single files (`chattr +c`) are not seen.
fn compression(kind: &str, options: &str) -> Option<String> {
    let value = |name| option(options, name);
    let set = match kind {
        "btrfs" => value("compress").or_else(|| value("compress-force")),
        "f2fs" => value("compress_algorithm"),
        "ntfs3" => value("compress"),
        // Set for a dataset or a file, which a mount does not show.
        "bcachefs" => value("compression").or(Some("possible")),
        "zfs" => Some("possible"),
        _ => None,
    };
    set.filter(|value| !matches!(*value, "" | "no" | "none")).map(str::to_owned)
}

/// Returns the mount that `place`, absolute and free of links, is on: of those whose mount point
/// leads to it, one with its device number if there is one, then the longest, then the latest.
fn holding<'a>(mounts: &'a [Mount], device: Option<Block>, place: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| place.starts_with(&mount.point))
        .max_by_key(|mount| (Some(mount.device) == device, mount.point.as_os_str().len()))
}

/// Parses the lines of a mountinfo file; lines of another form are skipped.
fn parse(mountinfo: &[u8]) -> Vec<Mount> {
    mountinfo.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// Parses `id parent major:minor root point options [tag…] - kind source
/// options-of-the-file-system`.
fn mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let ([_, _, device, _, point, options, ..], [_, kind, source, rest @ ..]) =
        fields.split_at(dash)
    else {
        return None;
    };
    Some(Mount {
        device: Block::parse(std::str::from_utf8(device).ok()?)?,
        point: unescape(point),
        options: merge(&text(options), &rest.first().map_or_else(String::new, |o| text(o))),
        kind: text(kind),
        source: unescape(source),
    })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// Returns the options of the mount, then those of the file system that are not among them.
fn merge(mount: &str, filesystem: &str) -> String {
    let mut all: Vec<&str> = mount.split(',').collect();
    for option in filesystem.split(',') {
        // `rw` next to `ro` is a read-only mount of a writable file system: it adds nothing.
        if !all.contains(&option) && !matches!(option, "" | "rw") {
            all.push(option);
        }
    }
    all.join(",")
}

/// Decodes a field: the kernel writes white space and backslashes as `\` and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let code = if byte == b'\\' { after.first_chunk().copied().and_then(octal) } else { None };
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

fn octal(digits: [u8; 3]) -> Option<u8> {
    let digits = std::str::from_utf8(&digits).ok()?;
    u8::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::mutilations;

    const MOUNTINFO: &[u8] = b"\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard
30 27 8:17 / /mnt/my\\040disk ro,noatime - xfs /dev/sdb1 rw,attr2
31 27 0:40 /home /home rw - btrfs /dev/nvme0n1p2 rw,ssd,subvol=/home
32 27 0:50 / /mnt/late rw - tmpfs old rw
33 27 0:51 / /mnt/late rw - tmpfs new rw
";

    fn on(major: u32, minor: u32, place: &str) -> String {
        let mounts = parse(MOUNTINFO);
        let found = holding(&mounts, Some(Block { major, minor }), Path::new(place)).unwrap();
        found.source.display().to_string()
    }

    #[test]
    fn a_line_is_read_completely() {
        let mounts = parse(MOUNTINFO);
        assert_eq!(mounts.len(), 6);
        let disk = mounts[2].describe();
        assert_eq!((disk.mount.as_str(), disk.kind.as_str()), ("/mnt/my disk", "xfs"));
        assert_eq!(
            (disk.device.as_str(), disk.options.as_str()),
            ("/dev/sdb1", "ro,noatime,attr2")
        );
        assert_eq!(mounts[1].options, "rw,relatime,discard");
    }

    /// The text is in the form of Linux 6.1 to 6.18.
    #[test]
    fn mounts_of_networks_and_programs_are_read() {
        let text = b"\
40 27 0:60 / /mnt/nfs rw,relatime shared:20 - nfs4 nas:/export/data rw,vers=4.2,proto=tcp,addr=10.0.0.1
41 27 0:61 / /mnt/smb rw,relatime - cifs //nas/share rw,vers=3.1.1,cache=strict,actimeo=1
42 27 0:62 / /mnt/ssh rw,nosuid,nodev,relatime - fuse.sshfs me@nas:/data rw,user_id=0,group_id=0
43 27 0:63 / /mnt/host rw,relatime - virtiofs shared rw
";
        let kinds: Vec<_> = parse(text).iter().map(|mount| mount.describe().kind).collect();
        assert_eq!(kinds, ["nfs4", "cifs", "fuse.sshfs", "virtiofs"]);
        let mounts = parse(text);
        let nfs = holding(&mounts, None, Path::new("/mnt/nfs/a")).unwrap().describe();
        assert_eq!((nfs.device.as_str(), nfs.discards), ("nas:/export/data", false));
        assert!(nfs.options.contains("vers=4.2"));
    }

    #[test]
    fn the_device_number_decides_then_the_longest_then_the_latest() {
        assert_eq!(on(8, 17, "/mnt/my disk/x"), "/dev/sdb1");
        assert_eq!(on(254, 0, "/srv/data"), "/dev/vda");
        assert_eq!(on(254, 0, "/homely"), "/dev/vda");
        // A btrfs subvolume's files have a number that no mount shows.
        assert_eq!(on(0, 41, "/home/ann"), "/dev/nvme0n1p2");
        assert_eq!(on(0, 50, "/mnt/late/x"), "old");
        assert_eq!(on(0, 99, "/mnt/late/x"), "new");
    }

    #[test]
    fn only_writable_disks_and_memory_are_for_stores() {
        let text = b"\
1 0 0:21 / /proc rw - proc proc rw
2 0 8:1 / / rw - ext4 /dev/sda1 rw
3 0 8:1 /x /etc/hosts rw - ext4 /dev/sda1 rw
4 0 7:1 / /snap ro - squashfs /dev/loop1 ro
5 0 0:30 / /run rw - tmpfs tmpfs rw
6 0 0:31 / /dev/shm rw - tmpfs old rw
7 0 0:32 / /dev/shm rw - tmpfs new rw
8 0 0:33 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
9 0 0:34 / /tank rw - zfs tank rw
10 0 8:2 / /boot/efi rw - vfat /dev/sda2 rw
";
        let mounts = parse(text);
        let points: Vec<_> = usable(&mounts).map(|mount| mount.source.to_str().unwrap()).collect();
        assert_eq!(points, ["/dev/sda1", "new", "tank"]);
    }

    #[test]
    fn escapes_are_bytes() {
        assert_eq!(unescape(b"a\\040b\\134c"), Path::new("a b\\c"));
        assert_eq!(unescape(b"\\377"), Path::new(OsStr::from_bytes(b"\xff")));
        for odd in ["\\", "\\04", "\\999", "\\+40", "\\777"] {
            assert_eq!(unescape(odd.as_bytes()), Path::new(odd), "{odd}");
        }
    }

    #[test]
    fn other_lines_are_skipped() {
        for line in ["", "-", "1 2 3 - ext4 x rw", "1 2 8:x / / rw - a b c", "1 2 8:1 / / rw - a"] {
            assert_eq!(mount(line.as_bytes()), None, "{line}");
        }
        for text in mutilations(MOUNTINFO) {
            let mounts = parse(&text);
            let _ = holding(&mounts, None, Path::new("/mnt/late"));
            let _ = usable(&mounts).count();
        }
    }
}

#[cfg(test)]
mod block_tests {
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

#[cfg(test)]
mod compression_tests {
    use super::*;
    use crate::text::survives;

    fn found(kind: &str, options: &str) -> String {
        compression(kind, options).unwrap_or_default()
    }

    #[test]
    fn options_show_it() {
        assert_eq!(found("btrfs", "rw,relatime,compress=zstd:3,ssd"), "zstd:3");
        assert_eq!(found("btrfs", "rw,compress-force=lzo"), "lzo");
        assert_eq!(found("btrfs", "rw,compress"), "on");
        assert_eq!(found("ntfs3", "rw,compress,uid=0"), "on");
        assert_eq!(found("f2fs", "rw,compress_algorithm=lz4,compress_log_size=2"), "lz4");
        assert_eq!(found("bcachefs", "rw,compression=zstd"), "zstd");
    }

    #[test]
    fn without_them_only_some_may_compress() {
        for (kind, options) in [
            ("btrfs", "rw,relatime,ssd"),
            ("btrfs", "rw,compress=no"),
            ("btrfs", "rw,compress=none"),
            ("btrfs", "rw,compress="),
            ("bcachefs", "rw,compression=none"),
            ("ext4", "rw,compress=zstd"),
            ("btrfs", "rw,compressed=zstd"),
            ("", ""),
        ] {
            assert_eq!(compression(kind, options), None, "{kind} {options}");
        }
        assert_eq!(found("zfs", "rw,xattr,noacl"), "possible");
        assert_eq!(found("bcachefs", "rw"), "possible");
    }

    #[test]
    fn an_ext4_without_a_journal_is_found_by_the_name_of_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let (device, described) = (folder.path().join("vda1"), folder.path().join("ext4/vda1"));
        fs::create_dir(&device).unwrap();
        fs::create_dir_all(&described).unwrap();
        let found = || no_journal(&device, &folder.path().join("ext4"));
        assert!(!found());
        for (task, expected) in [("<none>\n", true), ("214\n", false)] {
            fs::write(described.join("journal_task"), task).unwrap();
            assert_eq!(found(), expected, "{task}");
        }
    }

    #[test]
    fn deletions_are_passed_on_at_once_or_later() {
        for (options, at_once) in [
            ("rw,discard,relatime", true),
            ("rw,ssd,discard=sync", true),
            ("rw,ssd,discard=async", false),
            ("rw,nodiscard", false),
            ("rw", false),
        ] {
            assert_eq!(discards(options), at_once, "{options}");
        }
    }

    #[test]
    fn no_options_make_it_panic() {
        survives("rw,compress=zstd:3,ssd", |options| compression("btrfs", options));
        survives("rw,discard=async,ssd", discards);
    }
}
