//! The two engines: one starts a private server on a folder, the other one uses an existing server.

use std::path::Path;

use model::{
    Access, Account, Blobs, Declaration, Durability, Engine, Error, ErrorKind, Facet, KeyKind,
    Leftover, Library, OpenOptions, Result, Settings, Store,
};

use super::{
    connection::ValkeyClient,
    peer::class,
    program::software,
    store::{self, ValkeyStore},
};
use crate::server::{Host, ServerFolder, in_database, own_variables};

/// An engine; if its declaration is remote, the server is an existing one.
pub(crate) struct ValkeyEngine(pub(super) &'static Declaration);

impl ValkeyEngine {
    fn is_private(&self) -> bool {
        !self.0.capabilities.remote
    }
}

impl Engine for ValkeyEngine {
    fn declaration(&self) -> &'static Declaration {
        self.0
    }

    fn library(&self, _: &Settings) -> Option<Library> {
        if self.is_private() { software().library() } else { None }
    }

    fn check(&self, _: Facet, settings: &Settings) -> Result<()> {
        own_variables(settings).map(drop)
    }

    fn account(&self) -> Option<Account> {
        if self.is_private() { software().account() } else { None }
    }

    fn usable(&self) -> Result<()> {
        if self.is_private() { software().installed().map(drop) } else { Ok(()) }
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for ValkeyEngine {
    fn class_at(&self, address: &str, settings: &Settings) -> Result<Durability> {
        let host = Host::<ValkeyClient>::connect_existing(
            &in_database::<ValkeyClient>(address, settings)?,
            settings,
        )?;
        host.variables().map(|variables| class(&variables))
    }

    fn clean(&self, address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        store::sweep(&Host::remote(&in_database::<ValkeyClient>(address, settings)?, settings)?)
    }

    fn recognises(&self, path: &Path) -> bool {
        self.is_private() && ServerFolder::is_one(path, software())
    }

    fn reading_changes(&self, _: &Path, _: &Settings) -> Option<String> {
        self.is_private().then(|| "its server changes files whenever it runs".to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        if !self.is_private() {
            return Ok(false);
        }
        ServerFolder::new(location, software())?.check_free().map(|()| true)
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        if !self.is_private() {
            return Ok(Vec::new());
        }
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
        let store = ValkeyStore::open(location, &options)?;
        let others = store.other_contents()?;
        Box::new(store).close().map(|()| others)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if self.is_private() {
            return Ok(Box::new(ValkeyStore::create(location, options)?));
        }
        match ValkeyStore::create_at(location, options) {
            // Nothing was measured yet: what fails now is what the user named.
            Err(error) if error.kind() == ErrorKind::Failed => {
                Err(error.with_kind(ErrorKind::Usage))
            }
            created => Ok(Box::new(created?)),
        }
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if !self.is_private() {
            let what = format!("{}: its keys are made and removed by a run", self.name());
            return Err(Error::new(ErrorKind::Missing, what));
        }
        Ok(Box::new(ValkeyStore::open(location, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let join = if self.is_private() { ValkeyStore::join } else { ValkeyStore::join_at };
        Ok(Box::new(join(location, options)?))
    }
}
