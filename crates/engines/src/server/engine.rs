//! The engines of a kind of server: one starts a private server on a folder, the other one uses an
//! existing server.

use std::{marker::PhantomData, path::Path};

use model::{
    Access, Account, Blobs, Declaration, Durability, Engine, Error, ErrorKind, Facet, KeyKind,
    Leftover, Library, OpenOptions, Result, Rows, Settings, Store,
    rows::{NULL, RowStore, RowTables, Style},
};

use super::{
    dialect::Dialect,
    folder::ServerFolder,
    host::Host,
    leftovers,
    rows::{RowDatabases, RowServer},
    software::Software,
    store::{self, TableStore},
    variables::own_variables,
};

/// An engine; if its declaration is remote, the server is an existing one.
pub(crate) struct ServerEngine<D> {
    declaration: &'static Declaration,
    dialect: PhantomData<fn() -> D>,
}

impl<D: Dialect> ServerEngine<D> {
    pub(crate) const fn new(declaration: &'static Declaration) -> Self {
        Self { declaration, dialect: PhantomData }
    }

    /// Returns the software of the servers that it starts; `None` if it uses an existing one.
    fn software(&self) -> Option<&'static Software> {
        (!self.declaration.capabilities.remote).then(D::software)
    }
}

impl<D: Dialect> Engine for ServerEngine<D> {
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn library(&self, _: &Settings) -> Option<Library> {
        self.software()?.library()
    }

    fn check(&self, facet: Facet, settings: &Settings) -> Result<()> {
        if facet != Facet::Rows {
            return Ok(());
        }
        own_variables(settings)?;
        D::check(facet, settings)
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        let keeps = class == Durability::None || D::is_transactional(settings);
        let engine = settings.get("engine").unwrap_or_default();
        (!keeps).then(|| format!("engine={engine} promises nothing (none)"))
    }

    fn account(&self) -> Option<Account> {
        self.software()?.account()
    }

    fn usable(&self) -> Result<()> {
        self.software().map_or(Ok(()), |software| software.installed().map(drop))
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn rows(&'static self) -> Option<&'static dyn Rows> {
        self.software().map(|_| self as &dyn Rows)
    }
}

impl<D: Dialect> Blobs for ServerEngine<D> {
    fn class_at(&self, address: &str, settings: &Settings) -> Result<Durability> {
        store::class_at::<D>(address, settings)
    }

    fn clean(&self, address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        leftovers::clean::<D>(address, settings)
    }

    fn recognises(&self, path: &Path) -> bool {
        self.software().is_some_and(|software| ServerFolder::is_one(path, software))
    }

    fn reading_changes(&self, _: &Path, _: &Settings) -> Option<String> {
        self.software().map(|_| "its server changes files whenever it runs".to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        let Some(software) = self.software() else { return Ok(false) };
        ServerFolder::new(location, software)?.check_free().map(|()| true)
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        if self.software().is_none() {
            return Ok(Vec::new());
        }
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
        let store = TableStore::<D>::open(location, &options)?;
        let others = store.other_contents()?;
        Box::new(store).close().map(|()| others)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        D::check(Facet::Blobs, &options.settings)?;
        if self.software().is_some() {
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
        if self.software().is_none() {
            let what = format!("{}: its tables are made and dropped by a run", self.name());
            return Err(Error::new(ErrorKind::Missing, what));
        }
        Ok(Box::new(TableStore::<D>::open(location, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let join = self
            .software()
            .map_or(TableStore::<D>::join_at as fn(&_, &_) -> _, |_| TableStore::join);
        Ok(Box::new(join(location, options)?))
    }
}

impl<D: Dialect> Rows for ServerEngine<D> {
    fn table_settings(&self) -> &'static [&'static str] {
        &["engine", NULL.name]
    }

    fn styles(&self, settings: &Settings) -> &'static [Style] {
        const ALWAYS: &[Style] = &[Style::Text, Style::Prepared, Style::Multi, Style::Bulk];
        if D::delays(settings) { &Style::ALL } else { ALWAYS }
    }

    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>> {
        self.check(Facet::Rows, settings)?;
        let folder = ServerFolder::new(location, D::software())?;
        let start = || Host::<D>::start(&folder, Facet::Rows, settings);
        let host = Host::<D>::install(&folder, settings, start)?;
        Ok(Box::new(RowServer { folder, host }))
    }

    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>> {
        let folder = ServerFolder::new(location, D::software())?;
        Ok(Box::new(RowDatabases::<D>::new(folder, settings, 0)?))
    }
}
