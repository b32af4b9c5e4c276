//! A queue of files: each task is a file of its own, JSON under its id, which every step but the
//! last rewrites as a whole. There is no index: a search for a status reads them all.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    Access, Durability, Error, How, Key, KeyKind, OpenOptions, Put, Result, Session, Settings,
    Store, Tasks,
    tasks::{Queue, QueueWorker, StoredTask, Task, TaskStep},
};

use super::{Files, FilesFolder, session::FilesWorker};

impl Tasks for Files {
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>> {
        let settings = settings.clone();
        let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Names };
        Ok(Box::new(FilesFolder::create(location, &options)?))
    }
}

impl Queue for FilesFolder {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        Ok(Box::new(TaskWorker { files: self.worker(), value: Vec::new() }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Store::in_effect(self)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }

    fn flush_writes(&self) -> Result<()> {
        Ok(())
    }

    fn count(&self) -> Result<u64> {
        Ok(self.layout.list(&self.path)?.sorted_keys(None).len() as u64)
    }

    /// Removes an empty folder only: what a worker left is not removed unnoticed.
    fn remove(self: Box<Self>) -> Result<()> {
        fs::remove_dir(&self.path).map_err(|e| Error::io(self.path.display(), e))
    }
}

/// A worker's use of a queue of files.
struct TaskWorker<'a> {
    files: FilesWorker<'a>,
    /// The current task as it is written.
    value: Vec<u8>,
}

impl TaskWorker<'_> {
    fn put(&mut self, task: &Task<'_>, how: How) -> Result<bool> {
        self.value.clear();
        serde_json::to_writer(&mut self.value, task).map_err(|e| Error::failed(e.to_string()))?;
        let key = Key::Name(task.id.as_bytes());
        self.files.put(key, &self.value, &Put::new(how))
    }
}

impl QueueWorker for TaskWorker<'_> {
    fn take(&mut self, step: TaskStep, task: &Task<'_>) -> Result<()> {
        let (done, otherwise) = match step {
            TaskStep::Create => (self.put(task, How::Insert)?, "exists already"),
            TaskStep::Status | TaskStep::Rewrite => {
                (self.put(task, How::Update)?, "does not exist")
            }
            TaskStep::Delete => {
                (self.files.delete(Key::Name(task.id.as_bytes()))?, "does not exist")
            }
        };
        if done { Ok(()) } else { Err(Error::corrupt(format!("task {} {otherwise}", task.id))) }
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredTask>> {
        let mut value = Vec::new();
        if !self.files.load(Key::Name(id.as_bytes()), &mut value)? {
            return Ok(None);
        }
        let held = serde_json::from_slice(&value);
        held.map(Some).map_err(|e| Error::corrupt(format!("task {id}: {e}")))
    }
}
