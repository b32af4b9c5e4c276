//! An index that other processes of this program read, in place of the headers of its archive: each round of
//! a run has a fresh process, and would read all headers again.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use model::{Entry, EntryKind, Key, KeyKind, Meta, Result};

use super::index::{Entries, Slot};
use crate::{at::FileVersion, table::Table};

/// The first bytes of such an index.
const START: [u8; 16] = *b"storemark-index1";

/// An index in the memory of the system, which is freed when this process ends.
pub(super) struct SharedIndex(#[cfg_attr(not(target_os = "linux"), expect(dead_code))] File);

impl SharedIndex {
    /// Writes an index; returns `None` if the system has no such memory.
    pub(super) fn new(archive: FileVersion, entries: &Entries) -> Option<Self> {
        let bytes = encode(archive, entries).ok()?;
        let mut file = in_memory()?;
        std::io::Write::write_all(&mut file, &bytes).ok()?;
        Some(Self(file))
    }

    /// Returns a path by which other processes of the same user open it.
    #[cfg(target_os = "linux")]
    pub(super) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;

        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::new()
    }
}

#[cfg(target_os = "linux")]
fn in_memory() -> Option<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    memfd_create("storemark-index", MemfdFlags::CLOEXEC).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> Option<File> {
    None
}

/// Reads the index at `path` if it is that of `archive`: the path may lead to anything on another host.
pub(super) fn read(path: &Path, archive: FileVersion) -> Option<Entries> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    decode(&fs::read(path).ok()?, archive)
}

fn encode(archive: FileVersion, entries: &Entries) -> Result<Vec<u8>> {
    let mut bytes = START.to_vec();
    bytes.extend(archive.to_bytes());
    bytes.push(u8::from(entries.values.keys() == KeyKind::Names));
    bytes.extend([entries.is_deflated, entries.is_numbered].map(u8::from));
    push_number(&mut bytes, entries.values.len() as u64);
    for (key, slot) in entries.values.sorted(None, u64::MAX)? {
        match key {
            Key::Int(key) => bytes.extend(key.to_le_bytes()),
            Key::Name(name) => push_bytes(&mut bytes, name),
        }
        push_slot(&mut bytes, slot);
    }
    push_number(&mut bytes, entries.left_out.len() as u64);
    for Entry { name, kind, content } in &entries.left_out {
        push_bytes(&mut bytes, name);
        push_bytes(&mut bytes, kind.as_str().as_bytes());
        push_bytes(&mut bytes, content);
    }
    Ok(bytes)
}

fn push_number(to: &mut Vec<u8>, number: u64) {
    to.extend(number.to_le_bytes());
}

fn push_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    push_number(to, bytes.len() as u64);
    to.extend(bytes);
}

fn push_slot(to: &mut Vec<u8>, slot: &Slot) {
    for number in [slot.offset(), slot.stored, slot.length] {
        push_number(to, number);
    }
    to.extend([slot.is_deflated, slot.checksum.is_some()].map(u8::from));
    to.extend(slot.checksum.unwrap_or(0).to_le_bytes());
    let Meta { mode, seconds, nanoseconds } = slot.meta;
    to.extend(mode.to_le_bytes());
    to.extend(seconds.to_le_bytes());
    to.extend(nanoseconds.to_le_bytes());
}

/// Returns the index in these bytes; `None` if they are no index of `archive`.
fn decode(bytes: &[u8], archive: FileVersion) -> Option<Entries> {
    let mut bytes = Bytes(bytes);
    if bytes.array() != Some(START) || bytes.array() != Some(archive.to_bytes()) {
        return None;
    }
    let [named, is_deflated, is_numbered] = [(); 3].map(|()| bytes.flag());
    let keys = if named? { KeyKind::Names } else { KeyKind::Integers };
    let mut values = Table::new(keys);
    for _ in 0..bytes.number()? {
        let key = match keys {
            KeyKind::Integers => Key::Int(i64::from_le_bytes(bytes.array()?)),
            KeyKind::Names => Key::Name(bytes.text()?),
        };
        values.insert(key, bytes.slot()?).ok()?;
    }
    let left_out = (0..bytes.number()?).map(|_| bytes.entry()).collect::<Option<_>>()?;
    let (is_deflated, is_numbered) = (is_deflated?, is_numbered?);
    Some(Entries { values, left_out, is_deflated, is_numbered })
}

/// The bytes that are not read yet.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*front)
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        self.array().map(|[byte]| byte != 0)
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn slot(&mut self) -> Option<Slot> {
        let [offset, stored, length] = [self.number()?, self.number()?, self.number()?];
        let [is_deflated, has_checksum] = [self.flag()?, self.flag()?];
        let checksum = Some(u32::from_le_bytes(self.array()?)).filter(|_| has_checksum);
        let meta = Meta {
            mode: u32::from_le_bytes(self.array()?),
            seconds: i64::from_le_bytes(self.array()?),
            nanoseconds: u32::from_le_bytes(self.array()?),
        };
        let mut slot = Slot::plain(offset, length, meta);
        (slot.stored, slot.checksum, slot.is_deflated) = (stored, checksum, is_deflated);
        Some(slot)
    }

    fn entry(&mut self) -> Option<Entry> {
        let (name, kind, content) = (self.text()?, self.text()?, self.text()?);
        let kind = EntryKind::ALL.into_iter().find(|known| known.as_str().as_bytes() == kind)?;
        Some(Entry { name: name.to_vec(), kind, content: content.to_vec() })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::archive::index::Index;

    fn version(file: &File) -> FileVersion {
        let later = SystemTime::now() + Duration::from_secs(60);
        FileVersion::from_metadata(&file.metadata().unwrap(), later).unwrap()
    }

    fn shown(entries: &Entries) -> Vec<(String, String)> {
        let all = entries.values.sorted(None, u64::MAX).unwrap();
        let slot = |slot: &Slot| {
            let Slot { stored, length, checksum, is_deflated, meta, .. } = slot;
            format!("{} {stored} {length} {checksum:?} {is_deflated} {meta:?}", slot.offset())
        };
        all.into_iter().map(|(key, value)| (key.to_string(), slot(value))).collect()
    }

    #[test]
    fn it_is_read_as_it_was_written_and_of_no_other_archive() {
        let [one, other] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        for names in [["000001", "000020"], ["b", "a"]] {
            let mut index = Index::new();
            let meta = Meta { mode: 0o100_640, seconds: -7, nanoseconds: 9 };
            index.add(names[0].as_bytes(), Slot::behind_header(512, meta, 80)).unwrap();
            let mut slot = Slot::plain(9, 3, meta);
            (slot.checksum, slot.is_deflated) = (Some(7), true);
            index.add(names[1].as_bytes(), slot).unwrap();
            index.leave_out(b"link", EntryKind::Link, b"target");
            let entries = index.finish(KeyKind::Integers).unwrap();
            let shared = SharedIndex::new(version(&one), &entries).unwrap();
            let read = read(&shared.path(), version(&one)).unwrap();
            assert_eq!(shown(&read), shown(&entries));
            assert_eq!(read.left_out, entries.left_out);
            assert_eq!(
                (read.values.keys(), read.is_deflated, read.is_numbered),
                (entries.values.keys(), true, entries.is_numbered)
            );
            assert!(super::read(&shared.path(), version(&other)).is_none());
            let bytes = encode(version(&one), &entries).unwrap();
            for length in 0..bytes.len() {
                assert!(decode(&bytes[..length], version(&one)).is_none(), "{length}");
            }
        }
    }
}
