//! An open store of the private server.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use model::{Access, Durability, KeyKind, OpenOptions, Result, Session, Settings, Store};
use postgres::Client;

use super::{
    account,
    cluster::Cluster,
    database::{Database, Door},
    error::told,
    host::Host,
    session::PostgresSession,
    table::{self, Table},
};
use crate::server::Server;

pub(super) struct PostgresStore {
    folder: PathBuf,
    database: Database,
}

impl PostgresStore {
    /// Makes a cluster with the table in it.
    pub(super) fn create(folder: &Path, options: &OpenOptions) -> Result<Self> {
        let cluster = Cluster::at(folder);
        cluster.make(account())?;
        let made = Self::start(&cluster, options, |client| {
            let table = Table::new(table::OWN, options.keys);
            let storage = options.settings.get("storage").unwrap_or("external");
            table.create(client, storage).map_err(|error| told(&error))?;
            Ok(table)
        });
        if made.is_err() {
            cluster.remove();
        }
        made
    }

    /// Starts a server on what is there.
    pub(super) fn open(folder: &Path, options: &OpenOptions) -> Result<Self> {
        let cluster = Cluster::at(folder);
        cluster.check(account())?;
        Self::start(&cluster, options, |client| Table::find(client, table::OWN))
    }

    fn start(
        cluster: &Cluster,
        options: &OpenOptions,
        table: impl FnOnce(&mut Client) -> Result<Table>,
    ) -> Result<Self> {
        let (server, client) = cluster.start(&options.settings, account())?;
        let host = Host::Own { server: Mutex::new(server), log: cluster.log() };
        Self::new(cluster, host, client, options, table)
    }

    /// Uses the server that another process has started.
    pub(super) fn join(folder: &Path, options: &OpenOptions) -> Result<Self> {
        let cluster = Cluster::at(folder);
        let host = cluster.joined()?;
        let client = door(&cluster).connect().map_err(|error| host.explain(&error))?;
        Self::new(&cluster, host, client, options, |client| Table::find(client, table::OWN))
    }

    fn new(
        cluster: &Cluster,
        host: Host,
        mut client: Client,
        options: &OpenOptions,
        table: impl FnOnce(&mut Client) -> Result<Table>,
    ) -> Result<Self> {
        let folder = cluster.folder.clone();
        let table = table(&mut client).map_err(|error| error.context(folder.display()))?;
        let database = Database::new(host, door(cluster), client, table, options)?;
        Ok(Self { folder, database })
    }

    /// Tables and databases beside the dataset.
    pub(super) fn others(&self) -> Result<Vec<String>> {
        let sql = "SELECT 'the table '||schemaname||'.'||tablename FROM pg_tables \
                   WHERE schemaname NOT IN ('pg_catalog','information_schema') AND tablename<>$1 \
                   UNION ALL SELECT 'the database '||datname FROM pg_database \
                   WHERE datname NOT IN ('postgres','template0','template1') ORDER BY 1";
        let rows = self.database.control().query(sql, &[&table::OWN]);
        let rows = rows.map_err(|error| self.database.host.explain(&error))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

fn door(cluster: &Cluster) -> Door {
    Door { config: cluster.config(), prelude: String::new() }
}

impl Store for PostgresStore {
    fn keys(&self) -> KeyKind {
        self.database.table.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(PostgresSession::new(&self.database)?))
    }

    fn in_effect(&self) -> Result<Settings> {
        self.database.in_effect()
    }

    fn durability(&self) -> Durability {
        self.database.durability
    }

    fn processes(&self) -> Vec<u32> {
        self.database.host.pid().into_iter().collect()
    }

    /// An update leaves the old row behind and the new one in the server's memory and log. What
    /// removes the one and writes the other to the files of the table is a part of its price.
    fn settle(&self) -> Result<()> {
        if self.database.access == Access::Read {
            return Ok(());
        }
        if self.in_effect()?.get("vacuum") == Some("settle") {
            self.database.run(&self.database.table.vacuum())?;
        }
        self.database.run("CHECKPOINT")
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { folder, database } = *self;
        let stopped = match database.into_host() {
            Host::Own { server, .. } => {
                stop(server.into_inner().unwrap_or_else(PoisonError::into_inner))
            }
            _ => Ok(()),
        };
        stopped.map_err(|error| error.context(folder.display()))
    }
}

/// One that has ended by itself may have lost what was committed.
pub(crate) fn stop(mut server: Server) -> Result<()> {
    match server.died() {
        Some(error) => Err(error),
        None => server.stop(),
    }
}
