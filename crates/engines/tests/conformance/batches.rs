//! Batches, and sessions side by side.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use model::{LOCK_WAITS, Mode, Session, Store};

use crate::case::{Case, Ease, bytes, each_store};

#[test]
fn a_batch_sees_its_own_writes_and_keeps_them() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        for batch in 0..3 {
            session.begin(Mode::Write).unwrap();
            for n in batch * 5..batch * 5 + 5 {
                session.write(&case.key(n), &bytes(n, 50));
                assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, 50));
            }
            session.commit().unwrap();
        }
        session.begin(Mode::Read).unwrap();
        for n in 0..15 {
            assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, 50));
        }
        assert_eq!(session.value(&case.key(15)), None);
        session.commit().unwrap();
    });
}

#[test]
fn an_empty_batch_is_fine() {
    each_store(|_, store| {
        let mut session = store.session().unwrap();
        for mode in [Mode::Read, Mode::Write, Mode::Read] {
            session.begin(mode).unwrap();
            session.commit().unwrap();
        }
    });
}

#[test]
fn a_reader_sees_what_a_writer_committed() {
    each_store(|case, store| {
        let (mut writer, mut reader) = (store.session().unwrap(), store.session().unwrap());
        for n in 1..4 {
            writer.begin(Mode::Write).unwrap();
            writer.write(&case.key(n), &bytes(n, 500));
            writer.commit().unwrap();
            reader.begin(Mode::Read).unwrap();
            assert_eq!(reader.value(&case.key(n)).unwrap(), bytes(n, 500));
            reader.commit().unwrap();
        }
    });
}

#[test]
fn readers_and_a_writer_work_at_once() {
    each_store(|case, store| {
        store.session().unwrap().fill(case, 20);
        thread::scope(|scope| {
            scope.spawn(|| update(case, store, 1..=10));
            scope.spawn(|| read(case, store, 11..=20));
        });
        let mut session = store.session().unwrap();
        assert_eq!(session.value(&case.key(3)).unwrap(), bytes(-3, 100));
        assert_eq!(session.value(&case.key(13)).unwrap(), bytes(13, 100));
    });
}

fn update(case: &Case, store: &dyn Store, keys: std::ops::RangeInclusive<i64>) {
    let mut session = store.session().unwrap();
    for n in keys {
        session.begin(Mode::Write).unwrap();
        session.write(&case.key(n), &bytes(-n, 100));
        session.commit().unwrap();
    }
}

fn read(case: &Case, store: &dyn Store, keys: std::ops::RangeInclusive<i64>) {
    let mut session = store.session().unwrap();
    for n in keys {
        session.begin(Mode::Read).unwrap();
        assert_eq!(session.value(&case.key(n)).unwrap(), bytes(n, 100));
        session.commit().unwrap();
    }
}

#[test]
fn two_writers_both_succeed() {
    each_store(|case, store| {
        if !case.engine.capabilities().concurrent_writes {
            return;
        }
        thread::scope(|scope| {
            scope.spawn(|| update(case, store, 1..=10));
            scope.spawn(|| update(case, store, 11..=20));
        });
        let mut session = store.session().unwrap();
        for n in 1..=20 {
            assert_eq!(session.value(&case.key(n)).unwrap(), bytes(-n, 100), "key {n}");
        }
        assert_eq!(session.items().len(), 20);
    });
}

/// Waits of the session, where the engine counts them.
pub(crate) fn waits(session: &dyn Session) -> Option<i64> {
    let counters = session.statistics();
    counters.into_iter().find(|(name, _)| *name == LOCK_WAITS).map(|(_, waits)| waits)
}

/// Whether one that begins to write was counted as waiting while another's batch stays open for
/// that long after it said that it is about to.
fn waited(case: &Case, store: &dyn Store, open: Duration) -> bool {
    let (about_to, heard) = mpsc::channel();
    let mut first = store.session().unwrap();
    first.begin(Mode::Write).unwrap();
    first.write(&case.key(1), b"first");
    thread::scope(|scope| {
        let second = scope.spawn(move || {
            let mut session = store.session().unwrap();
            about_to.send(()).unwrap();
            session.begin(Mode::Write).unwrap();
            session.write(&case.key(1), b"second");
            session.commit().unwrap();
            waits(&*session)
        });
        heard.recv().unwrap();
        thread::sleep(open);
        first.commit().unwrap();
        let waited = second.join().unwrap().unwrap();
        // A server counts for all its sessions, and one of them tells.
        waited + waits(&*first).unwrap() > 0
    })
}

#[test]
fn a_writer_that_waits_is_counted() {
    each_store(|case, store| {
        let mut alone = store.session().unwrap();
        alone.fill(case, 1);
        match waits(&*alone) {
            None => return,
            Some(waits) => assert_eq!(waits, 0, "{case}: nobody was waited for"),
        }
        drop(alone);
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut open = Duration::from_millis(1);
        while !waited(case, store, open) {
            assert!(Instant::now() < deadline, "{case}: no wait was counted");
            open *= 2;
        }
    });
}
