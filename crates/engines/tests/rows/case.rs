//! The engines of rows that are to be checked, with settings that matter.

use std::path::PathBuf;

use model::{
    Durability, Facet, Result, Rows, Settings,
    rows::{RowStore, RowTables},
};
use tempfile::TempDir;

use crate::servers;

pub(crate) struct Case {
    pub(crate) engine: &'static dyn Rows,
    pub(crate) settings: Settings,
}

/// An engine without and with its columns' NULL forbidden, and with each word of the setting that
/// says where it keeps its rows.
pub(crate) fn cases() -> Vec<Case> {
    servers::engines().flat_map(of).collect()
}

/// A folder that a server's user passes through.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711))
        .unwrap();
    folder
}

fn of(engine: &'static dyn Rows) -> Vec<Case> {
    let words = |name: &str| -> Vec<Option<&'static str>> {
        match engine
            .settings(Facet::Rows)
            .iter()
            .find(|setting| setting.name == name)
            .map(|s| s.accepts)
        {
            Some(model::Accepts::Words(words)) => words.iter().copied().map(Some).collect(),
            _ => vec![None],
        }
    };
    let mut cases = Vec::new();
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
    cases.retain(|case| engine.check(&case.settings).is_ok());
    cases
}

/// A server need not flush what is made for these checks.
fn hasty(engine: &dyn Rows) -> Settings {
    match engine.durability_settings(Durability::None) {
        Some(promise) if servers::is_server(engine) => {
            Settings::check(engine.settings(Facet::Rows), promise.settings.iter().copied()).unwrap()
        }
        _ => Settings::default(),
    }
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
        if servers::is_server(self.engine) {
            let kept = servers::kept(self.engine, &self.settings);
            kept.with(|store| self.on(store, databases, use_it));
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
        let folder = folder();
        let place: PathBuf = folder.path().join("store");
        let store = self.engine.start(&place, &self.settings).unwrap();
        self.on(&*store, databases, use_it);
        store.close().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{}", self.name());
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
