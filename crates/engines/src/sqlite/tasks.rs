//! A queue in SQLite: a table with an index on the status, each step a statement that commits by
//! itself. Published with a pool of connections of which two stay open while idle; two
//! settings do what a service should do: a connection for each worker, or one that all take turns with.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::Mutex,
};

use model::{
    BUSY_RETRIES, Durability, Error, Facet, LOCK_WAITS, Result, Settings, Tasks,
    tasks::{Queue, QueueWorker, Step, StoredTask, Task},
};

use super::{
    Sqlite,
    database::{self, Database, checkpoint},
    ffi::Connection,
    prepared::Prepared,
};
use crate::{fresh, lock};

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
        let database = Database::create(location, settings)?;
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

impl Queue for SqliteTasks {
    fn worker(&self) -> Result<Box<dyn QueueWorker + '_>> {
        let own = match self.connection {
            Sharing::Own => Some(prepared(self.database.connect()?)),
            Sharing::Shared(_) | Sharing::Pool(_) => None,
        };
        let (waits, repeats) = (Cell::default(), Cell::default());
        Ok(Box::new(Worker { queue: self, own, arguments: Vec::new(), waits, repeats }))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let settings = self.database.read_back(&lock::hold(&self.control), Facet::Tasks)?;
        let class = database::durability(&settings);
        Ok((settings, class))
    }

    fn files(&self) -> Vec<PathBuf> {
        self.database.files()
    }

    fn settle(&self) -> Result<()> {
        if self.database.has_log() {
            checkpoint(&lock::hold(&self.control))?;
        }
        Ok(())
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

struct Worker<'a> {
    queue: &'a SqliteTasks,
    /// Its connection, if each worker has one.
    own: Option<Prepared>,
    /// The arguments of the current task, as JSON.
    arguments: Vec<u8>,
    waits: Cell<i64>,
    repeats: Cell<i64>,
}

impl Worker<'_> {
    /// Executes a statement through the connection that is its turn; rows changed.
    fn execute(&mut self, statement: usize, values: &[&[u8]]) -> Result<i64> {
        if let Some(own) = &mut self.own {
            return own.execute(statement, values);
        }
        match &self.queue.connection {
            Sharing::Shared(shared) => lock::turn(shared, &self.waits).execute(statement, values),
            Sharing::Pool(pool) => self.execute_pooled(pool, statement, values),
            Sharing::Own => Err(Error::failed("a worker has no connection")),
        }
    }

    /// The statement is prepared for this one time, as the published program did.
    fn execute_pooled(
        &self,
        pool: &Mutex<Vec<Connection>>,
        statement: usize,
        values: &[&[u8]],
    ) -> Result<i64> {
        let idle = lock::hold(pool).pop();
        let db = idle.map_or_else(|| self.queue.database.connect(), Ok)?;
        let mut prepared = prepared(db);
        let changed = prepared.execute(statement, values);
        let db = prepared.into_connection();
        self.count(db.waits());
        let mut pool = lock::hold(pool);
        if pool.len() < IDLE {
            pool.push(db);
        }
        changed
    }

    /// Adds the counters of a connection.
    fn count(&self, counters: Vec<(&'static str, i64)>) {
        for (name, n) in counters {
            let counter = if name == LOCK_WAITS { &self.waits } else { &self.repeats };
            counter.set(counter.get() + n);
        }
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
        let control = lock::hold(&self.queue.control);
        // An id is hexadecimal digits, so that it can be put into the text.
        let column = |name: &str| {
            control.column(&format!("SELECT ifnull({name}, '') FROM tasks WHERE id='{id}'"))
        };
        let (status, output) = (column("status")?.pop(), column("output")?.pop());
        Ok(status.zip(output).map(|(status, output)| StoredTask { status, output }))
    }

    fn statistics(&mut self) -> Vec<(&'static str, i64)> {
        if let Some(own) = &self.own {
            self.count(own.waits());
        }
        vec![(LOCK_WAITS, self.waits.take()), (BUSY_RETRIES, self.repeats.take())]
    }
}
