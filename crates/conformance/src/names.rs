//! Names are bytes, and mode and time stay with them.

use std::ops::ControlFlow;

use model::{Access, KeyKind, Meta, OwnedKey, Put, Scan, Session, Store};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, holds, same, same_items},
    store_folder::StoreFolder,
};

/// Reports whether values are files of Windows, which has no modes, counts time in 100 ns and refuses some names.
fn are_files_of_windows(case: &Case) -> bool {
    cfg!(windows) && case.engine.capabilities().paths
}

fn awkward(case: &Case) -> Vec<&'static [u8]> {
    let mut names: Vec<&[u8]> = vec![
        b"000001",
        b"a b/c d",
        b"a-b",
        b"a/b",
        b"a/b.d/c/d/e",
        b"deep/er/and/deep/er",
        "grüße/日本".as_bytes(),
        b"quote'%_",
        b"-n",
        b".hidden/..more",
    ];
    if !are_files_of_windows(case) {
        names.extend([&b" "[..], b"quote\"'%_\\"]);
    }
    if cfg!(target_os = "linux") {
        names.extend([&b"\xff\xfe"[..], b"latin/gr\xfc\xdfe", b"line\nbreak"]);
    }
    names.sort_unstable();
    names
}

pub(crate) fn names_of_any_bytes_come_back(case: &Case, store: &dyn Store) -> Checked {
    if case.keys == KeyKind::Integers {
        return Ok(());
    }
    let mut session = store.session()?;
    let named = |name: &[u8]| OwnedKey::Name(name.into());
    let all = (0..).zip(awkward(case));
    let items: Vec<_> = all.map(|(n, name)| (named(name), bytes(n, 20))).collect();
    for (key, value) in &items {
        session.write(key, value)?;
    }
    for (key, value) in &items {
        let what = format_args!("the value of {}", key.as_key());
        same(what, session.value(key)?, Some(value.clone()))?;
    }
    same_items("a scan of names", &session.items()?, &items)?;
    for absent in [&b"a"[..], b"a/b/c"] {
        let key = named(absent);
        same(format_args!("{}, which was not put,", key.as_key()), session.value(&key)?, None)?;
    }
    Ok(())
}

const METAS: [Meta; 4] = [
    Meta { mode: 0o100_644, seconds: 1_700_000_000, nanoseconds: 123_456_789 },
    Meta { mode: 0o100_600, seconds: 0, nanoseconds: 0 },
    Meta { mode: 0o100_755, seconds: -86_400, nanoseconds: 0 },
    Meta { mode: 0o100_444, seconds: 4_000_000_000, nanoseconds: 1 },
];

/// Returns what of `meta` the files of a system can have.
fn keepable(case: &Case, meta: Meta) -> Meta {
    if !are_files_of_windows(case) {
        return meta;
    }
    Meta { mode: 0o100_644, nanoseconds: meta.nanoseconds / 100 * 100, ..meta }
}

/// Engines without nanoseconds keep whole seconds.
fn is_kept(found: Option<Meta>, put: Meta) -> Checked {
    let kept = found.is_some_and(|found| found == put || found == Meta { nanoseconds: 0, ..put });
    holds(kept, format_args!("mode and time are {found:?}, expected: {put:?}"))
}

pub(crate) fn mode_and_time_come_back_and_can_be_replaced(
    case: &Case,
    place: &StoreFolder,
) -> Checked {
    if case.keys == KeyKind::Integers || !case.engine.capabilities().meta {
        return Ok(());
    }
    let metas = METAS.map(|meta| keepable(case, meta));
    let store = case.create(&place.path)?;
    let mut session = store.session()?;
    for metas in [metas, [metas[1], metas[0], metas[3], metas[2]]] {
        for (n, meta) in (0..).zip(metas) {
            let put = Put { meta: Some(meta), ..Put::default() };
            session.put(case.key(n).as_key(), &bytes(n, 10), &put)?;
        }
        for (n, meta) in (0..).zip(metas) {
            is_kept(meta_of(&mut *session, &case.key(n))?, meta)?;
        }
    }
    drop(session);
    store.close()?;
    let store = case.open(&place.path, Access::Read)?;
    let found = meta_of(&mut *store.session()?, &case.key(0))?;
    is_kept(found, metas[1]).map_err(|fault| fault.within("after closing"))
}

fn meta_of(session: &mut dyn Session, key: &OwnedKey) -> Checked<Option<Meta>> {
    let mut meta = None;
    session
        .scan(Scan::ALL, &mut |item| {
            if item.key == key.as_key() {
                meta = item.meta;
            }
            Ok(ControlFlow::Continue(()))
        })
        .map_err(Fault::from)?;
    Ok(meta)
}
