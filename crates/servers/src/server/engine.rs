//! The engines of a kind of server: one starts a private server on a folder, the other one uses an
//! existing server.

use std::{
    marker::PhantomData,
    path::{Path, PathBuf},
};

use model::{
    Access, Account, Action, Batch, Blobs, CopiedValues, Declaration, Durability, Engine,
    EngineFacts, Error, ErrorKind, Facet, FoundValues, KeyKind, Leftover, Library, OpenOptions,
    Requests, Result, Servers, Settings, Store,
};

use super::{folder::ServerFolder, software::Software};

/// A store of a kind of server, and what the kind adds to its two engines.
pub(crate) trait ServerStore: Store + Sized + 'static {
    /// What a run makes on an existing server, and how it removes that.
    const MADE: &'static str;

    /// Returns the programs of a private server with these settings.
    fn software(settings: &Settings) -> &'static Software;

    /// Checks that the programs are installed.
    fn installed() -> Result<()> {
        Self::software(&Settings::default()).installed().map(drop)
    }

    /// Returns whether the folder at `path` looks like a private store.
    fn recognises(path: &Path) -> bool {
        ServerFolder::is_one(path, Self::software(&Settings::default()))
    }

    /// Checks that a private store is at `path`, and that no other process has it open.
    fn check_free(path: &Path) -> Result<()> {
        ServerFolder::new(path, Self::software(&Settings::default()))?.check_free()
    }

    /// Checks settings, as [`Engine::check`] does.
    fn check(facet: Facet, settings: &Settings) -> Result<()>;

    /// Returns the logs of a private server, among its data.
    fn logs() -> &'static [&'static str] {
        &[]
    }

    /// Returns why a store cannot give a class, as [`Engine::unsupported_reason`] does.
    fn unsupported_reason(
        _private: bool,
        _class: Durability,
        _settings: &Settings,
    ) -> Option<String> {
        None
    }

    /// Creates a folder with a server that has an empty store.
    fn create(path: &Path, options: &OpenOptions) -> Result<Self>;

    /// Starts a server on the folder of an existing store.
    fn open(path: &Path, options: &OpenOptions) -> Result<Self>;

    /// Opens the store of the server that another process has started.
    fn join(path: &Path, options: &OpenOptions) -> Result<Self>;

    /// Creates a store on an existing server, after removing what killed runs left.
    fn create_at(location: &Path, options: &OpenOptions) -> Result<Self>;

    /// Opens a store that another process has created on an existing server.
    fn join_at(location: &Path, options: &OpenOptions) -> Result<Self>;

    /// Returns whether settings name values of the user, as [`Servers::names_values`] does.
    fn names_values(_: &Settings) -> bool {
        false
    }

    /// Returns the settings of a copy, as [`Servers::destination`] does.
    fn destination() -> Option<&'static [(&'static str, &'static str)]> {
        None
    }

    /// Opens values of the user on an existing server, which [`Self::names_values`] names.
    fn open_at(location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Self::join_at(location, options)?))
    }

    /// Creates a store that is named as values of the user: for a run on them, or one of the user.
    fn create_named(location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Self::create_at(location, options)?))
    }

    /// Returns the statements that replace values by paths, as [`Blobs::replace_by_paths`] does.
    fn replace_by_paths(_: &CopiedValues<'_>) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Finds values of the user, as [`Blobs::find_values`] does.
    fn find_values(_location: &Path, _asked: &Settings) -> Result<Option<FoundValues>> {
        Ok(None)
    }

    /// Lists what the server has in addition to the store.
    fn other_contents(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Repairs a private store, as [`Blobs::repair`] does.
    fn repair(_location: &Path) -> Option<String> {
        None
    }

    /// Checks the form of an address, as [`Servers::check_address`] does.
    fn check_address(address: &str) -> Result<()>;

    /// Returns the class of an existing server, as [`Servers::class_at`] does.
    fn class_at(address: &str, settings: &Settings) -> Result<Durability>;

    /// Removes what killed runs left, as [`Servers::clean`] does.
    fn clean(address: &str, settings: &Settings) -> Result<Vec<Leftover>>;

    /// Returns the requests of an operation, as [`Servers::requests`] does.
    fn requests(_: Action, _bytes: u64, _: &Settings) -> Option<Requests> {
        None
    }

    /// Returns the other requests of a store, as [`Servers::store_requests`] does.
    fn store_requests(_values: u64, _: &Settings) -> Option<Requests> {
        None
    }
}

/// An engine; if its declaration is remote, the server is an existing one.
pub(crate) struct ServerEngine<S> {
    declaration: &'static Declaration,
    store: PhantomData<fn() -> S>,
}

impl<S: ServerStore> ServerEngine<S> {
    pub(crate) const fn new(declaration: &'static Declaration) -> Self {
        Self { declaration, store: PhantomData }
    }

    fn is_private(&self) -> bool {
        !self.declaration.capabilities.remote
    }
}

impl<S: ServerStore> Engine for ServerEngine<S> {
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn library(&self, settings: &Settings) -> Option<Library> {
        if self.is_private() { S::software(settings).library() } else { None }
    }

    fn check(&self, facet: Facet, settings: &Settings) -> Result<()> {
        S::check(facet, settings)
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        S::unsupported_reason(self.is_private(), class, settings)
    }
}

impl<S: ServerStore> Servers for ServerEngine<S> {
    fn usable(&self) -> Result<()> {
        if self.is_private() { S::installed() } else { Ok(()) }
    }

    fn account(&self) -> Option<Account> {
        if self.is_private() { S::software(&Settings::default()).account() } else { None }
    }

    fn check_address(&self, address: &str) -> Result<()> {
        S::check_address(address)
    }

    fn class_at(&self, address: &str, settings: &Settings) -> Result<Durability> {
        S::class_at(address, settings)
    }

    fn destination(&self) -> Option<&'static [(&'static str, &'static str)]> {
        if self.is_private() { None } else { S::destination() }
    }

    fn names_values(&self, settings: &Settings) -> bool {
        !self.is_private() && S::names_values(settings)
    }

    fn clean(&self, address: &str, settings: &Settings) -> Result<Vec<Leftover>> {
        S::clean(address, settings)
    }

    fn requests(&self, action: Action, bytes: u64, settings: &Settings) -> Option<Requests> {
        S::requests(action, bytes, settings)
    }

    fn store_requests(&self, values: u64, settings: &Settings) -> Option<Requests> {
        S::store_requests(values, settings)
    }
}

impl<S: ServerStore> Blobs for ServerEngine<S> {
    fn recognises(&self, path: &Path) -> bool {
        self.is_private() && S::recognises(path)
    }

    fn reading_changes(&self, _: &Path, _: &Settings, _: Batch) -> Option<String> {
        self.is_private().then(|| "its server changes files whenever it runs".to_owned())
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        if self.is_private() { S::check_free(location).map(|()| true) } else { Ok(false) }
    }

    fn logs(&self, location: &Path) -> Vec<PathBuf> {
        if !self.is_private() {
            return Vec::new();
        }
        S::logs().iter().map(|name| location.join("data").join(name)).collect()
    }

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        if self.is_private() { Ok(None) } else { named(S::find_values(location, asked)) }
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        if !self.is_private() {
            return Ok(Vec::new());
        }
        let settings = Settings::default();
        let options = OpenOptions { settings, access: Access::Read, keys: KeyKind::Integers };
        let store = S::open(location, &options)?;
        let others = store.other_contents()?;
        Box::new(store).close().map(|()| others)
    }

    fn repair(&self, location: &Path) -> Option<String> {
        if self.is_private() { S::repair(location) } else { None }
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if self.is_private() {
            return Ok(Box::new(S::create(location, options)?));
        }
        named(if self.names_values(&options.settings) {
            S::create_named(location, options)
        } else {
            S::create_at(location, options).map(|store| Box::new(store) as Box<dyn Store>)
        })
    }

    fn replace_by_paths(&self, copied: &CopiedValues<'_>) -> Result<Option<Vec<String>>> {
        if self.names_values(copied.settings) { S::replace_by_paths(copied) } else { Ok(None) }
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if self.names_values(&options.settings) {
            return S::open_at(location, options);
        }
        if !self.is_private() {
            let what = format!("{}: its {} by a run", self.name(), S::MADE);
            return Err(Error::new(ErrorKind::Missing, what));
        }
        Ok(Box::new(S::open(location, options)?))
    }

    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        if self.names_values(&options.settings) {
            return S::open_at(location, options);
        }
        let join = if self.is_private() { S::join } else { S::join_at };
        Ok(Box::new(join(location, options)?))
    }
}

/// Returns what was made or found before anything was measured: what fails then is what the user named.
fn named<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| match error.kind() {
        ErrorKind::Failed => error.with_kind(ErrorKind::Usage),
        _ => error,
    })
}
