//! A flipped byte of a value is found without another copy: by every engine that says so.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{Access, Error, Result, Scan};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, holds},
    store_folder::StoreFolder,
};

pub(crate) fn a_flipped_byte_of_a_value_is_found(case: &Case, place: &StoreFolder) -> Checked {
    let check = case.engine.declaration().integrity;
    if case.is_server() || check.is_none_or(|check| !check.starts_with("a checksum")) {
        return Ok(());
    }
    let store = case.create(&place.path)?;
    let mut session = store.session()?;
    for n in 1..=40 {
        session.write(&case.key(n), &bytes(n, 3000))?;
    }
    drop(session);
    store.flush_writes()?;
    store.close()?;
    read_all(case, &place.path)?;
    for (n, at) in [(1, 0), (17, 1500), (40, 2992)] {
        let Some(flipped) = flip(&place.path, &bytes(n, 3000)[at..at + 8])? else { continue };
        let found = read_all(case, &place.path).is_err();
        holds(
            found,
            format_args!("byte {at} of the value of key {n} was flipped, and it was read"),
        )?;
        flip_back(&flipped)?;
        read_all(case, &place.path).map_err(|error| {
            Fault::from(error).within(
                "reading a damaged store changed it, so that its integrity must not start with \
                 \"a checksum\"",
            )
        })?;
    }
    Ok(())
}

/// Reads one store as `verify` does.
fn read_all(case: &Case, path: &Path) -> Result<()> {
    let store = case.open(path, Access::Read)?;
    if let Some(complaint) = store.integrity()?.unwrap_or_default().pop() {
        return Err(Error::corrupt(complaint));
    }
    store.session()?.scan(Scan::ALL, &mut |_| Ok(ControlFlow::Continue(())))?;
    store.close()
}

/// Flips a byte where `value` is in the files at `path`; returns `None` if it is compressed, or not in one
/// piece.
fn flip(path: &Path, value: &[u8]) -> Checked<Option<(PathBuf, usize)>> {
    if path.is_dir() {
        for entry in path.read_dir()? {
            if let Some(flipped) = flip(&entry?.path(), value)? {
                return Ok(Some(flipped));
            }
        }
        return Ok(None);
    }
    let found = fs::read(path)?;
    let at = found.windows(value.len()).position(|window| window == value);
    let Some(flipped) = at.map(|at| (path.to_owned(), at)) else { return Ok(None) };
    flip_back(&flipped)?;
    Ok(Some(flipped))
}

fn flip_back((path, at): &(PathBuf, usize)) -> Checked {
    let mut all = fs::read(path)?;
    all[*at] ^= 0x10;
    Ok(fs::write(path, all)?)
}
