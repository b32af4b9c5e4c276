//! A pack's file read by an array of offsets.

use std::{fs::File, io::Read, os::unix::fs::FileExt, path::Path};

use memmap2::Mmap;
use model::{Error, Result};

use super::{Bare, Work};
use crate::data::Data;

#[derive(Clone, Copy)]
struct Place {
    offset: u64,
    length: usize,
}

/// Places of the keys from 1 on: a pack filled in key order has its values side by side.
struct Places(Vec<Place>);

impl Places {
    fn new(data: &Data, file: &File) -> Result<Self> {
        let mut offset = first(data, file)?;
        let places = data.keys().map(|key| {
            let place = Place { offset, length: data.value(key).len() };
            offset += place.length as u64;
            place
        });
        Ok(Self(places.collect()))
    }

    fn get(&self, key: i64) -> Place {
        self.0[usize::try_from(key - 1).expect("keys begin at 1")]
    }
}

/// The offset of the first value, found by its first bytes.
fn first(data: &Data, mut file: &File) -> Result<u64> {
    let mut start = vec![0; 4096];
    let read = file.read(&mut start).map_err(|e| Error::io("the start of the pack", e))?;
    let begins = &data.value(1)[..32];
    let at = start[..read].windows(begins.len()).position(|window| window == begins);
    at.map(|at| at as u64).ok_or_else(|| Error::corrupt("the pack does not begin with key 1"))
}

pub(crate) struct Pread {
    file: File,
    places: Places,
}

impl Pread {
    pub(crate) fn open(path: &Path, data: &Data) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path.display(), e))?;
        let places = Places::new(data, &file)?;
        Ok(Self { file, places })
    }
}

impl Bare for Pread {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let mut bytes = 0;
        for key in work.keys {
            let Place { offset, length } = self.places.get(*key);
            self.file.read_exact_at(&mut buffer[..length], offset).expect("reading the pack");
            bytes += length;
        }
        bytes
    }
}

pub(crate) struct Mapped {
    map: Mmap,
    places: Places,
}

impl Mapped {
    pub(crate) fn open(path: &Path, data: &Data) -> Result<Self> {
        let failed = |e| Error::io(path.display(), e);
        let file = File::open(path).map_err(failed)?;
        let places = Places::new(data, &file)?;
        // SAFETY: nobody writes to the file while the bench runs.
        let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
        Ok(Self { map, places })
    }
}

impl Bare for Mapped {
    fn pass(&mut self, work: &Work<'_>, buffer: &mut [u8]) -> usize {
        let mut bytes = 0;
        for key in work.keys {
            let Place { offset, length } = self.places.get(*key);
            let start = usize::try_from(offset).expect("the pack is mapped");
            buffer[..length].copy_from_slice(&self.map[start..start + length]);
            bytes += length;
        }
        bytes
    }
}
