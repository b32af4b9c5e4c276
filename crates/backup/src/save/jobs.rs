//! Messages that the threads of a backup exchange.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError, mpsc::Sender},
};

use model::{Error, Result};

use crate::entry::{Hash, Stat};

/// An event that the thread of the catalogue receives.
pub(super) enum Event {
    /// The entries of a folder. A folder comes after the folder that it is in.
    Listing(Listing),
    /// There are no more folders.
    Walked,
    /// A worker waits until these blocks, as far as the catalogue has them, are in the index.
    Ask(Vec<Hash>, Sender<()>),
    /// Files of a batch, with what was read or why they could not be read.
    Stored(Vec<(FileJob, Result<Stored, String>)>),
    /// The backup cannot be completed.
    Failed(Error),
}

/// The content of a folder.
pub(super) struct Listing {
    /// The path of the folder below the one that is backed up.
    pub(super) folder: PathBuf,
    pub(super) found: io::Result<Vec<Result<FoundEntry, (OsString, String)>>>,
}

/// An entry that was found in a folder.
pub(super) struct FoundEntry {
    pub(super) name: OsString,
    pub(super) stat: Stat,
    /// The target, if it is a link.
    pub(super) target: Option<Vec<u8>>,
}

pub(super) struct FileJob {
    pub(super) folder: u32,
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    pub(super) stat: Stat,
    /// Whether an earlier snapshot has an entry under this name.
    pub(super) known: bool,
}

/// A file that was read.
pub(super) struct Stored {
    pub(super) blocks: Vec<Hash>,
    pub(super) bytes: u64,
    /// Whether the file is no longer what the walk found.
    pub(super) changed: bool,
    /// The mode of the file without the rights that its access list adds.
    pub(super) mode: u32,
    /// Whether it has an access list.
    pub(super) has_list: bool,
}

/// Batches of files for whichever worker is free.
#[derive(Default)]
pub(super) struct Jobs {
    state: Mutex<(VecDeque<Vec<FileJob>>, bool)>,
    news: Condvar,
}

impl Jobs {
    pub(super) fn push(&self, batch: Vec<FileJob>) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0.push_back(batch);
        self.news.notify_one();
    }

    /// Ends the queue: waiting batches are dropped, and workers get no more.
    pub(super) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (VecDeque::new(), true);
        self.news.notify_all();
    }

    /// Waits for a batch; returns `None` if there are no more.
    pub(super) fn next_batch(&self) -> Option<Vec<FileJob>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &mut *state {
                (_, true) => return None,
                (batches, false) => {
                    if let Some(batch) = batches.pop_front() {
                        return Some(batch);
                    }
                }
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
