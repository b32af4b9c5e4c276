//! The engines of a kind of server: one starts a server of its own on a folder, the other one uses
//! an existing server.

use std::{marker::PhantomData, path::Path};

use model::{
    Access, Account, Blobs, Declaration, Durability, Engine, Error, ErrorKind, Facet, KeyKind,
    Library, OpenOptions, Result, Rows, Settings, Store,
    rows::{NULL, RowStore, RowTables, Style},
};

use super::{
    dialect::RowDialect,
    folder::Folder,
    rows::{RowServer, Tables},
    store::TableStore,
};

/// An engine; whether its declaration says that it is remote decides where its server is.
pub(crate) struct ServerEngine<D> {
    declaration: &'static Declaration,
    dialect: PhantomData<D>,
}

impl<D: RowDialect> ServerEngine<D> {
    pub(crate) const fn new(declaration: &'static Declaration) -> Self {
        Self { declaration, dialect: PhantomData }
    }

    fn is_remote(&self) -> bool {
        self.declaration.capabilities.remote
    }
}

impl<D: RowDialect> Engine for ServerEngine<D> {
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn library(&self) -> Option<Library> {
        if self.is_remote() { None } else { D::software().library() }
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        D::unsupported_reason(class, settings)
    }

    fn usable(&self) -> Result<()> {
        if self.is_remote() { Ok(()) } else { D::software().installed().map(drop) }
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        if self.is_remote() { None } else { Some(self) }
    }
}

impl<D: RowDialect> Blobs for ServerEngine<D> {
    fn account(&self) -> Option<Account> {
        if self.is_remote() { None } else { D::software().account() }
    }

    fn recognises(&self, path: &Path) -> bool {
        !self.is_remote() && Folder::is_one(path, D::software())
    }

    fn reading_changes(&self, _: &Path, _: &Settings) -> Option<String> {
        let changes = "its server changes files whenever it runs";
        (!self.is_remote()).then(|| changes.to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        if self.is_remote() {
            return Ok(false);
        }
        Folder::at(location, D::software())?.check_free().map(|()| true)
    }

    fn others(&self, location: &Path) -> Result<Vec<String>> {
        if self.is_remote() {
            return Ok(Vec::new());
        }
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
        let store = TableStore::<D>::open(location, &options)?;
        let others = store.others()?;
        Box::new(store).close().map(|()| others)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        D::check(Facet::Blobs, &options.settings)?;
        if !self.is_remote() {
            return Ok(Box::new(TableStore::<D>::create(location, options)?));
        }
        match TableStore::<D>::create_at(location, options) {
            // Nothing was measured yet: what fails now is what the user named.
            Err(error) if error.kind() == ErrorKind::Failed => {
                Err(error.with_kind(ErrorKind::Usage))
            }
            created => Ok(Box::new(created?)),
        }
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if self.is_remote() {
            let what = format!("{}: its tables are made and dropped by a run", self.name());
            return Err(Error::new(ErrorKind::Missing, what));
        }
        Ok(Box::new(TableStore::<D>::open(location, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let joined = if self.is_remote() { TableStore::<D>::join_at } else { TableStore::join };
        Ok(Box::new(joined(location, options)?))
    }
}

impl<D: RowDialect> Rows for ServerEngine<D> {
    fn table_settings(&self) -> &'static [&'static str] {
        &["engine", NULL.name]
    }

    fn check(&self, settings: &Settings) -> Result<()> {
        D::check(Facet::Rows, settings)
    }

    fn styles(&self, settings: &Settings) -> &'static [Style] {
        D::styles(settings)
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        D::check(Facet::Rows, settings)?;
        Ok(Box::new(RowServer::<D>::start(location, settings)?))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        let folder = Folder::at(location, D::software())?;
        Ok(Box::new(Tables::<D>::new(folder, settings, 0)?))
    }
}
