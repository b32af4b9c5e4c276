//! The files that this process has mapped.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::sys;

/// Maps the pages of `paths`, and of the files below them, wherever this process has mapped these
/// files, as a read of each page would. Returns how many bytes it mapped.
///
/// A process that reads a mapped file at random pays for the first read of each page; after this
/// call it is like a process that has run for long. Pages that are not in the page cache are read
/// from the device.
///
/// # Errors
///
/// Fails if the system does not list mappings (only Linux does), or cannot map pages ahead (before
/// Linux 5.14).
pub fn populate(paths: &[PathBuf]) -> io::Result<u64> {
    let paths: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mut bytes = 0;
    for mapped in maps.lines().filter_map(MappedRange::parse) {
        if !paths.iter().any(|path| mapped.path.starts_with(path)) {
            continue;
        }
        // A range may go on behind the end of the file, where nothing can be read.
        let length = match fs::metadata(mapped.path) {
            // It was removed, and stays mapped.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?.len().saturating_sub(mapped.offset),
        };
        let length = mapped.length.min(usize::try_from(length).unwrap_or(usize::MAX));
        if length > 0 {
            sys::populate(mapped.start, length)?;
            bytes += length as u64;
        }
    }
    Ok(bytes)
}

/// A range of this process's addresses that shows a file.
#[derive(Debug, PartialEq)]
struct MappedRange<'a> {
    start: usize,
    length: usize,
    /// The offset in the file at which the range starts.
    offset: u64,
    path: &'a Path,
}

impl<'a> MappedRange<'a> {
    /// Parses a line of `/proc/self/maps`; returns `None` if it shows no file.
    fn parse(line: &'a str) -> Option<Self> {
        let path = Path::new(&line[line.find('/')?..]);
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let [start, end] = [start, end].map(|word| usize::from_str_radix(word, 16));
        let offset = u64::from_str_radix(words.nth(1)?, 16).ok()?;
        let start = start.ok()?;
        Some(Self { start, length: end.ok()?.checked_sub(start)?, offset, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_list_are_read() {
        let line = "7f0000000000-7f0000003000 r--s 00002000 fe:00 123   /a/b c.db";
        let path = Path::new("/a/b c.db");
        let range = MappedRange { start: 0x7f00_0000_0000, length: 0x3000, offset: 0x2000, path };
        assert_eq!(MappedRange::parse(line), Some(range));
        for line in ["", "7f-80 rw-p 0 00:00 0 [heap]", "x /", "9-1 r--p 0 0 0 /a", "7f00 r--s /b"]
        {
            assert_eq!(MappedRange::parse(line), None, "{line}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mapped_file_is_mapped_in_whole_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 100_000]).unwrap();
        let before = populate(&[folder.path().to_owned()]).unwrap();
        assert_eq!(before, 0, "nothing maps it");
        let file = fs::File::open(&path).unwrap();
        let mapping = sys::Mapping::new(&file, 0, 100_000).unwrap();
        assert_eq!(populate(&[folder.path().to_owned()]).unwrap(), 100_000);
        assert_eq!(populate(&[path]).unwrap(), 100_000);
        assert_eq!(populate(&[folder.path().join("other")]).unwrap(), 0);
        drop(mapping);
    }
}
