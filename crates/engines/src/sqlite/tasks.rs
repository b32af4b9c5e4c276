//! A queue in SQLite: a table with an index on the status, each step a statement that commits by
//! itself. It was published with a pool of connections of which two stay open while idle; two
//! settings do what a service should do: a connection for each worker, or one that all take turns
//! with.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::Mutex,
};

use kit::lock::{self, Waits};
use model::{
    BUSY_RETRIES, Durability, Error, Facet, Result, Settings, Tasks,
    tasks::{Queue, QueueWorker, StoredTask, Task, TaskStep},
};

use super::{
    Sqlite,
    database::{self, Database},
    ffi::{Connection, Parameter, Statement},
};

use crate::fresh;

const SCHEMA: [&str; 2] = [
    "CREATE TABLE tasks (id varchar(16) NOT NULL PRIMARY KEY, status varchar(16) NOT NULL, \
     cmd varchar(16) NOT NULL, args text NOT NULL, output text NULL)",
    "CREATE INDEX task_status_idx ON tasks (status)",
];

/// The connections that the published program kept while nobody used them: the default of Go's
/// `database/sql` (<https://pkg.go.dev/database/sql#DB.SetMaxIdleConns>).
const IDLE: usize = 2;

impl Tasks for Sqlite {
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>> {
        let database = Database::create(location, settings)?;
        let control = database.open()?;
        database.lay_out(&control, &SCHEMA)?;
        database.configure(&control)?;
        let is_shared = settings.get("connection") == Some("shared");
        let shared = is_shared.then(|| Prepared::connect(&database)).transpose()?.map(Mutex::new);
        let (control, pool) = (Mutex::new(control), Mutex::default());
        Ok(Box::new(SqliteTasks { database, control, shared, pool }))
    }
}

/// A connection with the statements of the steps, each prepared when it is first used. They stay
/// together, as they may move from thread to thread.
struct Prepared {
    statements: [Option<Statement>; TaskStep::ALL.len()],
    db: Connection,
}

// SAFETY: a connection without mutexes, and the statements on it, may move between threads as long
// as one uses them at a time (see `Connection`). The statements never leave this value, and what
// uses them takes `&mut self`.
unsafe impl Send for Prepared {}

impl Prepared {
    fn connect(database: &Database) -> Result<Self> {
        Ok(Self { statements: Default::default(), db: database.connect()?.restrict_to_thread()? })
    }

    /// Executes the statement of `step` with `values`, in autocommit; returns the number of rows
    /// changed.
    fn execute(&mut self, step: TaskStep, values: &[&[u8]]) -> Result<i64> {
        let statement = match &mut self.statements[step as usize] {
            Some(statement) => statement,
            unused => unused.insert(self.db.prepare(match step {
                TaskStep::Create => "INSERT INTO tasks (id, status, cmd, args) VALUES (?, ?, ?, ?)",
                TaskStep::Status => "UPDATE tasks SET status=? WHERE id=?",
                TaskStep::Rewrite => "UPDATE tasks SET output=? WHERE id=?",
                TaskStep::Delete => "DELETE FROM tasks WHERE id=?",
            })?),
        };
        statement.run(values.iter().map(|text| Parameter::Text(text)))?;
        Ok(self.db.changes())
    }
}

/// An open queue.
struct SqliteTasks {
    database: Database,
    /// The connection for what is no step. It keeps the log from being merged each time that a pool
    /// is empty.
    control: Mutex<Connection>,
    /// The connection that all workers take turns with, if they do.
    shared: Option<Mutex<Prepared>>,
    /// The idle connections, if workers have none of their own.
    pool: Mutex<Vec<Prepared>>,
}

impl Queue for SqliteTasks {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        let has_own = matches!(self.database.settings.get("connection"), None | Some("own"));
        let own = has_own.then(|| Prepared::connect(&self.database)).transpose()?;
        let (waits, retries) = (Waits::default(), Cell::default());
        Ok(Box::new(SqliteWorker { queue: self, own, arguments: Vec::new(), waits, retries }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        self.database.in_effect(&lock::hold(&self.control), Facet::Tasks)
    }

    fn files(&self) -> Vec<PathBuf> {
        database::files(&self.database.path)
    }

    fn flush_writes(&self) -> Result<()> {
        database::checkpoint(&lock::hold(&self.control))
    }

    fn count(&self) -> Result<u64> {
        Ok(lock::hold(&self.control).number("SELECT count(*) FROM tasks")?.unsigned_abs())
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let files = self.files();
        drop(self);
        fresh::remove(files)
    }
}

/// A worker's use of the queue.
struct SqliteWorker<'a> {
    queue: &'a SqliteTasks,
    /// The connection, if each worker has one.
    own: Option<Prepared>,
    /// The arguments of the current task, as JSON.
    arguments: Vec<u8>,
    waits: Waits,
    retries: Cell<i64>,
}

impl SqliteWorker<'_> {
    /// Executes a statement through the connection that is its turn; returns the number of rows
    /// changed.
    fn execute(&mut self, step: TaskStep, values: &[&[u8]]) -> Result<i64> {
        if let Some(own) = &mut self.own {
            return own.execute(step, values);
        }
        if let Some(shared) = &self.queue.shared {
            return lock::turn(shared, &self.waits).execute(step, values);
        }
        let idle = lock::hold(&self.queue.pool).pop();
        let mut db = idle.map_or_else(|| Prepared::connect(&self.queue.database), Ok)?;
        let changed = db.execute(step, values);
        // It is prepared for this one time, as in the published program.
        db.statements = Default::default();
        self.count(&db.db);
        let mut pool = lock::hold(&self.queue.pool);
        if pool.len() < IDLE {
            pool.push(db);
        }
        changed
    }

    /// Adds the counters of a connection.
    fn count(&self, db: &Connection) {
        let [(_, waits), (_, ns), (_, retries)] = db.waits();
        self.waits.add(waits, ns);
        self.retries.set(self.retries.get() + retries);
    }
}

impl QueueWorker for SqliteWorker<'_> {
    fn take(&mut self, step: TaskStep, task: &Task<'_>) -> Result<()> {
        let [id, status, command, output] =
            [task.id, task.status, task.command, task.output].map(str::as_bytes);
        let changed = match step {
            TaskStep::Create => {
                let mut arguments = std::mem::take(&mut self.arguments);
                arguments.clear();
                serde_json::to_writer(&mut arguments, task.arguments)
                    .map_err(|e| Error::failed(e.to_string()))?;
                let changed = self.execute(step, &[id, status, command, &arguments]);
                self.arguments = arguments;
                changed
            }
            TaskStep::Status => self.execute(step, &[status, id]),
            TaskStep::Rewrite => self.execute(step, &[output, id]),
            TaskStep::Delete => self.execute(step, &[id]),
        }?;
        match changed {
            1 => Ok(()),
            n => Err(Error::corrupt(format!("task {}: {step} changed {n} rows", task.id))),
        }
    }

    fn find(&mut self, id: &str) -> Result<Option<StoredTask>> {
        // An id is hexadecimal digits, so that it can be put into the text.
        let sql = format!("SELECT status, output FROM tasks WHERE id='{id}'");
        let text = |row: &Statement, n| String::from_utf8_lossy(row.text(n)).into_owned();
        let stored = |row: &Statement| StoredTask { status: text(row, 0), output: text(row, 1) };
        lock::hold(&self.queue.control).prepare(&sql)?.row([], stored)
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        if let Some(own) = &self.own {
            self.count(&own.db);
        }
        self.waits.take().into_iter().chain([(BUSY_RETRIES, self.retries.take())]).collect()
    }
}
