//! Scans and lists show everything, in key order, until they are told to stop.

use std::ops::ControlFlow;

use model::{Error, ErrorKind, Session};

use crate::case::{Case, Ease, OwnedKey, bytes, each_store};

fn expected(case: &Case) -> Vec<(OwnedKey, Vec<u8>)> {
    let mut all: Vec<_> = (1..=60).map(|n| (case.key(n), bytes(n, 100))).collect();
    all.sort();
    all
}

fn listed(session: &mut dyn Session) -> Vec<(OwnedKey, u64)> {
    let mut keys = Vec::new();
    session
        .list(&mut |key, length| {
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
fn a_visitor_stops_a_scan_and_a_list() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 60);
        let (mut scanned, mut listed) = (0, 0);
        let count = |seen: &mut i32| {
            *seen += 1;
            Ok(if *seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        session.scan(&mut |_| count(&mut scanned)).unwrap();
        session.list(&mut |_, _| count(&mut listed)).unwrap();
        assert_eq!((scanned, listed), (3, 3));
        session.write(&case.key(1), b"still usable");
    });
}

#[test]
fn a_visitors_error_comes_out() {
    each_store(|case, store| {
        let mut session = store.session().unwrap();
        session.fill(case, 3);
        let scanned = session.scan(&mut |_| Err(Error::interrupted())).unwrap_err();
        let listed = session.list(&mut |_, _| Err(Error::interrupted())).unwrap_err();
        assert_eq!(scanned.kind(), ErrorKind::Interrupted);
        assert_eq!(listed.kind(), ErrorKind::Interrupted);
        assert_eq!(session.items().len(), 3);
    });
}
