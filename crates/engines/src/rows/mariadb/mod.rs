//! Rows in MariaDB: a server of its own, with an SQL database for each number.

mod session;
mod store;
mod tables;

use std::path::Path;

use model::{
    Error, Result, Rows, Settings,
    rows::{NULL, RowStore, RowTables, Style},
};

use crate::mariadb::{Mariadb, folder::Folder, kind::Kind, setting};
use store::PrivateServer;
use tables::Tables;

impl Rows for Mariadb {
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
