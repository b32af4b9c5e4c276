//! A part of a file, in bytes and pages.

/// From byte `start` to before byte `end`, or to the end of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first byte; the page that holds it counts whole.
    pub start: u64,
    /// The byte after the last.
    pub end: Option<u64>,
}

impl Span {
    /// The whole file.
    pub const ALL: Self = Self { start: 0, end: None };

    /// Offset and length of what a file of `size` bytes has of this span, from the start of a
    /// page. None: it ends before the span starts.
    pub fn of(self, size: u64) -> Option<(u64, u64)> {
        let start = self.start - self.start % page_size();
        let end = self.end.map_or(size, |end| end.min(size));
        (start < end).then(|| (start, end - start))
    }
}

/// Pages that `bytes` take from the start of a page.
pub(crate) fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(page_size())
}

/// The size of a page in bytes.
#[cfg(unix)]
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// The size of a page in bytes; if the system does not report it, the usual one.
#[cfg(not(unix))]
pub fn page_size() -> u64 {
    4096
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_starts_with_a_page_and_ends_with_the_file() {
        let page = page_size();
        let of = |start, end, size| Span { start, end }.of(size);
        assert_eq!(Span::ALL.of(10), Some((0, 10)));
        assert_eq!(Span::ALL.of(0), None);
        assert_eq!(of(page + 1, None, 3 * page), Some((page, 2 * page)));
        assert_eq!(of(page, Some(page + 1), 3 * page), Some((page, 1)));
        assert_eq!(of(0, Some(u64::MAX), 5), Some((0, 5)));
        assert_eq!(of(page, None, page), None);
        assert_eq!(of(u64::MAX, None, 5), None);
        assert_eq!((pages(0), pages(1), pages(page), pages(page + 1)), (0, 1, 1, 2));
    }
}
