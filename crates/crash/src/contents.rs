//! The content of a file as pieces of the spool; what no piece covers reads as zeros.

use std::collections::BTreeMap;

use crate::Spooled;

/// A file's length and the pieces that it consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Contents {
    /// The length.
    pub(crate) size: u64,
    /// Pieces that do not overlap, by their place in the file.
    pieces: BTreeMap<u64, Spooled>,
}

impl Contents {
    /// Puts `data` at `offset`, over what is there. The length stays.
    pub(crate) fn put(&mut self, offset: u64, data: Spooled) {
        if data.len > 0 {
            self.clear(offset, offset + data.len);
            self.pieces.insert(offset, data);
        }
    }

    /// Makes the bytes from `start` to `end` zeros.
    pub(crate) fn clear(&mut self, start: u64, end: u64) {
        let before = self.pieces.range(..start).next_back().map(|(at, data)| (*at, *data));
        if let Some((at, data)) = before.filter(|(at, data)| at + data.len > start) {
            self.pieces.insert(at, Spooled { len: start - at, ..data });
            self.keep_rest(at, data, end);
        }
        let inside: Vec<_> = self.pieces.range(start..end).map(|(at, data)| (*at, *data)).collect();
        for (at, data) in inside {
            self.pieces.remove(&at);
            self.keep_rest(at, data, end);
        }
    }

    /// Keeps what a piece has from `end` on.
    fn keep_rest(&mut self, at: u64, data: Spooled, end: u64) {
        if at + data.len > end {
            let skipped = end - at;
            let rest = Spooled { start: data.start + skipped, len: data.len - skipped };
            self.pieces.insert(end, rest);
        }
    }

    /// Sets the length; what is beyond it is gone.
    pub(crate) fn resize(&mut self, size: u64) {
        if size < self.size {
            self.clear(size, u64::MAX);
        }
        self.size = size;
    }

    /// Returns the pieces in their order, cut off at the length.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u64, Spooled)> + '_ {
        self.pieces.range(..self.size).map(|(at, data)| {
            (*at, Spooled { start: data.start, len: data.len.min(self.size - at) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_equal_an_array_of_bytes() {
        // A byte of the spool is its place in it; zeros are `None`.
        let mut bytes: Vec<Option<u64>> = Vec::new();
        let mut contents = Contents::default();
        let mut state = 12345_u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % limit
        };
        for step in 0..5_000 {
            let (offset, len) = (below(60), below(30));
            let (from, to) = (offset as usize, (offset + len) as usize);
            match below(4) {
                0 | 1 => {
                    let data = Spooled { start: step * 100, len };
                    if to > bytes.len() && len > 0 {
                        bytes.resize(to, None);
                    }
                    contents.size = contents.size.max(if len > 0 { offset + len } else { 0 });
                    contents.put(offset, data);
                    for (at, byte) in (from..to).enumerate() {
                        bytes[byte] = Some(data.start + at as u64);
                    }
                }
                2 => {
                    contents.clear(offset, offset + len);
                    bytes.iter_mut().take(to).skip(from).for_each(|byte| *byte = None);
                }
                _ => {
                    contents.resize(offset);
                    bytes.resize(from, None);
                }
            }
            let mut found = vec![None; bytes.len()];
            for (at, data) in contents.pieces() {
                for byte in 0..data.len {
                    assert_eq!(found[(at + byte) as usize], None);
                    found[(at + byte) as usize] = Some(data.start + byte);
                }
            }
            assert_eq!((contents.size as usize, found), (bytes.len(), bytes.clone()));
        }
    }
}
