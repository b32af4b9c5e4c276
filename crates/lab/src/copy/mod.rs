//! Copies a store: into a folder next to the destination, and under its own name only when it is
//! whole and on disk.

mod changes;
mod destination;
mod in_place;
mod inventory;
mod location;
mod partial;
mod pump;
mod remote;
mod suffixed;
mod survey;
mod value_room;

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use model::{
    Access, Entry, Error, Fill, OpenOptions, Result, Store,
    units::{show_count, show_size},
};

use crate::{Progress, Stop, host};
use changes::FileStates;
pub use in_place::copy_in_place;
use inventory::Inventory;
pub use location::{Amount, StoreLocation, generated};
pub(crate) use location::{Readable, clone_store};
use partial::Partial;
pub(crate) use suffixed::Suffixed;
pub(crate) use value_room::{LARGE, ValueRoom};

/// Returns the folder that an interrupted copy to `destination` left; `None` if there is none.
pub fn interrupted_copy(destination: &Path) -> Option<PathBuf> {
    destination.file_name()?;
    Some(partial::folder_for(destination)).filter(|folder| folder.is_dir())
}

/// A copy to be made.
pub struct CopyJob {
    /// The source.
    pub from: StoreLocation,
    /// The destination.
    pub to: StoreLocation,
    /// Whether an existing store is replaced, if it is a dataset and nothing else.
    pub force: bool,
    /// Whether an interrupted copy is continued.
    pub resume: bool,
    /// The folder in which a source that reading would change is copied to be read; `None` for the
    /// source's own folder.
    pub scratch: Option<PathBuf>,
    /// The ending that each key of the source gets; `None` for none.
    pub key_suffix: Option<String>,
}

/// The result of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Number of values.
    pub count: u64,
    /// Bytes of the values.
    pub bytes: u64,
    /// Number of values that an interrupted copy had already copied.
    pub resumed: u64,
    /// The other entries of the source, which are not copied.
    pub left_out: Vec<Entry>,
}

/// Copies a store. The destination stays unchanged until the copy is complete and flushed; an
/// interrupted copy can be resumed.
///
/// # Errors
///
/// Fails if the destination would lose something, the source cannot be read or changes while it is
/// read, there is no room, or the user stops the copy.
pub fn copy(job: &CopyJob, progress: &dyn Progress, stop: &Stop) -> Result<Copied> {
    if job.to.engine.capabilities().remote {
        return remote::copy(job, progress, stop);
    }
    if let Some(path) = partial::put_back(&job.to)? {
        progress.say(&format!("{}: put back what an interrupted copy had moved", path.display()));
    }
    partial::remove_finished(&job.to)?;
    destination::check(job)?;
    job.with_source(progress, stop, |_, work| {
        let partial = Partial::claim(&job.to)?;
        let copied = match work.run(&partial) {
            Ok(copied) => work.with_left_out(copied)?,
            Err(error) => return Err(partial.explain(error, &job.to, work.source.keys())),
        };
        destination::finish(&job.to.path, partial)?;
        Ok(copied)
    })
}

impl CopyJob {
    /// Lets `copy` have the source, opened where reading does not change it.
    fn with_source(
        &self,
        progress: &dyn Progress,
        stop: &Stop,
        copy: impl FnOnce(&StoreLocation, &Copier<'_>) -> Result<Copied>,
    ) -> Result<Copied> {
        self.from.check_room(self.scratch.as_deref())?;
        let from = self.from.readable(self.scratch.as_deref(), progress, stop)?;
        let with_open = || {
            progress.stage("looking at the source", None);
            let before = FileStates::read(&from.place)?;
            let store = from.place.open()?;
            let suffix = self.key_suffix.as_ref();
            let suffixed = suffix.map(|suffix| Suffixed { store: &*store, suffix });
            let source = suffixed.as_ref().map_or(&*store, |source| source as &dyn Store);
            let has_put = AtomicBool::new(false);
            let work = Copier { job: self, source, before, progress, stop, has_put };
            let copied = copy(&from.place, &work)?;
            store.close()?;
            Ok(copied)
        };
        with_open().map_err(|error| from.names(error))
    }
}

struct Copier<'a> {
    job: &'a CopyJob,
    source: &'a dyn Store,
    /// The source's files before they were read.
    before: FileStates,
    progress: &'a dyn Progress,
    stop: &'a Stop,
    /// Whether a value was put.
    has_put: AtomicBool,
}

impl Copier<'_> {
    /// Adds what the source has besides its values.
    fn with_left_out(&self, copied: Copied) -> Result<Copied> {
        let mut left_out = self.source.left_out()?;
        left_out.extend(copied.left_out);
        Ok(Copied { left_out, ..copied })
    }

    fn run(&self, partial: &Partial) -> Result<Copied> {
        let path = partial.store();
        let fill = self.job.to.engine.fill();
        let resumed = self.resume(partial, &fill)?;
        let fresh = resumed.is_none();
        let (store, inventory) = match resumed {
            Some(resumed) => resumed,
            None => (self.start(partial, &fill)?, Inventory::default()),
        };
        // A part of what is resumed is there already, and must not be lost for want of room.
        let needs_room = fresh.then_some(&fill);
        let copied = self.examine(&*store, partial, needs_room).and_then(|amount| {
            self.progress.stage("copying", Some(amount.count));
            self.move_all(&*store, inventory, fill.sessions)
        });
        // An interrupted copy is closed too, so that it can be resumed.
        let closed = store.flush_writes().and_then(|()| store.close());
        let copied = copied?;
        closed?;
        self.stop.check()?;
        self.reopen(&path)?;
        self.progress.stage("flushing to disk", None);
        host::sync(&path)?;
        self.before.check_unchanged(&self.job.from)?;
        self.stop.check()?;
        destination::move_into_place(&path, self.job)?;
        Ok(copied)
    }

    /// Examines everything that will be copied, before anything is.
    fn examine(
        &self,
        to: &dyn Store,
        partial: &Partial,
        needs_room: Option<&Fill>,
    ) -> Result<Amount> {
        let CopyJob { from, to: place, .. } = self.job;
        let can = place.engine.capabilities();
        let amount =
            survey::survey((self.source, &*from.shown()), to, (can, self.in_parts(to)), self.stop)?;
        needs_room.map_or(Ok(()), |fill| amount.check_room(fill, partial.folder()))?;
        from.say_reads(amount, self.progress);
        self.progress.detail(&format!(
            "{} ({}) to {} ({}): {} values, {}",
            from.shown(),
            from.engine.name(),
            place.shown(),
            place.engine.name(),
            show_count(amount.count),
            show_size(amount.bytes)
        ));
        Ok(amount)
    }

    /// Returns the options with which the copy is filled: as asked for, but fast.
    fn options(&self, fill: &Fill) -> OpenOptions {
        let fast = fill.settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let mut options = self.job.to.options(Access::Write, self.source.keys());
        options.settings.0.extend(fast);
        options
    }

    fn start(&self, partial: &Partial, fill: &Fill) -> Result<Box<dyn Store>> {
        partial.empty()?;
        self.job.to.engine.create(&partial.store(), &self.options(fill))
    }

    /// Opens what an interrupted copy left; `None` if it is not to be resumed or cannot be.
    fn resume(
        &self,
        partial: &Partial,
        fill: &Fill,
    ) -> Result<Option<(Box<dyn Store>, Inventory)>> {
        if !self.job.resume || !partial.store().exists() {
            return Ok(None);
        }
        if self.job.to.engine.capabilities().written_once {
            self.progress.say("an archive is written from its start, so it starts again");
            return Ok(None);
        }
        self.progress.stage("looking at what is already copied", None);
        let open = || {
            let store = self.job.to.engine.open(&partial.store(), &self.options(fill))?;
            let (there, wanted) = (store.keys(), self.source.keys());
            if there != wanted {
                return Err(Error::usage(format!("its keys are {there}, the source's {wanted}")));
            }
            let inventory = Inventory::read(&*store, self.stop)?;
            Ok((store, inventory))
        };
        match open() {
            Err(error) if !error.is_stopped() => {
                let what = partial.folder().display();
                self.progress.say(&format!("cannot resume {what}, starting again: {error}"));
                Ok(None)
            }
            opened => opened.map(Some),
        }
    }

    /// Opens the complete copy once with the settings that were asked for, because a store keeps
    /// some of them, such as a journal mode.
    fn reopen(&self, path: &Path) -> Result<()> {
        if self.job.to.settings.is_empty() {
            return Ok(());
        }
        let options = self.job.to.options(Access::Write, self.source.keys());
        self.job.to.engine.open(path, &options)?.close()
    }
}
