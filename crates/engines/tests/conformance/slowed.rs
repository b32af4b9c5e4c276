//! A slowed engine is the engine itself in all but its speed. That its stores and sessions are too,
//! the other checks show, which run over one.

use std::{path::Path, time::Instant};

use model::{Access, Batch, Blobs, Durability, Facet, Key, KeyKind, OpenOptions, Put, Settings};
use storemark_engines::{Slowed, registry};

use crate::{
    case::{StoreFolder, checked},
    servers::engines,
};

#[test]
fn it_says_of_itself_what_the_engine_says() {
    for engine in engines() {
        let slowed = Slowed::new(engine, 10.0).unwrap();
        assert_eq!(facts(&slowed), facts(engine));
        let place = StoreFolder::new().unwrap();
        if !engine.capabilities().persistent {
            continue;
        }
        create(engine, &place.path);
        assert!(slowed.recognises(&place.path));
        assert!(!slowed.recognises(&place.folder.join("absent")));
        assert_eq!(slowed.files(&place.path), engine.files(&place.path));
        assert_eq!(
            slowed.other_contents(&place.path).unwrap(),
            engine.other_contents(&place.path).unwrap()
        );
    }
}

fn facts(engine: &dyn Blobs) -> String {
    let classes = Durability::ALL.map(|class| engine.durability_settings(class));
    format!(
        "{} {} {:?} {:?} {:?} {classes:?} {:?}",
        engine.name(),
        engine.declaration().about,
        engine.library(&Settings::default()),
        engine.settings(Facet::Blobs),
        engine.capabilities(),
        engine.fill()
    )
}

fn create(engine: &dyn Blobs, path: &Path) {
    let options = OpenOptions {
        settings: Settings::default(),
        access: Access::Write,
        keys: KeyKind::Integers,
    };
    let store = engine.create(path, &options).unwrap();
    store.session().unwrap().put(Key::Int(1), b"one", &Put::default()).unwrap();
    store.close().unwrap();
}

#[test]
#[cfg(feature = "sqlite")]
fn its_sessions_tell_of_checkpoints_too() {
    let slowed = Slowed::new(registry::blobs("sqlite").unwrap(), 10.0).unwrap();
    let place = StoreFolder::new().unwrap();
    let settings = [("journal", "wal"), ("sync", "off")];
    let settings = checked(&slowed, &settings);
    let options = OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers };
    let store = slowed.create(&place.path, &options).unwrap();
    let mut session = store.session().unwrap();
    for key in 0..300 {
        session.put(Key::Int(key), &[1; 16_000], &Put::default()).unwrap();
    }
    assert!(session.background_work().iter().any(|work| work.name == "checkpoint"));
    assert!(store.background_work().is_none(), "nothing is done in the background");
}

#[test]
#[cfg(feature = "sqlite")]
fn it_too_refuses_to_read_what_reading_changes() {
    let sqlite = registry::blobs("sqlite").unwrap();
    let slowed = Slowed::new(sqlite, 10.0).unwrap();
    let place = StoreFolder::new().unwrap();
    create(sqlite, &place.path);
    let wal = checked(sqlite, &[("journal", "wal")]);
    let why = slowed.reading_changes(&place.path, &wal, Batch::All);
    assert!(why.is_some());
    assert_eq!(why, sqlite.reading_changes(&place.path, &wal, Batch::All));
    let store = slowed.open(
        &place.path,
        &OpenOptions { settings: wal, access: Access::Write, keys: KeyKind::Integers },
    );
    let store = store.unwrap();
    let (settings, class) = store.in_effect().unwrap();
    assert_eq!(settings.get("journal"), Some("wal"));
    assert_eq!(class, Durability::Durable);
    assert_eq!(store.integrity().unwrap(), Some(Vec::new()));
    assert!(!store.session().unwrap().statistics().is_empty());
}

/// Only that it waits, not how exactly: a tenth of what was asked for is far from any doubt. How
/// exactly, `storemark calibrate` measures and prints.
#[test]
fn each_operation_waits() {
    const WAIT_NS: f64 = 20e6;
    let slowed = Slowed::new(registry::blobs("memory").unwrap(), WAIT_NS).unwrap();
    let place = StoreFolder::new().unwrap();
    let options =
        OpenOptions { settings: Settings::default(), access: Access::Write, keys: KeyKind::Names };
    let store = slowed.create(&place.path, &options).unwrap();
    let mut session = store.session().unwrap();
    let mut waits = |operation: &mut dyn FnMut(&mut dyn model::Session)| {
        let start = Instant::now();
        operation(&mut *session);
        assert!(start.elapsed().as_nanos() as f64 > WAIT_NS / 10.0);
    };
    let key = Key::Name(b"a/b");
    waits(&mut |session| assert!(session.put(key, b"one", &Put::default()).unwrap()));
    waits(&mut |session| assert_eq!(session.get(key, &mut [0; 3]).unwrap(), Some(3)));
    waits(&mut |session| assert!(session.delete(key).unwrap()));
}
