//! Puts the values of a store into one that exists, in one transaction: all of them or none.

use std::ops::ControlFlow;

use model::{Access, Error, ErrorKind, How, Mode, Put, Result, Scan, Session, Store};

use super::{
    Copied, CopyJob, StoreLocation, changes::FileStates, destination, suffixed::Suffixed, survey,
};
use crate::{Progress, Stop, progress::tick};

/// Copies the values of a store into an existing one. A key that is there is an error, unless
/// [`CopyJob::force`] lets its value be replaced. Until the end nothing is committed.
///
/// # Errors
///
/// Fails if the destination cannot hold the values, has one of the keys, or the user stops the copy.
pub fn copy_in_place(job: &CopyJob, progress: &dyn Progress, stop: &Stop) -> Result<Copied> {
    if let Some(to) = job.to.file() {
        destination::check_apart(&job.from, to)?;
    }
    if job.to.engine.capabilities().written_once {
        let why = "is an archive, which is written once; copy to another one without --in-place";
        return Err(Error::usage(why).at(job.to.path.display()));
    }
    job.from.check_room(job.scratch.as_deref())?;
    let from = job.from.readable(job.scratch.as_deref(), progress, stop)?;
    add_all(job, &from.place, (progress, stop)).map_err(|error| from.names(error))
}

fn add_all(
    job: &CopyJob,
    from: &StoreLocation,
    (progress, stop): (&dyn Progress, &Stop),
) -> Result<Copied> {
    let before = FileStates::read(from)?;
    let store = from.open()?;
    let suffixed = job.key_suffix.as_ref().map(|suffix| Suffixed { store: &*store, suffix });
    let source = suffixed.as_ref().map_or(&*store, |source| source as &dyn Store);
    let (keys, path) = (source.keys(), job.to.path.display());
    let to = job.to.engine.open(&job.to.path, &job.to.options(Access::Write, keys))?;
    if to.keys() != keys {
        let there = to.keys();
        return Err(Error::usage(format!("its keys are {there}, the source's {keys}")).at(path));
    }
    let can = job.to.engine.capabilities();
    let amount = survey::survey((source, &*from.shown()), &*to, (can, false), stop)?;
    progress.stage("copying", Some(amount.count));
    let mut copied = Copied { left_out: source.left_out()?, ..Copied::default() };
    let mut put = || {
        to.check_unlocked()?;
        let mut session = to.session()?;
        session.begin(Mode::Write)?;
        put_all(source, &mut *session, job.force, &mut copied, (progress, stop))?;
        before.check_unchanged(from)?;
        session.commit()
    };
    put().map_err(|error: Error| error.reworded(|said| format!("{said}; nothing was written")))?;
    to.close()?;
    Ok(copied)
}

fn put_all(
    source: &dyn Store,
    session: &mut dyn Session,
    force: bool,
    copied: &mut Copied,
    (progress, stop): (&dyn Progress, &Stop),
) -> Result<()> {
    let how = if force { How::Upsert } else { How::Insert };
    source.session()?.scan(Scan::ALL, &mut |item| {
        stop.check()?;
        let put = Put { how, meta: item.meta, value_type: item.value_type };
        if !session.put(item.key, item.value, &put)? {
            let what = format!("{} is there; --force replaces its value", item.key);
            return Err(Error::new(ErrorKind::Exists, what));
        }
        copied.count += 1;
        copied.bytes += item.length;
        tick(progress, copied.count);
        Ok(ControlFlow::Continue(()))
    })
}
