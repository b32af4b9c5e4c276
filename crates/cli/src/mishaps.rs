//! The handling of what would end this program without a message: a panic becomes one line, so does
//! the end that a library in C makes of it, and a file that grows beyond its limit is an error.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook},
    path::Path,
    sync::{Mutex, PoisonError},
    thread,
};

use engines::LastLine;
use model::{Error, Result};

use crate::{exit::Failure, output, replies};

/// The message of the last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

/// The start of a panic in a build with checks when a library was led to memory that is not there:
/// Rust ends the process after it, with a line of its own.
const UNSAFE: &str = "unsafe precondition(s) violated";

thread_local! {
    /// The stores in which this thread was at work when it panicked before; `None` for a panic
    /// outside of stores.
    static UNWINDING: RefCell<Vec<Option<&'static Path>>> = const { RefCell::new(Vec::new()) };
}

/// Prepares for panics and for files beyond their limit.
pub(crate) fn prepare() -> Result<()> {
    set_hook(Box::new(on_panic));
    file_limits()
}

/// Catches the signal that `ulimit -f` ends a process by; a write then fails as on a full disk.
#[cfg(unix)]
fn file_limits() -> Result<()> {
    use std::sync::{Arc, atomic::AtomicBool};

    let caught = Arc::new(AtomicBool::new(false));
    let registered = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, caught);
    registered.map(drop).map_err(|e| Error::io("signals cannot be caught", e))
}

#[cfg(not(unix))]
fn file_limits() -> Result<()> {
    Ok(())
}

/// Sets the last line of a process that a library ends. It names the store: on standard error, or
/// as the `reply` to the process that started it, which prints it.
pub(crate) fn end_with_a_line(reply: Option<fn(&str) -> String>) {
    engines::end_with(match reply {
        Some(line) => LastLine { to: replies::descriptor(), line },
        None => LastLine { to: 2, line: output::line },
    });
}

/// Runs `work`, and returns a panic in it as an error.
pub(crate) fn caught(work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Failure::PartWay(last())))
}

fn last() -> Error {
    Error::failed(LAST.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Remembers the message of a panic, which may be caught; prints it in a thread of a library, where
/// it never is. A panic while another one unwinds ends the process at once: Rust would abort it.
fn on_panic(info: &PanicHookInfo<'_>) {
    let store = engines::store_at_work();
    if UNWINDING.with_borrow(|earlier| earlier.last() == Some(&store)) {
        output::say(&last().to_string());
        std::process::exit(2);
    }
    UNWINDING.with_borrow_mut(|earlier| earlier.push(store));
    let why = engines::panic_message(info.payload());
    if store.is_some() && why.starts_with(UNSAFE) {
        // The signal says it with the store's name.
        std::process::abort();
    }
    // The thread that waited for others repeats that one of them has panicked.
    if why != "a scoped thread panicked" {
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = line(info, store, &why);
    }
    if thread::current().name().is_some_and(|name| name != "main") {
        output::say(&last().to_string());
    }
}

fn line(info: &PanicHookInfo<'_>, store: Option<&Path>, why: &str) -> String {
    let place = info.location().map_or_else(String::new, |place| {
        let file = place.file().rsplit(['/', '\\']).take(3).collect::<Vec<_>>();
        format!(" ({}:{})", file.into_iter().rev().collect::<Vec<_>>().join("/"), place.line())
    });
    match store {
        Some(store) => engines::given_up(store, &format!("{why}{place}")).to_string(),
        None => format!("{why}{place}: a store is damaged, or this is a bug of storemark"),
    }
}
