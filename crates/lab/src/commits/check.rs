//! Opens a store after a power cut, and reads what it holds.

use std::{collections::BTreeMap, ops::ControlFlow};

use model::{Durability, How, Key, Put, Result, Scan, Store};

use super::{
    CommitsFound, CommitsRequest,
    history::{History, Number, key},
    judge::{Promise, Seen, judge, recognise},
};

/// The key that is written to find out whether the store can still be written to.
const WRITTEN: &[u8] = b"0/written";

/// Opens the store, compares it with the commits up to `acknowledged`, and writes to it. `killed` is
/// whether its process was killed without a power cut.
pub fn check_commits(
    request: &CommitsRequest,
    class: Durability,
    acknowledged: Number,
    killed: bool,
) -> CommitsFound {
    let before = request.commits_before();
    if acknowledged == 0 {
        // The store need not exist.
        return CommitsFound { opened: true, ..CommitsFound::default() };
    }
    let atomic = request.engine.capabilities().atomic_batches;
    let (engine, settings) = (request.engine.declaration(), &request.settings);
    let may_lose = engine.is_lost_if_killed(settings) || engine.is_lost_if_server_killed(settings);
    let killed = killed && !may_lose;
    let promise = Promise { class, atomic, killed, before, acknowledged };
    let history = History::new(request.seed, acknowledged + 1);
    let broken = |what: &str, error| (class > Durability::None).then(|| format!("{what}: {error}"));
    match examine(request, &history, promise) {
        Ok((found, Ok(()))) => found,
        Ok((found, Err(error))) => {
            let reason = found.reason.or_else(|| broken("is damaged", error));
            CommitsFound { reason, ..found }
        }
        Err(error) => CommitsFound {
            reason: broken("does not open", error),
            repaired: repair(request, &history, promise),
            ..CommitsFound::unopened(acknowledged)
        },
    }
}

/// Opens the store, compares its values, and returns the result with that of working on with it.
fn examine(
    request: &CommitsRequest,
    history: &History,
    promise: Promise,
) -> Result<(CommitsFound, Result<()>)> {
    let store = request.engine.open(&request.location, &request.options())?;
    let seen = read(store.as_ref(), history, promise.acknowledged + 1)?;
    let found = judge(history, &seen, promise);
    let sound = still_works(store.as_ref()).and_then(|()| store.close());
    Ok((found, sound))
}

/// Repairs a store that does not open, and describes how, and what that saves; `None` if it cannot be.
fn repair(request: &CommitsRequest, history: &History, promise: Promise) -> Option<String> {
    let command = request.engine.repair(&request.location)?;
    Some(match examine(request, history, promise) {
        Ok((CommitsFound { lost, acked, torn, wrong, .. }, _)) => {
            let damaged = torn + wrong;
            let damaged =
                if damaged == 0 { String::new() } else { format!(", {damaged} values damaged") };
            format!("{command}: {} of {acked} commits saved{damaged}", acked - lost)
        }
        Err(_) => format!("{command}: does not open afterwards either"),
    })
}

/// Reads all values.
fn read(store: &dyn Store, history: &History, last: Number) -> Result<BTreeMap<u64, Seen>> {
    /// The key of a name that no commit has.
    const UNKNOWN: u64 = u64::MAX;
    let mut seen = BTreeMap::new();
    store.session()?.scan(Scan::ALL, &mut |item| {
        let known = if let Key::Name(name) = item.key { key(name) } else { None };
        let state = known.map_or(Seen::Wrong, |key| recognise(history, key, item.value, last));
        seen.insert(known.unwrap_or(UNKNOWN), state);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(seen)
}

/// Runs the engine's own check, and writes and reads a value.
fn still_works(store: &dyn Store) -> Result<()> {
    if let Some(complaint) = store.integrity()?.unwrap_or_default().first() {
        return Err(model::Error::corrupt(complaint.clone()));
    }
    let mut session = store.session()?;
    let written = Key::Name(WRITTEN);
    session.put(written, WRITTEN, &Put::new(How::Upsert))?;
    let mut value = [0; WRITTEN.len()];
    match session.get(written, &mut value)? {
        Some(length) if value[..length.min(value.len())] == *WRITTEN => Ok(()),
        _ => Err(model::Error::corrupt("a value that was written cannot be read")),
    }
}
