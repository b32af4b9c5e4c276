//! Names are bytes, and mode and time stay with them.

use std::ops::ControlFlow;

use model::{Access, KeyKind, Meta, Put, Scan};

use crate::case::{Ease, OwnedKey, bytes, each_persistent, each_store};

fn awkward() -> Vec<&'static [u8]> {
    let mut names: Vec<&[u8]> = vec![
        b" ",
        b"000001",
        b"a b/c d",
        b"a-b",
        b"a/b",
        b"a/b.d/c/d/e",
        b"deep/er/and/deep/er",
        "grüße/日本".as_bytes(),
        b"quote\"'%_\\",
        b"-n",
        b".hidden/..more",
    ];
    if cfg!(target_os = "linux") {
        names.extend([&b"\xff\xfe"[..], b"latin/gr\xfc\xdfe", b"line\nbreak"]);
    }
    names.sort_unstable();
    names
}

#[test]
fn names_of_any_bytes_come_back() {
    each_store(|case, store| {
        if case.keys == KeyKind::Integers {
            return;
        }
        let mut session = store.session().unwrap();
        let items: Vec<_> = (0..)
            .zip(awkward())
            .map(|(n, name)| (OwnedKey::Name(name.to_vec().into()), bytes(n, 20)))
            .collect();
        for (key, value) in &items {
            session.write(key, value);
        }
        for (key, value) in &items {
            assert_eq!(session.value(key).as_ref(), Some(value));
        }
        assert_eq!(session.items(), items);
        assert_eq!(session.value(&OwnedKey::Name((*b"a").into())), None);
        assert_eq!(session.value(&OwnedKey::Name((*b"a/b/c").into())), None);
    });
}

const METAS: [Meta; 4] = [
    Meta { mode: 0o100_644, seconds: 1_700_000_000, nanoseconds: 123_456_789 },
    Meta { mode: 0o100_600, seconds: 0, nanoseconds: 0 },
    Meta { mode: 0o100_755, seconds: -86_400, nanoseconds: 0 },
    Meta { mode: 0o100_444, seconds: 4_000_000_000, nanoseconds: 1 },
];

/// Engines without nanoseconds keep whole seconds.
fn same(found: Meta, put: Meta) -> bool {
    found == put || found == Meta { nanoseconds: 0, ..put }
}

#[test]
fn mode_and_time_come_back_and_can_be_replaced() {
    each_persistent(|case, place| {
        if case.keys == KeyKind::Integers || !case.engine.capabilities().meta {
            return;
        }
        let store = case.create(&place.path).unwrap();
        let mut session = store.session().unwrap();
        for metas in [METAS, [METAS[1], METAS[0], METAS[3], METAS[2]]] {
            for (n, meta) in (0..).zip(metas) {
                let put = Put { meta: Some(meta), ..Put::default() };
                session.put(case.key(n).as_key(), &bytes(n, 10), &put).unwrap();
            }
            for (n, meta) in (0..).zip(metas) {
                let found = meta_of(&mut *session, &case.key(n)).unwrap();
                assert!(same(found, meta), "{found:?} for {meta:?}");
            }
        }
        drop(session);
        store.close().unwrap();
        let store = case.open(&place.path, Access::Read).unwrap();
        let found = meta_of(&mut *store.session().unwrap(), &case.key(0)).unwrap();
        assert!(same(found, METAS[1]), "{found:?} after closing");
    });
}

fn meta_of(session: &mut dyn model::Session, key: &OwnedKey) -> Option<Meta> {
    let mut meta = None;
    session
        .scan(Scan::ALL, &mut |item| {
            if item.key == key.as_key() {
                meta = item.meta;
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    meta
}
