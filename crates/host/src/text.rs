//! Reads the small text files of `/proc` and `/sys`. A file that is missing or has another form
//! yields nothing, so no reader needs to know on which system it runs. Windows has neither folder: there
//! the paths would lead to the current drive.

use std::{
    fs::{self, DirEntry},
    path::Path,
};

pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    if cfg!(windows) { None } else { fs::read_to_string(path).ok() }
}

/// Returns the first line of a file, unless it is empty.
pub(crate) fn read_line(path: impl AsRef<Path>) -> Option<String> {
    first_line(&read(path)?)
}

pub(crate) fn first_line(text: &str) -> Option<String> {
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

pub(crate) fn read_number(path: impl AsRef<Path>) -> Option<u64> {
    number(&read_line(path)?)
}

/// Returns the entries of a folder, as far as they can be read.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Parses a counter; `None` if it is above 2^53, so that sums of many cannot overflow.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| *number < 1 << 53)
}

/// Returns the value of the first line of the form `name SEPARATOR value`, unless it is empty.
pub(crate) fn value<'a>(name: &str, separator: char, text: &'a str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(separator));
    let (_, value) = lines.find(|(key, _)| key.trim() == name)?;
    Some(value.trim()).filter(|value| !value.is_empty())
}

/// Returns the counter on the line `name SEPARATOR counter`.
pub(crate) fn count(name: &str, separator: char, text: &str) -> Option<u64> {
    number(value(name, separator, text)?)
}

/// Returns the bytes on the line `name: 123 kB`; by `kB` the kernel means 1024 bytes.
pub(crate) fn bytes(name: &str, text: &str) -> Option<u64> {
    Some(number(value(name, ':', text)?.strip_suffix(" kB")?)? * 1024)
}

/// Returns every beginning of `sample`, and `sample` with each single byte replaced: input on
/// which no parser may panic.
#[doc(hidden)]
pub fn mutilations(sample: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let beginnings = (0..=sample.len()).map(|end| sample[..end].to_vec());
    let replaced = (0..sample.len()).flat_map(move |at| {
        [b' ', b'\n', b'9', b'\\', 0xff].into_iter().map(move |byte| {
            let mut text = sample.to_vec();
            text[at] = byte;
            text
        })
    });
    beginnings.chain(replaced)
}

#[cfg(test)]
pub(crate) use tests::survives;

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes damaged copies of `sample` to a parser, which must not panic.
    pub(crate) fn survives<T>(sample: &str, parse: impl Fn(&str) -> T) {
        for text in mutilations(sample.as_bytes()) {
            let _ = parse(&String::from_utf8_lossy(&text));
        }
    }

    const SAMPLE: &str = "MemTotal:   16 kB\nempty:\ncount: 7\ncount: 8\npswpin 3\npswpin_x 4\n";

    #[test]
    fn the_first_line_of_exactly_that_name_counts() {
        assert_eq!(value("count", ':', SAMPLE), Some("7"));
        assert_eq!(count("pswpin", ' ', SAMPLE), Some(3));
        assert_eq!(bytes("MemTotal", SAMPLE), Some(16 << 10));
        for absent in ["coun", "counts", "empty", ""] {
            assert_eq!(value(absent, ':', SAMPLE), None, "{absent}");
        }
        survives(SAMPLE, |text| (bytes("MemTotal", text), count("pswpin", ' ', text)));
    }

    #[test]
    fn only_plausible_numbers_are_read() {
        assert_eq!(number("4096"), Some(4096));
        for odd in ["", "x", "-1", "5 6", "9007199254740992", "99999999999999999999"] {
            assert_eq!(number(odd), None, "{odd}");
        }
        for line in ["MemTotal: 5", "MemTotal: x kB", "MemTotal 5 kB", "MemTotal: -5 kB"] {
            assert_eq!(bytes("MemTotal", line), None, "{line}");
        }
    }
}
