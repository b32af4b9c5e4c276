//! Copies a store to a service that keeps each value by itself: what is there is whole at every moment,
//! and an interrupted copy is continued by what is missing. Or to a server with transactions, where it gets
//! its name only when it is whole.

use std::sync::atomic::Ordering::Relaxed;

use model::{Access, Action, Error, ErrorKind, Result, Store};

use super::{Copied, Copier, CopyJob, StoreLocation, inventory::Inventory, survey};
use crate::{Progress, Stop};

/// Copies a store to an address. A value that is there already stays if it is the same; another one is
/// only replaced by [`CopyJob::force`].
pub(super) fn copy(job: &CopyJob, progress: &dyn Progress, stop: &Stop) -> Result<Copied> {
    if job.from.engine.name() == job.to.engine.name() && job.from.path == job.to.path {
        return Err(Error::usage(format!("{} is copied to itself", job.to.shown())));
    }
    job.with_source(progress, stop, put_all)
}

fn put_all(from: &StoreLocation, work: &Copier<'_>) -> Result<Copied> {
    let Copier { job, source, progress, stop, .. } = *work;
    let (to, inventory) = open(job, source, stop)?;
    let can = job.to.engine.capabilities();
    let amount = survey::survey((source, &*from.shown()), &*to, (can, false), stop)?;
    from.say_reads(amount, progress);
    job.to.say_requests(Action::Insert, amount, progress);
    progress.stage("copying", Some(amount.count));
    let writers = job.to.engine.fill().sessions;
    let copied = work
        .move_all(&*to, inventory, writers)
        .and_then(|copied| work.before.check_unchanged(from).map(|()| copied))
        .map_err(|error| explain(error, job, work.has_put.load(Relaxed)))?;
    to.close()?;
    work.with_left_out(copied)
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

/// Returns an error that says that what was copied stays, if it does. Wrong input that shows when values
/// were put is a failure part-way.
fn explain(error: Error, job: &CopyJob, has_put: bool) -> Error {
    if is_transactional(job) {
        return error;
    }
    let kept = format!("{} is not complete; --resume continues", job.to.shown());
    match error.kind() {
        ErrorKind::Interrupted => Error::new(ErrorKind::Interrupted, kept),
        _ if has_put && !error.is_stopped() => error.with_kind(ErrorKind::Failed).context(kept),
        _ => error.context(kept),
    }
}
