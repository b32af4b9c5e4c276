//! Libraries that give up on a damaged store: a panic is an error with the store's name, and what ends
//! the process (see [`crate::crashes`]) finds that name here.

use std::{
    any::Any,
    cell::Cell,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Mutex,
};

use model::{Error, ErrorKind, Result};

use crate::{
    crashes::{self, LastLine},
    lock,
};

/// A store by its path, kept as long as the process, so that a signal's handler may read it at any
/// time.
pub(crate) struct StoreName {
    path: PathBuf,
    /// What is said if the process ends while a library works on it.
    last_line: Option<[String; 2]>,
}

thread_local! {
    /// The store that this thread's call into a library is about. Has no destructor and is never
    /// prepared, so that a signal's handler may read it.
    static AT_WORK: Cell<Option<&'static StoreName>> = const { Cell::new(None) };
}

/// The store that this thread has called a library for. A panic within it can be named after the
/// store even where it cannot be caught.
pub fn store_at_work() -> Option<&'static Path> {
    at_work().map(|store| &*store.path)
}

/// From now on this process ends with a line and the exit code 2 where a library ends it while it works
/// on a store.
pub fn end_with(line: LastLine) {
    crashes::end_with(line, || at_work()?.last_line.as_ref());
}

fn at_work() -> Option<&'static StoreName> {
    AT_WORK.get()
}

/// The store that the thread was at before.
struct Before(Option<&'static StoreName>);

impl Drop for Before {
    fn drop(&mut self) {
        AT_WORK.set(self.0);
    }
}

impl StoreName {
    pub(crate) fn of(path: &Path) -> &'static Self {
        static ALL: Mutex<BTreeMap<PathBuf, &'static StoreName>> = Mutex::new(BTreeMap::new());
        lock::hold(&ALL).entry(path.to_owned()).or_insert_with(|| {
            let last_line = crashes::last_line(|why| given_up(path, why).to_string());
            Box::leak(Box::new(Self { path: path.to_owned(), last_line }))
        })
    }

    /// Lets `work` call a library about the store.
    #[inline]
    pub(crate) fn at_work<T>(&'static self, work: impl FnOnce() -> T) -> T {
        let _before = Before(AT_WORK.replace(Some(self)));
        work()
    }

    /// The same; a panic is an error. What `work` left half done is not used again.
    #[inline]
    pub(crate) fn caught<T>(&'static self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = self.at_work(|| catch_unwind(AssertUnwindSafe(work)));
        done.unwrap_or_else(|panic| Err(self.panicked(&*panic)))
    }

    /// An error about damage that does not name the store does so afterwards.
    #[cold]
    pub(crate) fn names(&self, error: Error) -> Error {
        let path = self.path.display();
        let is_named =
            error.kind() != ErrorKind::Corrupt || error.to_string().contains(&path.to_string());
        if is_named { error } else { error.context(path) }
    }

    #[cold]
    fn panicked(&self, panic: &dyn Any) -> Error {
        given_up(&self.path, &panic_message(panic)).with_kind(ErrorKind::Corrupt)
    }
}

/// Lets `work` call a library about the store at `path`; a panic is an error.
pub(crate) fn caught<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    StoreName::of(path).caught(work)
}

/// What a panic says, on one line.
pub fn panic_message(panic: &dyn Any) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it panicked").replace('\n', " ")
}

/// A library has given up on the store at `path`.
#[cold]
pub fn given_up(path: &Path, why: &str) -> Error {
    let path = path.display();
    Error::failed(format!("{path}: may be damaged: its engine's library gave up: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_the_name_of_the_store() {
        let path = Path::new("a/store");
        let failed = caught(path, || -> Result<()> {
            assert_eq!(store_at_work(), Some(path));
            panic!("first line\nsecond {}", 2)
        });
        let said = failed.unwrap_err().to_string();
        assert_eq!(
            said,
            "a/store: may be damaged: its engine's library gave up: first line second 2"
        );
        assert_eq!((caught(path, || Ok(7)).unwrap(), store_at_work()), (7, None));
    }
}
