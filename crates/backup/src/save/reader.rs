//! A worker of a backup: it reads files, cuts them into blocks by their content, and stores new
//! blocks in frames of several, which compress better than each alone.

use std::{
    fs::File,
    io::{self, Read},
    ops::Range,
    sync::mpsc::{SyncSender, channel},
};

use fastcdc::v2020::FastCDC;
use model::{Error, Result};

use super::{
    index::Index,
    jobs::{Event, FileJob, Jobs, Stored},
};
use crate::{
    entry::{BlockPlace, Hash, Stat},
    os,
    packs::{Compressor, Writer},
};

/// The sizes of blocks in bytes: least, middle, greatest.
const LEAST: u32 = 16 << 10;
const MIDDLE: u32 = 64 << 10;
const GREATEST: u32 = 256 << 10;
/// The bytes that are read at once.
const BUFFER: usize = 4 << 20;
/// The bytes from which on a frame is written.
const FRAME: usize = 1 << 20;

pub(super) struct Worker<'a> {
    index: &'a Index,
    writer: &'a Writer,
    events: SyncSender<Event>,
    buffer: Vec<u8>,
    frame: Vec<u8>,
    /// The blocks in the frame: sum, offset in the frame, and length.
    inside: Vec<(Hash, u32, u32)>,
}

/// The reason why a file was not stored.
enum Trouble {
    /// It could not be read.
    Read(io::Error),
    /// The backup cannot be completed.
    Fatal(Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

impl<'a> Worker<'a> {
    pub(super) fn new(index: &'a Index, writer: &'a Writer, events: SyncSender<Event>) -> Self {
        let (buffer, frame) = (vec![0; BUFFER], Vec::with_capacity(FRAME + GREATEST as usize));
        Self { index, writer, events, buffer, frame, inside: Vec::new() }
    }

    /// Reads files until there are no more, and reports them, or the error that prevents it.
    pub(super) fn run(mut self, jobs: &Jobs) {
        if let Err(error) = self.work(jobs) {
            // Nobody listens after another error.
            let _ = self.events.send(Event::Failed(error));
        }
    }

    fn work(&mut self, jobs: &Jobs) -> Result<()> {
        let mut compressor = Compressor::new()?;
        while let Some(batch) = jobs.next_batch() {
            let mut files = Vec::with_capacity(batch.len());
            for job in batch {
                match self.store(&job, &mut compressor) {
                    Ok(stored) => files.push((job, Ok(stored))),
                    Err(Trouble::Read(error)) => {
                        files.push((job, Err(format!("cannot be read: {error}"))));
                    }
                    Err(Trouble::Fatal(error)) => return Err(error),
                }
            }
            self.events.send(Event::Stored(files)).map_err(|_| Error::interrupted())?;
        }
        self.flush(&mut compressor)
    }

    fn store(&mut self, job: &FileJob, compressor: &mut Compressor) -> Result<Stored, Trouble> {
        let mut file = os::open(&job.path)?;
        let (mut blocks, mut bytes, mut kept) = (Vec::new(), 0, 0);
        loop {
            let filled = kept + fill(&mut file, &mut self.buffer[kept..])?;
            let is_last = filled < self.buffer.len();
            let ranges = cut(&self.buffer[..filled], is_last);
            let used = ranges.last().map_or(0, |last| last.end);
            self.store_new(&ranges, &mut blocks, compressor)?;
            bytes += used as u64;
            self.buffer.copy_within(used..filled, 0);
            kept = filled - used;
            if is_last {
                break;
            }
        }
        let meta = file.metadata()?;
        let filesystem = job.stat.filesystem;
        let changed = os::stat(&meta).map(|stat| Stat { filesystem, ..stat }) != Some(job.stat);
        let (mode, has_list) = host::mode_without_list_of(&file, &meta)?;
        Ok(Stored { blocks, bytes, changed, mode, has_list })
    }

    /// Writes the blocks of the buffer that are new, and appends the sums of all to `blocks`.
    fn store_new(
        &mut self,
        ranges: &[Range<usize>],
        blocks: &mut Vec<Hash>,
        compressor: &mut Compressor,
    ) -> Result<()> {
        let sum = |range: &Range<usize>| blake3::hash(&self.buffer[range.clone()]).into();
        let hashes: Vec<Hash> = ranges.iter().map(sum).collect();
        self.load_index(&hashes)?;
        for (hash, range) in hashes.iter().zip(ranges) {
            if self.index.claim(*hash) {
                let [inner, length] = [self.frame.len(), range.len()].map(short);
                self.inside.push((*hash, inner, length));
                self.frame.extend_from_slice(&self.buffer[range.clone()]);
                if self.frame.len() >= FRAME {
                    self.flush(compressor)?;
                }
            }
        }
        blocks.extend(hashes);
        Ok(())
    }

    /// Waits until these blocks are in the index, as far as the catalogue has them.
    fn load_index(&self, hashes: &[Hash]) -> Result<()> {
        let unknown = self.index.unknown(hashes);
        if unknown.is_empty() {
            return Ok(());
        }
        let (reply, answer) = channel();
        let asked = self.events.send(Event::Ask(unknown, reply));
        // Nobody answers after another error.
        asked.ok().and_then(|()| answer.recv().ok()).ok_or_else(Error::interrupted)
    }

    fn flush(&mut self, compressor: &mut Compressor) -> Result<()> {
        if self.inside.is_empty() {
            return Ok(());
        }
        let compressed = compressor.compress(&self.frame)?;
        let (pack, offset) = self.writer.append(&compressed)?;
        let stored = short(compressed.len());
        let place =
            |(hash, inner, length)| (hash, BlockPlace { pack, offset, stored, inner, length });
        self.index.set_places(self.inside.drain(..).map(place));
        self.frame.clear();
        Ok(())
    }
}

/// Converts a length or an offset in a frame.
fn short(length: usize) -> u32 {
    u32::try_from(length).expect("a frame has a few megabytes")
}

/// Reads until `room` is full or the file ends; returns the number of bytes.
fn fill(file: &mut File, room: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < room.len() {
        match file.read(&mut room[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Cuts `bytes` into blocks; unless they are the last of a file, without the one that may continue.
fn cut(bytes: &[u8], is_last: bool) -> Vec<Range<usize>> {
    if is_last && bytes.len() <= LEAST as usize {
        return Some(0..bytes.len()).into_iter().filter(|all| !all.is_empty()).collect();
    }
    let chunks = FastCDC::new(bytes, LEAST, MIDDLE, GREATEST);
    let mut ranges: Vec<_> =
        chunks.map(|chunk| chunk.offset..chunk.offset + chunk.length).collect();
    if !is_last {
        ranges.pop();
    }
    ranges
}
