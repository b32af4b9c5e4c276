//! Running stores: each is started when the first trial needs it, and shared by the targets that
//! differ in nothing but their tables.

use std::{fs, path::PathBuf};

use model::{Result, Settings, rows::RowStore};

use crate::experiment::request::RowTarget;
use host::Scratch;

pub(super) struct Servers {
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

impl Servers {
    pub(super) fn new(scratch: Scratch) -> Self {
        Self { scratch, stores: Vec::new(), started: 0 }
    }

    /// The folder with all scratch stores.
    pub(super) fn folder(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    /// The store of `target` with `settings`, started if it does not run.
    pub(super) fn store(
        &mut self,
        target: &RowTarget,
        settings: &Settings,
    ) -> Result<&dyn RowStore> {
        let key = Key::of(target, settings);
        if !self.stores.iter().any(|(of, _)| *of == key) {
            let location = key.location.clone().unwrap_or_else(|| self.place(key.engine));
            let store = target.target.engine.start(&location, settings)?;
            self.stores.push((key.clone(), store));
        }
        let store = self.stores.iter().find(|(of, _)| *of == key);
        let (_, store) = store.expect("it was started above if it did not run");
        Ok(&**store)
    }

    /// Ends a store whose trial failed: what it holds is not known.
    pub(super) fn discard(&mut self, target: &RowTarget, settings: &Settings) {
        let key = Key::of(target, settings);
        let Some(index) = self.stores.iter().position(|(of, _)| *of == key) else { return };
        let (_, store) = self.stores.remove(index);
        let location = store.location();
        // It has failed already, and that was reported.
        let _ = store.close();
        if location.starts_with(self.scratch.path()) {
            let _ = fs::remove_dir_all(location);
        }
    }

    /// Ends all stores.
    pub(super) fn close(self) -> Result<()> {
        self.stores.into_iter().try_for_each(|(_, store)| store.close())
    }

    fn place(&mut self, engine: &str) -> PathBuf {
        self.started += 1;
        self.scratch.path().join(format!("{engine}-{}", self.started))
    }
}

impl Key {
    fn of(target: &RowTarget, settings: &Settings) -> Self {
        let engine = target.target.engine;
        let is_of_table = |name: &str| {
            engine.table_settings().iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == *pattern,
            })
        };
        let Settings(mut settings) = settings.clone();
        settings.retain(|name, _| !is_of_table(name));
        let (engine, location) = (engine.name(), target.target.location.clone());
        Self { engine, location, settings: Settings(settings) }
    }
}
