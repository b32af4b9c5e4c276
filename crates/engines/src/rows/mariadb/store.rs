//! The server, from its start to its end.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use model::{
    Account, Blobs, Error, Result, Rows, Settings,
    rows::{RowStore, RowTables},
};

use super::tables::Tables;
use crate::{
    lock,
    mariadb::{Mariadb, folder::Folder, installed, kind::Kind},
    server::Server,
};

/// A server on a folder of its own.
pub(super) struct PrivateServer {
    folder: Folder,
    server: Mutex<Server>,
}

impl PrivateServer {
    pub(super) fn start(location: &Path, settings: &Settings) -> Result<Self> {
        let folder = Folder::at(location)?;
        let account = Mariadb.account();
        folder.make(account)?;
        match run(&folder, settings, account) {
            Ok(server) => Ok(Self { folder, server: Mutex::new(server) }),
            Err(error) => {
                // It was made a moment ago, by this call.
                folder.remove();
                Err(error)
            }
        }
    }
}

/// Fills the folder and starts the server on it, for tables of any kind.
fn run(folder: &Folder, settings: &Settings, account: Option<Account>) -> Result<Server> {
    let installed = installed()?;
    installed.install(folder, settings, account)?;
    installed.start(folder, &Kind::ALL, settings, account)
}

impl RowStore for PrivateServer {
    fn location(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn create(&self, databases: u32, settings: &Settings) -> Result<Box<dyn RowTables + '_>> {
        Mariadb.check(settings)?;
        let tables = Tables::new(&self.folder, settings, databases)?;
        tables.make()?;
        Ok(Box::new(tables))
    }

    fn processes(&self) -> Vec<u32> {
        vec![lock::hold(&self.server).pid()]
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { folder, server } = *self;
        let mut server = server.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended = match server.died() {
            Some(died) => Err(died),
            None => server.stop(),
        };
        let path = folder.path();
        ended.and(fs::remove_dir_all(path).map_err(|e| Error::io(path.display(), e)))
    }
}
