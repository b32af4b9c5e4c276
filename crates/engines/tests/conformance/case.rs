//! The cases of all engines, and shorthand that panics.

use std::{path::Path, sync::OnceLock};

pub(crate) use conformance::{Case, StoreFolder, bytes};
use conformance::{Checked, Surroundings, settings_of};
pub(crate) use model::OwnedKey;
use model::{Accepts, Blobs, ErrorKind, Facet, KeyKind, Session, Setting, Settings, Store};
use storemark_engines::{Slowed, registry};

use crate::servers;

/// Places and settings of stores on servers too.
static AROUND: Surroundings =
    Surroundings { new_folder: |engine| Ok(servers::place(engine)), reach: servers::reaching };

/// Runs `check` over all cases that keep what is written.
pub(crate) fn each(check: impl Fn(&Case) -> Checked) {
    for case in cases().iter().filter(|case| case.engine.capabilities().retains) {
        if let Err(fault) = check(case) {
            panic!("{case}: {fault}");
        }
    }
}

/// Runs `check` with an empty store of every such case.
pub(crate) fn each_store(check: impl Fn(&Case, &dyn Store) -> Checked) {
    each(|case| {
        if case.is_server() && case.is_persistent() {
            return servers::with_store(case, &check);
        }
        let place = case.new_folder()?;
        let store = case.create(&place.path)?;
        check(case, &*store)?;
        Ok(store.close()?)
    });
}

/// Runs `check` over all such cases of engines with files; of those with servers, over those
/// without settings.
pub(crate) fn each_persistent(check: impl Fn(&Case, &StoreFolder) -> Checked) {
    each(|case| {
        if case.is_persistent() && (case.settings.is_empty() || !case.is_server()) {
            check(case, &StoreFolder::new()?)?;
        }
        Ok(())
    });
}

/// All cases, those left out that an engine says do not go together, and most of engines with
/// servers.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let mut cases = Vec::new();
        // What is written once has checks of its own.
        let engines = servers::engines().filter(|engine| !engine.capabilities().written_once);
        for engine in engines.chain([slowed()]) {
            for settings in settings(engine) {
                let fitting: Vec<_> = [KeyKind::Integers, KeyKind::Names]
                    .map(|keys| Case {
                        around: &AROUND,
                        ..Case::new(engine, keys, settings.clone())
                    })
                    .into_iter()
                    .filter(|case| case.is_server() || fits(case))
                    .collect();
                assert!(!fitting.is_empty(), "{}:?{settings} takes no keys", engine.name());
                cases.extend(fitting.into_iter().filter(servers::is_chosen));
            }
        }
        cases
    })
}

/// Delegates to an engine with files and settings; it must not show.
fn slowed() -> &'static dyn Blobs {
    static SLOWED: OnceLock<Slowed> = OnceLock::new();
    SLOWED.get_or_init(|| Slowed::new(registry::blobs("pack").unwrap(), 10.0).unwrap())
}

fn fits(case: &Case) -> bool {
    match case.create(&StoreFolder::new().unwrap().path) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Usage, "{case}: {error}");
            false
        }
    }
}

/// Those of the suite, and another library if the engine can load one.
fn settings(engine: &dyn Blobs) -> Vec<Settings> {
    let mut all = settings_of(engine).unwrap();
    all.extend(loaded(&engine.settings(Facet::Blobs)).map(|lib| checked(engine, &[("lib", lib)])));
    all
}

/// Another SQLite than the one that is linked, where `settings` have a place for it: that of the system,
/// or the one that `STOREMARK_TEST_SQLITE` names.
pub(crate) fn loaded(settings: &[&Setting]) -> Option<&'static str> {
    static LIBRARY: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let systems = || {
            ["x86_64", "aarch64"]
                .map(|machine| format!("/usr/lib/{machine}-linux-gnu/libsqlite3.so.0"))
        };
        let named = std::env::var("STOREMARK_TEST_SQLITE").ok();
        named.or_else(|| systems().into_iter().find(|path| Path::new(path).exists()))
    };
    settings.iter().find(|setting| setting.name == "lib")?;
    LIBRARY.get_or_init(find).as_deref()
}

/// The words of the setting `name`, or nothing to set where there is none.
pub(crate) fn words(settings: &[&Setting], name: &str) -> Vec<Option<&'static str>> {
    match settings.iter().find(|setting| setting.name == name).map(|setting| setting.accepts) {
        Some(Accepts::Words(words)) => words.iter().copied().map(Some).collect(),
        _ => vec![None],
    }
}

pub(crate) fn checked(engine: &dyn Blobs, pairs: &[(&str, &str)]) -> Settings {
    Settings::check(engine.settings(Facet::Blobs), pairs.iter().copied()).unwrap()
}

/// Shorthand of the tests.
pub(crate) trait Ease {
    fn write(&mut self, key: &OwnedKey, value: &[u8]);
    fn value(&mut self, key: &OwnedKey) -> Option<Vec<u8>>;
    fn items(&mut self) -> Vec<(OwnedKey, Vec<u8>)>;
    fn items_from(&mut self, from: &OwnedKey, limit: u64) -> Vec<(OwnedKey, Vec<u8>)>;
    /// Keys 1 to `count`, 100 bytes each, in one batch.
    fn fill(&mut self, case: &Case, count: i64);
}

impl Ease for dyn Session + '_ {
    fn write(&mut self, key: &OwnedKey, value: &[u8]) {
        conformance::Ease::write(self, key, value).unwrap();
    }

    fn value(&mut self, key: &OwnedKey) -> Option<Vec<u8>> {
        conformance::Ease::value(self, key).unwrap()
    }

    fn items(&mut self) -> Vec<(OwnedKey, Vec<u8>)> {
        conformance::Ease::items(self).unwrap()
    }

    fn items_from(&mut self, from: &OwnedKey, limit: u64) -> Vec<(OwnedKey, Vec<u8>)> {
        conformance::Ease::items_from(self, from, limit).unwrap()
    }

    fn fill(&mut self, case: &Case, count: i64) {
        case.fill(self, count).unwrap();
    }
}
