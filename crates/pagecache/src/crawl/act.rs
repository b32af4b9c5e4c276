//! What a crawl does to one open file.

use std::{fs::File, io};

use super::Action;
use crate::{BUFFER, Evictor, Locked, Span, page_size, warm};

/// Warms, evicts or locks files, and holds the locks.
#[derive(Debug)]
pub(super) struct Actor {
    action: Action,
    buffer: Vec<u8>,
    evictor: Evictor,
    pub(super) locked: Vec<Locked>,
}

impl Actor {
    pub(super) fn new(action: Action) -> Self {
        Self {
            action,
            buffer: vec![0; if action == Action::Warm { BUFFER } else { 0 }],
            evictor: Evictor::default(),
            locked: Vec::new(),
        }
    }

    /// Returns the pages that were read.
    pub(super) fn act(&mut self, file: &File, span: Span) -> io::Result<u64> {
        match self.action {
            Action::Count => {}
            Action::Warm => {
                return Ok(warm(file, span, &mut self.buffer)?.div_ceil(page_size()));
            }
            Action::Evict => self.evictor.evict(file, span)?,
            Action::Lock => self.locked.push(Locked::new(file, span)?),
            Action::Map => self.locked.push(Locked::mapped(file, span)?),
        }
        Ok(0)
    }
}
