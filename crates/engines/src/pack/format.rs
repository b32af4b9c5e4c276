//! The file, byte by byte. Numbers are little-endian; there is no padding.
//!
//! | part | bytes | what |
//! | --- | --- | --- |
//! | head | 14 | `storemark-pack` |
//! | | 2 | version of the format: 2 |
//! | values | any | back to back in the order of writing, with gaps where values were given up or a longer table was |
//! | table | | for each key, in key order: |
//! | | 8, or 4 + n | the key: an integer, or a name's length n and its bytes |
//! | | 8 | offset of the value from the start of the file |
//! | | 8 | its length |
//! | | 8 | the room it may grow into in place, at least its length |
//! | | 4 | CRC-32 of the value (that of zlib and PNG) |
//! | | 1 | 1: mode and time follow, 0: they do not |
//! | | 4, 8, 4 | mode, seconds since 1970 (signed), nanoseconds |
//! | trailer | 8 | offset of the table from the start of the file |
//! | | 8 | number of keys |
//! | | 1 | kind of keys: 0 integers, 1 names |
//! | | 8 | FNV-1a, 64 bits, of the table and the trailer up to here |
//! | | 7 | `packend` |
//!
//! Before anything changes, zeros are written over `packend`, and when the store is settled the table is
//! written again, to the end of the file. So a file whose writer was interrupted ends without a trailer.
//! A file never gets shorter, because Windows cuts nothing off a file that is mapped.

use std::{
    fs::File,
    io::{self, ErrorKind},
    num::NonZeroU64,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use kit::{meta, refusal};
use model::{Error, Key, KeyKind, Meta, Result};

use crate::{at, table::Table};

/// The start of a file.
pub(super) const HEAD: [u8; 16] = *b"storemark-pack\x02\x00";
const TRAILER: usize = FIELDS + CHECKSUM + END.len();
/// The bytes of offset, number and kind, which the checksum covers too.
const FIELDS: usize = 8 + 8 + 1;
const CHECKSUM: usize = 8;
const MAGIC: &[u8; 14] = b"storemark-pack";
const END: &[u8; 7] = b"packend";

/// Returns whether a file that starts with `head` is a pack of any version.
pub(super) fn is_pack(head: &[u8; HEAD.len()]) -> bool {
    head.starts_with(MAGIC)
}

/// The length of a value and its CRC-32, which detects every flipped byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) length: u32,
    pub(super) checksum: u32,
}

impl Content {
    pub(super) fn measure(value: &[u8]) -> Result<Self> {
        let length = u32::try_from(value.len())
            .map_err(|_| Error::unsupported("a value of 4 GiB or more does not fit into a pack"))?;
        Ok(Self { length, checksum: crc32fast::hash(value) })
    }

    fn word(self) -> u64 {
        u64::from(self.length) << 32 | u64::from(self.checksum)
    }

    #[expect(clippy::cast_possible_truncation, reason = "each half of the word is a number")]
    fn of_word(word: u64) -> Self {
        Self { length: (word >> 32) as u32, checksum: word as u32 }
    }
}

/// The place of a value. Offset and room never change; the content does, under a shared lock, when
/// the value is overwritten in place. A slot is never in two cache lines, and an `Option` of it is
/// no larger.
#[repr(align(32))]
pub(super) struct Slot {
    pub(super) offset: NonZeroU64,
    pub(super) room: u64,
    /// The length and the checksum, which change together.
    content: AtomicU64,
    pub(super) meta: Option<Box<Meta>>,
}

impl Slot {
    /// Creates a slot; returns `None` for offset 0, where the head is.
    pub(super) fn new(
        offset: u64,
        content: Content,
        room: u64,
        meta: Option<Meta>,
    ) -> Option<Self> {
        let (offset, meta) = (NonZeroU64::new(offset)?, meta.map(Box::new));
        Some(Self { offset, room, content: AtomicU64::new(content.word()), meta })
    }

    /// Returns the length and the checksum of the value. While a session overwrites the value, the
    /// bytes in the file may not match them.
    pub(super) fn content(&self) -> Content {
        Content::of_word(self.content.load(Relaxed))
    }

    /// Replaces the content after the value was overwritten; returns the old one.
    pub(super) fn replace(&self, content: Content) -> Content {
        Content::of_word(self.content.swap(content.word(), Relaxed))
    }

    #[inline]
    pub(super) fn length(&self) -> u64 {
        self.content.load(Relaxed) >> 32
    }
}

/// Writes zeros over the last bytes of a file that ends in a trailer, which is none any longer.
pub(super) fn void_trailer(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    at::write(file, &[0; END.len()], length.saturating_sub(END.len() as u64))
}

/// Encodes the table of these slots and the trailer, for a file of `length` bytes whose values end
/// at `end`. Returns the offset from which on they reach the end of the file, or beyond, and the bytes.
pub(super) fn encode(slots: &Table<Slot>, end: u64, length: u64) -> Result<(u64, Vec<u8>)> {
    let mut out = Vec::with_capacity(slots.len() * 48 + TRAILER);
    for (key, slot) in slots.sorted(None, u64::MAX)? {
        match key {
            Key::Int(key) => out.extend(key.to_le_bytes()),
            Key::Name(name) => {
                let length = u32::try_from(name.len()).map_err(|_| {
                    Error::unsupported("a name of 4 GiB or more does not fit into a pack")
                })?;
                out.extend(length.to_le_bytes());
                out.extend(name);
            }
        }
        for number in [slot.offset.get(), slot.length(), slot.room] {
            out.extend(number.to_le_bytes());
        }
        out.extend(slot.content().checksum.to_le_bytes());
        out.push(u8::from(slot.meta.is_some()));
        out.extend(slot.meta.iter().flat_map(|meta| meta::bytes(**meta)));
    }
    let start = end.max(length.saturating_sub((out.len() + TRAILER) as u64));
    out.extend(start.to_le_bytes());
    out.extend((slots.len() as u64).to_le_bytes());
    out.push(u8::from(slots.keys() == KeyKind::Names));
    out.extend(fnv1a(&out).to_le_bytes());
    out.extend(END);
    Ok((start, out))
}

/// Reads the slots of a file and the offset at which its values end.
///
/// # Errors
///
/// Fails if the file is no pack, or its table is missing or damaged.
pub(super) fn read_table(file: &File) -> Result<(Table<Slot>, u64)> {
    let failed = |e| Error::io("reading its table", e);
    let length = file.metadata().map_err(failed)?.len();
    check_head(file)?;
    let last = length.checked_sub(TRAILER as u64).ok_or_else(no_trailer)?;
    let mut trailer = [0; TRAILER];
    at::read(file, &mut trailer, last).map_err(failed)?;
    let within = HEAD.len() as u64..=last;
    let start = table_start(&trailer).filter(|start| within.contains(start));
    let start = start.ok_or_else(no_trailer)?;
    let mut tail = vec![0; refusal::size(length - start)?];
    at::read(file, &mut tail, start).map_err(failed)?;
    Ok((decode(&tail, start)?, start))
}

fn check_head(file: &File) -> Result<()> {
    let mut head = [0; HEAD.len()];
    match at::read(file, &mut head, 0) {
        Ok(()) if head == HEAD => Ok(()),
        Ok(()) if is_pack(&head) => {
            let version = u16::from_le_bytes([head[14], head[15]]);
            Err(Error::unsupported(format!("a pack of version {version}; this program knows 2")))
        }
        Err(e) if e.kind() != ErrorKind::UnexpectedEof => Err(Error::io("reading its head", e)),
        _ => Err(Error::corrupt("not a pack: it does not start as one")),
    }
}

fn no_trailer() -> Error {
    Error::corrupt(
        "the table at its end is missing: its writer was interrupted, or the file was cut short",
    )
}

/// Returns the start of the table, from a trailer; `None` if these bytes are no trailer.
fn table_start(mut trailer: &[u8]) -> Option<u64> {
    trailer.ends_with(END).then(|| number(&mut trailer)).flatten()
}

/// Decodes the slots in `tail`: the table and the trailer, as they are in the file from `start` on.
fn decode(tail: &[u8], start: u64) -> Result<Table<Slot>> {
    let (covered, mut rest) = tail.split_at(tail.len() - CHECKSUM - END.len());
    if number(&mut rest) != Some(fnv1a(covered)) {
        return Err(Error::corrupt("the checksum of its table is wrong"));
    }
    let (table, fields) = covered.split_at(covered.len() - FIELDS);
    slots(table, fields, start).ok_or_else(|| Error::corrupt("its table contradicts itself"))
}

fn slots(mut table: &[u8], mut fields: &[u8], end: u64) -> Option<Table<Slot>> {
    let (_start, count) = (number(&mut fields)?, number(&mut fields)?);
    let keys = match fields {
        [0] => KeyKind::Integers,
        [1] => KeyKind::Names,
        _ => return None,
    };
    let mut slots = Table::new(keys);
    for _ in 0..count {
        let key = match keys {
            KeyKind::Integers => Key::Int(i64::from_le_bytes(take(&mut table)?)),
            KeyKind::Names => {
                let length = u32::from_le_bytes(take(&mut table)?);
                Key::Name(table.split_off(..usize::try_from(length).ok()?)?)
            }
        };
        slots.insert(key, slot(&mut table, end)?).ok()?;
    }
    table.is_empty().then_some(slots)
}

/// Takes the next slot of a table; returns `None` if its value is not before `end`.
fn slot(table: &mut &[u8], end: u64) -> Option<Slot> {
    let (offset, length, room) = (number(table)?, number(table)?, number(table)?);
    let checksum = u32::from_le_bytes(take(table)?);
    let meta = match take(table)? {
        [0] => None,
        [_] => Some(meta::from_bytes(&take::<16>(table)?)?),
    };
    let is_sound = length <= room && offset.checked_add(room)? <= end;
    let content = Content { length: u32::try_from(length).ok()?, checksum };
    if is_sound { Slot::new(offset, content, room, meta) } else { None }
}

/// Takes the next bytes; returns `None` past the end.
fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, left) = bytes.split_first_chunk()?;
    *bytes = left;
    Some(*taken)
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_le_bytes)
}

/// Returns the FNV-1a hash with 64 bits (Fowler, Noll, Vo; constants from RFC 9923).
fn fnv1a(bytes: &[u8]) -> u64 {
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
    }

    fn two_names() -> Vec<u8> {
        let mut slots = Table::new(KeyKind::Names);
        let meta = Meta { mode: 0o100_644, seconds: -1, nanoseconds: 7 };
        slots
            .insert(
                Key::Name(b"a/b"),
                Slot::new(16, Content::measure(b"a b").unwrap(), 4, Some(meta)).unwrap(),
            )
            .unwrap();
        slots
            .insert(Key::Name(b""), Slot::new(20, Content::measure(b"").unwrap(), 0, None).unwrap())
            .unwrap();
        encode(&slots, 20, 0).unwrap().1
    }

    fn read(tail: &[u8]) -> Option<Table<Slot>> {
        let start = table_start(tail.last_chunk::<TRAILER>()?)?;
        decode(tail, start).ok()
    }

    #[test]
    fn a_table_comes_back_as_it_was() {
        let slots = read(&two_names()).unwrap();
        let slot = slots.get(&Key::Name(b"a/b")).unwrap().unwrap();
        assert_eq!((slot.offset.get(), slot.length(), slot.room), (16, 3, 4));
        assert_eq!(slot.content(), Content::measure(b"a b").unwrap());
        assert_eq!(slot.meta.as_deref().unwrap().seconds, -1);
        assert!(slots.get(&Key::Name(b"")).unwrap().unwrap().meta.is_none());
    }

    #[test]
    fn any_flipped_bit_and_any_missing_byte_shows() {
        let good = two_names();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(read(&bad).is_none(), "byte {at}");
            assert!(read(&good[..at]).is_none(), "cut at {at}");
        }
    }
}
