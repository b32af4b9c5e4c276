//! Scans and lists show everything, in key order, until they are told to stop.

use std::ops::ControlFlow;

use model::{Error, ErrorKind, Item, Mode, Scan, Session};

use crate::case::{Case, Ease, OwnedKey, bytes, each_store};

fn expected(case: &Case) -> Vec<(OwnedKey, Vec<u8>)> {
    let mut all: Vec<_> = (1..=60).map(|n| (case.key(n), bytes(n, 100))).collect();
    all.sort();
    all
}

fn listed(session: &mut dyn Session) -> Vec<(OwnedKey, u64)> {
    let mut keys = Vec::new();
    session
        .scan(Scan::LENGTHS, &mut |Item { key, length, .. }| {
            keys.push((key.into(), length));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    keys
}

#[test]
fn an_empty_store_shows_nothing() {
    each_store(|_, store| {
        let mut session = store.session().unwrap();
        assert_eq!(session.items(), []);
        assert_eq!(listed(&mut *session), []);
    });
}

#[test]
fn everything_is_shown_in_key_order() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 60);
        let expected = expected(case);
        assert_eq!(session.items(), expected);
        let lengths: Vec<_> = expected.into_iter().map(|(key, _)| (key, 100)).collect();
        assert_eq!(listed(&mut *session), lengths);
    });
}

#[test]
fn a_scan_from_a_key_shows_what_follows_it() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 60);
        // Keys that are there, and such that are not: before all, between, after all.
        session.delete(case.key(30).as_key()).unwrap();
        let mut all = expected(case);
        all.retain(|(key, _)| *key != case.key(30));
        for mode in [None, Some(Mode::Read), Some(Mode::Write)] {
            if let Some(mode) = mode {
                session.begin(mode).unwrap();
            }
            for n in [1, 2, 29, 30, 60, 0, 61] {
                let from = case.key(n);
                let beyond = || all.iter().filter(|(key, _)| *key >= from).cloned();
                for limit in [0, 1, 7, u64::MAX] {
                    let limited: Vec<_> = beyond().zip(0..limit).map(|(item, _)| item).collect();
                    assert_eq!(session.items_from(&from, limit), limited, "{n}, {limit}, {mode:?}");
                }
            }
            if mode.is_some() {
                session.commit().unwrap();
            }
        }
    });
}

#[test]
fn a_visitor_stops_a_scan_from_a_key() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 60);
        let mut seen = 0;
        let second = case.key(2);
        let from = Scan { from: Some(second.as_key()), limit: 50, values: true };
        session
            .scan(from, &mut |_| {
                seen += 1;
                Ok(if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })
            .unwrap();
        assert_eq!(seen, 3);
        let failed = session.scan(from, &mut |_| Err(Error::interrupted()));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Interrupted);
        session.write(&case.key(1), b"still usable");
        assert_eq!(session.items_from(&case.key(1), 1)[0].1, b"still usable");
    });
}

#[test]
fn a_visitor_stops_a_scan_and_a_list() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 60);
        let (mut scanned, mut listed) = (0, 0);
        let count = |seen: &mut i32| {
            *seen += 1;
            Ok(if *seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        session.scan(Scan::ALL, &mut |_| count(&mut scanned)).unwrap();
        session.scan(Scan::LENGTHS, &mut |_| count(&mut listed)).unwrap();
        assert_eq!((scanned, listed), (3, 3));
        session.write(&case.key(1), b"still usable");
    });
}

#[test]
fn a_visitors_error_comes_out() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 3);
        let scanned = session.scan(Scan::ALL, &mut |_| Err(Error::interrupted())).unwrap_err();
        let listed = session.scan(Scan::LENGTHS, &mut |_| Err(Error::interrupted())).unwrap_err();
        assert_eq!(scanned.kind(), ErrorKind::Interrupted);
        assert_eq!(listed.kind(), ErrorKind::Interrupted);
        assert_eq!(session.items().len(), 3);
    });
}
