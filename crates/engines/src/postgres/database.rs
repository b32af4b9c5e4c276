//! What the sessions of a store have in common.

use std::sync::{Mutex, MutexGuard};

use model::{Access, Durability, OpenOptions, Result, Settings};
use postgres::{Client, Config, NoTls};

use super::{error::told, host::Host, table::Table, variables::Variables};
use crate::lock;

/// How its sessions connect.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) config: Config,
    /// What every session sets first.
    pub(super) prelude: String,
}

impl Door {
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        let mut client = self.config.connect(NoTls)?;
        client.batch_execute(&self.prelude)?;
        Ok(client)
    }
}

pub(super) struct Database {
    pub(super) table: Table,
    pub(super) access: Access,
    pub(super) durability: Durability,
    door: Door,
    asked: Settings,
    control: Mutex<Client>,
    /// The last field: it ends after the connections to it.
    pub(super) host: Host,
}

impl Database {
    pub(super) fn new(
        host: Host,
        door: Door,
        mut control: Client,
        table: Table,
        options: &OpenOptions,
    ) -> Result<Self> {
        let durability = Variables::read(&mut control)?.durability();
        Ok(Self {
            table,
            access: options.access,
            durability,
            door,
            asked: options.settings.clone(),
            control: Mutex::new(control),
            host,
        })
    }

    pub(super) fn connect(&self) -> Result<Client> {
        self.door.connect().map_err(|error| self.host.explain(&error))
    }

    pub(super) fn control(&self) -> MutexGuard<'_, Client> {
        lock::hold(&self.control)
    }

    pub(super) fn run(&self, sql: &str) -> Result<()> {
        self.control().batch_execute(sql).map_err(|error| self.host.explain(&error))
    }

    /// Lets go of its own connection.
    pub(super) fn into_host(self) -> Host {
        self.host
    }

    /// All settings as read back.
    pub(super) fn in_effect(&self) -> Result<Settings> {
        let mut control = self.control();
        let storage = self.table.storage(&mut control).map_err(|error| told(&error))?;
        let variables = Variables::read(&mut control)?;
        let mut settings = variables.settings(&self.asked);
        settings.set("storage", storage);
        settings.set("vacuum", variables.vacuum());
        Ok(settings)
    }
}
