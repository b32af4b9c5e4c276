//! The engines of rows that are to be checked, with settings that matter.

use std::{
    process::Child,
    sync::{Arc, Mutex, PoisonError},
};

use model::{
    Durability, Facet, Result, Rows, Settings,
    rows::{RowStore, RowTables},
};
use storemark_engines::registry;

use crate::{
    case::{StoreFolder, words},
    cleanup_guard::cleanup_guard,
    servers::{is_server, left_out},
};

pub(crate) struct Case {
    pub(crate) engine: &'static dyn Rows,
    pub(crate) settings: Settings,
}

/// An engine without and with its columns' NULL forbidden, and with each word of the setting that
/// says where it keeps its rows.
pub(crate) fn cases() -> Vec<Case> {
    registry::all_rows().filter(|e| !left_out().contains(&e.name())).flat_map(of).collect()
}

fn of(engine: &'static dyn Rows) -> Vec<Case> {
    let words = |name| words(&engine.settings(Facet::Rows), name);
    let mut cases = Vec::new();
    if let Some(lib) = crate::case::loaded(&engine.settings(Facet::Rows)) {
        let settings = Settings::check(engine.settings(Facet::Rows), [("lib", lib)]).unwrap();
        cases.push(Case { engine, settings });
    }
    for store in words("store") {
        for kind in words("engine") {
            for null in words("null") {
                let asked = [("store", store), ("engine", kind), ("null", null)];
                let asked = asked.into_iter().filter_map(|(name, value)| Some((name, value?)));
                let settings = Settings::check(engine.settings(Facet::Rows), asked).unwrap();
                cases.push(Case { engine, settings: settings.overlaid(&hasty(engine)) });
            }
        }
    }
    cases.retain(|case| engine.check(Facet::Rows, &case.settings).is_ok());
    cases
}

/// A server need not flush what is created for these checks.
fn hasty(engine: &dyn Rows) -> Settings {
    if is_server(engine.name()) {
        return engine.class_settings(Facet::Rows, Durability::None).unwrap();
    }
    Settings::default()
}

impl Case {
    pub(crate) fn name(&self) -> String {
        format!("{}:?{}", self.engine.name(), self.settings)
    }

    /// Lets `use_it` work on as many databases of a store, which it has for itself unless that
    /// takes a server, and removes all.
    pub(crate) fn with(
        &self,
        databases: u32,
        use_it: impl FnOnce(&dyn RowStore, &dyn RowTables) -> Result<()>,
    ) {
        if is_server(self.engine.name()) {
            let kept = kept(self.engine, &self.settings);
            // A check that failed says so itself.
            let store = kept.store.lock().unwrap_or_else(PoisonError::into_inner);
            self.on(&**store, databases, use_it);
        } else {
            self.with_own(databases, use_it);
        }
    }

    /// The same with a store that is started and ended for it.
    pub(crate) fn with_own(
        &self,
        databases: u32,
        use_it: impl FnOnce(&dyn RowStore, &dyn RowTables) -> Result<()>,
    ) {
        let place = StoreFolder::new().unwrap();
        let store = self.engine.start(&place.path, &self.settings).unwrap();
        self.on(&*store, databases, use_it);
        store.close().unwrap();
        assert_eq!(place.folder.read_dir().unwrap().count(), 0, "{}", self.name());
    }

    fn on(
        &self,
        store: &dyn RowStore,
        databases: u32,
        use_it: impl FnOnce(&dyn RowStore, &dyn RowTables) -> Result<()>,
    ) {
        let tables = store.create(databases, &self.settings).unwrap();
        use_it(store, &*tables).unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        tables.remove().unwrap();
    }
}

/// A store that is kept to the end of this process.
struct Kept {
    engine: &'static str,
    settings: Settings,
    /// One check at a time.
    store: Mutex<Box<dyn RowStore>>,
    _guard: Child,
}

/// The store of `engine` with these settings except those of tables, started by the first check
/// that asks.
fn kept(engine: &dyn Rows, settings: &Settings) -> Arc<Kept> {
    static ALL: Mutex<Vec<Arc<Kept>>> = Mutex::new(Vec::new());
    let mut settings = settings.clone();
    settings.0.retain(|name, _| !engine.table_settings().contains(&name.as_str()));
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|kept| kept.engine == engine.name() && kept.settings == settings);
    if let Some(kept) = found {
        return Arc::clone(kept);
    }
    let place = StoreFolder::new().unwrap();
    let store = Mutex::new(engine.start(&place.path, &settings).unwrap());
    let kept = Kept { engine: engine.name(), settings, store, _guard: cleanup_guard(place) };
    all.push(Arc::new(kept));
    Arc::clone(&all[all.len() - 1])
}
