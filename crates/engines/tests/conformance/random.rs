//! Any sequence of operations leaves a store as it leaves a map in memory.

use std::collections::BTreeMap;

use model::{Access, How, Mode, Put, Session};
use proptest::{collection::vec, prelude::*};

use crate::case::{Case, Ease, OwnedKey, bytes, each};

#[derive(Clone, Debug)]
enum Op {
    Put { key: i64, length: usize, how: How },
    Delete(i64),
    Get(i64),
    Scan,
    ScanFrom(i64, u64),
    Batch,
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    let key = -2..4_i64;
    let how = prop_oneof![Just(How::Upsert), Just(How::Insert), Just(How::Update)];
    prop_oneof![
        6 => (key.clone(), 0..6000_usize, how)
            .prop_map(|(key, length, how)| Op::Put { key, length, how }),
        2 => key.clone().prop_map(Op::Delete),
        3 => key.clone().prop_map(Op::Get),
        1 => Just(Op::Scan),
        2 => (key.clone(), 0..5_u64).prop_map(|(key, limit)| Op::ScanFrom(key, limit)),
        1 => Just(Op::Batch),
        1 => Just(Op::Reopen),
    ]
}

type Expected = BTreeMap<OwnedKey, Vec<u8>>;

/// Applies operations to a session and the map alike; `Op::Batch` begins or ends a batch.
fn apply(case: &Case, session: &mut dyn Session, ops: &[Op], map: &mut Expected) {
    let mut in_batch = false;
    for (n, op) in (0..).zip(ops) {
        match op {
            Op::Put { key, length, how } => {
                let (key, value) = (case.key(*key), bytes(n, *length));
                let allowed = match how {
                    How::Upsert => true,
                    How::Insert => !map.contains_key(&key),
                    How::Update => map.contains_key(&key),
                };
                let put = Put::new(*how);
                assert_eq!(session.put(key.as_key(), &value, &put).unwrap(), allowed, "{op:?}");
                if allowed {
                    map.insert(key, value);
                }
            }
            Op::Delete(key) => {
                let key = case.key(*key);
                assert_eq!(session.delete(key.as_key()).unwrap(), map.remove(&key).is_some());
            }
            Op::Get(key) => {
                assert_eq!(session.value(&case.key(*key)).as_ref(), map.get(&case.key(*key)));
            }
            Op::Scan => assert!(session.items().into_iter().eq(map.clone())),
            Op::ScanFrom(key, limit) => {
                let from = case.key(*key);
                let beyond = map.range(&from..).zip(0..*limit);
                let expected: Vec<_> = beyond.map(|((k, v), _)| (k.clone(), v.clone())).collect();
                assert_eq!(session.items_from(&from, *limit), expected, "{op:?}");
            }
            Op::Batch if in_batch => session.commit().unwrap(),
            Op::Batch => session.begin(Mode::Write).unwrap(),
            Op::Reopen => unreachable!("sequences are split there"),
        }
        in_batch ^= matches!(op, Op::Batch);
    }
    if in_batch {
        session.commit().unwrap();
    }
}

fn check(case: &Case, ops: &[Op]) {
    let place = case.place();
    let mut map = Expected::new();
    let mut store = case.create(&place.path).unwrap();
    for ops in ops.split(|op| matches!(op, Op::Reopen)) {
        apply(case, &mut *store.session().unwrap(), ops, &mut map);
        if case.persistent() {
            store.close().unwrap();
            store = case.open(&place.path, Access::Write).unwrap();
        }
    }
    assert!(store.session().unwrap().items().into_iter().eq(map));
}

#[test]
fn any_sequence_of_operations_equals_a_map() {
    each(|case| {
        let sequences = if case.is_server() { 2 } else { 12 };
        let config = ProptestConfig::with_cases(sequences);
        let config = ProptestConfig { failure_persistence: None, ..config };
        proptest!(config, |(ops in vec(op(), 1..40))| check(case, &ops));
    });
}
