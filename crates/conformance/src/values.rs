//! What is put is what is got.

use std::ops::ControlFlow;

use model::{ErrorKind, How, Key, KeyKind, Mode, OwnedKey, Parts, Put, Scan, Store};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, holds, same, same_items},
};

pub(crate) fn a_value_is_put_got_and_deleted(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    let key = case.key(1);
    same("a key of an empty store", session.value(&key)?, None)?;
    session.write(&key, b"first")?;
    same("the value", session.value(&key)?, Some(b"first".to_vec()))?;
    for value in [&b"other"[..], b"longer than before", b"short", b""] {
        session.write(&key, value)?;
        same("a value that was replaced", session.value(&key)?, Some(value.to_vec()))?;
    }
    session.remove(&key)?;
    let again = session.delete(key.as_key())?;
    holds(!again, "deleting a key that was deleted is answered with yes")?;
    same("a key that was deleted", session.value(&key)?, None)
}

pub(crate) fn a_value_is_put_and_got_in_parts(case: &Case, store: &dyn Store) -> Checked {
    if !store.has_parts() {
        return Ok(());
    }
    let (mut session, key, value) = (store.session()?, case.key(1), bytes(1, 3_000_000));
    let length = value.len() as u64;
    for (what, answer) in [("a value in parts", true), ("it again", false)] {
        let mut parts = |to: &mut dyn std::io::Write| {
            value.chunks(999_999).try_for_each(|part| to.write_all(part))
        };
        let parts = Parts { length, write: &mut parts };
        let answered = session.put_parts(key.as_key(), parts, &Put::new(How::Insert))?;
        same(format_args!("the answer to insert {what}"), answered, answer)?;
    }
    let mut read = Vec::new();
    session.read_parts(key.as_key(), &mut read)?;
    holds(read == value, "a value that is read in parts is another one")?;
    let mut shown = Vec::new();
    session.scan(Scan { longest: length - 1, ..Scan::ALL }, &mut |item| {
        shown.push((item.value.len(), item.length));
        Ok(ControlFlow::Continue(()))
    })?;
    holds(shown == [(0, length)], "a value that is too long for a scan is shown by it")
}

pub(crate) fn insert_update_and_upsert_answer_whether_they_wrote(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    let key = case.key(7);
    for (what, value, how, answer, then) in [
        ("to update an absent key", "a", How::Update, false, None),
        ("to insert an absent key", "b", How::Insert, true, Some("b")),
        ("to insert a key that exists", "c", How::Insert, false, Some("b")),
        ("to update a key that exists", "d", How::Update, true, Some("d")),
        ("to upsert a key that exists", "e", How::Upsert, true, Some("e")),
    ] {
        let answered = session.put(key.as_key(), value.as_bytes(), &Put::new(how))?;
        same(format_args!("the answer {what}"), answered, answer)?;
        let then = then.map(|value: &str| value.as_bytes().to_vec());
        same(format_args!("the value after the wish {what}"), session.value(&key)?, then)?;
    }
    Ok(())
}

pub(crate) fn sizes_around_pages_and_large_ones_come_back_whole(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    for (n, length) in (1..).zip([0, 1, 4095, 4096, 4097, 1_000_000]) {
        session.write(&case.key(n), &bytes(n, length))?;
        let what = format_args!("a value of {length} bytes");
        same(what, session.value(&case.key(n))?, Some(bytes(n, length)))?;
    }
    Ok(())
}

pub(crate) fn a_short_buffer_stays_as_it_was_and_learns_the_length(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    session.write(&case.key(1), &bytes(1, 5000))?;
    for room in [0, 1, 4999, 6000] {
        let mut buffer = vec![0xAA; room];
        let length = session.get(case.key(1).as_key(), &mut buffer)?.map(|length| length as u64);
        same(format_args!("the length that {room} bytes of room learn"), length, Some(5000))?;
        let written = if room < 5000 { 0 } else { 5000 };
        let (value, rest) = buffer.split_at(written);
        holds(
            value == &bytes(1, 5000)[..written],
            format_args!("the value in {room} bytes differs"),
        )?;
        let is_kept = rest.iter().all(|byte| *byte == 0xAA);
        holds(
            is_kept,
            format_args!("of {room} bytes of room, those after the value are written to"),
        )?;
    }
    Ok(())
}

pub(crate) fn a_length_is_that_of_the_value_also_within_a_batch(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    let lengths = [0, 1, 4096, 150_000];
    for (n, length) in (1..).zip(lengths) {
        session.write(&case.key(n), &bytes(n, length))?;
    }
    for (n, length) in (1..).zip(lengths) {
        let what = format_args!("the length of key {n}");
        same(what, session.length(case.key(n).as_key())?, Some(length as u64))?;
    }
    session.begin(Mode::Write)?;
    session.write(&case.key(1), &bytes(1, 70_000))?;
    session.remove(&case.key(3))?;
    for (n, length) in [(1, Some(70_000)), (2, Some(1)), (3, None), (0, None), (9, None)] {
        let what = format_args!("the length of key {n} in the batch that changed it");
        same(what, session.length(case.key(n).as_key())?, length)?;
    }
    session.commit()?;
    for (n, length) in [(1, Some(70_000)), (3, None)] {
        let what = format_args!("the length of key {n} after the batch");
        same(what, session.length(case.key(n).as_key())?, length)?;
    }
    Ok(())
}

pub(crate) fn integers_of_any_size_and_sign_are_keys(case: &Case, store: &dyn Store) -> Checked {
    if case.keys == KeyKind::Names {
        return Ok(());
    }
    let mut session = store.session()?;
    let keys = [i64::MIN, -1_234_567, -100, -1, 0, 1, 99, 100, 1_000_000, i64::MAX];
    for key in keys.iter().rev() {
        session.write(&OwnedKey::Int(*key), &key.to_le_bytes())?;
    }
    let item = |key: &i64| (OwnedKey::Int(*key), key.to_le_bytes().to_vec());
    let items: Vec<_> = keys.iter().map(item).collect();
    same_items("a scan of integers", &session.items()?, &items)?;
    for gap in [-2, 2, 101, i64::MAX - 1, i64::MIN + 1] {
        let what = format_args!("key {gap}, which was not put,");
        same(what, session.value(&OwnedKey::Int(gap))?, None)?;
    }
    Ok(())
}

pub(crate) fn a_key_of_the_other_kind_is_an_error(case: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    let other = match case.keys {
        KeyKind::Integers => Key::Name(b"name"),
        KeyKind::Names => Key::Int(1),
    };
    let errors = [
        session.get(other, &mut []).err(),
        session.length(other).err(),
        session.put(other, b"", &Put::default()).err(),
        session.delete(other).err(),
    ];
    for (what, error) in ["get", "length", "put", "delete"].into_iter().zip(errors) {
        let is_refused = error.is_some_and(|error| error.kind() == ErrorKind::Usage);
        holds(is_refused, format_args!("{what} of a key of the other kind is not refused"))?;
    }
    Ok(())
}
