//! Engines with a server, which takes a second to start: their checks share stores, and one whose
//! server is not installed may be left out, but only by its name.

use std::{
    env,
    io::Write,
    path::PathBuf,
    process::Child,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use model::{Rows, Settings, rows::RowStore};
use storemark_engines::registry;

use crate::{case::folder, cleanup_guard::cleanup_guard};

const SERVERS: &[&str] = &["mariadb", "postgres"];

/// Names engines, with commas between them, whose servers are not installed.
const WITHOUT: &str = "STOREMARK_WITHOUT";

pub(crate) fn is_server(engine: &dyn Rows) -> bool {
    SERVERS.contains(&engine.name())
}

/// All engines that are to be checked.
pub(crate) fn engines() -> impl Iterator<Item = &'static dyn Rows> {
    registry::all_rows().filter(|engine| !left_out().contains(&engine.name()))
}

/// Engines that are not checked; told once, past the harness, which shows only failures.
fn left_out() -> &'static [&'static str] {
    static LEFT_OUT: OnceLock<Vec<&str>> = OnceLock::new();
    LEFT_OUT.get_or_init(|| {
        let named = env::var(WITHOUT).unwrap_or_default();
        let named: Vec<_> = named.split(',').map(str::trim).collect();
        let out: Vec<_> = SERVERS.iter().copied().filter(|name| named.contains(name)).collect();
        if !out.is_empty() {
            let _ = writeln!(std::io::stderr(), "{WITHOUT}: unchecked: {}", out.join(", "));
        }
        out
    })
}

/// A store that is kept to the end of this process.
pub(crate) struct Kept {
    engine: &'static str,
    settings: Settings,
    /// One check at a time.
    store: Mutex<Box<dyn RowStore>>,
    _guard: Child,
}

impl Kept {
    /// Runs `check` on it.
    pub(crate) fn with(&self, check: impl FnOnce(&dyn RowStore)) {
        // A check that failed says so itself.
        check(&**self.store.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// The store of `engine` with these settings but those of tables, made by the first check that
/// asks.
pub(crate) fn kept(engine: &dyn Rows, settings: &Settings) -> Arc<Kept> {
    static ALL: Mutex<Vec<Arc<Kept>>> = Mutex::new(Vec::new());
    let mut settings = settings.clone();
    settings.0.retain(|name, _| !engine.table_settings().contains(&name.as_str()));
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let found = all.iter().find(|kept| kept.engine == engine.name() && kept.settings == settings);
    if let Some(kept) = found {
        return Arc::clone(kept);
    }
    let folder = folder();
    let place: PathBuf = folder.path().join("store");
    let store = Mutex::new(engine.start(&place, &settings).unwrap());
    let kept =
        Arc::new(Kept { engine: engine.name(), settings, store, _guard: cleanup_guard(folder) });
    all.push(Arc::clone(&kept));
    kept
}
