//! Functions for Linux, which reports more than other systems.

use std::{
    fs::File,
    io::{self, IoSlice, Read},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd},
        unix::{ffi::OsStrExt, fs::FileExt, net::UnixStream},
    },
    path::{Path, PathBuf},
};

use fiemap::{Fiemap, FiemapExtentFlags, FiemapFlags};
use model::Cost;
use nix::{
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        fanotify::{
            EventFFlags, Fanotify, FanotifyResponse, InitFlags, MarkFlags, MaskFlags, Response,
        },
        resource::UsageWho,
        time::TimeValLike,
    },
    time::ClockId,
    unistd::Pid,
};
use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg},
};

pub(crate) use super::posix::*;
use crate::text::read_line;

/// Returns the vendor and the product that the firmware names.
pub(crate) fn firmware() -> [Option<String>; 2] {
    ["sys_vendor", "product_name"].map(|name| read_line(Path::new("/sys/class/dmi/id").join(name)))
}

/// Returns the hypervisor, if the kernel names it.
pub(crate) fn hypervisor() -> Option<String> {
    read_line("/sys/hypervisor/type")
}

/// Gives freed memory back to the system, which glibc keeps while anything behind it is in use.
pub(crate) fn release_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it changes nothing but what is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Returns what the calling thread spent so far.
pub(crate) fn spent_by_thread() -> Cost {
    // Reading this clock brings the thread's account up to date, which getrusage(2) shows as of the last tick:
    // a thread that sleeps between short pieces of work would seem to spend less.
    let _ = ClockId::CLOCK_THREAD_CPUTIME_ID.now();
    usage(UsageWho::RUSAGE_THREAD)
}

/// Returns the processor time of a process, all its threads together, those that ended too.
pub(crate) fn process_ns(pid: u32) -> Option<u64> {
    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    u64::try_from(clock.now().ok()?.num_nanoseconds()).ok()
}

/// A file of `/proc/thread-self`, that of the thread that opened it.
#[derive(Debug)]
pub(crate) struct ThreadFile(Option<File>);

impl ThreadFile {
    pub(crate) fn open(name: &str) -> Self {
        Self(File::open(Path::new("/proc/thread-self").join(name)).ok())
    }

    /// Returns the current content of the file, as much as `buffer` takes.
    pub(crate) fn read<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b str> {
        let length = self.0.as_ref()?.read_at(buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()
    }
}

/// Returns the emulator that plays this processor: QEMU translates each program alone, and passes on
/// what the kernel says of the real processor. Newer ones make up what ARM programs read of it.
pub(crate) fn emulator() -> Option<String> {
    let is_another = || {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo");
        cpuinfo.is_ok_and(|cpuinfo| is_of_another(std::env::consts::ARCH, &cpuinfo))
    };
    // QEMU answers for `/proc/self/exe` itself, and not for this name.
    let is_emulated = std::fs::read_link("/proc/thread-self/exe").is_ok_and(|exe| is_qemu(&exe));
    (is_emulated || is_another()).then(|| "QEMU".to_owned())
}

/// Returns whether a program is QEMU for single programs, as `qemu-aarch64`.
fn is_qemu(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name.as_bytes().starts_with(b"qemu-"))
}

/// Returns whether `/proc/cpuinfo` describes another kind of processor than `arch`.
fn is_of_another(arch: &str, cpuinfo: &str) -> bool {
    // The first field that only x86 has, and one that only ARM has.
    let has = |name: &str| cpuinfo.lines().any(|line| line.starts_with(name));
    match arch {
        "x86" | "x86_64" => has("CPU implementer"),
        "arm" | "aarch64" => has("vendor_id"),
        _ => false,
    }
}

/// Renames to a path at which nothing is yet, in one step; returns `None` if that is not possible
/// here.
pub(crate) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    rename_with(from, to, RenameFlags::NOREPLACE)
}

/// Exchanges the names of two files or folders, in one step; returns `None` if that is not possible
/// here.
pub(crate) fn exchange(one: &Path, other: &Path) -> Option<io::Result<()>> {
    rename_with(one, other, RenameFlags::EXCHANGE)
}

fn rename_with(from: &Path, to: &Path, flags: RenameFlags) -> Option<io::Result<()>> {
    match renameat_with(CWD, from, CWD, to, flags) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
        done => Some(done.map_err(Into::into)),
    }
}

/// Returns the access list of a file or folder, which is not a link, as the kernel writes it;
/// `None` if it has none, or the file system has none.
pub(crate) fn access_list(path: &Path) -> io::Result<Option<Vec<u8>>> {
    list(|room| rustix::fs::lgetxattr(path, ACCESS_LIST, room))
}

pub(crate) fn access_list_of(file: &File) -> io::Result<Option<Vec<u8>>> {
    list(|room| rustix::fs::fgetxattr(file, ACCESS_LIST, room))
}

const ACCESS_LIST: &str = "system.posix_acl_access";
const DEFAULT_LIST: &str = "system.posix_acl_default";
/// The bytes of the longest value of an attribute.
const LONGEST: usize = 1 << 16;

fn list(
    mut get: impl FnMut(&mut [u8]) -> rustix::io::Result<usize>,
) -> io::Result<Option<Vec<u8>>> {
    let mut room = vec![0; 256];
    let length = loop {
        match get(&mut room) {
            Ok(length) => break length,
            Err(Errno::RANGE) if room.len() < LONGEST => room.resize(LONGEST, 0),
            Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    };
    room.truncate(length);
    Ok(Some(room))
}

/// Removes the access lists of a folder: its own, and the one that new entries in it would get.
pub(crate) fn remove_access_lists(folder: &Path) {
    // Most file systems and folders have none.
    for list in [ACCESS_LIST, DEFAULT_LIST] {
        let _ = rustix::fs::removexattr(folder, list);
    }
}

/// Flushes the file system that `folder` is on; returns `None` if that is not possible here.
pub(crate) fn sync_filesystem(folder: &Path) -> Option<io::Result<()>> {
    /// The type of all file systems in user space: `FUSE_SUPER_MAGIC` in `linux/magic.h`.
    const FUSE: rustix::fs::FsWord = 0x6573_5546;
    let opened = match File::open(folder) {
        Err(error) => return Some(Err(error)),
        Ok(folder) => folder,
    };
    // The kernel passes the call on to virtiofs alone (`fuse_sync_fs`), and reports success to all.
    let is_fuse = rustix::fs::fstatfs(&opened).is_ok_and(|found| found.f_type == FUSE);
    (!is_fuse).then(|| Ok(rustix::fs::syncfs(opened)?))
}

/// The flags of a piece whose place is unknown, or whose length is not that on the device
/// (compressed).
const NOWHERE: FiemapExtentFlags =
    FiemapExtentFlags::UNKNOWN.union(FiemapExtentFlags::DELALLOC).union(FiemapExtentFlags::ENCODED);

/// Counts the pieces of one file; returns `None` if they are not reported. It uses the ioctl
/// FIEMAP, see <https://docs.kernel.org/filesystems/fiemap.html>.
pub(crate) fn pieces(path: &Path) -> io::Result<Option<u64>> {
    let (mut pieces, mut end) = (0, None);
    for extent in Fiemap::with_flags(File::open(path)?, FiemapFlags::SYNC) {
        match extent {
            Ok(extent) if extent.fe_flags.intersects(NOWHERE) => return Ok(None),
            Ok(extent) => {
                pieces += u64::from(end != Some(extent.fe_physical));
                end = Some(extent.fe_physical + extent.fe_length);
            }
            Err(error) => {
                return match Errno::from_io_error(&error) {
                    // The file system, or a sandbox in place of the kernel, has no such call.
                    Some(
                        Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS | Errno::INVAL | Errno::PERM,
                    ) => Ok(None),
                    _ => Err(error),
                };
            }
        }
    }
    Ok(Some(pieces))
}

/// The opens of files below a mount point, each of which waits for an answer
/// (<https://man7.org/linux/man-pages/man7/fanotify.7.html>). When this is dropped, or the process
/// ends, the system lets all of them continue.
pub(crate) struct Opens(Fanotify);

/// The milliseconds for which an answer waits for a question.
const PATIENCE: u16 = 50;

impl Opens {
    /// Starts to hold opens of files below `mount`.
    ///
    /// # Errors
    ///
    /// Fails if this user may not.
    pub(crate) fn below(mount: &Path) -> io::Result<Self> {
        // A child that had it open would let nobody go on after this process has ended.
        let flags = InitFlags::FAN_CLASS_CONTENT | InitFlags::FAN_CLOEXEC | InitFlags::FAN_NONBLOCK;
        let files = EventFFlags::O_RDONLY | EventFFlags::O_CLOEXEC | EventFFlags::O_LARGEFILE;
        let group = Fanotify::init(flags, files)?;
        let marks = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_MOUNT;
        group.mark(marks, MaskFlags::FAN_OPEN_PERM, CWD, Some(mount))?;
        Ok(Self(group))
    }

    /// Waits a moment for opens, passes each opened file to `look`, and lets those continue for
    /// which it returns true. A question that cannot be read is one that the system has answered.
    pub(crate) fn answer(&self, mut look: impl FnMut(&File) -> bool) {
        let mut ready = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut ready, PollTimeout::from(PATIENCE));
        for event in self.0.read_events().unwrap_or_default() {
            let Some(file) = event.fd() else { continue };
            let own = file.try_clone_to_owned();
            let allowed = own.map_or(true, |own| look(&File::from(own)));
            let response = if allowed { Response::FAN_ALLOW } else { Response::FAN_DENY };
            let _ = self.0.write_response(FanotifyResponse::new(file, response));
        }
    }
}

/// Returns a path that leads to what `folder` has open, and is short enough for a socket.
pub(crate) fn through(folder: &File) -> PathBuf {
    format!("/proc/self/fd/{}", folder.as_raw_fd()).into()
}

/// Asks the server at a Unix socket, passes it `file` if there is one, and returns its whole answer.
pub(crate) fn ask_server(
    socket: &Path,
    question: &[u8],
    file: Option<&File>,
) -> io::Result<String> {
    let mut server = UnixStream::connect(socket)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut passed = SendAncillaryBuffer::new(&mut space);
    let files: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
    if !files.is_empty() {
        passed.push(SendAncillaryMessage::ScmRights(&files));
    }
    sendmsg(&server, &[IoSlice::new(question)], &mut passed, SendFlags::NOSIGNAL)?;
    let mut answer = String::new();
    server.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_processor_is_seen() {
        let (intel, arm) = (
            "processor\t: 0\nvendor_id\t: GenuineIntel\n",
            "processor\t: 0\nCPU implementer\t: 0x41\n",
        );
        assert!(is_of_another("aarch64", intel) && is_of_another("arm", intel));
        assert!(is_of_another("x86_64", arm));
        for (arch, cpuinfo) in
            [("x86_64", intel), ("aarch64", arm), ("arm", ""), ("riscv64", intel)]
        {
            assert!(!is_of_another(arch, cpuinfo), "{arch}");
        }
        assert_eq!(emulator(), None);
    }

    #[test]
    fn the_program_that_the_kernel_runs_shows_qemu() {
        for qemu in ["/usr/bin/qemu-aarch64", "/usr/bin/qemu-arm-static (deleted)"] {
            assert!(is_qemu(Path::new(qemu)), "{qemu}");
        }
        for program in ["/usr/bin/storemark", "/home/me/qemu-builds/storemark", "/"] {
            assert!(!is_qemu(Path::new(program)), "{program}");
        }
    }
}
