//! A queue of values: each task is a value of its own, JSON under its id, which every step but the
//! last rewrites as a whole. There is no index: a search for a status reads them all.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{
    Access, Blobs, Durability, Error, How, Key, KeyKind, OpenOptions, Put, Result, Scan, Session,
    Settings, Store, Tasks,
    tasks::{Queue, QueueWorker, Step, StoredTask, Task},
};

use super::Files;

impl Tasks for Files {
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>> {
        let settings = settings.clone();
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Names };
        let store = Blobs::create(self, location, &options)?;
        Ok(Box::new(ValueQueue { files: self.files(location), store }))
    }
}

struct ValueQueue {
    store: Box<dyn Store>,
    files: Vec<PathBuf>,
}

impl Queue for ValueQueue {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        let session = self.store.session()?;
        Ok(Box::new(Worker { session, value: Vec::with_capacity(ROOM) }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        self.store.in_effect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn settle(&self) -> Result<()> {
        self.store.settle()
    }

    fn count(&self) -> Result<u64> {
        let mut count = 0;
        self.store.session()?.scan(Scan::LENGTHS, &mut |_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        self.store.close()?;
        for path in self.files.iter().filter(|path| path.exists()) {
            let removed = if path.is_dir() {
                // Only an empty one: what a worker left behind is not cleared away unseen.
                std::fs::remove_dir(path)
            } else {
                std::fs::remove_file(path)
            };
            removed.map_err(|e| Error::io(path.display(), e))?;
        }
        Ok(())
    }
}

/// Bytes that hold most tasks.
const ROOM: usize = 4096;

struct Worker<'a> {
    session: Box<dyn Session + 'a>,
    /// The current task as it is written.
    value: Vec<u8>,
}

impl Worker<'_> {
    fn put(&mut self, task: &Task<'_>, how: How) -> Result<bool> {
        self.value.clear();
        serde_json::to_writer(&mut self.value, task).map_err(|e| Error::failed(e.to_string()))?;
        let key = Key::Name(task.id.as_bytes());
        self.session.put(key, &self.value, &Put { how, meta: None })
    }
}

impl QueueWorker for Worker<'_> {
    fn take(&mut self, step: Step, task: &Task<'_>) -> Result<()> {
        let (done, otherwise) = match step {
            Step::Create => (self.put(task, How::Insert)?, "exists already"),
            Step::Status | Step::Rewrite => (self.put(task, How::Update)?, "does not exist"),
            Step::Delete => (self.session.delete(Key::Name(task.id.as_bytes()))?, "does not exist"),
        };
        if done { Ok(()) } else { Err(Error::corrupt(format!("task {} {otherwise}", task.id))) }
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredTask>> {
        let key = Key::Name(id.as_bytes());
        let mut value = vec![0; ROOM];
        let Some(mut length) = self.session.get(key, &mut value)? else { return Ok(None) };
        if length > value.len() {
            value.resize(length, 0);
            length = self.session.get(key, &mut value)?.unwrap_or(0);
        }
        let held = serde_json::from_slice(&value[..length.min(value.len())]);
        held.map(Some).map_err(|e| Error::corrupt(format!("task {id}: {e}")))
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        self.session.statistics()
    }
}
