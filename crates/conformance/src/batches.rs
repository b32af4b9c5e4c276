//! Batches, and sessions side by side.

use std::{
    ops::RangeInclusive,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use model::{LOCK_WAITS, Mode, PLUGIN, Session, Store};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, holds, same},
};

pub(crate) fn a_batch_sees_its_own_writes_and_keeps_them(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    let mut session = store.session()?;
    for batch in 0..3 {
        session.begin(Mode::Write)?;
        for n in batch * 5..batch * 5 + 5 {
            session.write(&case.key(n), &bytes(n, 50))?;
            let what = format_args!("key {n} in the batch that put it");
            same(what, session.value(&case.key(n))?, Some(bytes(n, 50)))?;
        }
        session.commit()?;
    }
    session.begin(Mode::Read)?;
    for n in 0..15 {
        let what = format_args!("key {n} after the batch that put it");
        same(what, session.value(&case.key(n))?, Some(bytes(n, 50)))?;
    }
    same("a key that no batch put", session.value(&case.key(15))?, None)?;
    Ok(session.commit()?)
}

pub(crate) fn an_empty_batch_is_fine(_: &Case, store: &dyn Store) -> Checked {
    let mut session = store.session()?;
    for mode in [Mode::Read, Mode::Write, Mode::Read] {
        session.begin(mode)?;
        session.commit()?;
    }
    Ok(())
}

pub(crate) fn a_batch_that_is_rolled_back_leaves_nothing(
    case: &Case,
    store: &dyn Store,
) -> Checked {
    // Other engines undo a batch only after an error that theirs may not have.
    if !case.engine.capabilities().atomic_batches || case.engine.name() != PLUGIN {
        return Ok(());
    }
    let mut session = store.session()?;
    case.fill(&mut *session, 3)?;
    session.begin(Mode::Write)?;
    session.write(&case.key(1), b"other")?;
    session.remove(&case.key(2))?;
    session.write(&case.key(4), b"new")?;
    session.roll_back();
    for (n, value) in [(1, Some(bytes(1, 100))), (2, Some(bytes(2, 100))), (4, None)] {
        same(
            format_args!("key {n} after the batch was undone"),
            session.value(&case.key(n))?,
            value,
        )?;
    }
    case.fill(&mut *session, 4)?;
    same("the number of items after another batch", session.items()?.len(), 4)
}

pub(crate) fn a_reader_sees_what_a_writer_committed(case: &Case, store: &dyn Store) -> Checked {
    let (mut writer, mut reader) = (store.session()?, store.session()?);
    // The second value of each key shows a reader that keeps what it has read before.
    for n in [1_i64, -1, 2, -2, 3, -3] {
        writer.begin(Mode::Write)?;
        writer.write(&case.key(n.abs()), &bytes(n, 500))?;
        writer.commit()?;
        reader.begin(Mode::Read)?;
        let found = reader.value(&case.key(n.abs()))?;
        let what = format_args!("key {}, which another session has put,", n.abs());
        same(what, found, Some(bytes(n, 500)))?;
        reader.commit()?;
    }
    Ok(())
}

pub(crate) fn readers_and_a_writer_work_at_once(case: &Case, store: &dyn Store) -> Checked {
    case.fill(&mut *store.session()?, 20)?;
    at_once([&|| update(case, store, 1..=10), &|| read(case, store, 11..=20)])?;
    let mut session = store.session()?;
    same("a key that was updated", session.value(&case.key(3))?, Some(bytes(-3, 100)))?;
    same("a key that was read", session.value(&case.key(13))?, Some(bytes(13, 100)))
}

/// Lets both work at once.
fn at_once(both: [&(dyn Fn() -> Checked + Sync); 2]) -> Checked {
    thread::scope(|scope| {
        let threads = both.map(|work| scope.spawn(work));
        let done = threads.map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Fault::new("a thread of the check panicked")))
        });
        done.into_iter().collect()
    })
}

fn update(case: &Case, store: &dyn Store, keys: RangeInclusive<i64>) -> Checked {
    let mut session = store.session()?;
    for n in keys {
        session.begin(Mode::Write)?;
        session.write(&case.key(n), &bytes(-n, 100))?;
        session.commit()?;
    }
    Ok(())
}

fn read(case: &Case, store: &dyn Store, keys: RangeInclusive<i64>) -> Checked {
    let mut session = store.session()?;
    for n in keys {
        session.begin(Mode::Read)?;
        let what = format_args!("key {n}, while another session writes others,");
        same(what, session.value(&case.key(n))?, Some(bytes(n, 100)))?;
        session.commit()?;
    }
    Ok(())
}

pub(crate) fn two_writers_both_succeed(case: &Case, store: &dyn Store) -> Checked {
    if !case.engine.capabilities().concurrent_writes {
        return Ok(());
    }
    at_once([&|| update(case, store, 1..=10), &|| update(case, store, 11..=20)])?;
    let mut session = store.session()?;
    for n in 1..=20 {
        let what = format_args!("key {n}, while two sessions wrote,");
        same(what, session.value(&case.key(n))?, Some(bytes(-n, 100)))?;
    }
    same("the number of items that two sessions wrote", session.items()?.len(), 20)
}

/// Returns the waits of the session, where the engine counts them.
fn waits(session: &dyn Session) -> Option<i64> {
    let counters = session.statistics();
    counters.into_iter().find(|(name, _)| *name == LOCK_WAITS).map(|(_, waits)| waits)
}

/// Returns whether one that begins to write was counted as waiting while another's batch stays open for
/// that long after it said that it is about to.
fn waited(case: &Case, store: &dyn Store, open: Duration) -> Checked<bool> {
    let (about_to, heard) = mpsc::channel();
    let mut first = store.session()?;
    first.begin(Mode::Write)?;
    first.write(&case.key(1), b"first")?;
    let second = move || {
        let mut session = store.session()?;
        let _ = about_to.send(());
        session.begin(Mode::Write)?;
        session.write(&case.key(1), b"second")?;
        session.commit()?;
        Ok(waits(&*session))
    };
    let counted: Checked<_> = thread::scope(|scope| {
        let second = scope.spawn(second);
        let _ = heard.recv();
        thread::sleep(open);
        first.commit()?;
        second.join().unwrap_or_else(|_| Err(Fault::new("a thread of the check panicked")))
    });
    // A server counts for all its sessions, and one of them reports it.
    Ok([counted?, waits(&*first)].into_iter().flatten().sum::<i64>() > 0)
}

pub(crate) fn a_writer_that_waits_is_counted(case: &Case, store: &dyn Store) -> Checked {
    let mut alone = store.session()?;
    case.fill(&mut *alone, 1)?;
    match waits(&*alone) {
        None => return Ok(()),
        Some(waits) => holds(waits == 0, "a wait was counted, and nobody was waited for")?,
    }
    drop(alone);
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut open = Duration::from_millis(1);
    while !waited(case, store, open)? {
        holds(Instant::now() < deadline, "no wait was counted")?;
        open *= 2;
    }
    Ok(())
}
