//! A server that is there: stores are tables on it.

use std::path::Path;

use model::{
    Blobs, Capabilities, Declaration, Durability, Engine, Error, ErrorKind, OpenOptions, Result,
    Setting, Settings, Store,
};

use super::{address::Address, durability, kind::Kind, setting, store::TableStore};

/// A MariaDB or MySQL server that is there.
pub(crate) struct Mysql;

static DECLARATION: Declaration = Declaration {
    settings: &[
        setting::ENGINE,
        Setting { help: "what the server must be set to; it is not changed", ..setting::SYNC },
        Setting { help: "a variable of the server, set for the sessions alone", ..setting::ANY },
    ],
    durability: durability::CLASSES,
    limitations: &[
        "the server's processor time, memory, space and bytes are not counted, wherever it runs",
        "its caches are neither emptied nor looked at",
        "its durability is read back, not set: a server that is set otherwise is refused",
        "no TLS",
    ],
    capabilities: Capabilities::REMOTE,
    server: true,
    schemes: &["mysql", "mariadb"],
    ..Declaration::new("mysql", "a table on a MariaDB or MySQL server that is there")
};

impl Engine for Mysql {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        Kind::asked(settings).withholds(class)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Mysql {
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Kind::asked(&options.settings).check_blobs()?;
        Ok(Box::new(TableStore::create_at(&Address::parse(location)?, options)?))
    }

    fn open(&self, _: &Path, _: &OpenOptions) -> Result<Box<dyn Store>> {
        Err(Error::new(ErrorKind::Missing, "mysql: its tables are made and dropped by a run"))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(TableStore::join_at(&Address::parse(location)?, options)?))
    }
}
