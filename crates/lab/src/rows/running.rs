//! Stores that run: each is started when the first trial needs it, and shared by the targets that
//! differ in nothing but their tables.

use std::{fs, path::PathBuf};

use model::{Result, Settings, rows::RowStore};

use super::request::RowTarget;
use host::Scratch;

pub(super) struct Running {
    scratch: Scratch,
    stores: Vec<(Key, Box<dyn RowStore>)>,
    started: u32,
}

/// What targets share a store by.
#[derive(Clone, PartialEq)]
struct Key {
    engine: &'static str,
    location: Option<PathBuf>,
    settings: Settings,
}

impl Running {
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { scratch, stores: Vec::new(), started: 0 }
    }

    /// The folder with all scratch stores.
    pub(super) fn folder(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    /// The store of `target`, started if it does not run.
    pub(super) fn store(&mut self, target: &RowTarget) -> Result<&dyn RowStore> {
        let key = Key::of(target);
        if !self.stores.iter().any(|(of, _)| *of == key) {
            let location = target.location.clone().unwrap_or_else(|| self.place(target));
            let store = target.engine.start(&location, &target.settings)?;
            self.stores.push((key.clone(), store));
        }
        let store = self.stores.iter().find(|(of, _)| *of == key);
        let (_, store) = store.expect("it was started above if it did not run");
        Ok(&**store)
    }

    /// Ends a store whose trial failed: what it holds is not known.
    pub(super) fn discard(&mut self, target: &RowTarget) {
        let key = Key::of(target);
        let Some(index) = self.stores.iter().position(|(of, _)| *of == key) else { return };
        let (_, store) = self.stores.remove(index);
        let location = store.location();
        // It has failed already, and that was told.
        let _ = store.close();
        if location.starts_with(self.scratch.path()) {
            let _ = fs::remove_dir_all(location);
        }
    }

    /// Ends all stores.
    pub(super) fn close(self) -> Result<()> {
        self.stores.into_iter().try_for_each(|(_, store)| store.close())
    }

    fn place(&mut self, target: &RowTarget) -> PathBuf {
        self.started += 1;
        self.scratch.path().join(format!("{}-{}", target.engine.name(), self.started))
    }
}

impl Key {
    fn of(target: &RowTarget) -> Self {
        let of_tables = target.engine.table_settings();
        let is_of_table = |name: &str| {
            of_tables.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *pattern,
            })
        };
        let Settings(mut settings) = target.settings.clone();
        settings.retain(|name, _| !is_of_table(name));
        Self {
            engine: target.engine.name(),
            location: target.location.clone(),
            settings: Settings(settings),
        }
    }
}
