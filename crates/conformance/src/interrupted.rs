//! A writer that is killed leaves whole values, where the durability class says so.

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Access, Durability, Mode};

use crate::{
    case::Case,
    ease::{Ease, bytes},
    fault::{Checked, Fault, holds, same},
    process::{Part, Start},
    store_folder::StoreFolder,
};

const KEYS: i64 = 8;
/// How long a writer may take to commit its first batches.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a store and overwrites all keys with ever new values until this process is killed; nobody else has
/// it open meanwhile. It ends by itself if nobody does.
pub(crate) fn write(case: &Case, path: &Path) -> Checked {
    let store = case.create(path)?;
    for key in 0..KEYS {
        store.session()?.write(&case.key(key), &value(0))?;
    }
    store.close()?;
    let store = case.open(path, Access::Write)?;
    let mut session = store.session()?;
    let deadline = Instant::now() + 2 * PATIENCE;
    for n in (0..).take_while(|_| Instant::now() < deadline) {
        session.begin(Mode::Write)?;
        for key in 0..KEYS {
            session.write(&case.key(key), &value(n))?;
        }
        session.commit()?;
        fs::write(path.with_extension("count"), n.to_string())?;
    }
    Ok(())
}

/// Returns up to 100 kB that show by themselves whether they are whole.
fn value(n: i64) -> Vec<u8> {
    let mut value = n.to_le_bytes().to_vec();
    value.extend(bytes(n, usize::try_from(n % 11).unwrap_or_default() * 9_000));
    value
}

fn is_whole(found: &[u8]) -> bool {
    let number = found.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
    number.is_some_and(|number| number >= 0 && found == value(number))
}

/// Waits until the writer has committed a few batches, then a little longer, then kills it.
fn kill_at_work(mut child: Child, place: &StoreFolder, after: Duration) -> Checked {
    let count = place.path.with_extension("count");
    let noted = || fs::read_to_string(&count).ok().and_then(|n| n.parse::<i64>().ok());
    let deadline = Instant::now() + PATIENCE;
    while noted().is_none_or(|n| n < 3) {
        if child.try_wait()?.is_some() {
            let mut said = String::new();
            child.stderr.take().map(|mut from| from.read_to_string(&mut said)).transpose()?;
            return Err(Fault::of_process("the writer", &said));
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(Fault::new("the writer has committed no batch in a minute"));
        }
        sleep(Duration::from_millis(2));
    }
    sleep(after);
    child.kill()?;
    child.wait()?;
    Ok(())
}

pub(crate) fn a_killed_writer_leaves_whole_values(case: &Case, start: Start<'_>) -> Checked {
    // One that promises nothing may lose values.
    if case.class().is_none_or(|kept| kept.class < Durability::Consistent) {
        return Ok(());
    }
    for milliseconds in [0, 3, 11] {
        let place = StoreFolder::new()?;
        let mut command = start(Part::Writer, case, &place.path);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        kill_at_work(child.spawn()?, &place, Duration::from_millis(milliseconds))?;
        let store = case.open(&place.path, Access::Write)?;
        let items = store.session()?.items()?;
        let count = usize::try_from(KEYS).unwrap_or_default();
        same("the number of items after a writer was killed", items.len(), count)?;
        for (key, found) in &items {
            holds(is_whole(found), format_args!("the value of key {} is torn", key.as_key()))?;
        }
    }
    Ok(())
}
