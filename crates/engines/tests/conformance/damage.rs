//! A flipped byte of a value is found without another copy: by every engine that says so.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{Access, Result, Scan};

use crate::case::{Case, Ease, bytes, each_persistent};

#[test]
fn a_flipped_byte_of_a_value_is_found() {
    each_persistent(|case, place| {
        let check = case.engine.declaration().integrity;
        if case.is_server() || check.is_none_or(|check| !check.starts_with("a checksum")) {
            return;
        }
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        for n in 1..=40 {
            session.write(&case.key(n), &bytes(n, 3000));
        }
        drop(session);
        store.flush_writes().unwrap();
        store.close().unwrap();
        read_all(case, &place.path).unwrap();
        for (n, at) in [(1, 0), (17, 1500), (40, 2992)] {
            let Some(flipped) = flip(&place.path, &bytes(n, 3000)[at..at + 8]) else { continue };
            assert!(read_all(case, &place.path).is_err(), "{case}: byte {at} of value {n}");
            flip_back(flipped);
            let again = read_all(case, &place.path);
            assert!(
                again.is_ok(),
                "{case}: {again:?}: reading a damaged store changed it, so that its \
                 integrity must not start with \"a checksum\""
            );
        }
    });
}

/// What `verify` does with one store.
fn read_all(case: &Case, path: &Path) -> Result<()> {
    let store = case.open(path, Access::Read)?;
    if let Some(complaint) = store.integrity()?.unwrap_or_default().pop() {
        return Err(model::Error::corrupt(complaint));
    }
    store.session()?.scan(Scan::ALL, &mut |_| Ok(ControlFlow::Continue(())))?;
    store.close()
}

/// Flips a byte where `value` is in the files at `path`; `None`: it is compressed, or not in one piece.
fn flip(path: &Path, value: &[u8]) -> Option<(PathBuf, usize)> {
    if path.is_dir() {
        let entries = path.read_dir().unwrap().map(|entry| entry.unwrap().path());
        return entries.into_iter().find_map(|path| flip(&path, value));
    }
    let found = fs::read(path).unwrap();
    let at = found.windows(value.len()).position(|window| window == value)?;
    flip_back((path.to_owned(), at));
    Some((path.to_owned(), at))
}

fn flip_back((path, at): (PathBuf, usize)) {
    let mut all = fs::read(&path).unwrap();
    all[at] ^= 0x10;
    fs::write(path, all).unwrap();
}
