//! Makes the commits to a store, and acknowledges each.

use model::{Error, How, Key, Maintenance, Mode, Put, Result, Session, Store};

use super::{
    CommitsRequest,
    history::{Change, History, Number, name},
};

/// The number of commits between two pieces of maintenance.
const MAINTAIN_EACH: Number = 20;
/// The number of commits after which the store is closed and opened again.
const REOPEN_EACH: Number = 50;

/// Makes the commits, in a new store if the first one is commit 1, and calls `acknowledge` with the
/// number of each as soon as it returned. Between them the store is maintained in the ways that its
/// engine has, closed and opened again.
///
/// # Errors
///
/// Fails if the store or `acknowledge` does.
pub fn write_commits(
    request: &CommitsRequest,
    acknowledge: &mut dyn FnMut(Number) -> Result<()>,
) -> Result<()> {
    let CommitsRequest { engine, location, seed, commits, .. } = request;
    let history = History::new(*seed, commits.end.saturating_sub(1));
    let mut next = commits.start;
    while next < commits.end {
        let store = if next == 1 {
            engine.create(location, &request.options())?
        } else {
            engine.open(location, &request.options())?
        };
        let end = commits.end.min(next - next % REOPEN_EACH + REOPEN_EACH);
        for number in next..end {
            let ended = commit(&mut *store.session()?, &history, number);
            ended.map_err(|error| after_failure(store.as_ref(), &history, number, error))?;
            acknowledge(number)?;
            if number % MAINTAIN_EACH == 0 {
                maintain(request, store.as_ref(), number / MAINTAIN_EACH)?;
            }
        }
        store.close()?;
        next = end;
    }
    Ok(())
}

/// What the error of a commit says if its values can be read afterwards.
pub(crate) const READ_BACK: &str = "its values are read back all the same";

/// Adds to the error of a commit whether its values can be read afterwards.
fn after_failure(store: &dyn Store, history: &History, number: Number, error: Error) -> Error {
    let is_there = |change: &Change| {
        let Some(length) = change.length else { return Ok(true) };
        let (named, expected) = (name(change.key), history.value(change.key, number, length));
        let mut value = vec![0; length];
        let read = store.session()?.get(Key::Name(named.as_bytes()), &mut value)?;
        Ok::<_, Error>(read == Some(length) && value == expected)
    };
    let changes = history.changes(number);
    let puts = changes.iter().filter(|change| change.length.is_some()).count();
    if puts > 0 && changes.iter().all(|change| is_there(change).unwrap_or(false)) {
        error.context(format!("commit {number} failed, {READ_BACK}"))
    } else {
        error
    }
}

/// Makes one commit: a batch if it changes several keys.
fn commit(session: &mut dyn Session, history: &History, number: Number) -> Result<()> {
    let changes = history.changes(number);
    if let [change] = changes {
        return apply(session, history, number, *change);
    }
    session.begin(Mode::Write)?;
    changes.iter().try_for_each(|change| apply(session, history, number, *change))?;
    session.commit()
}

fn apply(
    session: &mut dyn Session,
    history: &History,
    number: Number,
    Change { key, length }: Change,
) -> Result<()> {
    let named = name(key);
    let to = Key::Name(named.as_bytes());
    let done = match length {
        None => session.delete(to)?,
        Some(length) => {
            let value = history.value(key, number, length);
            session.put(to, &value, &Put::new(How::Upsert))?
        }
    };
    if done {
        return Ok(());
    }
    Err(Error::failed(format!("key {named} was lost before commit {number} deletes it")))
}

/// Flushes what the class requires, or does the next of the engine's own maintenance that changes the
/// store.
fn maintain(request: &CommitsRequest, store: &dyn Store, turn: u64) -> Result<()> {
    use Maintenance::{Checkpoint, Compact, Vacuum};

    let declared = request.engine.declaration().maintenance.iter().map(|(kind, _)| *kind);
    let kinds: Vec<_> =
        declared.filter(|kind| [Checkpoint, Compact, Vacuum].contains(kind)).collect();
    let ways = kinds.len() as u64 + 1;
    match usize::try_from(turn % ways).ok().and_then(|way| kinds.get(way)) {
        Some(kind) => store.maintain(*kind, &request.location, &|| false).map(drop),
        None => store.flush_writes(),
    }
}
