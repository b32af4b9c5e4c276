//! Libraries that give up on a damaged store: a panic becomes an error with the store's name, and
//! the handler for what ends the process (see [`crate::crashes`]) finds that name here.

use std::{
    any::Any,
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Mutex,
};

use kit::lock;
use model::{Error, ErrorKind, Result};

use crate::crashes::{self, LastLine};

/// A store by its path, kept as long as the process, so that a signal's handler may read it at any
/// time.
pub(crate) struct StoreName {
    path: PathBuf,
    /// The two parts of the line that is written if the process ends while a library works on the
    /// store.
    last_line: Option<[String; 2]>,
}

thread_local! {
    /// The store that this thread's call into a library is about. It has no destructor and is never
    /// prepared, so that a signal's handler may read it.
    static AT_WORK: Cell<Option<&'static StoreName>> = const { Cell::new(None) };
}

/// Returns the path of the store that this thread has called a library for. A panic in the call can
/// be named after the store even if it cannot be caught.
pub fn store_at_work() -> Option<&'static Path> {
    at_work().map(|store| &*store.path)
}

/// Makes this process end with a line and the exit code 2 if a library ends it while it works on a
/// store.
pub fn end_with(line: LastLine) {
    crashes::end_with(line, || at_work()?.last_line.as_ref());
}

fn at_work() -> Option<&'static StoreName> {
    AT_WORK.get()
}

/// A guard that restores the store that the thread worked on before.
struct PreviousStore(Option<&'static StoreName>);

impl Drop for PreviousStore {
    fn drop(&mut self) {
        AT_WORK.set(self.0);
    }
}

impl StoreName {
    /// Returns the name of the store at `path`, the same for all calls.
    pub(crate) fn intern(path: &Path) -> &'static Self {
        static ALL: Mutex<BTreeMap<PathBuf, &'static StoreName>> = Mutex::new(BTreeMap::new());
        let mut all = lock::hold(&ALL);
        all.entry(path.to_owned()).or_insert_with(|| Self::new(path, |why| given_up(path, why)))
    }

    /// Returns a name of what is at `path`, for the rest of this process; `say` is the error of a library
    /// that ends the process.
    pub(crate) fn new(path: &Path, say: impl FnOnce(&str) -> Error) -> &'static Self {
        let last_line = crashes::last_line(|why| say(why).to_string());
        Box::leak(Box::new(Self { path: path.to_owned(), last_line }))
    }

    /// Lets `work` call a library about the store.
    #[inline]
    pub(crate) fn at_work<T>(&'static self, work: impl FnOnce() -> T) -> T {
        let _previous = PreviousStore(AT_WORK.replace(Some(self)));
        work()
    }

    /// Lets `work` call a library about the store, and turns a panic into an error. What `work`
    /// left half finished is not used again.
    #[inline]
    pub(crate) fn catch<T>(&'static self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = self.at_work(|| catch_unwind(AssertUnwindSafe(work)));
        done.unwrap_or_else(|panic| Err(self.panic_error(&*panic)))
    }

    /// Adds the store's name to an error about damage that lacks it.
    #[cold]
    pub(crate) fn names(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::Corrupt {
            error.within(&self.path.display().to_string())
        } else {
            error
        }
    }

    #[cold]
    fn panic_error(&self, panic: &dyn Any) -> Error {
        given_up(&self.path, &panic_message(panic)).with_kind(ErrorKind::Corrupt)
    }
}

/// Lets `work` call a library about the store at `path`, and turns a panic into an error.
pub(crate) fn catch<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    StoreName::intern(path).catch(work)
}

/// Returns the message of a panic, on one line.
pub fn panic_message(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked").replace('\n', " ")
}

/// Creates the error of a library that gave up on the store at `path`.
#[cold]
pub fn given_up(path: &Path, why: &str) -> Error {
    let path = path.display();
    Error::failed(format!("may be damaged: its engine's library gave up: {why}")).at(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_the_name_of_the_store() {
        let path = Path::new("a/store");
        let failed = catch(path, || -> Result<()> {
            assert_eq!(store_at_work(), Some(path));
            panic!("first line\nsecond {}", 2)
        });
        let said = failed.unwrap_err().to_string();
        assert_eq!(
            said,
            "a/store: may be damaged: its engine's library gave up: first line second 2"
        );
        assert_eq!((catch(path, || Ok(7)).unwrap(), store_at_work()), (7, None));
    }
}
