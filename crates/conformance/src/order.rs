//! Scans and lists show everything, in key order, until the visitor stops them.

use std::ops::ControlFlow;

use model::{Error, ErrorKind, Item, Mode, OwnedKey, Scan, Session, Store};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, holds, same, same_items},
};

fn expected(case: &Case) -> Vec<(OwnedKey, Vec<u8>)> {
    let mut all: Vec<_> = (1..=60).map(|n| (case.key(n), bytes(n, 100))).collect();
    all.sort();
    all
}

fn listed(session: &mut dyn Session, scan: Scan<'_>) -> Checked<Vec<(OwnedKey, u64)>> {
    let mut keys = Vec::new();
    session.scan(scan, &mut |Item { key, length, .. }| {
        keys.push((key.into(), length));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(keys)
}

pub(crate) fn an_empty_store_shows_nothing(_: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    same_items("a scan of an empty store", &session.items()?, &[])?;
    same_items("a list of an empty store", &listed(&mut *session, Scan::LENGTHS)?, &[])
}

pub(crate) fn everything_is_shown_in_key_order(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 60)?;
    let expected = expected(case);
    same_items("a scan", &session.items()?, &expected)?;
    let lengths: Vec<_> = expected.into_iter().map(|(key, _)| (key, 100)).collect();
    same_items("a list of keys and lengths", &listed(&mut *session, Scan::LENGTHS)?, &lengths)?;
    let alone = |all: Vec<(OwnedKey, u64)>| all.into_iter().map(|(key, _)| (key, 0)).collect();
    let (keys, expected): (Vec<_>, Vec<_>) =
        (alone(listed(&mut *session, Scan::KEYS)?), alone(lengths));
    same_items("a list of keys", &keys, &expected)
}

pub(crate) fn a_scan_from_a_key_shows_what_follows_it(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 60)?;
    // Keys that are there, and such that are not: before all, between, after all.
    session.remove(&case.key(30))?;
    let mut all = expected(case);
    all.retain(|(key, _)| *key != case.key(30));
    for mode in [None, Some(Mode::Read), Some(Mode::Write)] {
        mode.map_or(Ok(()), |mode| session.begin(mode))?;
        for n in [1, 2, 29, 30, 60, 0, 61] {
            let from = case.key(n);
            let beyond = || all.iter().filter(|(key, _)| *key >= from).cloned();
            for limit in [0, 1, 7, u64::MAX] {
                let limited: Vec<_> = beyond().zip(0..limit).map(|(item, _)| item).collect();
                let of = if limit == u64::MAX { "all" } else { &limit.to_string() };
                let what = format_args!("a scan of {of} items from key {}", from.as_key());
                same_items(what, &session.items_from(&from, limit)?, &limited)?;
            }
        }
        mode.map_or(Ok(()), |_| session.commit())?;
    }
    Ok(())
}

pub(crate) fn chosen_keys_are_shown_in_the_order_asked_for(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 60)?;
    session.remove(&case.key(30))?;
    // The lengths were asked for earlier, and a key has gone since.
    let asked: Vec<_> = (1..=60).rev().step_by(3).map(|n| (case.key(n), 90)).collect();
    let numbers = (1..=60).rev().step_by(3).filter(|n| *n != 30);
    let mut all: Vec<_> = numbers.map(|n| (case.key(n), bytes(n, 100))).collect();
    for most in [60, 3] {
        let mut shown: Vec<(OwnedKey, Vec<u8>)> = Vec::new();
        session.visit_each(&asked, &mut |Item { key, value, .. }| {
            shown.push((key.into(), value.to_vec()));
            let is_over = shown.len() >= most;
            Ok(if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        all.truncate(most);
        same_items(format_args!("at most {most} values of chosen keys"), &shown, &all)?;
    }
    let failed = session.visit_each(&asked, &mut |_| Err(Error::interrupted()));
    let is_it = failed.is_err_and(|error| error.kind() == ErrorKind::Interrupted);
    holds(is_it, "reading chosen keys does not return the error of the visitor")
}

pub(crate) fn a_visitor_stops_a_scan_from_a_key(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 60)?;
    let mut seen = 0_usize;
    let second = case.key(2);
    let from = Scan { from: Some(second.as_key()), limit: 50, ..Scan::ALL };
    session.scan(from, &mut |_| {
        seen += 1;
        Ok(if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    same("the number of items that a visitor was shown who stopped at the third", seen, 3)?;
    let failed = session.scan(from, &mut |_| Err(Error::interrupted()));
    let is_it = failed.is_err_and(|error| error.kind() == ErrorKind::Interrupted);
    holds(is_it, "a scan does not return the error of its visitor")?;
    session.write(&case.key(1), b"still usable")?;
    let first = session.items_from(&case.key(1), 1)?;
    let expected = [(case.key(1), b"still usable".to_vec())];
    same_items("a scan after one that was stopped", &first, &expected)
}

pub(crate) fn a_visitor_stops_a_scan_and_a_list(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 60)?;
    for scan in [Scan::ALL, Scan::LENGTHS, Scan::KEYS] {
        let mut seen = 0_usize;
        session.scan(scan, &mut |_| {
            seen += 1;
            Ok(if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        same("the number of items that a visitor was shown who stopped at the third", seen, 3)?;
    }
    session.write(&case.key(1), b"still usable")
}

pub(crate) fn a_visitors_error_comes_out(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    case.fill(&mut *session, 3)?;
    for scan in [Scan::ALL, Scan::LENGTHS, Scan::KEYS] {
        let failed = session.scan(scan, &mut |_| Err(Error::interrupted()));
        let is_it = failed.is_err_and(|error| error.kind() == ErrorKind::Interrupted);
        holds(is_it, "a scan does not return the error of its visitor")?;
    }
    same("the number of items after a scan that failed", session.items()?.len(), 3)
}
