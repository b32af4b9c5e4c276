//! Panics of a library, which a damaged store may cause, as errors with the store's name.

use std::{
    any::Any,
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use model::{Error, ErrorKind, Result};

thread_local! {
    /// The stores that this thread's calls into libraries are about, the last of them innermost.
    static STORES: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// The store that this thread has called a library for. A panic within it can be named after the
/// store even where it cannot be caught.
pub fn store_at_work() -> Option<PathBuf> {
    STORES.with_borrow(|stores| stores.last().cloned())
}

/// Lets `work` call a library about the store at `path`. A panic is an error; what `work` left half
/// done is not used again.
pub(crate) fn caught<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    STORES.with_borrow_mut(|stores| stores.push(path.to_owned()));
    let done = catch_unwind(AssertUnwindSafe(work));
    STORES.with_borrow_mut(Vec::pop);
    done.unwrap_or_else(|panic| {
        Err(given_up(path, &panic_message(&*panic)).with_kind(ErrorKind::Corrupt))
    })
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
            assert_eq!(store_at_work().as_deref(), Some(path));
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
