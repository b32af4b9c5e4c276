//! Archives of tar: the crate `tar` reads the headers, with long names in the forms of GNU and of pax.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use kit::refusal;
use model::{EntryKind, Error, Meta, Parts, Result};
use tar::{Builder, Entry, EntryType, Header};

use super::{
    check_within,
    index::{Index, Slot, unreadable},
    length,
};
use crate::at;

/// The bytes of a header, and the multiple of which each entry is.
const BLOCK: usize = 512;

/// Returns whether the file at `path` is an archive: its first header has the checksum that it says, or it is
/// one record of zeros, as tar writes an empty archive.
pub(super) fn is_archive(path: &Path) -> bool {
    let Some(start) = at::start::<BLOCK>(path) else { return false };
    if start == [0; BLOCK] {
        return at::length(path).is_ok_and(|length| length == RECORD);
    }
    let header = Header::from_byte_slice(&start);
    // The bytes of the checksum count as spaces.
    let others = start[..148].iter().chain(&start[156..]);
    let sum = others.map(|byte| u32::from(*byte)).sum::<u32>() + 8 * u32::from(b' ');
    header.cksum().is_ok_and(|own| own == sum)
}

/// Looks up the entries of the archive in `file`.
pub(super) fn index(file: &File) -> Result<Index> {
    let (length, mut into) = (length(file)?, Index::new());
    let mut archive = tar::Archive::new(file);
    let mut end = 0;
    for entry in archive.entries_with_seek().map_err(|e| not_whole(e, end))? {
        let mut entry = entry.map_err(|e| not_whole(e, end))?;
        let (start, size) = (entry.raw_file_position(), entry.size());
        add(&mut entry, &mut into, length)?;
        end = (start + size).next_multiple_of(BLOCK as u64);
    }
    let mut mark = [1; BLOCK];
    if at::read(file, &mut mark, end).is_err() || mark != [0; BLOCK] {
        return Err(Error::corrupt(
            "does not end in blocks of zeros, as a whole tar archive does: it was cut short, or its writer \
             was interrupted",
        ));
    }
    Ok(into)
}

/// Creates the error of a header after the entries that end at `end`.
#[cold]
fn not_whole(cause: io::Error, end: u64) -> Error {
    match cause.kind() {
        io::ErrorKind::Other | io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
            Error::corrupt(format!("is no whole tar archive: at byte {end}: {cause}"))
        }
        _ => Error::io("its headers", cause),
    }
}

/// Adds an entry of a file of `length` bytes.
fn add(entry: &mut Entry<'_, impl io::Read>, into: &mut Index, length: u64) -> Result<()> {
    let name = entry.path_bytes().into_owned();
    let kind = entry.header().entry_type();
    let (meta, is_sparse) = properties(entry, &name)?;
    if is_sparse || kind.is_gnu_sparse() {
        return Err(unreadable(
            &name,
            "is sparse, which storemark does not read; extract it with tar",
        ));
    }
    if kind == EntryType::XGlobalHeader {
        return Ok(());
    }
    let (start, size) = (entry.raw_file_position(), entry.size());
    check_within(&name, start, size, length)?;
    let target = || entry.link_name_bytes().unwrap_or_default().into_owned();
    match kind {
        // A folder in the oldest form has no type of its own.
        EntryType::Regular | EntryType::Continuous if !name.ends_with(b"/") => {
            into.add(&name, Slot::plain(start, size, meta))
        }
        EntryType::Link => into.add_link(&name, &target(), meta),
        EntryType::Symlink => {
            into.leave_out(&name, EntryKind::Link, &target());
            Ok(())
        }
        EntryType::Directory | EntryType::Regular | EntryType::Continuous => {
            into.leave_out(&name, EntryKind::Folder, &[]);
            Ok(())
        }
        _ => {
            into.leave_out(&name, EntryKind::Special, &[]);
            Ok(())
        }
    }
}

/// Returns the mode and time of an entry, and whether pax calls it sparse.
fn properties(entry: &mut Entry<'_, impl io::Read>, name: &[u8]) -> Result<(Meta, bool)> {
    let bad = |cause: io::Error| {
        Error::corrupt(format!("the header of {} is damaged: {cause}", model::Shown(name)))
    };
    let mode = entry.header().mode().map_err(bad)?;
    let seconds = time(&entry.header().as_old().mtime).map_or_else(
        || entry.header().mtime().map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX)),
        Ok,
    );
    let mut meta =
        Meta { mode: 0o100_000 | mode & 0o7777, seconds: seconds.map_err(bad)?, nanoseconds: 0 };
    let mut is_sparse = false;
    for extension in entry.pax_extensions().map_err(bad)?.into_iter().flatten() {
        let extension = extension.map_err(bad)?;
        is_sparse |= extension.key_bytes().starts_with(b"GNU.sparse.");
        if let (Ok("mtime"), Ok(value)) = (extension.key(), extension.value()) {
            (meta.seconds, meta.nanoseconds) = pax_time(value)
                .ok_or_else(|| bad(io::Error::other(format!("its time is {value:?}"))))?;
        }
    }
    Ok((meta, is_sparse))
}

/// Returns the time before 1970 that GNU tar writes as a negative number in base 256; `None` for others.
fn time(field: &[u8; 12]) -> Option<i64> {
    let (first, rest) = field.split_first_chunk::<4>()?;
    (*first == [0xFF; 4]).then(|| rest.try_into().map(i64::from_be_bytes).ok()).flatten()
}

/// Parses `-1.25` as the second -2 and 750,000,000 nanoseconds.
fn pax_time(value: &str) -> Option<(i64, u32)> {
    let (seconds, fraction) = value.split_once('.').unwrap_or((value, ""));
    let whole: i64 = seconds.parse().ok()?;
    let digits = fraction.get(..fraction.len().min(9))?;
    let nanoseconds: u32 = format!("{digits:0<9}").parse().ok()?;
    match (seconds.starts_with('-'), nanoseconds) {
        (true, 1..) => Some((whole.checked_sub(1)?, 1_000_000_000 - nanoseconds)),
        _ => Some((whole, nanoseconds)),
    }
}

/// Writes an archive in the form of POSIX (ustar); what its fields do not hold is in headers of pax.
pub(super) struct TarWriter(Builder<BufWriter<File>>);

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;

/// The bytes of an archive are a multiple of this, as tar writes them.
const RECORD: u64 = 20 * BLOCK as u64;

/// The largest number that the field of a size or time of a header holds: 11 octal digits.
const LARGEST: u64 = (1 << 33) - 1;

impl TarWriter {
    pub(super) fn new(file: File) -> Self {
        Self(Builder::new(BufWriter::with_capacity(BUFFER, file)))
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, name: &[u8], parts: Parts<'_>, meta: Meta) -> Result<()> {
        let Parts { length: size, write } = parts;
        let failed = |e| Error::io("writing it", e);
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(meta.mode & 0o7777);
        let mtime = u64::try_from(meta.seconds).ok();
        let mtime = mtime.filter(|seconds| *seconds <= LARGEST);
        header.set_mtime(mtime.unwrap_or(0));
        header.set_size(size);
        let field = &mut header.as_old_mut().name;
        let fits = name.len() <= field.len();
        let shown = &name[..name.len().min(field.len())];
        field[..shown.len()].copy_from_slice(shown);
        header.set_cksum();
        let (seconds, digits) = (meta.seconds.to_string(), size.to_string());
        let further = [
            ("path", name, !fits),
            ("size", digits.as_bytes(), size > LARGEST),
            ("mtime", seconds.as_bytes(), mtime.is_none()),
        ];
        let further = further.into_iter().filter(|(.., is_needed)| *is_needed);
        self.0
            .append_pax_extensions(further.map(|(key, value, _)| (key, value)))
            .map_err(failed)?;
        self.0.append(&header, io::empty()).map_err(failed)?;
        write(self.0.get_mut()).map_err(failed)?;
        let padding = size.next_multiple_of(BLOCK as u64) - size;
        let padding = &[0; BLOCK][..refusal::size(padding)?];
        self.0.get_mut().write_all(padding).map_err(failed)
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        self.0.get_mut().flush().map_err(|e| Error::io("writing it", e))
    }

    /// Writes the end of the archive.
    pub(super) fn finish(self) -> Result<()> {
        let failed = |e: io::Error| Error::io("writing its end", e);
        let file = self.0.into_inner().map_err(failed)?;
        let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
        let written = length(&file)?;
        file.set_len(written.next_multiple_of(RECORD)).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_pax_has_nanoseconds_and_may_be_before_1970() {
        for (text, time) in [
            ("1700000000", (1_700_000_000, 0)),
            ("1700000000.25", (1_700_000_000, 250_000_000)),
            ("1.1234567899", (1, 123_456_789)),
            ("-1.25", (-2, 750_000_000)),
            ("-0.5", (-1, 500_000_000)),
            ("-3", (-3, 0)),
        ] {
            assert_eq!(pax_time(text), Some(time), "{text}");
        }
        for wrong in ["", ".5", "x", "1.x", "1.é", "99999999999999999999"] {
            assert_eq!(pax_time(wrong), None, "{wrong}");
        }
    }
}
