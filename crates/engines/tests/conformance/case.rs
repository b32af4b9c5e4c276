//! An engine with a kind of keys and settings, and what the checks do with it.

use std::{
    collections::BTreeMap,
    fmt,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::SystemTime,
};

pub(crate) use model::OwnedKey;
use model::{
    Accepts, Access, Blobs, Durability, ErrorKind, Facet, Item, KeyKind, Mode, OpenOptions, Put,
    Result, Scan, Session, Setting, Settings, Store,
};
use storemark_engines::{Slowed, registry};
use tempfile::TempDir;

use crate::servers;

pub(crate) struct Case {
    pub(crate) engine: &'static dyn Blobs,
    pub(crate) keys: KeyKind,
    pub(crate) settings: Settings,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:?{} with {}", self.engine.name(), self.settings, self.keys)
    }
}

impl Case {
    pub(crate) fn options(&self, access: Access) -> OpenOptions {
        let settings = self.settings.clone().overlaid(&servers::reaching(self.engine));
        OpenOptions { settings, access, keys: self.keys }
    }

    pub(crate) fn create(&self, path: &Path) -> Result<Box<dyn Store>> {
        self.engine.create(path, &self.options(Access::Write))
    }

    pub(crate) fn open(&self, path: &Path, access: Access) -> Result<Box<dyn Store>> {
        self.engine.open(path, &self.options(access))
    }

    /// A new store with the first keys up to `count`.
    pub(crate) fn filled(&self, path: &Path, count: i64) -> Box<dyn Store> {
        let store = self.create(path).unwrap();
        store.session().unwrap().fill(self, count);
        store
    }

    /// The same, closed.
    pub(crate) fn made(&self, path: &Path, count: i64) {
        self.filled(path, count).close().unwrap();
    }

    /// The `n`-th key: names are in two folders, and their order is not that of `n`.
    pub(crate) fn key(&self, n: i64) -> OwnedKey {
        match self.keys {
            KeyKind::Integers => OwnedKey::Int(n),
            KeyKind::Names => {
                OwnedKey::Name(format!("{}/{n}", n.rem_euclid(2)).into_bytes().into())
            }
        }
    }

    pub(crate) fn persistent(&self) -> bool {
        self.engine.capabilities().persistent
    }

    pub(crate) fn is_server(&self) -> bool {
        servers::is_server(self.engine.name())
    }

    /// Where a new store of it can be.
    pub(crate) fn place(&self) -> Place {
        servers::place(self.engine)
    }
}

/// Runs `check` over all cases that keep what is written.
pub(crate) fn each(check: impl Fn(&Case)) {
    for case in cases().iter().filter(|case| case.engine.capabilities().retains) {
        // Shown only if the check fails.
        eprintln!("{case}");
        check(case);
    }
}

/// Runs `check` with an empty store of every such case.
pub(crate) fn each_store(check: impl Fn(&Case, &dyn Store)) {
    each(|case| {
        if case.is_server() && case.persistent() {
            return servers::with_store(case, &check);
        }
        let place = case.place();
        let store = case.create(&place.path).unwrap();
        check(case, &*store);
        store.close().unwrap();
    });
}

/// Runs `check` over all such cases of engines with files; of those with servers, over those
/// without settings.
pub(crate) fn each_persistent(check: impl Fn(&Case, &Place)) {
    each(|case| {
        if case.persistent() && (case.settings.is_empty() || !case.is_server()) {
            check(case, &Place::new());
        }
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
                    .map(|keys| Case { engine, keys, settings: settings.clone() })
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
    match case.create(&Place::new().path) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Usage, "{case}: {error}");
            false
        }
    }
}

/// None, each word of each setting alone, `inline` if there is one, and those of each durability class.
fn settings(engine: &dyn Blobs) -> Vec<Settings> {
    let mut all = vec![Settings::default()];
    for setting in engine.settings(Facet::Blobs) {
        if let Accepts::Words(words) = setting.accepts {
            all.extend(words.iter().map(|word| checked(engine, &[(setting.name, word)])));
        }
    }
    // All but the shortest values are then files.
    if engine.settings(Facet::Blobs).iter().any(|setting| setting.name == "inline") {
        all.push(checked(engine, &[("inline", "50")]));
    }
    let of_class = |class| engine.class_settings(Facet::Blobs, class).ok();
    all.extend(loaded(&engine.settings(Facet::Blobs)).map(|lib| checked(engine, &[("lib", lib)])));
    for settings in Durability::ALL.into_iter().filter_map(of_class) {
        if !all.contains(&settings) {
            all.push(settings);
        }
    }
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

/// A folder of its own with room for one store.
pub(crate) struct Place {
    pub(crate) dir: TempDir,
    pub(crate) path: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        // A server's user passes through it.
        #[cfg(unix)]
        std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711))
            .unwrap();
        Self { path: dir.path().join("store"), dir }
    }

    /// Everything below the folder: bytes of files, and when files and folders last changed.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)> {
        let mut found = BTreeMap::new();
        snapshot(self.dir.path(), &mut found);
        found
    }
}

fn snapshot(path: &Path, found: &mut BTreeMap<PathBuf, (Option<Vec<u8>>, SystemTime)>) {
    let meta = path.symlink_metadata().unwrap();
    let bytes = meta.is_file().then(|| std::fs::read(path).unwrap());
    found.insert(path.to_owned(), (bytes, meta.modified().unwrap()));
    if meta.is_dir() {
        for entry in path.read_dir().unwrap() {
            snapshot(&entry.unwrap().path(), found);
        }
    }
}

/// Bytes that differ from key to key.
pub(crate) fn bytes(n: i64, length: usize) -> Vec<u8> {
    let mut state = n.cast_unsigned() ^ 0x9E37_79B9_7F4A_7C15;
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state.to_be_bytes()[0]
    })
    .take(length)
    .collect()
}

/// Shorthand of the checks.
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
        assert!(self.put(key.as_key(), value, &Put::default()).unwrap());
    }

    fn value(&mut self, key: &OwnedKey) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 1 << 21];
        let length = self.get(key.as_key(), &mut buffer).unwrap()?;
        buffer.truncate(length);
        Some(buffer)
    }

    fn items(&mut self) -> Vec<(OwnedKey, Vec<u8>)> {
        let mut items = Vec::new();
        self.scan(Scan::ALL, &mut |Item { key, value, .. }| {
            items.push((key.into(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        items
    }

    fn items_from(&mut self, from: &OwnedKey, limit: u64) -> Vec<(OwnedKey, Vec<u8>)> {
        let mut items = Vec::new();
        let range = Scan { from: Some(from.as_key()), limit, values: true };
        self.scan(range, &mut |Item { key, value, .. }| {
            items.push((key.into(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        items
    }

    fn fill(&mut self, case: &Case, count: i64) {
        self.begin(Mode::Write).unwrap();
        for n in 1..=count {
            self.write(&case.key(n), &bytes(n, 100));
        }
        self.commit().unwrap();
    }
}
