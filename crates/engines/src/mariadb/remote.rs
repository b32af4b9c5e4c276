//! A server that is there: stores are tables on it.

use std::path::{Path, PathBuf};

use model::{
    Blobs, Capabilities, Durability, DurabilitySettings, Engine, Error, ErrorKind, Facet,
    OpenOptions, Result, Setting, Settings, Store,
};

use super::{address::Address, durability, kind::Kind, setting, store::TableStore};

/// A MariaDB or MySQL server that is there.
pub(crate) struct Mysql;

const SETTINGS: &[Setting] = &[
    setting::ENGINE,
    Setting { help: "what the server must be set to; it is not changed", ..setting::SYNC },
    Setting { help: "a variable of the server, set for the sessions alone", ..setting::ANY },
];

impl Engine for Mysql {
    fn name(&self) -> &'static str {
        "mysql"
    }

    fn about(&self) -> &'static str {
        "a table on a MariaDB or MySQL server that is there"
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        Some(durability::promise(class))
    }

    fn unsupported_reason(
        &self,
        _: Facet,
        class: Durability,
        settings: &Settings,
    ) -> Option<String> {
        Kind::asked(settings).withholds(class)
    }

    fn limitations(&self) -> &'static [&'static str] {
        &[
            "the server's processor time, memory, space and bytes are not counted, wherever it runs",
            "its caches are neither emptied nor looked at",
            "its durability is read back, not set: a server that is set otherwise is refused",
            "no TLS",
        ]
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Mysql {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            persistent: false,
            retains: true,
            meta: true,
            concurrent_writes: true,
            processes: true,
            remote: true,
        }
    }

    fn recognises(&self, _: &Path) -> bool {
        false
    }

    fn files(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

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
