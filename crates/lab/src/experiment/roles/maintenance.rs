//! Maintenance of a store while a pass is under way.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use host::now_ns;
use model::{BackgroundWork, Error, ErrorKind, MaintenanceMeasured, Meanwhile, Result, Store};

/// The part of a pass after which maintenance starts.
const STARTS: u64 = 4;
/// How often the end of a pass is looked for before that.
const LOOK: Duration = Duration::from_millis(20);

/// The store that is maintained, and the length of the pass.
#[derive(Clone, Copy)]
pub(super) struct Upkeep<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) path: &'a Path,
    pub(super) pass_ns: u64,
}

/// The figures of maintenance, and when each one ran.
type Maintained = (MaintenanceMeasured, Vec<BackgroundWork>);

impl Upkeep<'_> {
    /// Returns how long maintenance takes while no session works; `None` if it does not finish.
    pub(super) fn alone(&self, of: Meanwhile) -> Result<Option<u64>> {
        let start_ns = now_ns();
        // It has no reason to start again.
        let finished = self.once(of, &|| false)?;
        Ok(finished.then(|| now_ns() - start_ns))
    }

    /// Runs `pass`, with maintenance of the store from a quarter of it on, if there is any.
    pub(super) fn during<T>(
        &self,
        of: Option<Meanwhile>,
        pass: impl FnOnce() -> T,
    ) -> (T, Result<Maintained>) {
        let Some(of) = of else { return (pass(), Ok(Maintained::default())) };
        let (passed, maintained) = crate::meanwhile(|over| self.work(of, over), pass);
        (passed, maintained.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    fn work(&self, of: Meanwhile, over: &AtomicBool) -> Result<Maintained> {
        let is_over = || over.load(Ordering::Relaxed);
        let begin_ns = now_ns() + self.pass_ns / STARTS;
        while now_ns() < begin_ns && !is_over() {
            thread::park_timeout(LOOK);
        }
        let (mut measured, mut background) = Maintained::default();
        while !is_over() {
            let start_ns = now_ns();
            let finished = match self.once(of, &is_over) {
                Err(error) if error.kind() == ErrorKind::Busy => false,
                done => done?,
            };
            let end_ns = now_ns();
            background.push(BackgroundWork { name: of.what.to_string(), start_ns, end_ns });
            if finished {
                measured.runs_ns.push(end_ns - start_ns);
                measured.within += u64::from(!is_over());
            } else {
                measured.unfinished += 1;
            }
            if !of.always {
                break;
            }
        }
        Ok((measured, background))
    }

    fn once(&self, of: Meanwhile, is_over: &dyn Fn() -> bool) -> Result<bool> {
        let copy = copy_path(self.path);
        let done = self.store.maintain(of.what, &copy, is_over);
        remove(&copy)?;
        done.map_err(|error| error.context(of.what))
    }
}

/// Returns the path of a copy, next to the store.
fn copy_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".copy");
    name.into()
}

fn remove(copy: &Path) -> Result<()> {
    let removed = match copy.symlink_metadata() {
        Err(_) => return Ok(()),
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(copy),
        Ok(_) => fs::remove_file(copy),
    };
    removed.map_err(|e| Error::io(copy.display(), e))
}
