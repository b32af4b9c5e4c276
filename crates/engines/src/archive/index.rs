//! The entries of an archive and where their values are.

use std::{
    fs::File,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use flate2::{CrcWriter, write::DeflateDecoder};
use kit::refusal;
use model::{Entry, EntryKind, Error, Key, KeyKind, Meta, OwnedKey, Result, Shown};

use super::inflate::Inflater;
use crate::{at, files, table::Table};

/// The place of a value in an archive.
pub(super) struct Slot {
    /// The offset of the value; or that of the header before it, with the highest bit set, until a read has
    /// looked how long that is.
    offset: AtomicU64,
    /// The number of bytes in the file.
    pub(super) stored: u64,
    /// The length of the value.
    pub(super) length: u64,
    /// The CRC-32 of the value; `None` if the archive has none.
    pub(super) checksum: Option<u32>,
    pub(super) is_deflated: bool,
    pub(super) meta: Meta,
}

/// The mark of an offset that is a header's.
const HEADER: u64 = 1 << 63;

impl Slot {
    /// Creates the slot of a value that is in the file as it is.
    pub(super) fn plain(offset: u64, length: u64, meta: Meta) -> Self {
        let offset = AtomicU64::new(offset);
        Self { offset, stored: length, length, checksum: None, is_deflated: false, meta }
    }

    /// Creates the slot of a value behind the header at `offset`.
    pub(super) fn behind_header(offset: u64, meta: Meta, length: u64) -> Self {
        Self::plain(offset | HEADER, length, meta)
    }

    /// Returns a slot of the same bytes with another mode and time.
    pub(super) fn linked(&self, meta: Meta) -> Self {
        let offset = AtomicU64::new(self.offset());
        Self { offset, meta, ..*self }
    }

    /// Returns the offset with the mark of a header.
    pub(super) fn offset(&self) -> u64 {
        self.offset.load(Relaxed)
    }

    #[inline]
    fn start(&self, file: &File) -> Result<u64> {
        let offset = self.offset();
        if offset & HEADER == 0 { Ok(offset) } else { self.find_start(file, offset & !HEADER) }
    }

    #[cold]
    fn find_start(&self, file: &File, header: u64) -> Result<u64> {
        let start = value_start(file, header)?;
        self.offset.store(start, Relaxed);
        Ok(start)
    }

    /// Copies the value to the front of `into` if it fits, and returns its length.
    #[inline]
    pub(super) fn read(
        &self,
        file: &File,
        into: &mut [u8],
        inflater: &mut Option<Inflater>,
    ) -> Result<usize> {
        let length = refusal::size(self.length)?;
        let Some(front) = into.get_mut(..length) else { return Ok(length) };
        let start = self.start(file)?;
        match inflater.as_mut().filter(|_| self.is_deflated) {
            Some(inflater) => inflater.inflate(file, (start, self.stored), front)?,
            None => at::read(file, front, start).map_err(|e| Error::io("reading a value", e))?,
        }
        Ok(length)
    }
}

/// The bytes of a part of a value.
const PART: u64 = 1 << 20;

impl Slot {
    /// Writes the value to `to` in parts, and compares its checksum.
    pub(super) fn write(&self, file: &File, to: &mut dyn Write) -> Result<()> {
        let mut summed = CrcWriter::new(to);
        if self.is_deflated {
            let mut inflated = DeflateDecoder::new(&mut summed);
            self.write_stored(file, &mut inflated)?;
            inflated.finish().map_err(not_written)?;
        } else {
            self.write_stored(file, &mut summed)?;
        }
        self.check(summed.crc().sum())
    }

    fn write_stored(&self, file: &File, to: &mut dyn Write) -> Result<()> {
        let (mut start, mut left) = (self.start(file)?, self.stored);
        let mut room = vec![0; refusal::size(left.min(PART))?];
        while left > 0 {
            let part = &mut room[..refusal::size(left.min(PART))?];
            at::read(file, part, start).map_err(|e| Error::io("reading a value", e))?;
            to.write_all(part).map_err(not_written)?;
            (start, left) = (start + part.len() as u64, left - part.len() as u64);
        }
        Ok(())
    }

    /// Compares the checksum of its bytes with that in the archive, if that has one.
    pub(super) fn check(&self, found: u32) -> Result<()> {
        match self.checksum {
            Some(checksum) if checksum != found => {
                Err(Error::corrupt("is damaged: its checksum differs"))
            }
            _ => Ok(()),
        }
    }
}

/// Creates the error of a value whose parts could not be inflated or written.
#[cold]
fn not_written(cause: io::Error) -> Error {
    match cause.kind() {
        io::ErrorKind::InvalidInput => Error::corrupt("is damaged: it cannot be inflated"),
        _ => Error::io("writing its copy", cause),
    }
}

/// The bytes of a zip's header before the name: the lengths of the name and of further fields are the last.
const LOCAL_HEADER: usize = 30;

/// Returns the offset of the value whose local header is at `header`.
fn value_start(file: &File, header: u64) -> Result<u64> {
    let mut bytes = [0; LOCAL_HEADER];
    at::read(file, &mut bytes, header).map_err(|e| Error::io("reading its header", e))?;
    if !bytes.starts_with(b"PK\x03\x04") {
        return Err(Error::corrupt("is damaged: its header does not start as one"));
    }
    let [.., a, b, c, d] = bytes;
    let further = u64::from(u16::from_le_bytes([a, b])) + u64::from(u16::from_le_bytes([c, d]));
    Ok(header + LOCAL_HEADER as u64 + further)
}

/// The entries of an archive, to be looked up.
pub(super) struct Entries {
    pub(super) values: Table<Slot>,
    pub(super) left_out: Vec<Entry>,
    pub(super) is_deflated: bool,
    /// Whether all names are numbers, so that the keys are integers unless names are asked for.
    pub(super) is_numbered: bool,
}

/// The entries of an archive by their names, while they are collected.
pub(super) struct Index {
    values: Table<Slot>,
    left_out: Vec<Entry>,
    is_deflated: bool,
}

impl Index {
    pub(super) fn new() -> Self {
        Self { values: Table::new(KeyKind::Names), left_out: Vec::new(), is_deflated: false }
    }

    /// Adds a value. The last one of a name counts, as for tar.
    pub(super) fn add(&mut self, name: &[u8], slot: Slot) -> Result<()> {
        let name = plain_name(name);
        self.is_deflated |= slot.is_deflated;
        if self.values.insert(Key::Name(name), slot)?.is_some() {
            self.leave_out(name, EntryKind::Earlier, &[]);
        }
        Ok(())
    }

    /// Adds a value that has the same bytes as the entry `target`; it is left out as a link if there is none.
    pub(super) fn add_link(&mut self, name: &[u8], target: &[u8], meta: Meta) -> Result<()> {
        let found = self.values.get(&Key::Name(plain_name(target)))?.map(|slot| slot.linked(meta));
        let Some(slot) = found else {
            self.leave_out(name, EntryKind::Link, target);
            return Ok(());
        };
        self.leave_out(name, EntryKind::HardLink, &[]);
        self.add(name, slot)
    }

    /// Adds an entry that is no value.
    pub(super) fn leave_out(&mut self, name: &[u8], kind: EntryKind, content: &[u8]) {
        let name = plain_name(name);
        let name = name.strip_suffix(b"/").unwrap_or(name).to_vec();
        // The folder that all is in is not one in the archive.
        if !matches!(&*name, b"" | b".") {
            self.left_out.push(Entry { name, kind, content: content.to_vec() });
        }
    }

    /// Returns the entries under keys of the kind that is asked for: as integers only if all are named as
    /// kvtest numbers files.
    pub(super) fn finish(self, keys: KeyKind) -> Result<Entries> {
        let Self { values, left_out, is_deflated } = self;
        let Table::Names(names) = values else { unreachable!("an index has names") };
        let number = |name: &[u8]| files::parse_number(name);
        let is_numbered = !names.is_empty() && names.keys().all(|name| number(name).is_some());
        let mut entries =
            Entries { values: Table::new(KeyKind::Integers), left_out, is_deflated, is_numbered };
        if keys == KeyKind::Names || !is_numbered {
            entries.values = Table::Names(names);
            return Ok(entries);
        }
        let mut sorted: Vec<_> =
            names.into_iter().filter_map(|(name, slot)| Some((number(&name)?, slot))).collect();
        sorted.sort_unstable_by_key(|(number, _)| *number);
        for (number, slot) in sorted {
            entries.values.insert(Key::Int(number), slot)?;
        }
        Ok(entries)
    }
}

/// Returns a name without the `./` that tar puts before it.
fn plain_name(mut name: &[u8]) -> &[u8] {
    while let Some(rest) = name.strip_prefix(b"./") {
        name = rest;
    }
    name
}

pub(super) fn entry_name(key: Key<'_>, room: &mut Vec<u8>) {
    room.clear();
    match key {
        Key::Int(number) => files::number_name(number, room),
        Key::Name(name) => room.extend_from_slice(name),
    }
}

/// Creates the error of an entry that cannot be read.
#[cold]
pub(super) fn unreadable(name: &[u8], why: &str) -> Error {
    Error::unsupported(format!("the entry {} {why}", Shown(name)))
}

#[cold]
pub(super) fn value_error(key: Key<'_>, error: &Error) -> Error {
    let key = OwnedKey::from(key);
    Error::new(error.kind(), format!("the value of {}: {error}", key.as_key()))
}
