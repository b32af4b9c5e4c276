//! Plugins: stores in a shared object behind `plugin/storemark_store.h`. A worker loads one
//! ([`Plugin::load`]) and reports what it declares; the process that measures knows it by that
//! ([`Plugin::declared`]), and has workers open its stores.

mod handle;
mod header;
mod hook;
mod session;
mod skeletons;
mod store;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Mutex,
};

use kit::lock;
use libloading::Library as Object;
use model::{
    Access, Batch, Blobs, Declaration, Engine, Error, KeyKind, LIBRARY, Library, OpenOptions,
    PLUGIN, PluginFacts, Result, Settings, Store,
};

pub use skeletons::{HEADER, PluginSkeleton, SKELETONS};

use crate::fresh;
use header::{CREATE, Export, Hooks, READ, SYMBOL, Table, WRITE};
use hook::{Hook, PluginName};
use store::Opener;

/// An engine whose stores are in a shared object.
pub struct Plugin {
    path: PathBuf,
    facts: PluginFacts,
    declaration: &'static Declaration,
    /// What opens stores; `None` in a process that has not loaded the object.
    opener: Option<Opener>,
}

impl Plugin {
    /// Loads the shared object at `path`; it stays loaded. Each is loaded once.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be loaded, or is no plugin.
    pub fn load(path: &Path) -> Result<&'static Self> {
        static LOADED: Mutex<BTreeMap<PathBuf, &Plugin>> = Mutex::new(BTreeMap::new());
        let mut loaded = lock::hold(&LOADED);
        if let Some(plugin) = loaded.get(path) {
            return Ok(plugin);
        }
        let named = |error: Error| error.at(path.display());
        let plugin = PluginName::new(path);
        let (hooks, facts) = plugin.at_work(Hook::Load, || load_table(path)).map_err(named)?;
        let declaration = facts.declare().map_err(named)?;
        let hooks: &Hooks = Box::leak(Box::new(hooks));
        let opener = Some(Opener { hooks, plugin, declaration });
        let plugin = Self { path: path.to_owned(), facts, declaration, opener };
        let plugin: &Self = Box::leak(Box::new(plugin));
        loaded.insert(path.to_owned(), plugin);
        Ok(plugin)
    }

    /// Returns the plugin at `path` as `facts` declare it, for the rest of this process, which does not
    /// load it.
    ///
    /// # Errors
    ///
    /// Fails if a declared setting or class is not accepted.
    pub fn declared(path: &Path, facts: PluginFacts) -> Result<&'static Self> {
        let declaration = facts.declare().map_err(|error| error.at(path.display()))?;
        Ok(Box::leak(Box::new(Self { path: path.to_owned(), facts, declaration, opener: None })))
    }

    /// Returns the plugin with this [full name](Engine::full_name), loaded; `None` if it is the name of
    /// another engine.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be loaded.
    pub fn find(name: &str) -> Option<Result<&'static Self>> {
        let path = name.strip_prefix(PLUGIN)?.strip_prefix(':')?;
        Some(Self::load(Path::new(path)))
    }

    /// Returns what the plugin declares.
    pub fn facts(&self) -> &PluginFacts {
        &self.facts
    }

    fn opener(&self) -> Result<&Opener> {
        self.opener.as_ref().ok_or_else(|| {
            Error::unsupported("stores of plugins are opened by workers only")
                .at(self.path.display())
        })
    }
}

/// Loads an object, and reads the table that its one function returns.
fn load_table(path: &Path) -> Result<(Hooks, PluginFacts)> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("it cannot be read", e))?;
    if !metadata.is_file() {
        return Err(Error::usage("is no shared object: it is no file"));
    }
    // SAFETY: the user names this object to have its code run.
    let object = unsafe { open(path) }.map_err(|e| {
        Error::usage(format!("cannot be loaded as a shared object: {}", reason(&e)))
    })?;
    // It stays loaded, also if it is refused: what it started may still run.
    let object: &Object = Box::leak(Box::new(object));
    // SAFETY: a symbol of this name is the function of the header.
    let export = unsafe { object.get::<Export>(SYMBOL) }.map_err(|_| {
        Error::usage(format!(
            "is no plugin: it has no function {SYMBOL}(), which `storemark conformance --header` declares"
        ))
    })?;
    // SAFETY: it takes nothing, and returns a table as the header has it.
    unsafe { Table::read(export()) }
}

/// Opens an object. It is refused if a function is missing that it calls, which would end the process at the
/// call.
///
/// # Safety
///
/// Code of the object runs.
unsafe fn open(path: &Path) -> std::result::Result<Object, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

        // SAFETY: as the caller sees to it.
        unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map(Object::from)
    }
    #[cfg(not(unix))]
    // SAFETY: as the caller sees to it.
    unsafe {
        Object::new(path)
    }
}

/// Returns why an object is not loaded, in one line.
fn reason(error: &libloading::Error) -> String {
    let cause =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    cause.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Engine for Plugin {
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn library(&self, settings: &Settings) -> Option<Library> {
        let loaded = settings.get(LIBRARY).map(str::to_owned);
        Some(Library { loaded, ..Library::new(&*self.facts.name, &*self.facts.version) })
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn full_name(&self) -> String {
        format!("{PLUGIN}:{}", self.path.display())
    }
}

impl Blobs for Plugin {
    fn recognises(&self, path: &Path) -> bool {
        KeyKind::ALL.into_iter().any(|keys| store::mark(path, keys).exists())
    }

    /// Returns `false` for two plugins: each opens a copy of its own.
    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        own == other
    }

    fn reading_changes(&self, _: &Path, _: &Settings, _: Batch) -> Option<String> {
        let changes = !self.facts.can.unchanged;
        changes.then(|| "the plugin does not say that reading changes no file".to_owned())
    }

    fn reads_a_copy(&self, _: &Path) -> Result<bool> {
        Ok(!self.facts.can.unchanged)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let opener = self.opener()?;
        fresh::folder(location, || {
            let path = store::marked(location, options.keys)?;
            opener.open(&path, options.keys, (Access::Write, CREATE), options)
        })
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let opener = self.opener()?;
        fs::metadata(location).map_err(|e| Error::io(location.display(), e))?;
        let (keys, path) = store::found(location);
        let code = if options.access == Access::Write { WRITE } else { READ };
        Ok(Box::new(opener.open(&path, keys, (options.access, code), options)?))
    }
}
