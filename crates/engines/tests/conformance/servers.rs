//! Engines with a server, which takes a second to start: their cases are few, checks that need
//! but an empty store share one, and an engine whose server is not installed may be left out,
//! but only by its name.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::Child,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use model::{Blobs, EngineFacts, Facet, KeyKind, Scan, Session, Settings, Store};
use storemark_engines::{Skeleton, registry};

use crate::{
    case::{Case, Ease, StoreFolder, checked},
    cleanup_guard::cleanup_guard,
};

/// Engines with a server of their own.
pub(crate) const PRIVATE: &[&str] = &["mariadb", "postgres", "s3", "valkey"];

/// An engine whose stores are on an existing server.
struct Remote {
    name: &'static str,
    /// The engine that starts one for the checks.
    server: &'static str,
    /// The address of that server's database, by the folder of its store.
    address: fn(&Path) -> String,
    /// Settings of the store whose server it is, so that no other check puts anything there.
    own: &'static [(&'static str, &'static str)],
    /// What is set to reach it.
    settings: fn(&Path) -> Vec<(&'static str, String)>,
}

const REMOTE: &[Remote] = &[
    Remote {
        name: "mysql",
        server: "mariadb",
        address: |store| format!("//root@{}/storemark", socket(store)),
        own: &[],
        settings: |_| Vec::new(),
    },
    Remote {
        name: "postgresql",
        server: "postgres",
        address: |store| format!("//storemark@{}/postgres", socket(store)),
        own: &[],
        settings: |_| Vec::new(),
    },
    Remote {
        name: "bucket",
        server: "s3",
        address: |_| "//integers/in/a/bucket".to_owned(),
        own: &[("check", "md5")],
        settings: endpoint,
    },
    Remote {
        name: "redis",
        server: "valkey",
        address: |store| format!("//{}/0", socket(store)),
        own: &[],
        settings: |_| Vec::new(),
    },
];

/// The endpoint of the server of a store, and a file with the key that it accepts.
fn endpoint(store: &Path) -> Vec<(&'static str, String)> {
    let tcp = fs::read_to_string(store.join("tcp")).unwrap();
    let (secret, port) = tcp.trim().split_once('\n').unwrap();
    let file = store.with_file_name("credentials");
    let key = format!("aws_access_key_id = storemark\naws_secret_access_key = {secret}\n");
    fs::write(&file, format!("[default]\n{key}")).unwrap();
    let file = file.display().to_string();
    vec![("endpoint", format!("http://127.0.0.1:{port}")), ("credentials", file)]
}

/// As the host of an address is written.
fn socket(store: &Path) -> String {
    store.join("socket").display().to_string().replace('/', "%2F")
}

/// Names engines, with commas between them, whose servers are not installed.
const WITHOUT: &str = "STOREMARK_WITHOUT";
/// Names engines, with commas between them, that alone are checked.
const ONLY: &str = "STOREMARK_ONLY";

/// All engines of the registry that are to be checked, and the one that new engines are copied from.
pub(crate) fn engines() -> impl Iterator<Item = &'static dyn Blobs> {
    let listed = registry::all_blobs().filter(|engine| !left_out().contains(&engine.name()));
    listed.chain([&Skeleton as &dyn Blobs])
}

/// Returns the engines that `WITHOUT` and `ONLY` name.
fn named() -> [Vec<String>; 2] {
    [WITHOUT, ONLY].map(|variable| {
        let names = env::var(variable).unwrap_or_default();
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    })
}

/// Engines that are not checked; printed once, past the harness, which shows only failures.
pub(crate) fn left_out() -> &'static [&'static str] {
    static LEFT_OUT: OnceLock<Vec<&str>> = OnceLock::new();
    LEFT_OUT.get_or_init(|| {
        let [without, only] = named();
        let all: Vec<_> = registry::all_blobs().map(EngineFacts::name).collect();
        let unknown = only.iter().find(|name| !all.contains(&name.as_str()));
        assert_eq!(unknown, None, "{ONLY} names no engine of this build: {all:?}");
        let out: Vec<_> =
            all.into_iter().filter(|name| is_left_out(name, &without, &only)).collect();
        if !out.is_empty() {
            let (count, why) = (out.len(), if only.is_empty() { WITHOUT } else { ONLY });
            let out = out.join(", ");
            let _ = writeln!(std::io::stderr(), "{why}: {count} engines unchecked: {out}");
        }
        out
    })
}

/// The engine `name`; `None` if it is left out, which a line counts.
pub(crate) fn engine_unless_left_out(name: &str) -> Option<&'static dyn Blobs> {
    let [without, only] = named();
    if is_left_out(name, &without, &only) {
        let _ = writeln!(std::io::stderr(), "{WITHOUT}: 1 test unchecked: {name}");
        return None;
    }
    let engine = engines().find(|engine| engine.name() == name);
    assert!(engine.is_some(), "the engine {name} is not in this build");
    engine
}

/// An engine on a server that storemark starts goes with the engine that starts it.
fn is_left_out(name: &str, without: &[String], only: &[String]) -> bool {
    let server = remote(name).map_or(name, |remote| remote.server);
    let is_named = |named: &[String]| named.iter().any(|one| one == name || one == server);
    is_server(name) && is_named(without) || !only.is_empty() && !is_named(only)
}

fn remote(name: &str) -> Option<&'static Remote> {
    REMOTE.iter().find(|remote| remote.name == name)
}

/// Whether stores of the engine `name` are on a server.
pub(crate) fn is_server(name: &str) -> bool {
    PRIVATE.contains(&name) || remote(name).is_some()
}

/// Whether `case` is among the few of an engine with a server: both kinds of keys without
/// settings, integers with those of each durability class.
pub(crate) fn is_chosen(case: &Case) -> bool {
    if !is_server(case.engine.name()) || case.settings.is_empty() {
        return true;
    }
    let of_class = |class| {
        let settings = case.engine.class_settings(Facet::Blobs, class);
        settings.is_ok_and(|settings| case.settings == settings)
    };
    let private = remote(case.engine.name()).is_none();
    private && case.keys == KeyKind::Integers && model::Durability::ALL.into_iter().any(of_class)
}

/// A place for a store of `engine`: in a folder, or a table's name on a server.
pub(crate) fn place(engine: &dyn Blobs) -> StoreFolder {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let mut place = StoreFolder::new().unwrap();
    let Some(remote) = remote(engine.name()) else { return place };
    let address = (remote.address)(&remote.store());
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    place.path = format!("{address}/conformance_{number}").into();
    place
}

impl Remote {
    /// The folder of the store whose server it is.
    fn store(&self) -> PathBuf {
        let engine = registry::blobs(self.server).unwrap();
        let case = Case::new(engine, KeyKind::Integers, checked(engine, self.own));
        kept(&case).path.clone()
    }
}

/// What a store of `engine` is opened with besides the settings of its case.
pub(crate) fn reaching(engine: &dyn Blobs) -> Settings {
    let set = remote(engine.name()).map(|remote| (remote.settings)(&remote.store()));
    let mut settings = Settings::default();
    for (name, value) in set.unwrap_or_default() {
        settings.set(name, value);
    }
    settings
}

/// A store that is kept to the end of this process.
struct Kept {
    case: String,
    path: PathBuf,
    /// One check at a time.
    store: Mutex<Box<dyn Store>>,
    _guard: Child,
}

/// Runs `check` with the one store of `case`, emptied.
pub(crate) fn with_store<T>(case: &Case, check: impl Fn(&Case, &dyn Store) -> T) -> T {
    let kept = kept(case);
    // A check that failed says so itself.
    let store = kept.store.lock().unwrap_or_else(PoisonError::into_inner);
    empty(&mut *store.session().unwrap());
    check(case, &**store)
}

fn empty(session: &mut dyn Session) {
    let mut keys = Vec::new();
    session
        .scan(Scan::LENGTHS, &mut |item| {
            keys.push(crate::case::OwnedKey::from(item.key));
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    for key in keys {
        assert!(session.delete(key.as_key()).unwrap());
    }
    assert_eq!(session.items(), []);
}

/// The store of `case`, created by the first check that asks.
fn kept(case: &Case) -> Arc<Kept> {
    static ALL: Mutex<Vec<Arc<Kept>>> = Mutex::new(Vec::new());
    let name = case.to_string();
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = all.iter().find(|kept| kept.case == name) {
        return Arc::clone(kept);
    }
    let place = StoreFolder::new().unwrap();
    let (path, store) = (place.path.clone(), Mutex::new(case.create(&place.path).unwrap()));
    let kept = Kept { case: name, path, store, _guard: cleanup_guard(place) };
    all.push(Arc::new(kept));
    Arc::clone(&all[all.len() - 1])
}

#[test]
fn an_engine_is_left_out_by_name_alone() {
    for (name, without, only, is_out) in [
        ("mariadb", &["mariadb"][..], &[][..], true),
        ("mysql", &["postgres", "mariadb"], &[], true),
        ("mariadb", &["mysql"], &[], false),
        ("files", &["files"], &[], false),
        ("files", &[], &["redb", "files"], false),
        ("lmdb", &[], &["redb", "files"], true),
        ("mysql", &[], &["mariadb"], false),
    ] {
        let [without, only] =
            [without, only].map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(is_left_out(name, &without, &only), is_out, "{name}: {without:?} {only:?}");
    }
}
