//! Pages seen through mincore(2).

use std::{fs::File, io};

use super::Mapping;
use crate::page_size;

/// Bytes mapped at a time, so that a file of any size takes little address space: whole pages of
/// every size.
const WINDOW: u64 = 1 << 30;

/// Resident pages in cells of `cell` bytes (whole pages, or all). `PermissionDenied` where
/// mincore would not report the truth.
pub(crate) fn resident(file: &File, offset: u64, length: u64, cell: u64) -> io::Result<Vec<u64>> {
    if !is_reported(file)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut cells = Vec::new();
    let mut done = 0;
    while done < length {
        let part = WINDOW.min(length - done);
        let mapping = Mapping::new(file, offset + done, part)?;
        for (page, seen) in (0_u64..).zip(mapping.mincore()?) {
            let index = usize::try_from((done + page * page_size()) / cell).unwrap_or(usize::MAX);
            if index >= cells.len() {
                cells.resize(index + 1, 0);
            }
            cells[index] += u64::from(seen & 1);
        }
        done += part;
    }
    Ok(cells)
}

/// mincore reports all pages resident to who neither owns the file nor may write it (Linux since
/// 5.2, `can_do_mincore` in mm/mincore.c).
fn is_reported(file: &File) -> io::Result<bool> {
    let stat = rustix::fs::fstat(file)?;
    let user = rustix::process::geteuid();
    Ok(stat.st_uid == user.as_raw() || may_write(file, &stat, user))
}

/// The kernel's own answer, which knows of namespaces and capabilities.
#[cfg(target_os = "linux")]
fn may_write(file: &File, _: &rustix::fs::Stat, _: rustix::process::Uid) -> bool {
    use std::os::fd::AsRawFd;

    use rustix::fs::{Access, AtFlags, CWD, accessat};

    let file = format!("/proc/self/fd/{}", file.as_raw_fd());
    accessat(CWD, file, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// As far as it can be seen without a path.
#[cfg(not(target_os = "linux"))]
fn may_write(_: &File, stat: &rustix::fs::Stat, user: rustix::process::Uid) -> bool {
    user.is_root() || stat.st_mode & 0o002 != 0
}
