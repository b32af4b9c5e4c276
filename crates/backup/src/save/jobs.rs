//! What threads of a backup hand to each other.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    path::PathBuf,
    sync::{Condvar, Mutex, PoisonError, mpsc::Sender},
};

use model::{Error, Result};

use crate::entry::{Hash, Stat};

/// What the thread of the catalogue receives.
pub(super) enum Event {
    /// What is in a folder. Folders come after those that they are in.
    Listing(Listing),
    /// There are no more.
    Walked,
    /// A worker waits until the index has those of these that the catalogue has.
    Ask(Vec<Hash>, Sender<()>),
    /// Files of a batch, with what was read or why they could not be read.
    Stored(Vec<(FileJob, Result<Stored, String>)>),
    /// The backup cannot be completed.
    Failed(Error),
}

pub(super) struct Listing {
    /// Below the folder that is backed up.
    pub(super) folder: PathBuf,
    pub(super) found: io::Result<Vec<Result<Found, (OsString, String)>>>,
}

pub(super) struct Found {
    pub(super) name: OsString,
    pub(super) stat: Stat,
    /// What a link leads to.
    pub(super) target: Option<Vec<u8>>,
}

/// A file to be read.
pub(super) struct FileJob {
    pub(super) folder: u32,
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    pub(super) stat: Stat,
    /// An earlier snapshot has something under this name.
    pub(super) known: bool,
}

/// A file that was read.
pub(super) struct Stored {
    pub(super) blocks: Vec<Hash>,
    pub(super) bytes: u64,
    /// It is no longer what the walk found.
    pub(super) changed: bool,
    /// Its mode without what its access list adds, and whether it has one.
    pub(super) mode: u32,
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

    /// No more are taken up.
    pub(super) fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (VecDeque::new(), true);
        self.news.notify_all();
    }

    /// Waits for a batch; `None`: there are no more.
    pub(super) fn next(&self) -> Option<Vec<FileJob>> {
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
