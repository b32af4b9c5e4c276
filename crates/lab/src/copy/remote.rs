//! Copies a store to a service that keeps each value by itself: what is there is whole at every moment,
//! and an interrupted copy is continued by what is missing. Or to a server with transactions, where it gets
//! its name only when it is whole.

use model::{Access, Action, Error, ErrorKind, Result, Store};

use super::{
    Copied, Copier, CopyJob, StoreLocation, changes::FileStates, inventory::Inventory,
    suffixed::Suffixed, survey,
};
use crate::{Progress, Stop};

/// Copies a store to an address. A value that is there already stays if it is the same; another one is
/// only replaced by [`CopyJob::force`].
pub(super) fn copy(job: &CopyJob, progress: &dyn Progress, stop: &Stop) -> Result<Copied> {
    if job.from.engine.name() == job.to.engine.name() && job.from.path == job.to.path {
        return Err(Error::usage(format!("{} is copied to itself", job.to.shown())));
    }
    job.from.check_room(job.scratch.as_deref())?;
    let from = job.from.readable(job.scratch.as_deref(), progress, stop)?;
    put_all(job, &from.place, progress, stop).map_err(|error| from.names(error))
}

fn put_all(
    job: &CopyJob,
    from: &StoreLocation,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Copied> {
    progress.stage("looking at the source", None);
    let before = FileStates::read(from)?;
    let store = from.open()?;
    let suffixed = job.key_suffix.as_ref().map(|suffix| Suffixed { store: &*store, suffix });
    let source = suffixed.as_ref().map_or(&*store, |source| source as &dyn Store);
    let (to, inventory) = open(job, source, stop)?;
    let can = job.to.engine.capabilities();
    let amount = survey::survey((source, &*from.shown()), &*to, (can, false), stop)?;
    from.say_reads(amount, progress);
    job.to.say_requests(Action::Insert, amount, progress);
    progress.stage("copying", Some(amount.count));
    let writers = job.to.engine.fill().sessions;
    let work = Copier { job, source, before, progress, stop };
    let moved = work.move_all(&*to, inventory, writers);
    let mut copied = moved.map_err(|error| explain(error, job))?;
    work.before.check_unchanged(from).map_err(|error| explain(error, job))?;
    copied.left_out.extend(source.left_out()?);
    to.close()?;
    store.close()?;
    Ok(copied)
}

/// Opens the destination, and lists what is there; nothing may be, unless values are replaced or a copy
/// is continued.
fn open(job: &CopyJob, source: &dyn Store, stop: &Stop) -> Result<(Box<dyn Store>, Inventory)> {
    let options = job.to.options(Access::Write, source.keys());
    if is_transactional(job) {
        if job.resume {
            let why = "--resume: a copy is there as a whole or not at all; leave it out";
            return Err(Error::usage(why).at(job.to.shown()));
        }
        let created = job.to.engine.create(&job.to.path, &options)?;
        return Ok((created, Inventory::default()));
    }
    if job.resume || job.force {
        let to = job.to.engine.open(&job.to.path, &options)?;
        let inventory = Inventory::of_keys(&*to, stop)?;
        return Ok((to, inventory));
    }
    let created =
        job.to.engine.create(&job.to.path, &options).map_err(|error| match error.kind() {
            ErrorKind::Exists => {
                let what = format!("{error}; --resume adds what is missing, --force also replaces");
                Error::new(ErrorKind::Exists, what)
            }
            _ => error,
        });
    Ok((created?, Inventory::default()))
}

/// Returns whether a copy gets its name only when it is whole, so that there is none to continue.
fn is_transactional(job: &CopyJob) -> bool {
    job.to.engine.capabilities().snapshots
}

/// Returns an error that says that what was copied stays, if it does.
fn explain(error: Error, job: &CopyJob) -> Error {
    if is_transactional(job) {
        return error;
    }
    let kept = format!("{} is not complete; --resume continues", job.to.shown());
    match error.kind() {
        ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, kept),
        _ => error.context(kept),
    }
}
