//! An open store of a plugin.

use std::{
    ffi::{CString, c_int},
    fs,
    path::{Path, PathBuf},
    ptr,
};

use model::{
    Access, Declaration, Durability, Error, ErrorKind, KeyKind, LIBRARY, OpenOptions, Result,
    STORE, Session, Settings, Store,
};

use super::{
    handle::Handle,
    header::{Hooks, Pair, StoreHook, text},
    hook::{Hook, PluginName},
    session::PluginSession,
};

/// The store within a folder of storemark's, next to a file with the kind of its keys.
const WITHIN: &str = "store";

/// Returns the file with the kind of keys of the store in `folder`.
pub(super) fn mark(folder: &Path, keys: KeyKind) -> PathBuf {
    folder.join(format!("storemark.{keys}"))
}

/// Returns the kind of keys of the store at `location`, and the path by which the plugin knows it. Keys
/// of a store that storemark did not make are names.
pub(super) fn found(location: &Path) -> (KeyKind, PathBuf) {
    let marked = KeyKind::ALL.into_iter().find(|keys| mark(location, *keys).exists());
    match marked {
        Some(keys) => (keys, location.join(WITHIN)),
        None => (KeyKind::Names, location.to_owned()),
    }
}

/// Makes a mark in a new folder; returns the path of the store in it.
pub(super) fn marked(folder: &Path, keys: KeyKind) -> Result<PathBuf> {
    let mark = mark(folder, keys);
    fs::write(&mark, "").map_err(|e| Error::io(mark.display(), e))?;
    Ok(folder.join(WITHIN))
}

pub(super) struct PluginStore {
    handle: Handle,
    is_open: bool,
    declaration: &'static Declaration,
    /// The shared object, as the target names it.
    library: Option<String>,
}

// SAFETY: the header asks that hooks of a store can be called from several threads at once.
unsafe impl Send for PluginStore {}
// SAFETY: as above.
unsafe impl Sync for PluginStore {}

/// What a plugin opens stores with.
pub(super) struct Opener {
    pub(super) hooks: &'static Hooks,
    pub(super) plugin: &'static PluginName,
    pub(super) declaration: &'static Declaration,
}

impl Opener {
    /// Opens the store at `path`, whose keys are of the kind `keys`.
    pub(super) fn open(
        &self,
        path: &Path,
        keys: KeyKind,
        (access, code): (Access, c_int),
        options: &OpenOptions,
    ) -> Result<PluginStore> {
        let Self { hooks, plugin, declaration } = *self;
        let named = |error: Error| error.within(&path.display().to_string());
        let own = options.settings.0.iter().filter(|(name, _)| *name != LIBRARY);
        let own: Result<Vec<_>> =
            own.map(|(name, value)| Ok((terminated(name)?, terminated(value)?))).collect();
        let own = own?;
        let pair = |(name, value): &(CString, CString)| Pair {
            name: name.as_ptr(),
            value: value.as_ptr(),
        };
        let pairs: Vec<_> = own.iter().map(pair).collect();
        let set = if pairs.is_empty() { ptr::null() } else { pairs.as_ptr() };
        let text = terminated(path.to_str().ok_or_else(|| {
            Error::unsupported("plugins know paths of UTF-8 only").at(path.display())
        })?)?;
        let mut raw = ptr::null_mut();
        // SAFETY: texts end in a zero byte, and are there until it returns; `raw` receives the store.
        let opened = plugin.at_work(Hook::Open, || unsafe {
            (hooks.open)(text.as_ptr(), code, set, pairs.len(), &raw mut raw)
        });
        hooks.succeeded(Hook::Open, opened).map_err(named)?;
        let library = options.settings.get(LIBRARY).map(str::to_owned);
        let handle = Handle { hooks, raw, plugin, keys, access };
        Ok(PluginStore { handle, is_open: true, declaration, library })
    }
}

/// Copies a text with a zero byte at its end.
fn terminated(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::usage(format!("{text:?} has a zero byte in it")))
}

impl PluginStore {
    /// Closes it once.
    fn end(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        // SAFETY: the store is open and has no session.
        unsafe { self.call(Hook::Close, self.handle.hooks.close) }
    }

    /// Lets `hook` work on the open store.
    ///
    /// # Safety
    ///
    /// The store is open; it has no session if the hook closes it.
    unsafe fn call(&self, hook: Hook, work: StoreHook) -> Result<()> {
        // SAFETY: as the caller promises.
        self.handle.call(hook, |_| unsafe { work(self.handle.raw) })
    }
}

impl Store for PluginStore {
    fn keys(&self) -> KeyKind {
        self.handle.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(PluginSession::new(self.handle)?))
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let mut settings = Settings::default();
        self.library.iter().for_each(|library| settings.set(LIBRARY, library));
        let Handle { hooks, raw, plugin, .. } = self.handle;
        let hook = hooks.setting.into_iter();
        let names =
            hook.flat_map(|hook| self.declaration.settings.iter().map(move |of| (hook, of)));
        // Those that storemark adds are not the library's.
        for (hook, setting) in names.filter(|(_, of)| ![LIBRARY, STORE].contains(&of.name)) {
            let name = terminated(setting.name)?;
            // SAFETY: the store is open; what is returned is null, or a text until the next call.
            let value = plugin.at_work(Hook::Setting, || unsafe {
                let value = hook(raw, name.as_ptr());
                (!value.is_null()).then(|| text(value))
            });
            if let Some(value) = value {
                settings.set(setting.name, value);
            }
        }
        let class = self.declaration.class_of(&settings);
        Ok((settings, class))
    }

    fn flush_writes(&self) -> Result<()> {
        match self.handle.hooks.sync {
            Some(sync) if self.handle.access == Access::Write => {
                // SAFETY: the store is open.
                unsafe { self.call(Hook::Sync, sync) }
            }
            _ => Ok(()),
        }
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let Some(check) = self.handle.hooks.check else { return Ok(None) };
        // SAFETY: the store is open.
        match unsafe { self.call(Hook::Check, check) } {
            Ok(()) => Ok(Some(Vec::new())),
            Err(error) if error.kind() == ErrorKind::Corrupt => Ok(Some(vec![error.said()])),
            Err(error) => Err(error),
        }
    }

    fn close(mut self: Box<Self>) -> Result<()> {
        self.end()
    }
}

impl Drop for PluginStore {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
