//! A queue in SQLite: a table with an index on the status, each step a statement that commits by
//! itself. Published with a pool of connections of which two stay open while idle; also to be had
//! are what a service should do: a connection for each worker, or one that all take turns with.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
};

use model::{
    Access, Durability, Error, LOCK_WAITS, Result, Settings, Tasks,
    tasks::{Queue, QueueWorker, Step, StoredTask, Task},
};

use super::{
    Sqlite, beside,
    ffi::{Connection, Open},
    prepared::Prepared,
    store::{checkpoint, configure, durability, read_back},
};

/// The published table.
const SCHEMA: [&str; 2] = [
    "CREATE TABLE tasks (id varchar(16) NOT NULL PRIMARY KEY, status varchar(16) NOT NULL, \
     cmd varchar(16) NOT NULL, args text NOT NULL, output text NULL)",
    "CREATE INDEX task_status_idx ON tasks (status)",
];

/// A statement for each of [`Step::ALL`].
const STATEMENTS: [&str; 4] = [
    "INSERT INTO tasks (id, status, cmd, args) VALUES (?, ?, ?, ?)",
    "UPDATE tasks SET status=? WHERE id=?",
    "UPDATE tasks SET output=? WHERE id=?",
    "DELETE FROM tasks WHERE id=?",
];

/// Connections that the published program kept while nobody used them: the default of Go's
/// `database/sql` (<https://pkg.go.dev/database/sql#DB.SetMaxIdleConns>).
const IDLE: usize = 2;

impl Tasks for Sqlite {
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>> {
        fs::File::create_new(location).map_err(|e| Error::io(location.display(), e))?;
        let database = Database { path: location.to_owned(), settings: settings.clone() };
        let control = database.connect()?;
        SCHEMA.iter().try_for_each(|sql| control.execute(sql))?;
        let connection = match settings.get("connection") {
            Some("shared") => Sharing::Shared(Mutex::new(prepared(database.connect()?))),
            Some("pool") => Sharing::Pool(Mutex::default()),
            _ => Sharing::Own,
        };
        Ok(Box::new(SqliteTasks { database, control: Mutex::new(control), connection }))
    }
}

struct Database {
    path: PathBuf,
    settings: Settings,
}

impl Database {
    fn connect(&self) -> Result<Connection> {
        let db = Connection::open(&self.path, Open::ReadWrite)?;
        configure(&db, &self.settings, Access::Write)?;
        Ok(db)
    }
}

fn prepared(db: Connection) -> Prepared {
    Prepared::new(db, &STATEMENTS)
}

/// Which connection a step goes through.
enum Sharing {
    Own,
    Shared(Mutex<Prepared>),
    Pool(Mutex<Vec<Connection>>),
}

struct SqliteTasks {
    database: Database,
    /// For what is no step. It keeps the log from being merged each time that a pool is empty.
    control: Mutex<Connection>,
    connection: Sharing,
}

/// Nothing is half done where a panic elsewhere left a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue for SqliteTasks {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        let own = match self.connection {
            Sharing::Own => Some(prepared(self.database.connect()?)),
            Sharing::Shared(_) | Sharing::Pool(_) => None,
        };
        Ok(Box::new(Worker { queue: self, own, arguments: Vec::new(), waits: Waits::default() }))
    }

    fn in_effect(&self) -> Result<Settings> {
        let told = read_back(&lock(&self.control), &self.database.settings)?;
        let mut settings = Settings::default();
        for name in ["journal", "sync", "cache"] {
            settings.set(name, told.get(name).unwrap_or_default());
        }
        let connection = match self.connection {
            Sharing::Own => "own",
            Sharing::Shared(_) => "shared",
            Sharing::Pool(_) => "pool",
        };
        settings.set("connection", connection);
        Ok(settings)
    }

    fn durability(&self) -> Result<Durability> {
        Ok(durability(&self.in_effect()?))
    }

    fn files(&self) -> Vec<PathBuf> {
        ["", "-journal", "-wal", "-shm"].map(|suffix| beside(&self.database.path, suffix)).into()
    }

    fn settle(&self) -> Result<()> {
        if self.database.settings.get("journal") == Some("wal") {
            checkpoint(&lock(&self.control))?;
        }
        Ok(())
    }

    fn count(&self) -> Result<u64> {
        Ok(lock(&self.control).number("SELECT count(*) FROM tasks")?.unsigned_abs())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let files = self.files();
        drop(self);
        files
            .iter()
            .filter(|file| file.exists())
            .try_for_each(|file| fs::remove_file(file).map_err(|e| Error::io(file.display(), e)))
    }
}

/// What waiting for others came to: calls, attempts.
#[derive(Default)]
struct Waits {
    calls: i64,
    repeats: i64,
}

impl Waits {
    fn add(&mut self, told: [(&'static str, i64); 2]) {
        for (name, n) in told {
            *(if name == LOCK_WAITS { &mut self.calls } else { &mut self.repeats }) += n;
        }
    }
}

struct Worker<'a> {
    queue: &'a SqliteTasks,
    /// Its connection, where each has one.
    own: Option<Prepared>,
    /// The arguments of the task at hand, as JSON.
    arguments: Vec<u8>,
    waits: Waits,
}

impl Worker<'_> {
    /// Executes a statement through the connection that is its turn; rows changed.
    fn execute(&mut self, statement: usize, values: &[&[u8]]) -> Result<i64> {
        if let Some(own) = &mut self.own {
            return own.execute(statement, values);
        }
        match &self.queue.connection {
            Sharing::Shared(shared) => {
                let mut shared = match shared.try_lock() {
                    Ok(free) => free,
                    Err(TryLockError::Poisoned(free)) => free.into_inner(),
                    Err(TryLockError::WouldBlock) => {
                        self.waits.calls += 1;
                        lock(shared)
                    }
                };
                shared.execute(statement, values)
            }
            Sharing::Pool(pool) => self.execute_pooled(pool, statement, values),
            Sharing::Own => Err(Error::failed("a worker has no connection")),
        }
    }

    /// The statement is prepared for this one time, as the published program did.
    fn execute_pooled(
        &mut self,
        pool: &Mutex<Vec<Connection>>,
        statement: usize,
        values: &[&[u8]],
    ) -> Result<i64> {
        let idle = lock(pool).pop();
        let db = idle.map_or_else(|| self.queue.database.connect(), Ok)?;
        let mut prepared = prepared(db);
        let changed = prepared.execute(statement, values);
        let db = prepared.into_connection();
        self.waits.add(db.waits());
        let mut pool = lock(pool);
        if pool.len() < IDLE {
            pool.push(db);
        }
        changed
    }
}

impl QueueWorker for Worker<'_> {
    fn take(&mut self, step: Step, task: &Task<'_>) -> Result<()> {
        let [id, status, command, output] =
            [task.id, task.status, task.command, task.output].map(str::as_bytes);
        let changed = match step {
            Step::Create => {
                let mut arguments = std::mem::take(&mut self.arguments);
                arguments.clear();
                serde_json::to_writer(&mut arguments, task.arguments)
                    .map_err(|e| Error::failed(e.to_string()))?;
                let changed = self.execute(0, &[id, status, command, &arguments]);
                self.arguments = arguments;
                changed
            }
            Step::Status => self.execute(1, &[status, id]),
            Step::Rewrite => self.execute(2, &[output, id]),
            Step::Delete => self.execute(3, &[id]),
        }?;
        match changed {
            1 => Ok(()),
            n => Err(Error::corrupt(format!("task {}: {step} changed {n} rows", task.id))),
        }
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredTask>> {
        let control = lock(&self.queue.control);
        // An id is hexadecimal digits, so that it can stand in the text.
        let column = |name: &str| {
            control.column(&format!("SELECT ifnull({name}, '') FROM tasks WHERE id='{id}'"))
        };
        let (status, output) = (column("status")?.pop(), column("output")?.pop());
        Ok(status.zip(output).map(|(status, output)| StoredTask { status, output }))
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        if let Some(own) = &self.own {
            self.waits.add(own.waits());
        }
        let Waits { calls, repeats } = std::mem::take(&mut self.waits);
        vec![(LOCK_WAITS, calls), (model::BUSY_RETRIES, repeats)]
    }
}
