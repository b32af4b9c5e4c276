//! The pages in memory of a file or of a part of it.

use std::{
    fs::File,
    io,
    ops::{AddAssign, Range},
    path::Path,
};

use crate::{
    open,
    sys::{self, Mapping},
};

/// A part of a file: from byte `start` to before byte `end`, or to the end of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte; the page that holds it counts whole.
    pub start: u64,
    /// The byte after the last; `None` for the end of the file.
    pub end: Option<u64>,
}

impl Span {
    /// The whole file.
    pub const ALL: Self = Self { start: 0, end: None };

    /// Returns the offset and the length of what a file of `size` bytes has of this span, from the
    /// start of a page; `None` if the file ends before the span starts.
    pub fn range_in(self, size: u64) -> Option<(u64, u64)> {
        let start = self.start - self.start % page_size();
        let end = self.end.map_or(size, |end| end.min(size));
        (start < end).then(|| (start, end - start))
    }
}

/// Returns the number of pages that `bytes` take from the start of a page.
pub(crate) fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(page_size())
}

/// Returns the size of a page in bytes; if the system does not report it, the usual one.
pub fn page_size() -> u64 {
    #[cfg(unix)]
    return rustix::param::page_size() as u64;
    #[cfg(not(unix))]
    4096
}

/// A number of pages and how many of them are in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// All pages, those of holes included.
    pub total: u64,
    /// The pages known to be in memory.
    pub resident: u64,
    /// The pages of files whose pages the system does not report to this user.
    pub unknown: u64,
    /// The pages in memory that differ from the disk, or are being written to it; `None` if the
    /// system does not report them.
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
    /// Counts the pages of what `file` has of `span`.
    ///
    /// # Errors
    ///
    /// Fails if the system does not report the pages of the file.
    pub fn count(file: &File, span: Span) -> io::Result<Self> {
        Self::count_sized(file, file.metadata()?.len(), span)
    }

    /// Counts the pages of what `file`, known to have `size` bytes, has of `span`.
    ///
    /// # Errors
    ///
    /// Fails if the system does not report the pages of the file.
    pub fn count_sized(file: &File, size: u64, span: Span) -> io::Result<Self> {
        match span.range_in(size) {
            Some((offset, length)) => count_cached(file, offset, length),
            None => Ok(Self::default()),
        }
    }

    /// Returns the resident pages as a share of those known: 1 if there are no pages at all
    /// (nothing is missing), `None` if nothing is known.
    pub fn share(&self) -> Option<f64> {
        match self.total - self.unknown {
            0 if self.total > 0 => None,
            0 => Some(1.0),
            known => Some(self.resident as f64 / known as f64),
        }
    }

    /// Counts the pages of the file at `path`; if it may not be opened, they are unknown.
    pub(crate) fn count_at(path: &Path) -> io::Result<Self> {
        match open(path, false) {
            Ok(opened) => Self::count(&opened.file, Span::ALL),
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

/// Returns the resident pages of `span`, counted in cells of `per_cell` pages (the last may have
/// fewer); `None` if the system does not report them to this user.
///
/// # Errors
///
/// Fails if the system does not report the pages for another reason than permissions.
pub fn residency_map(file: &File, span: Span, per_cell: u64) -> io::Result<Option<Vec<u64>>> {
    match span.range_in(file.metadata()?.len()) {
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

fn count_cached(file: &File, offset: u64, length: u64) -> io::Result<Pages> {
    match sys::cachestat(file, offset, length) {
        Ok(stat) => Ok(Pages {
            total: pages(length),
            resident: stat.cached,
            unknown: 0,
            dirty: Some(stat.dirty + stat.writeback),
        }),
        Err(_) => seen_by_mincore(file, offset, length),
    }
}

fn seen_by_mincore(file: &File, offset: u64, length: u64) -> io::Result<Pages> {
    let total = pages(length);
    Ok(match if_permitted(resident(file, offset, length, length))? {
        Some(cells) => Pages { total, resident: cells.iter().sum(), unknown: 0, dirty: None },
        None => Pages::unknown(total),
    })
}

fn cells(file: &File, offset: u64, length: u64, cell: u64) -> io::Result<Vec<u64>> {
    let starts = (offset..offset + length).step_by(usize::try_from(cell).unwrap_or(usize::MAX));
    let counted = starts.map(|at| {
        let length = cell.min(offset + length - at);
        sys::cachestat(file, at, length).map(|stat| stat.cached)
    });
    counted.collect::<io::Result<_>>().or_else(|_| resident(file, offset, length, cell))
}

/// Returns whether nothing has to be written back, as far as the system reports it.
pub(crate) fn is_clean(file: &File, offset: u64, length: u64) -> bool {
    count_cached(file, offset, length).is_ok_and(|pages| pages.dirty == Some(0))
}

/// The bytes that are mapped at a time, so that a file of any size takes little address space:
/// whole pages of every size.
const WINDOW: u64 = 1 << 30;
/// The bytes whose pages are looked at before it is asked again whether to go on, and for holes.
const PART: u64 = 64 << 20;

/// Returns where the first data of `file` from `offset` on are, from the start of a page; `None` if there are
/// only holes. Where the system does not report them, all is data.
fn next_data(file: &File, offset: u64) -> Option<u64> {
    #[cfg(target_os = "linux")]
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(data) => return Some(data - data % page_size()),
        Err(rustix::io::Errno::NXIO) => return None,
        Err(_) => {}
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
    Some(offset)
}

/// Counts the resident pages in cells of `cell` bytes (whole pages, or all).
///
/// # Errors
///
/// Fails with `PermissionDenied` if mincore would not report the truth.
pub(crate) fn resident(file: &File, offset: u64, length: u64, cell: u64) -> io::Result<Vec<u64>> {
    let mut cells = Vec::new();
    visit_pages(file, (offset, length), |done, pages| {
        for (page, is_resident) in (0_u64..).zip(pages) {
            let index = usize::try_from((done + page * page_size()) / cell).unwrap_or(usize::MAX);
            if index >= cells.len() {
                cells.resize(index + 1, 0);
            }
            cells[index] += u64::from(*is_resident);
        }
        Ok(())
    })?;
    Ok(cells)
}

/// Returns the ranges of bytes of `file` that are in memory, without long holes, sorted; none touches the next.
/// `check` fails if it is not to go on.
///
/// # Errors
///
/// Fails as [`resident`] does, and as `check` does.
pub(crate) fn ranges_in_memory(
    file: &File,
    check: impl Fn() -> io::Result<()>,
) -> io::Result<Vec<Range<u64>>> {
    let size = file.metadata()?.len();
    let mut ranges = Vec::<Range<u64>>::new();
    let mut next = 0;
    while let Some(offset) = next_data(file, next).filter(|offset| *offset < size) {
        check()?;
        let length = PART.min(size - offset);
        next = offset + length;
        visit_pages(file, (offset, length), |done, pages| {
            let mut start = offset + done;
            for run in pages.chunk_by(|one, next| one == next) {
                let end = (start + run.len() as u64 * page_size()).min(size);
                match ranges.last_mut() {
                    Some(last) if run[0] && last.end == start => last.end = end,
                    _ if run[0] => ranges.push(start..end),
                    _ => {}
                }
                start = end;
            }
            Ok(())
        })?;
    }
    Ok(ranges)
}

/// Visits the pages of `length` bytes of `file` from `offset` on, in parts of [`WINDOW`] bytes: where a part
/// starts, counted from `offset`, and which of its pages are resident.
///
/// # Errors
///
/// Fails with `PermissionDenied` if mincore would not report the truth.
fn visit_pages(
    file: &File,
    (offset, length): (u64, u64),
    mut visit: impl FnMut(u64, &[bool]) -> io::Result<()>,
) -> io::Result<()> {
    if !is_reported(file)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut done = 0;
    while done < length {
        let part = WINDOW.min(length - done);
        let seen = Mapping::new(file, offset + done, part)?.mincore()?;
        let seen: Vec<_> = seen.into_iter().map(|page| page & 1 == 1).collect();
        visit(done, &seen)?;
        done += part;
    }
    Ok(())
}

/// Returns whether mincore reports the truth: it reports all pages resident to a user who neither
/// owns the file nor may write it (Linux since 5.2, `can_do_mincore` in mm/mincore.c).
#[cfg(unix)]
fn is_reported(file: &File) -> io::Result<bool> {
    let stat = rustix::fs::fstat(file)?;
    let user = rustix::process::geteuid();
    // The kernel's own answer, which knows of namespaces and capabilities.
    #[cfg(target_os = "linux")]
    let may_write = {
        use rustix::fs::{Access, AtFlags, CWD, accessat};

        let file = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file));
        accessat(CWD, file, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    };
    // The answer as far as it can be found out without a path.
    #[cfg(not(target_os = "linux"))]
    let may_write = user.is_root() || stat.st_mode & 0o002 != 0;
    Ok(stat.st_uid == user.as_raw() || may_write)
}

#[cfg(not(unix))]
fn is_reported(_: &File) -> io::Result<bool> {
    Err(crate::unsupported("seeing pages"))
}

#[cfg(target_os = "linux")]
#[cfg(test)]
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
            let (offset, length) = span.range_in(file.metadata().unwrap().len()).unwrap();
            let by_mincore = seen_by_mincore(&file, offset, length).unwrap();
            let of = Pages::count(&file, span).unwrap();
            assert_eq!((of.total, of.resident), (by_mincore.total, by_mincore.resident));
            let map = resident(&file, offset, length, 2 * page_size()).unwrap();
            assert_eq!(residency_map(&file, span, 2).unwrap(), Some(map));
        }
    }

    #[test]
    fn nothing_is_claimed_of_a_file_of_others() {
        let path = Path::new("/etc/passwd");
        let pages = Pages::count_at(path).unwrap();
        if std::fs::OpenOptions::new().append(true).open(path).is_ok() {
            assert_eq!(pages.unknown, 0);
        } else {
            assert_eq!((pages.unknown, pages.resident, pages.share()), (pages.total, 0, None));
        }
    }
}

#[cfg(test)]
mod span_tests {
    use super::*;

    #[test]
    fn a_span_starts_with_a_page_and_ends_with_the_file() {
        let page = page_size();
        let of = |start, end, size| Span { start, end }.range_in(size);
        assert_eq!(Span::ALL.range_in(10), Some((0, 10)));
        assert_eq!(Span::ALL.range_in(0), None);
        assert_eq!(of(page + 1, None, 3 * page), Some((page, 2 * page)));
        assert_eq!(of(page, Some(page + 1), 3 * page), Some((page, 1)));
        assert_eq!(of(0, Some(u64::MAX), 5), Some((0, 5)));
        assert_eq!(of(page, None, page), None);
        assert_eq!(of(u64::MAX, None, 5), None);
        assert_eq!((pages(0), pages(1), pages(page), pages(page + 1)), (0, 1, 1, 2));
    }
}
