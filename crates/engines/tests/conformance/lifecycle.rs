//! Creating, opening and closing.

use std::fs;

use model::{
    Accepts, Access, Durability, EngineFacts, ErrorKind, Facet, KeyKind, Mode, Put, Setting,
};
use storemark_engines::registry;

use crate::{
    case::{Case, Ease, Place, bytes, checked, each, each_persistent},
    servers::engines,
};

#[test]
fn a_store_holds_what_it_held_before_it_was_closed() {
    each_persistent(|case, place| {
        case.made(&place.path, 20);
        let store = case.open(&place.path, Access::Write).unwrap();
        assert_eq!(store.keys(), case.keys);
        let mut session = store.session().unwrap();
        session.write(&case.key(3), &bytes(-3, 5000));
        session.write(&case.key(21), b"more");
        assert!(session.delete(case.key(4).as_key()).unwrap());
        drop(session);
        store.close().unwrap();
        let store = case.open(&place.path, Access::Read).unwrap();
        let mut session = store.session().unwrap();
        assert_eq!(session.value(&case.key(2)).unwrap(), bytes(2, 100));
        assert_eq!(session.value(&case.key(3)).unwrap(), bytes(-3, 5000));
        assert_eq!(session.value(&case.key(4)), None);
        assert_eq!(session.items().len(), 20);
    });
}

#[test]
fn a_store_finds_its_own_kind_of_keys() {
    each_persistent(|case, place| {
        case.made(&place.path, 3);
        let other = match case.keys {
            KeyKind::Integers => KeyKind::Names,
            KeyKind::Names => KeyKind::Integers,
        };
        let asked = Case { keys: other, ..Case { settings: case.settings.clone(), ..*case } };
        let store = asked.open(&place.path, Access::Read).unwrap();
        // A folder of numbers is one of names as well, where names are asked for.
        let unsaid = case.settings.get("layout").is_none();
        let either = case.engine.name() == "files" && other == KeyKind::Names && unsaid;
        assert_eq!(store.keys(), if either { other } else { case.keys });
        assert_eq!(store.session().unwrap().items().len(), 3);
    });
}

#[test]
fn a_store_that_is_dropped_is_there_after_all() {
    each_persistent(|case, place| {
        let store = case.filled(&place.path, 5);
        drop(store);
        let store = case.open(&place.path, Access::Read).unwrap();
        assert_eq!(store.session().unwrap().items().len(), 5);
    });
}

/// A server's files have logs, which grow meanwhile.
#[test]
fn reclaiming_gives_space_back_and_keeps_what_is_left() {
    each_persistent(|case, place| {
        let store = case.create(&place.path).unwrap();
        if case.engine.declaration().reclaim.is_none() {
            assert_eq!(store.reclaim().unwrap_err().kind(), ErrorKind::Unsupported);
            return;
        }
        let mut session = store.session().unwrap();
        session.begin(Mode::Write).unwrap();
        for n in 1..=100 {
            session.write(&case.key(n), &bytes(n, 20_000));
        }
        session.commit().unwrap();
        session.begin(Mode::Write).unwrap();
        for n in 11..=100 {
            assert!(session.delete(case.key(n).as_key()).unwrap());
        }
        session.commit().unwrap();
        drop(session);
        store.close().unwrap();
        let size = || -> usize {
            let files = place.snapshot().into_values().filter_map(|(bytes, _)| bytes);
            files.map(|bytes| bytes.len()).sum()
        };
        let before = size();
        case.open(&place.path, Access::Write).unwrap().reclaim().unwrap();
        // 200 kB are left; what engines write of themselves may be as much again.
        let given_back = size() < before || size() < 500_000;
        assert!(case.is_server() || given_back, "{} after {before}", size());
        let store = case.open(&place.path, Access::Write).unwrap();
        let mut session = store.session().unwrap();
        for n in 1..=10 {
            assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, 20_000));
        }
        assert_eq!(session.items().len(), 10);
        session.write(&case.key(11), b"more");
        drop(session);
        store.close().unwrap();
    });
}

#[test]
fn settling_changes_nothing_that_is_read() {
    each_persistent(|case, place| {
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        for n in 1..5 {
            session.fill(case, n);
            store.flush_writes().unwrap();
            assert_eq!(session.items().len(), usize::try_from(n).unwrap());
        }
        session.begin(Mode::Read).unwrap();
        assert_eq!(session.value(&case.key(4)).unwrap(), bytes(4, 100));
        session.commit().unwrap();
    });
}

#[test]
fn settings_asked_for_are_in_effect_and_all_are_reported() {
    let check = |case: &Case, store: &dyn model::Store| {
        let (effect, _) = store.in_effect().unwrap();
        for (name, value) in &case.settings.0 {
            assert_eq!(effect.get(name), Some(value.as_str()), "{case}: {name}");
        }
        for Setting { name, accepts, facets, .. } in case.engine.settings(Facet::Blobs) {
            // A text for values alone names those of another program, which values where storemark has them
            // do not need. One that ends in a star has no name of its own; without `lib` no library is loaded.
            let names_values = matches!(accepts, Accepts::Text) && *facets == [Facet::Blobs];
            let may_be_absent = name.ends_with('*') || *name == "lib" || names_values;
            let is_reported = may_be_absent || effect.get(name).is_some();
            assert!(is_reported, "{case}: in_effect does not report the setting {name}");
        }
    };
    each(|case| {
        let place = case.place();
        let store = case.filled(&place.path, 3);
        check(case, &*store);
        store.close().unwrap();
        if case.persistent() {
            check(case, &*case.open(&place.path, Access::Write).unwrap());
        }
    });
}

#[test]
fn each_durability_class_that_is_offered_is_in_effect() {
    // A server that is there gives the class that it gives.
    for engine in engines().filter(|engine| !engine.capabilities().remote) {
        for class in Durability::ALL {
            let Ok(settings) = engine.class_settings(Facet::Blobs, class) else { continue };
            for keys in [KeyKind::Integers, KeyKind::Names] {
                let case = Case { engine, keys, settings: settings.clone() };
                let place = Place::new();
                let store = case.create(&place.path).unwrap();
                assert_eq!(store.in_effect().unwrap().1, class, "{case}");
                store.session().unwrap().fill(&case, 2);
                store.close().unwrap();
                if case.persistent() {
                    let store = case.open(&place.path, Access::Write).unwrap();
                    assert_eq!(store.in_effect().unwrap().1, class, "{case}");
                }
            }
        }
    }
}

#[test]
fn opening_what_is_absent_fails_and_makes_nothing() {
    each_persistent(|case, place| {
        for access in [Access::Read, Access::Write] {
            let error = case.open(&place.path, access).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Missing, "{error}");
            assert_eq!(place.snapshot().len(), 1);
        }
    });
}

#[test]
fn creating_over_what_is_there_fails_and_changes_nothing() {
    each_persistent(|case, _| {
        let [file, folder, store] = [(); 3].map(|()| Place::new());
        fs::write(&file.path, "somebody's").unwrap();
        fs::create_dir(&folder.path).unwrap();
        case.made(&store.path, 2);
        for place in [file, folder, store] {
            let before = place.snapshot();
            let error = case.create(&place.path).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Exists, "{error}");
            assert_eq!(place.snapshot(), before);
        }
    });
}

#[test]
fn reading_leaves_the_files_as_they_were() {
    each_persistent(|case, place| {
        case.made(&place.path, 20);
        if case.engine.reading_changes(&place.path, &case.settings).is_some() {
            return;
        }
        let before = place.snapshot();
        let store = case.open(&place.path, Access::Read).unwrap();
        let mut session = store.session().unwrap();
        session.begin(Mode::Read).unwrap();
        assert_eq!(session.value(&case.key(1)).unwrap(), bytes(1, 100));
        session.commit().unwrap();
        assert_eq!(session.items().len(), 20);
        assert!(session.put(case.key(1).as_key(), b"no", &Put::default()).is_err());
        assert!(session.delete(case.key(1).as_key()).is_err());
        drop(session);
        store.flush_writes().unwrap();
        store.close().unwrap();
        assert_eq!(place.snapshot(), before);
    });
}

#[test]
fn a_store_is_recognised_and_its_files_are_all_there_is() {
    each_persistent(|case, place| {
        assert!(!case.engine.recognises(&place.path));
        case.made(&place.path, 5);
        assert!(case.engine.recognises(&place.path));
        let found = registry::recognise(&place.path).map(EngineFacts::name);
        // That one is in no registry.
        assert_eq!(found.unwrap_or("skeleton"), case.engine.name());
        let files = case.engine.files(&place.path);
        assert!(files.iter().any(|file| file.exists()), "{files:?}");
        for entry in place.dir.path().read_dir().unwrap() {
            let path = entry.unwrap().path();
            assert!(files.contains(&path), "{} is not told of", path.display());
        }
        assert!(files.iter().all(|file| file.starts_with(place.dir.path())), "{files:?}");
    });
}

#[test]
fn nothing_is_retained_only_where_that_is_the_point() {
    for engine in engines().filter(|engine| !engine.capabilities().retains) {
        let case = Case { engine, keys: KeyKind::Integers, settings: checked(engine, &[]) };
        let store = case.create("".as_ref()).unwrap();
        let mut session = store.session().unwrap();
        session.fill(&case, 3);
        assert_eq!(session.get(case.key(1).as_key(), &mut [1]).unwrap(), Some(0));
        assert_eq!(session.items(), []);
    }
}
