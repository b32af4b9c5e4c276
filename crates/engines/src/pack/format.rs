//! The file, byte by byte. Numbers are little-endian; there is no padding.
//!
//! | part | bytes | what |
//! | --- | --- | --- |
//! | head | 14 | `storemark-pack` |
//! | | 2 | version of the format: 1 |
//! | values | any | back to back in the order of writing, with gaps where values were given up |
//! | table | | for each key, in key order: |
//! | | 8, or 4 + n | the key: an integer, or a name's length n and its bytes |
//! | | 8 | offset of the value from the start of the file |
//! | | 8 | its length |
//! | | 8 | the room it may grow into in place, at least its length |
//! | | 1 | 1: mode and time follow, 0: they do not |
//! | | 4, 8, 4 | mode, seconds since 1970 (signed), nanoseconds |
//! | trailer | 8 | offset of the table from the start of the file |
//! | | 8 | number of keys |
//! | | 1 | kind of keys: 0 integers, 1 names |
//! | | 8 | FNV-1a, 64 bits, of the table and the trailer up to here |
//! | | 7 | `packend` |
//!
//! The table is cut off before anything changes and written again when the store is settled, so
//! that a file whose writer was interrupted ends without a trailer.

use model::{Error, Key, KeyKind, Meta, Result};

use super::store::Slot;
use crate::table::Table;

pub(super) const HEAD: [u8; 16] = *b"storemark-pack\x01\x00";
pub(super) const TRAILER: usize = 8 + 8 + 1 + 8 + END.len();
const MAGIC: &[u8; 14] = b"storemark-pack";
const END: &[u8; 7] = b"packend";

/// Whether a file that starts with `head` is a pack of any version.
pub(super) fn is_pack(head: &[u8; HEAD.len()]) -> bool {
    head.starts_with(MAGIC)
}

/// What the trailer says of the table before it.
pub(super) struct Trailer {
    pub(super) table: u64,
    count: u64,
    keys: KeyKind,
    checksum: u64,
}

impl Trailer {
    /// `None`: these bytes are no trailer.
    pub(super) fn decode(bytes: &[u8; TRAILER]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let (table, count) = (bytes.u64()?, bytes.u64()?);
        let keys = match bytes.u8()? {
            0 => KeyKind::Integers,
            1 => KeyKind::Names,
            _ => return None,
        };
        let checksum = bytes.u64()?;
        (bytes.0 == END).then_some(Self { table, count, keys, checksum })
    }
}

/// The table of these slots and the trailer, for a file whose values end at `end`.
pub(super) fn encode(slots: &Table<Slot>, end: u64) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(slots.len() * 48 + TRAILER);
    for (key, slot) in slots.sorted(None, u64::MAX)? {
        encode_key(key, &mut out);
        for number in [slot.offset(), slot.length(), slot.room] {
            out.extend(number.to_le_bytes());
        }
        encode_meta(slot.meta.as_deref(), &mut out);
    }
    out.extend(end.to_le_bytes());
    out.extend((slots.len() as u64).to_le_bytes());
    out.push(u8::from(slots.keys() == KeyKind::Names));
    out.extend(fnv1a(&out).to_le_bytes());
    out.extend(END);
    Ok(out)
}

/// Refuses a name that the table has no room for.
pub(super) fn check(key: Key<'_>) -> Result<()> {
    match key {
        Key::Name(name) if u32::try_from(name.len()).is_err() => {
            Err(Error::unsupported("a name of 4 GiB or more does not fit into a pack"))
        }
        _ => Ok(()),
    }
}

fn encode_key(key: Key<'_>, out: &mut Vec<u8>) {
    match key {
        Key::Int(key) => out.extend(key.to_le_bytes()),
        Key::Name(name) => {
            let length = u32::try_from(name.len()).expect("`check` refuses longer names");
            out.extend(length.to_le_bytes());
            out.extend(name);
        }
    }
}

fn encode_meta(meta: Option<&Meta>, out: &mut Vec<u8>) {
    out.push(u8::from(meta.is_some()));
    if let Some(meta) = meta {
        out.extend(meta.mode.to_le_bytes());
        out.extend(meta.seconds.to_le_bytes());
        out.extend(meta.nanoseconds.to_le_bytes());
    }
}

/// The slots in `tail`: the table and the trailer, as they are in the file.
pub(super) fn decode(tail: &[u8], trailer: &Trailer) -> Result<Table<Slot>> {
    let (table, rest) = tail.split_at(tail.len() - TRAILER);
    let fields = &rest[..TRAILER - 8 - END.len()];
    if fnv1a_from(fnv1a(table), fields) != trailer.checksum {
        return Err(Error::corrupt("the checksum of its table is wrong"));
    }
    let mut bytes = Bytes(table);
    let mut slots = Table::new(trailer.keys);
    for _ in 0..trailer.count {
        let (key, slot) = bytes.entry(trailer).ok_or_else(damaged)?;
        slots.insert(key, slot)?;
    }
    if bytes.0.is_empty() { Ok(slots) } else { Err(damaged()) }
}

fn damaged() -> Error {
    Error::corrupt("its table contradicts itself")
}

/// What is left to read of some bytes; a read past the end is `None`.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.0.split_at_checked(n)?;
        self.0 = left;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn key(&mut self, keys: KeyKind) -> Option<Key<'a>> {
        match keys {
            KeyKind::Integers => self.i64().map(Key::Int),
            KeyKind::Names => {
                let length = usize::try_from(self.u32()?).ok()?;
                self.take(length).map(Key::Name)
            }
        }
    }

    fn meta(&mut self) -> Option<Meta> {
        let (mode, seconds, nanoseconds) = (self.u32()?, self.i64()?, self.u32()?);
        Some(Meta { mode, seconds, nanoseconds })
    }

    /// A key with its slot, which must be before the table.
    fn entry(&mut self, trailer: &Trailer) -> Option<(Key<'a>, Slot)> {
        let key = self.key(trailer.keys)?;
        let (offset, length, room) = (self.u64()?, self.u64()?, self.u64()?);
        let meta = match self.u8()? {
            0 => None,
            _ => Some(Box::new(self.meta()?)),
        };
        let sound = length <= room && offset.checked_add(room)? <= trailer.table;
        if !sound {
            return None;
        }
        Some((key, Slot::new(offset, length, room, meta)?))
    }
}

/// FNV-1a with 64 bits (Fowler, Noll, Vo; constants from RFC 9923).
fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_from(0xCBF2_9CE4_8422_2325, bytes)
}

fn fnv1a_from(start: u64, bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_fnv1a() {
        assert_eq!(fnv1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_F739_67E8);
        assert_eq!(fnv1a_from(fnv1a(b"foo"), b"bar"), fnv1a(b"foobar"));
    }

    fn two_names() -> Vec<u8> {
        let mut slots = Table::new(KeyKind::Names);
        let meta = Meta { mode: 0o100_644, seconds: -1, nanoseconds: 7 };
        slots
            .insert(Key::Name(b"a/b"), Slot::new(16, 3, 4, Some(Box::new(meta))).unwrap())
            .unwrap();
        slots.insert(Key::Name(b""), Slot::new(20, 0, 0, None).unwrap()).unwrap();
        encode(&slots, 20).unwrap()
    }

    fn read(tail: &[u8]) -> Option<Table<Slot>> {
        let trailer = Trailer::decode(tail.last_chunk()?)?;
        decode(tail, &trailer).ok()
    }

    #[test]
    fn a_table_comes_back_as_it_was() {
        let slots = read(&two_names()).unwrap();
        let slot = slots.get(&Key::Name(b"a/b")).unwrap().unwrap();
        assert_eq!((slot.offset(), slot.length(), slot.room), (16, 3, 4));
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
