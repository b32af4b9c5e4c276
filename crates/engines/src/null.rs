//! `null:` does nothing, so that what is measured through it is the tool itself.

use std::path::{Path, PathBuf};

use model::{
    Blobs, Capabilities, Durability, DurabilitySettings, Engine, Facet, Item, Key, KeyKind, Mode,
    OpenOptions, Put, Result, Session, Setting, Settings, Store, Visit,
};

pub(crate) struct Null;

impl Engine for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn about(&self) -> &'static str {
        "does nothing: measures the tool itself"
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        &[]
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        let promise = DurabilitySettings { settings: &[], how: "nothing is kept" };
        (class == Durability::None).then_some(promise)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Null {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            persistent: false,
            retains: false,
            meta: false,
            concurrent_writes: true,
            processes: true,
            remote: false,
        }
    }

    fn recognises(&self, _: &Path) -> bool {
        false
    }

    fn files(&self, _: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    fn create(&self, _: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Nothing { keys: options.keys }))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.create(location, options)
    }
}

struct Nothing {
    keys: KeyKind,
}

impl Store for Nothing {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Idle))
    }

    fn in_effect(&self) -> Result<Settings> {
        Ok(Settings::default())
    }

    fn durability(&self) -> Durability {
        Durability::None
    }
}

struct Idle;

impl Session for Idle {
    fn get(&mut self, _: Key<'_>, _: &mut [u8]) -> Result<Option<usize>> {
        Ok(Some(0))
    }

    fn put(&mut self, _: Key<'_>, _: &[u8], _: &Put) -> Result<bool> {
        Ok(true)
    }

    fn delete(&mut self, _: Key<'_>) -> Result<bool> {
        Ok(true)
    }

    fn begin(&mut self, _: Mode) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn list(&mut self, _: &mut dyn FnMut(Key<'_>, u64) -> Visit) -> Result<()> {
        Ok(())
    }

    fn scan(&mut self, _: &mut dyn FnMut(Item<'_>) -> Visit) -> Result<()> {
        Ok(())
    }

    fn scan_from(
        &mut self,
        _: Key<'_>,
        _: u64,
        _: &mut dyn FnMut(Item<'_>) -> Visit,
    ) -> Result<()> {
        Ok(())
    }
}
