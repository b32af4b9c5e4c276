//! Inflates the values of an archive, from the file into the caller's buffer.

use std::fs::File;

use flate2::{Decompress, FlushDecompress, Status};
use kit::refusal;
use model::{Error, Result};

use crate::at;

/// The state of inflating, kept from value to value.
pub(super) struct Inflater {
    state: Decompress,
    room: Vec<u8>,
}

/// The bytes that are read at once.
const CHUNK: usize = 128 << 10;

impl Inflater {
    pub(super) fn new() -> Self {
        Self { state: Decompress::new(false), room: vec![0; CHUNK] }
    }

    /// Inflates `stored` bytes from the offset `start` into `into`, which they must fill.
    pub(super) fn inflate(
        &mut self,
        file: &File,
        (mut start, mut stored): (u64, u64),
        into: &mut [u8],
    ) -> Result<()> {
        self.state.reset(false);
        let damaged = || Error::corrupt("is damaged: it cannot be inflated to its length");
        loop {
            let chunk = usize::try_from(stored).unwrap_or(CHUNK).min(CHUNK);
            let mut input = &mut self.room[..chunk];
            at::read(file, input, start).map_err(|e| Error::io("reading a value", e))?;
            (start, stored) = (start + chunk as u64, stored - chunk as u64);
            loop {
                let (read, written) = (self.state.total_in(), self.state.total_out());
                let room = into.get_mut(refusal::size(written)?..).unwrap_or_default();
                let status = self.state.decompress(input, room, FlushDecompress::None);
                let status = status.map_err(|_| damaged())?;
                if status == Status::StreamEnd {
                    let is_whole = self.state.total_out() == into.len() as u64;
                    return if is_whole { Ok(()) } else { Err(damaged()) };
                }
                let read = self.state.total_in() - read;
                input = input.get_mut(refusal::size(read)?..).unwrap_or_default();
                if input.is_empty() && stored > 0 {
                    break;
                }
                if read == 0 && self.state.total_out() == written {
                    return Err(damaged());
                }
            }
        }
    }
}
