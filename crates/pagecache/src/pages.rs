//! Pages in memory.

use std::{fs::File, io, ops::AddAssign, path::Path};

use crate::{
    Span, open,
    span::{page_size, pages},
};

/// Pages and how many of them are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// All pages, those of holes included.
    pub total: u64,
    /// Those known to be in memory.
    pub resident: u64,
    /// Those of files whose pages the system does not report to this user.
    pub unknown: u64,
    /// Those in memory that differ from the disk, or are being written to it; None if the
    /// system does not report it.
    pub dirty: Option<u64>,
}

/// No pages, none of them dirty.
impl Default for Pages {
    fn default() -> Self {
        Self { total: 0, resident: 0, unknown: 0, dirty: Some(0) }
    }
}

impl AddAssign for Pages {
    fn add_assign(&mut self, more: Self) {
        self.total += more.total;
        self.resident += more.resident;
        self.unknown += more.unknown;
        self.dirty = self.dirty.zip(more.dirty).map(|(a, b)| a + b);
    }
}

impl Pages {
    /// The pages of what `file` has of `span`.
    pub fn of(file: &File, span: Span) -> io::Result<Self> {
        Self::of_sized(file, file.metadata()?.len(), span)
    }

    /// The pages of what `file`, known to have `size` bytes, has of `span`.
    pub fn of_sized(file: &File, size: u64, span: Span) -> io::Result<Self> {
        match span.of(size) {
            Some((offset, length)) => seen(file, offset, length),
            None => Ok(Self::default()),
        }
    }

    /// Resident pages as a share of those known: 1 where there are no pages at all (nothing is
    /// missing), None where nothing is known.
    pub fn share(&self) -> Option<f64> {
        match self.total - self.unknown {
            0 if self.total > 0 => None,
            0 => Some(1.0),
            known => Some(self.resident as f64 / known as f64),
        }
    }

    /// The pages of the file at `path`; of one that may not be opened, nothing is known.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        match open(path, false) {
            Ok(opened) => Self::of(&opened.file, Span::ALL),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Ok(Self::unknown(pages(path.symlink_metadata()?.len())))
            }
            Err(error) => Err(error),
        }
    }

    fn unknown(total: u64) -> Self {
        Self { total, unknown: total, resident: 0, dirty: None }
    }
}

/// Resident pages of `span`, counted in cells of `per_cell` pages (the last may hold fewer).
/// None if the system does not report them to this user.
pub fn residency_map(file: &File, span: Span, per_cell: u64) -> io::Result<Option<Vec<u64>>> {
    match span.of(file.metadata()?.len()) {
        Some((offset, length)) => if_permitted(cells(file, offset, length, per_cell * page_size())),
        None => Ok(Some(Vec::new())),
    }
}

fn if_permitted<T>(answer: io::Result<T>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        answer => answer.map(Some),
    }
}

#[cfg(target_os = "linux")]
fn seen(file: &File, offset: u64, length: u64) -> io::Result<Pages> {
    match crate::sys::cachestat(file, offset, length) {
        Ok(stat) if stat.cached > 0 || !is_stacked(file) => Ok(Pages {
            total: pages(length),
            resident: stat.cached,
            unknown: 0,
            dirty: Some(stat.dirty + stat.writeback),
        }),
        _ => seen_by_mincore(file, offset, length),
    }
}

/// Whether the pages belong to a file of another file system underneath: cachestat counts those
/// of the upper one, which are none (overlayfs, Linux 6.18); mincore sees the mapped ones.
#[cfg(target_os = "linux")]
fn is_stacked(file: &File) -> bool {
    /// `OVERLAYFS_SUPER_MAGIC`, see statfs(2).
    const OVERLAY: i128 = 0x794c_7630;
    rustix::fs::fstatfs(file).is_ok_and(|found| i128::from(found.f_type) == OVERLAY)
}

#[cfg(not(target_os = "linux"))]
fn seen(file: &File, offset: u64, length: u64) -> io::Result<Pages> {
    seen_by_mincore(file, offset, length)
}

fn seen_by_mincore(file: &File, offset: u64, length: u64) -> io::Result<Pages> {
    let total = pages(length);
    Ok(match if_permitted(crate::sys::resident(file, offset, length, length))? {
        Some(cells) => Pages { total, resident: cells.iter().sum(), unknown: 0, dirty: None },
        None => Pages::unknown(total),
    })
}

#[cfg(target_os = "linux")]
fn cells(file: &File, offset: u64, length: u64, cell: u64) -> io::Result<Vec<u64>> {
    let ends = (offset..offset + length).step_by(usize::try_from(cell).unwrap_or(usize::MAX));
    let counted: io::Result<Vec<u64>> = ends
        .map(|at| {
            let length = cell.min(offset + length - at);
            crate::sys::cachestat(file, at, length).map(|stat| stat.cached)
        })
        .collect();
    match counted {
        Ok(cells) if cells.iter().any(|cached| *cached > 0) || !is_stacked(file) => Ok(cells),
        _ => crate::sys::resident(file, offset, length, cell),
    }
}

#[cfg(not(target_os = "linux"))]
fn cells(file: &File, offset: u64, length: u64, cell: u64) -> io::Result<Vec<u64>> {
    crate::sys::resident(file, offset, length, cell)
}

/// Whether nothing has to be written back, as far as the system reports it.
pub(crate) fn is_clean(file: &File, offset: u64, length: u64) -> bool {
    seen(file, offset, length).is_ok_and(|pages| pages.dirty == Some(0))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn mincore_and_cachestat_agree() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(20 * page_size() + 1).unwrap();
        for page in [0, 3, 4, 20] {
            std::os::unix::fs::FileExt::write_at(&file, b"x", page * page_size()).unwrap();
        }
        for span in [Span::ALL, Span { start: 3 * page_size(), end: Some(9 * page_size() + 1) }] {
            let (offset, length) = span.of(file.metadata().unwrap().len()).unwrap();
            let by_mincore = seen_by_mincore(&file, offset, length).unwrap();
            let of = Pages::of(&file, span).unwrap();
            assert_eq!((of.total, of.resident), (by_mincore.total, by_mincore.resident));
            let map = crate::sys::resident(&file, offset, length, 2 * page_size()).unwrap();
            assert_eq!(residency_map(&file, span, 2).unwrap(), Some(map));
        }
    }

    #[test]
    fn nothing_is_claimed_of_a_file_of_others() {
        let path = Path::new("/etc/passwd");
        let pages = Pages::at(path).unwrap();
        if std::fs::OpenOptions::new().append(true).open(path).is_ok() {
            assert_eq!(pages.unknown, 0);
        } else {
            assert_eq!((pages.unknown, pages.resident, pages.share()), (pages.total, 0, None));
        }
    }
}
