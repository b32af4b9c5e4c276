//! The entries of a catalogue, and how their records are written as bytes.

use model::{Error, Result};

/// The BLAKE3 sum of a block.
pub(crate) type Hash = [u8; 32];

/// The kind of entry that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    File = 1,
    Folder = 2,
    Link = 3,
    /// The path no longer exists.
    Gone = 4,
}

/// The facts that the system reports about a path. As long as they are equal, the content is
/// assumed to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stat {
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    /// The time of the last change of the content: seconds since 1970, and nanoseconds.
    pub(crate) modified: (i64, u32),
    /// The time of the last change of content or attributes.
    pub(crate) changed: (i64, u32),
    pub(crate) size: u64,
    pub(crate) inode: u64,
    pub(crate) links: u32,
    /// The file system that it is on ([`Filesystems`](crate::os::Filesystems)); 0 if it is unknown.
    pub(crate) filesystem: u64,
}

/// The flag, in the kind of a record, of records that have a file system and a mode of their own.
/// Records of repositories of form 1 have neither.
const SECOND_FORM: u8 = 0x10;

impl Stat {
    /// The facts of a path that no longer exists.
    pub(crate) const GONE: Self = Self {
        kind: Kind::Gone,
        mode: 0,
        user: 0,
        group: 0,
        modified: (0, 0),
        changed: (0, 0),
        size: 0,
        inode: 0,
        links: 0,
        filesystem: 0,
    };

    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8 | SECOND_FORM);
        for number in [self.mode, self.user, self.group, self.links] {
            out.extend(number.to_le_bytes());
        }
        for (seconds, nanoseconds) in [self.modified, self.changed] {
            out.extend(seconds.to_le_bytes());
            out.extend(nanoseconds.to_le_bytes());
        }
        out.extend(self.size.to_le_bytes());
        out.extend(self.inode.to_le_bytes());
        out.extend(self.filesystem.to_le_bytes());
    }

    /// Reads the facts and the mode to restore; returns `None` if the record is damaged.
    fn read(from: &mut RecordReader<'_>) -> Option<(Self, u32)> {
        let [first] = from.array::<1>()?;
        let second_form = first & SECOND_FORM != 0;
        let kind = match first & !SECOND_FORM {
            1 => Kind::File,
            2 => Kind::Folder,
            3 => Kind::Link,
            4 => Kind::Gone,
            _ => return None,
        };
        let [mode, user, group, links] = [from.u32()?, from.u32()?, from.u32()?, from.u32()?];
        let mut time = || Some((i64::from_le_bytes(from.array()?), from.u32()?));
        let (modified, changed) = (time()?, time()?);
        let (size, inode) = (from.u64()?, from.u64()?);
        let (filesystem, plain) = if second_form { (from.u64()?, from.u32()?) } else { (0, mode) };
        let stat =
            Self { kind, mode, user, group, modified, changed, size, inode, links, filesystem };
        Some((stat, plain))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// The blocks of a file, in their order.
    Blocks(Vec<Hash>),
    /// The number under which the entries of a folder are kept.
    Folder(u32),
    /// The target of a symbolic link.
    Link(Vec<u8>),
    Nothing,
}

/// An entry of a folder in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) stat: Stat,
    /// The mode without what an access list adds, which is not backed up.
    pub(crate) mode: u32,
    pub(crate) content: Content,
}

impl Entry {
    pub(crate) const GONE: Self = Self { stat: Stat::GONE, mode: 0, content: Content::Nothing };

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        self.stat.write(&mut out);
        out.extend(self.mode.to_le_bytes());
        match &self.content {
            Content::Blocks(blocks) => out.extend(blocks.as_flattened()),
            Content::Folder(number) => out.extend(number.to_le_bytes()),
            Content::Link(target) => out.extend(target),
            Content::Nothing => {}
        }
        out
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = RecordReader(bytes);
        let (stat, mode) = Stat::read(&mut from)?;
        let content = match stat.kind {
            Kind::File => {
                let (blocks, []) = from.0.as_chunks::<32>() else { return None };
                Content::Blocks(blocks.to_vec())
            }
            Kind::Folder => Content::Folder(from.u32()?),
            Kind::Link => Content::Link(from.0.to_vec()),
            Kind::Gone => Content::Nothing,
        };
        Some(Self { stat, mode, content })
    }
}

/// The place of a block: in a frame of a pack, which is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockPlace {
    pub(crate) pack: u32,
    /// The offset of the frame in the pack.
    pub(crate) offset: u32,
    /// The bytes of the frame in the pack.
    pub(crate) stored: u32,
    /// The offset of the block in the decompressed frame.
    pub(crate) inner: u32,
    /// The bytes of the block.
    pub(crate) length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) place: BlockPlace,
    /// The number of references from files to the block, in all versions that are kept.
    pub(crate) references: u64,
}

impl Block {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let BlockPlace { pack, offset, stored, inner, length } = self.place;
        let places = [pack, offset, stored, inner, length].map(u32::to_le_bytes);
        [places.as_flattened(), &self.references.to_le_bytes()].concat()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut from = RecordReader(bytes);
        let [pack, offset, stored] = [from.u32()?, from.u32()?, from.u32()?];
        let [inner, length] = [from.u32()?, from.u32()?];
        let place = BlockPlace { pack, offset, stored, inner, length };
        Some(Self { place, references: from.u64()? })
    }
}

/// A reader that takes numbers from the front of a record.
pub(crate) struct RecordReader<'a>(pub(crate) &'a [u8]);

impl RecordReader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u128(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The bytes of the sum in front of each record.
const SUM: usize = 8;

/// Returns a record with a sum of its key and itself in front.
pub(crate) fn sealed(key: &[u8], record: &[u8]) -> Vec<u8> {
    [&sum(key, record)[..], record].concat()
}

/// Returns the record in a value, sealed for another key.
pub(crate) fn resealed(key: &[u8], value: &[u8]) -> Vec<u8> {
    sealed(key, value.get(SUM..).unwrap_or_default())
}

/// Returns the record in a value of the catalogue.
///
/// # Errors
///
/// Fails if the sum is wrong; the error names the record.
pub(crate) fn opened<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    match value.split_first_chunk() {
        Some((found, record)) if *found == sum(key, record) => Ok(record),
        _ => Err(damaged(key)),
    }
}

pub(crate) fn damaged(key: &[u8]) -> Error {
    let key = model::Shown(key);
    Error::corrupt(format!("catalogue: record {key} is damaged"))
}

fn sum(key: &[u8], record: &[u8]) -> [u8; SUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(record);
    *hasher.finalize().as_bytes().first_chunk().expect("a sum has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(kind: Kind) -> Stat {
        let (modified, changed) = ((-5, 7), (1 << 40, 999_999_999));
        let filesystem = 1 << 60;
        Stat {
            kind,
            mode: 0o100_660,
            modified,
            changed,
            size: 70,
            inode: 3,
            filesystem,
            ..Stat::GONE
        }
    }

    fn content_bytes(entry: &Entry) -> usize {
        match &entry.content {
            Content::Blocks(blocks) => blocks.as_flattened().len(),
            Content::Folder(_) => 4,
            Content::Link(target) => target.len(),
            Content::Nothing => 0,
        }
    }

    #[test]
    fn entries_and_blocks_come_back_as_they_were() {
        for (kind, content) in [
            (Kind::File, Content::Blocks(vec![[1; 32], [2; 32]])),
            (Kind::File, Content::Blocks(vec![])),
            (Kind::Folder, Content::Folder(9)),
            (Kind::Link, Content::Link(b"../x".to_vec())),
            (Kind::Gone, Content::Nothing),
        ] {
            let entry = Entry { stat: stat(kind), mode: 0o600, content };
            assert_eq!(Entry::from_bytes(&entry.to_bytes()).as_ref(), Some(&entry));
            // A repository of form 1: no file system, and no mode of its own.
            let mut first = entry.to_bytes();
            first[0] &= !SECOND_FORM;
            first.drain(
                first.len() - content_bytes(&entry) - 12..first.len() - content_bytes(&entry),
            );
            let stat = Stat { filesystem: 0, ..entry.stat };
            let expected = Entry { stat, mode: stat.mode, content: entry.content };
            assert_eq!(Entry::from_bytes(&first), Some(expected));
        }
        let place = BlockPlace { pack: 1, offset: 2, stored: 3, inner: 4, length: 5 };
        let block = Block { place, references: 6 };
        assert_eq!(Block::from_bytes(&block.to_bytes()), Some(block));
    }

    #[test]
    fn a_record_that_differs_in_a_byte_is_named() {
        let mut value = sealed(b"b/x", b"record");
        assert_eq!(opened(b"b/x", &value).unwrap(), b"record");
        assert!(opened(b"b/y", &value).is_err(), "of another key");
        value[9] ^= 1;
        let error = opened(b"b/x", &value).unwrap_err().to_string();
        assert!(error.contains("record b/x is damaged"), "{error}");
        assert!(opened(b"b/x", b"short").is_err());
    }
}
