//! MariaDB: `mariadb` starts a server of its own on a folder, `mysql` works on one that is there.
//! Either keeps its data in one table with the key as its primary key.

mod address;
pub(crate) mod connection;
pub(crate) mod durability;
pub(crate) mod folder;
pub(crate) mod kind;
mod remote;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod setting;
mod store;
mod table;
pub(crate) mod told;

use std::{path::Path, sync::OnceLock};

use model::{
    Account, Blobs, Declaration, Durability, Engine, Library, OpenOptions, Result, Rows, Settings,
    Store, rows::NULL,
};

use crate::server::account;
use folder::Folder;
use kind::Kind;
pub(crate) use remote::Mysql;
use server::Installed;
use store::TableStore;

/// A private server for each store.
pub(crate) struct Mariadb;

/// A user that packages make for the server.
const USERS: &[&str] = &["mysql"];

static DECLARATION: Declaration = Declaration {
    settings: &[setting::ENGINE, NULL, setting::SYNC, setting::CACHE, setting::ANY],
    durability: durability::CLASSES,
    limitations: &[
        "a server changes its files also when it is only read, so that a copy is measured",
        "what it keeps in memory to write later is not counted as left to the background",
        "aria, myisam: a batch is no transaction, and no durability class is promised: they \
             overwrite pages in place with nothing to mend a torn one from",
        "memory, csv: no BLOB columns with a key, so that they serve rows only",
    ],
    server: true,
    ..Declaration::new("mariadb", "a table of a MariaDB server that storemark starts and ends")
};

impl Engine for Mariadb {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn library(&self) -> Option<Library> {
        let version = installed().ok()?.version.clone();
        Some(Library { name: "MariaDB".to_owned(), version, options: Vec::new() })
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        Kind::asked(settings).withholds(class)
    }

    fn usable(&self) -> Result<()> {
        installed().map(drop)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        Some(self)
    }
}

impl Blobs for Mariadb {
    fn account(&self) -> Option<Account> {
        account(USERS)
    }

    fn recognises(&self, path: &Path) -> bool {
        Folder::is_one(path)
    }

    fn reading_changes(&self, _: &Path, _: &Settings) -> Option<String> {
        Some("its server changes files whenever it runs".to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        Folder::check_is_one(location)?;
        Folder::at(location)?.check_free().map(|()| true)
    }

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        let options = OpenOptions {
            settings: Settings::default(),
            access: model::Access::Read,
            keys: model::KeyKind::Integers,
        };
        let store = TableStore::open(location, installed()?, &options)?;
        let others = store.others()?;
        Box::new(store).close().map(|()| others)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Kind::asked(&options.settings).check_blobs()?;
        Ok(Box::new(TableStore::create(location, installed()?, options)?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Folder::check_is_one(location)?;
        Ok(Box::new(TableStore::open(location, installed()?, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Folder::check_is_one(location)?;
        Ok(Box::new(TableStore::join(location, options)?))
    }
}

/// The server of this machine, looked for once.
pub(crate) fn installed() -> Result<&'static Installed> {
    static INSTALLED: OnceLock<Installed> = OnceLock::new();
    if let Some(installed) = INSTALLED.get() {
        return Ok(installed);
    }
    let found = Installed::find()?;
    Ok(INSTALLED.get_or_init(|| found))
}
