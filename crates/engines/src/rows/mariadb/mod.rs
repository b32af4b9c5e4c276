//! Rows in MariaDB: a server of its own, with an SQL database for each number.

mod session;
mod store;
mod tables;

use std::path::Path;

use model::{
    Durability, DurabilitySettings, Engine, Error, Facet, Library, Result, Setting, Settings,
    rows::{NULL, RowCapabilities, RowStore, RowTables, Rows, Style},
};

use crate::mariadb::{Mariadb, folder::Folder, kind::Kind, setting};
use store::PrivateServer;
use tables::Tables;

/// The engine.
pub(super) struct MariadbRows;

const SETTINGS: &[Setting] = &[setting::ENGINE, NULL, setting::SYNC, setting::CACHE, setting::ANY];

impl Engine for MariadbRows {
    fn name(&self) -> &'static str {
        Mariadb.name()
    }

    fn about(&self) -> &'static str {
        "a MariaDB server that storemark starts and ends, a table without a primary key"
    }

    fn library(&self) -> Option<Library> {
        Mariadb.library()
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        Mariadb.durability_settings(Facet::Rows, class)
    }

    fn unsupported_reason(
        &self,
        _: Facet,
        class: Durability,
        settings: &Settings,
    ) -> Option<String> {
        Kind::asked(settings).withholds(class)
    }

    fn usable(&self) -> Result<()> {
        Mariadb.usable()
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }
}

impl Rows for MariadbRows {
    fn table_settings(&self) -> &'static [&'static str] {
        &["engine", "null"]
    }

    fn check(&self, settings: &Settings) -> Result<()> {
        let kind = Kind::asked(settings);
        if kind == Kind::Csv && may_be_null(settings) {
            return Err(Error::usage("engine=csv: its columns cannot be NULL (accepted: null=no)"));
        }
        kind.check_cache(settings)?;
        setting::own_variables(settings).map(drop)
    }

    fn styles(&self, settings: &Settings) -> &'static [Style] {
        if Kind::asked(settings).delays() {
            &Style::ALL
        } else {
            &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk]
        }
    }

    fn capabilities(&self, _: &Settings) -> RowCapabilities {
        RowCapabilities { alone: None, remote: false }
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        self.check(settings)?;
        Ok(Box::new(PrivateServer::start(location, settings)?))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        Ok(Box::new(Tables::new(&Folder::at(location)?, settings, 0)?))
    }
}

fn may_be_null(settings: &Settings) -> bool {
    settings.get(NULL.name) != Some("no")
}
