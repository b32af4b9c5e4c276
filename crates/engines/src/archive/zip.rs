//! Archives of zip: the crate `rawzip` reads the directory at the end and writes it.

use std::{
    fs::File,
    io::{BufWriter, Write},
};

use flate2::{Compression, write::DeflateEncoder};
use model::{EntryKind, Error, Meta, Parts, Result, Shown};
use rawzip::{
    CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveWriter, ZipFileHeaderRecord,
    path::EntryPath,
    time::{UtcDateTime, ZipDateTimeKind},
};

use super::{
    check_within,
    index::{Index, Slot, unreadable},
    inflate::Inflater,
    length,
};

/// Returns whether a file that starts with these bytes is an archive: an entry, or the end of an empty one.
pub(super) fn is_start(start: [u8; 4]) -> bool {
    [*b"PK\x03\x04", *b"PK\x05\x06"].contains(&start)
}

/// Reads the directory of the archive in `file`: where each value is, and what is left out.
pub(super) fn index(file: &File) -> Result<Index> {
    let (length, mut into) = (length(file)?, Index::new());
    let own = file.try_clone().map_err(|e| Error::io("its directory", e))?;
    let mut room = vec![0; RECOMMENDED_BUFFER_SIZE];
    let failed = |cause: rawzip::Error| match cause.kind() {
        rawzip::ErrorKind::IO(_) => Error::failed(cause.to_string()),
        _ => Error::corrupt(format!("is no whole zip archive: {cause}")),
    };
    let archive = ZipArchive::from_file(own, &mut room).map_err(failed)?;
    let (mut entries, mut count) = (archive.entries(&mut room), 0);
    while let Some(entry) = entries.next_entry().map_err(failed)? {
        add(&entry, file, &mut into, length)?;
        count += 1;
    }
    let counted = archive.entries_hint();
    if count != counted {
        let what = format!("its directory has {count} entries, and {counted} at its end");
        return Err(Error::corrupt(what));
    }
    Ok(into)
}

/// Adds an entry of a file of `length` bytes.
fn add(entry: &ZipFileHeaderRecord<'_>, file: &File, into: &mut Index, length: u64) -> Result<()> {
    let path = entry.file_path();
    let name = path.as_bytes();
    if entry.is_dir() {
        into.leave_out(name, EntryKind::Folder, &[]);
        return Ok(());
    }
    let slot = slot(entry, name)?;
    check_within(name, entry.local_header_offset(), slot.stored, length)?;
    match entry.mode().value() & 0o170_000 {
        0o120_000 => {
            let mut target = vec![0; usize::try_from(slot.length).unwrap_or(0).min(LONGEST_LINK)];
            slot.read(file, &mut target, &mut slot.is_deflated.then(Inflater::new))?;
            into.leave_out(name, EntryKind::Link, &target);
            Ok(())
        }
        // An entry that says nothing is a file, and what came through a pipe is called one, but has a value.
        0o100_000 | 0o010_000 => into.add(name, slot),
        _ => {
            into.leave_out(name, EntryKind::Special, &[]);
            Ok(())
        }
    }
}

/// The longest target of a link.
const LONGEST_LINK: usize = 4096;

/// The most bytes into which deflate inflates one.
const MOST_INFLATED: u64 = 1032;

/// Returns where the value of an entry is, and how it is read.
fn slot(entry: &ZipFileHeaderRecord<'_>, name: &[u8]) -> Result<Slot> {
    if entry.flags().is_encrypted() {
        return Err(unreadable(name, "is encrypted; storemark reads no encrypted entries"));
    }
    let method = entry.compression_method();
    let is_deflated = match method {
        CompressionMethod::STORE => false,
        CompressionMethod::DEFLATE => true,
        _ => {
            let how =
                format!("is compressed by method {method}; accepted: 0 (stored) and 8 (deflated)");
            return Err(unreadable(name, &how));
        }
    };
    let (stored, length) = (entry.compressed_size_hint(), entry.uncompressed_size_hint());
    let possible = if is_deflated { stored.saturating_mul(MOST_INFLATED) } else { stored };
    if length > possible || !is_deflated && length < stored {
        let why = format!("has {stored} bytes, which cannot be the {length} of its value");
        return Err(Error::corrupt(format!("the entry {} {why}", Shown(name))));
    }
    let mode = 0o100_000 | entry.mode().value() & 0o7777;
    let (seconds, nanoseconds) = time(&entry.last_modified());
    let meta = Meta { mode, seconds, nanoseconds };
    let mut slot = Slot::behind_header(entry.local_header_offset(), meta, length);
    (slot.stored, slot.checksum, slot.is_deflated) = (stored, Some(entry.crc32()), is_deflated);
    Ok(slot)
}

/// Returns seconds since 1970 and nanoseconds. A time without a zone is taken for UTC.
fn time(time: &ZipDateTimeKind) -> (i64, u32) {
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let utc = UtcDateTime::from_components(year, month, day, hour, minute, second, 0);
    (utc.map_or(0, |utc| utc.to_unix()), time.nanosecond())
}

/// The latest time that an archive holds, in seconds since 1970.
const LATEST: i64 = i32::MAX as i64;

/// Writes an archive.
pub(super) struct ZipWriter {
    archive: ZipArchiveWriter<BufWriter<File>>,
    is_deflated: bool,
}

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;

impl ZipWriter {
    pub(super) fn new(file: File, is_deflated: bool) -> Self {
        let archive = ZipArchiveWriter::new(BufWriter::with_capacity(BUFFER, file));
        Self { archive, is_deflated }
    }

    pub(super) fn is_deflated(&self) -> bool {
        self.is_deflated
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, name: &[u8], mut parts: Parts<'_>, meta: Meta) -> Result<()> {
        if !(0..=LATEST).contains(&meta.seconds) {
            let why = format!("its time ({} s since 1970) is in no zip archive", meta.seconds);
            return Err(Error::unsupported(format!("{why}; accepted: 1970 to 2038")));
        }
        self.try_add(name, &mut parts, meta).map_err(|e| Error::failed(e.to_string()))
    }

    fn try_add(
        &mut self,
        name: &[u8],
        parts: &mut Parts<'_>,
        meta: Meta,
    ) -> Result<(), rawzip::Error> {
        let method = [CompressionMethod::STORE, CompressionMethod::DEFLATE];
        let entry = self.archive.new_file(EntryPath::verbatim(name));
        let entry = entry
            .compression_method(method[usize::from(self.is_deflated)])
            .unix_permissions(meta.mode)
            .last_modified(UtcDateTime::from_unix(meta.seconds));
        let (mut entry, data) = entry.start()?;
        let output = if self.is_deflated {
            let mut data = data.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
            (parts.write)(&mut data)?;
            let (encoder, output) = data.finish()?;
            encoder.finish()?;
            output
        } else {
            let mut data = data.wrap(&mut entry);
            (parts.write)(&mut data)?;
            data.finish()?.1
        };
        entry.finish(output).map(drop)
    }

    /// Flushes nothing: the writer has no way to its file before the end, where all is written.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as the other writer's")]
    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Writes the directory.
    pub(super) fn finish(self) -> Result<()> {
        let mut file = self.archive.finish().map_err(|e| Error::failed(e.to_string()))?;
        file.flush().map_err(|e| Error::io("writing its end", e))
    }
}
