//! A queue in memory that notes what it is asked for, and may have a fault.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    thread::sleep,
    time::Duration,
};

use lab::Stop;
use model::{
    Declaration, Durability, Engine, Error, Result, Settings, Tasks,
    tasks::{Queue, QueueWorker, StoredTask, Task, TaskStep},
};

/// How long settling takes where it is slow.
pub(crate) const OWED: Duration = Duration::from_millis(20);
/// How long deleting does.
pub(crate) const DELETING: Duration = Duration::from_millis(5);

/// What is wrong with it.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    None,
    Slow,
    /// The tenth task to be deleted stays.
    KeepsOne,
    ForgetsStatus,
    /// The twentieth task cannot be created.
    FailsLater,
    /// With the twentieth task the user wants to stop.
    Stops(&'static Stop),
}

pub(crate) struct MadeUp {
    fault: Fault,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    ids: BTreeSet<String>,
    deleted: usize,
    most: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl MadeUp {
    pub(crate) fn new(fault: Fault) -> Self {
        Self { fault, seen: Arc::default() }
    }

    /// All that were ever created.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        lock(&self.seen).ids.clone()
    }

    /// Tasks that were there at once.
    pub(crate) fn most(&self) -> usize {
        lock(&self.seen).most
    }
}

static DECLARATION: Declaration = Declaration { ..Declaration::new("made-up", "for tests") };

impl Engine for MadeUp {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Tasks for MadeUp {
    fn create(&self, location: &Path, _: &Settings) -> Result<Box<dyn Queue>> {
        std::fs::create_dir(location).unwrap();
        let (fault, seen) = (self.fault, Arc::clone(&self.seen));
        let folder = location.to_owned();
        Ok(Box::new(Kept { fault, seen, folder, tasks: Mutex::default() }))
    }
}

struct Kept {
    fault: Fault,
    seen: Arc<Mutex<Seen>>,
    folder: PathBuf,
    tasks: Mutex<BTreeMap<String, StoredTask>>,
}

impl Queue for Kept {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        Ok(Box::new(Worker { queue: self, steps: 0 }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        Ok((Settings::default(), Durability::None))
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.folder.clone()]
    }

    fn flush_writes(&self) -> Result<()> {
        if matches!(self.fault, Fault::Slow) {
            sleep(OWED);
        }
        Ok(())
    }

    fn count(&self) -> Result<u64> {
        Ok(lock(&self.tasks).len() as u64)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        std::fs::remove_dir(&self.folder).map_err(|e| Error::io("made up", e))
    }
}

struct Worker<'a> {
    queue: &'a Kept,
    steps: i64,
}

impl QueueWorker for Worker<'_> {
    fn take(&mut self, step: TaskStep, task: &Task<'_>) -> Result<()> {
        self.steps += 1;
        let Kept { fault, seen, tasks, .. } = self.queue;
        if step == TaskStep::Delete && matches!(fault, Fault::Slow) {
            sleep(DELETING);
        }
        let (mut tasks, mut seen) = (lock(tasks), lock(seen));
        let id = task.id.to_owned();
        let held = StoredTask { status: task.status.to_owned(), output: task.output.to_owned() };
        match (step, fault) {
            (TaskStep::Create, _) => {
                seen.ids.insert(id.clone());
                tasks.insert(id, held);
                seen.most = seen.most.max(tasks.len());
                match fault {
                    Fault::FailsLater if seen.ids.len() == 20 => {
                        return Err(Error::failed("on purpose"));
                    }
                    Fault::Stops(user) if seen.ids.len() == 20 => user.set(),
                    _ => {}
                }
            }
            (TaskStep::Status, Fault::ForgetsStatus) => {}
            (TaskStep::Status | TaskStep::Rewrite, _) => {
                tasks.insert(id, held);
            }
            (TaskStep::Delete, _) => {
                seen.deleted += 1;
                if !matches!(fault, Fault::KeepsOne) || seen.deleted != 10 {
                    tasks.remove(&id);
                }
            }
        }
        Ok(())
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredTask>> {
        Ok(lock(&self.queue.tasks).get(id).cloned())
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        vec![(model::LOCK_WAITS, std::mem::take(&mut self.steps))]
    }
}
