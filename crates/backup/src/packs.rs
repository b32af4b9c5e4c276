//! Pack files: frames of compressed blocks, one after the other.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use model::{Error, ErrorKind, Result};
use zstd::bulk::Decompressor;

use crate::{
    entry::{BlockPlace, Hash},
    os,
};

/// The approximate bytes of a pack.
const PACK: u64 = 64 << 20;
/// The level of compression, which is the default of zstd's own tool.
const LEVEL: i32 = 3;
/// The most bytes of a decompressed frame, which limit what a damaged one can ask for.
const LONGEST_FRAME: usize = 2 << 20;

pub(crate) fn path(folder: &Path, pack: u32) -> PathBuf {
    folder.join(format!("{pack:08x}"))
}

/// Compresses frames; each worker has one.
pub(crate) struct Compressor(zstd::bulk::Compressor<'static>);

impl Compressor {
    pub(crate) fn new() -> Result<Self> {
        zstd::bulk::Compressor::new(LEVEL).map(Self).map_err(|e| Error::io("zstd", e))
    }

    pub(crate) fn compress(&mut self, frame: &[u8]) -> Result<Vec<u8>> {
        self.0.compress(frame).map_err(|e| Error::io("zstd", e))
    }
}

/// The most bytes of a frame in a pack: one that does not compress is a little longer.
const LONGEST_STORED: usize = LONGEST_FRAME + (64 << 10);

/// A writer of packs. A full pack is flushed while the next one is written. A writer that is
/// dropped before it has finished removes what it wrote.
pub(crate) struct Writer {
    folder: PathBuf,
    state: Mutex<State>,
    /// The number of leftovers that are now in the folder [`SET_ASIDE`].
    pub(crate) set_aside: u64,
}

/// The folder next to that of the packs for packs that no catalogue mentions and that may be
/// needed.
pub(crate) const SET_ASIDE: &str = "set-aside";

/// The choice what happens to packs that the catalogue does not mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leftovers {
    /// They belong to backups that were not completed, and are removed.
    Remove,
    /// The catalogue has no backup, and may have lost those that the packs are of.
    SetAside,
}

/// The packs that a backup is writing and has written.
#[derive(Default)]
struct State {
    next: u32,
    open: Option<(u32, File, u64)>,
    /// The packs that are complete, with their lengths.
    done: Vec<(u32, u64)>,
    flushing: Vec<JoinHandle<io::Result<()>>>,
    /// The packs that were created, until all are finished.
    created: Vec<PathBuf>,
}

impl Writer {
    /// Creates a writer next to the packs `known`, which the catalogue mentions, and removes or
    /// moves all others.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be read or changed.
    pub(crate) fn new(folder: PathBuf, known: &[(u32, u64)], leftovers: Leftovers) -> Result<Self> {
        let names: HashSet<_> = known.iter().map(|(pack, _)| path(&folder, *pack)).collect();
        let failed = |e| Error::io(folder.display(), e);
        let mut set_aside = 0;
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if names.contains(&path) {
                continue;
            }
            if leftovers == Leftovers::SetAside {
                put_aside(&folder, &path)?;
                set_aside += 1;
            } else {
                fs::remove_file(&path).map_err(|e| Error::io(path.display(), e))?;
            }
        }
        let next = known.iter().map(|(pack, _)| pack.saturating_add(1)).max().unwrap_or(1);
        let state = State { next, ..State::default() };
        Ok(Self { folder, state: Mutex::new(state), set_aside })
    }

    /// Appends a compressed frame, and returns its pack and its offset.
    pub(crate) fn append(&self, frame: &[u8]) -> Result<(u32, u32)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (pack, mut file, start) = match state.open.take() {
            Some(open) => open,
            None => self.create(&mut state)?,
        };
        let failed = |e| Error::io(path(&self.folder, pack).display(), e);
        file.write_all(frame).map_err(failed)?;
        let length = start + frame.len() as u64;
        if length < PACK {
            state.open = Some((pack, file, length));
        } else {
            state.close(pack, file, length);
        }
        // A pack is closed once it is longer than PACK, and no frame is longer than 2 MiB.
        Ok((pack, u32::try_from(start).expect("a pack is shorter than 4 GiB")))
    }

    fn create(&self, state: &mut State) -> Result<(u32, File, u64)> {
        let pack = state.next;
        let path = path(&self.folder, pack);
        let full = || Error::corrupt("catalogue: the number of the last pack is too high");
        state.next = pack.checked_add(1).ok_or_else(full)?;
        let file = os::create(&path).map_err(|e| Error::io(path.display(), e))?;
        state.created.push(path);
        Ok((pack, file, 0))
    }

    /// Flushes all packs, then their names. Returns the new ones with their lengths.
    pub(crate) fn finish(&mut self) -> Result<Vec<(u32, u64)>> {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((pack, file, length)) = state.open.take() {
            state.close(pack, file, length);
        }
        let failed = |e| Error::io(self.folder.display(), e);
        for flushing in state.flushing.drain(..) {
            flushing.join().map_err(|_| Error::failed("a flush panicked"))?.map_err(failed)?;
        }
        if !state.done.is_empty() {
            os::sync_folder(&self.folder).map_err(failed)?;
        }
        // The catalogue may mention them from now on.
        state.created.clear();
        Ok(std::mem::take(&mut state.done))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for path in state.created.drain(..) {
            // The next backup removes the files that stay.
            let _ = fs::remove_file(path);
        }
    }
}

/// Moves a pack to the folder [`SET_ASIDE`], under a name that is free.
fn put_aside(folder: &Path, pack: &Path) -> Result<()> {
    let aside = folder.with_file_name(SET_ASIDE);
    match host::create_folder(&aside, 0o700) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io(aside.display(), error));
        }
        _ => {}
    }
    let name = pack.file_name().unwrap_or_default();
    for number in 1_u32.. {
        let mut name = name.to_owned();
        if number > 1 {
            name.push(format!(".{number}"));
        }
        match host::rename_new(pack, &aside.join(name)) {
            Err(error) if error.kind() == ErrorKind::Exists => {}
            done => return done,
        }
    }
    Err(Error::failed("is full").at(aside.display()))
}

impl State {
    fn close(&mut self, pack: u32, file: File, length: u64) {
        self.done.push((pack, length));
        self.flushing.push(thread::spawn(move || file.sync_data()));
    }
}

/// The number of frames that a reader keeps decompressed: files that follow each other share
/// frames.
const CACHED: usize = 8;

/// A reader of blocks; each worker has one.
pub(crate) struct PackReader<'a> {
    folder: &'a Path,
    open: Option<(u32, File)>,
    decompressor: Decompressor<'static>,
    /// The frame as it is in a pack.
    stored: Vec<u8>,
    /// The decompressed frames by pack and offset, the last one used in front.
    frames: Vec<((u32, u32), Vec<u8>)>,
}

impl<'a> PackReader<'a> {
    pub(crate) fn new(folder: &'a Path) -> Result<Self> {
        let decompressor = Decompressor::new().map_err(|e| Error::io("zstd", e))?;
        Ok(Self { folder, open: None, decompressor, stored: Vec::new(), frames: Vec::new() })
    }

    /// Returns the block with the sum `hash`, which is at `place`.
    ///
    /// # Errors
    ///
    /// Fails with the kind `Corrupt` if the pack is missing or damaged.
    pub(crate) fn block(&mut self, place: &BlockPlace, hash: &Hash) -> Result<&[u8]> {
        let key = (place.pack, place.offset);
        match self.frames.iter().position(|(cached, _)| *cached == key) {
            Some(at) => self.frames[..=at].rotate_right(1),
            None => self.read(place)?,
        }
        let start = place.inner as usize;
        let end = start.checked_add(place.length as usize);
        let block = end.and_then(|end| self.frames[0].1.get(start..end));
        let matching = block.filter(|block| blake3::hash(block).as_bytes() == hash);
        matching.ok_or_else(|| self.damaged(place, "holds other bytes than were backed up"))
    }

    /// Reads a frame to the front, into the memory of the one that was not used for longest.
    fn read(&mut self, place: &BlockPlace) -> Result<()> {
        let path = path(self.folder, place.pack);
        if self.open.as_ref().is_none_or(|(pack, _)| *pack != place.pack) {
            let lost = |e| Error::io(path.display(), e).with_kind(ErrorKind::Corrupt);
            let file = os::open_file(&path).map_err(lost)?;
            self.open = Some((place.pack, file));
        }
        let (_, file) = self.open.as_ref().expect("it was just opened");
        let stored = place.stored as usize;
        if stored > LONGEST_STORED {
            return Err(self.damaged(place, "is longer than any frame"));
        }
        self.stored.resize(stored, 0);
        let read = os::read_at(file, &mut self.stored, place.offset.into());
        let last = if self.frames.len() < CACHED { None } else { self.frames.pop() };
        let mut frame = last.map_or_else(|| Vec::with_capacity(LONGEST_FRAME), |(_, frame)| frame);
        read.and_then(|()| self.decompressor.decompress_to_buffer(&self.stored, &mut frame))
            .map_err(|e| self.damaged(place, &e.to_string()))?;
        self.frames.insert(0, ((place.pack, place.offset), frame));
        Ok(())
    }

    /// Creates an error that names the pack and the frame.
    fn damaged(&self, place: &BlockPlace, what: &str) -> Error {
        let path = path(self.folder, place.pack);
        Error::corrupt(format!("pack {}: frame at byte {}: {what}", path.display(), place.offset))
    }
}
