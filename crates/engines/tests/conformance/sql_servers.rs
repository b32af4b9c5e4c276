//! What servers add: joining a running server, scans that stop early, waiting for rows; and
//! MariaDB's storage engines.
#![cfg(all(unix, any(feature = "mariadb", feature = "postgres", feature = "valkey")))]

use std::{
    ops::ControlFlow,
    thread,
    time::{Duration, Instant},
};

use model::{
    Access, BUSY_RETRIES, Durability, ErrorKind, Key, KeyKind, LOCK_WAITS, Mode, Put, Scan,
    Session, Settings,
};

use crate::{
    case::{Case, Ease, OwnedKey, StoreFolder, bytes, checked},
    servers::{PRIVATE, engine_unless_left_out, engines, with_store},
};

/// Integers in each private server.
fn cases() -> impl Iterator<Item = Case> {
    engines()
        .filter(|engine| PRIVATE.contains(&engine.name()))
        .map(|engine| Case::new(engine, KeyKind::Integers, Settings::default()))
}

fn mariadb(keys: KeyKind, pairs: &[(&str, &str)]) -> Option<Case> {
    let engine = engine_unless_left_out("mariadb")?;
    Some(Case::new(engine, keys, checked(engine, pairs)))
}

#[test]
fn other_storage_engines_hold_blobs_and_promise_nothing() {
    for (word, longest) in [("aria", 2000), ("myisam", 1000)] {
        let Some(case) = mariadb(KeyKind::Names, &[("engine", word)]) else { return };
        let place = StoreFolder::new().unwrap();
        let store = case.create(&place.path).unwrap();
        let (settings, class) = store.in_effect().unwrap();
        assert_eq!(class, Durability::None);
        assert_eq!(settings.get("engine"), Some(word));
        let mut session = store.session().unwrap();
        session.fill(&case, 20);
        // Sorting compares the first kilobyte.
        for end in *b"ba" {
            let name = [vec![b'x'; longest - 1], vec![end]].concat();
            session.write(&OwnedKey::Name(name.into()), &bytes(i64::from(end), 70_000));
        }
        let long = vec![b'x'; longest + 1];
        let error = session.put(Key::Name(&long), b"", &Put::default()).unwrap_err();
        assert!(error.to_string().contains(&format!("at most {longest} bytes")), "{error}");
        drop(session);
        store.close().unwrap();
        let plain = Case { settings: checked(case.engine, &[]), ..case };
        let store = plain.open(&place.path, Access::Write).unwrap();
        let items = store.session().unwrap().items();
        assert_eq!(items.len(), 22);
        assert!(items.is_sorted());
        assert_eq!(store.integrity().unwrap(), Some(Vec::new()));
        store.close().unwrap();
        let other = Case { settings: checked(plain.engine, &[("engine", "innodb")]), ..plain };
        let error = other.open(&place.path, Access::Read).err().unwrap();
        assert!(error.to_string().contains(&format!("the table is {word}")), "{error}");
    }
}

#[test]
fn engines_that_hold_no_blobs_are_refused() {
    for word in ["memory", "csv"] {
        let Some(case) = mariadb(KeyKind::Integers, &[("engine", word)]) else { return };
        let place = StoreFolder::new().unwrap();
        assert_eq!(case.create(&place.path).err().unwrap().kind(), ErrorKind::Usage);
        assert!(!place.path.exists());
    }
}

/// Counts since they were last asked for, of all `sessions`.
fn counted(sessions: &[Box<dyn Session + '_>], name: &str) -> i64 {
    let all = sessions.iter().flat_map(|session| session.statistics());
    all.filter(|(counter, _)| *counter == name).map(|(_, count)| count).sum()
}

/// Waits until the server has counted `waits` for rows.
fn until_waited(sessions: &[Box<dyn Session + '_>], waits: i64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut found = 0;
    while found < waits {
        assert!(Instant::now() < deadline, "{found} of {waits} waits were counted");
        thread::sleep(Duration::from_millis(2));
        found += counted(sessions, LOCK_WAITS);
    }
    assert_eq!(found, waits);
}

#[test]
fn waiting_for_a_row_is_counted_once() {
    let Some(case) = mariadb(KeyKind::Integers, &[]) else { return };
    with_store(&case, |_, store| {
        let mut sessions: Vec<_> = (0..2).map(|_| store.session().unwrap()).collect();
        sessions[0].write(&OwnedKey::Int(1), b"first");
        assert_eq!(counted(&sessions, LOCK_WAITS), 0);
        sessions[0].begin(Mode::Write).unwrap();
        sessions[0].write(&OwnedKey::Int(1), b"held");
        thread::scope(|scope| {
            let waiting =
                scope.spawn(|| store.session().unwrap().write(&OwnedKey::Int(1), b"last"));
            until_waited(&sessions, 1);
            sessions[0].commit().unwrap();
            waiting.join().unwrap();
        });
        assert_eq!(sessions[1].value(&OwnedKey::Int(1)).unwrap(), b"last");
        assert_eq!(counted(&sessions, LOCK_WAITS), 0);
    });
}

#[test]
fn a_wait_that_took_too_long_is_repeated_and_counted() {
    let Some(case) = mariadb(KeyKind::Integers, &[("set.innodb_lock_wait_timeout", "1")]) else {
        return;
    };
    with_store(&case, |_, store| {
        let mut sessions = vec![store.session().unwrap()];
        sessions[0].write(&OwnedKey::Int(1), b"first");
        sessions[0].begin(Mode::Write).unwrap();
        sessions[0].write(&OwnedKey::Int(1), b"held");
        let repeated = thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let mut session = store.session().unwrap();
                session.begin(Mode::Write).unwrap();
                session.write(&OwnedKey::Int(2), b"before");
                session.write(&OwnedKey::Int(1), b"last");
                session.commit().unwrap();
                counted(&[session], BUSY_RETRIES)
            });
            // The second wait is the first repetition.
            until_waited(&sessions, 2);
            sessions[0].commit().unwrap();
            waiting.join().unwrap()
        });
        assert!(repeated >= 1);
        assert_eq!(sessions[0].value(&OwnedKey::Int(1)).unwrap(), b"last");
        assert_eq!(sessions[0].value(&OwnedKey::Int(2)).unwrap(), b"before");
    });
}

#[test]
fn a_store_that_is_open_can_be_joined_but_not_opened() {
    for case in cases() {
        let place = StoreFolder::new().unwrap();
        let store = case.filled(&place.path, 3).unwrap();
        let error = case.open(&place.path, Access::Write).err().unwrap();
        assert!(error.to_string().contains("another process has it open"), "{error}");
        let joined = case.engine.join(&place.path, &case.options(Access::Write)).unwrap();
        joined.session().unwrap().write(&case.key(4), b"joined");
        assert_eq!((joined.processes().len(), store.processes().len()), (0, 1));
        joined.close().unwrap();
        assert_eq!(store.session().unwrap().items().len(), 4);
        store.close().unwrap();
        let error = case.engine.join(&place.path, &case.options(Access::Write)).err().unwrap();
        assert!(error.to_string().contains("no server runs there"), "{error}");
    }
}

/// However much is left to be read.
#[test]
fn a_scan_that_stops_early_leaves_the_session_usable() {
    for case in cases() {
        with_store(&case, |_, store| {
            let mut session = store.session().unwrap();
            for n in 0..50 {
                session.write(&case.key(n), &bytes(n, 1_000_000));
            }
            for in_batch in [false, true] {
                if in_batch {
                    session.begin(Mode::Read).unwrap();
                }
                session.scan(Scan::ALL, &mut |_| Ok(ControlFlow::Break(()))).unwrap();
                assert_eq!(session.value(&case.key(49)).unwrap(), bytes(49, 1_000_000));
                if in_batch {
                    session.commit().unwrap();
                }
            }
        });
    }
}

/// A writer that gives no mode and time leaves those of an existing name.
#[test]
fn a_put_without_mode_and_time_keeps_them() {
    let meta = Some(model::Meta { mode: 0o100_644, seconds: 7, nanoseconds: 9 });
    for how in [model::How::Upsert, model::How::Update] {
        for case in cases().filter(|case| case.engine.capabilities().meta) {
            let case = Case { keys: KeyKind::Names, ..case };
            with_store(&case, |_, store| {
                let mut session = store.session().unwrap();
                let key = case.key(1);
                session.put(key.as_key(), b"old", &Put { meta, ..Put::default() }).unwrap();
                assert!(session.put(key.as_key(), b"new", &Put::new(how)).unwrap());
                session
                    .scan(Scan::ALL, &mut |item| {
                        assert_eq!((item.value, item.meta), (&b"new"[..], meta));
                        Ok(ControlFlow::Continue(()))
                    })
                    .unwrap();
            });
        }
    }
}
