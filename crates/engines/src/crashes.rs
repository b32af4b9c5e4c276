//! Libraries in C that end the process on a damaged store: one of their own assertions fails, or
//! they touch memory that it led them to. A line with the store's name is written in place of the
//! signal.

use std::sync::OnceLock;

/// The last line of a process that a library ended.
#[derive(Clone, Copy)]
pub struct LastLine {
    /// The descriptor that the line is written to.
    pub to: i32,
    /// The function that forms the whole line, with its end, from the reason.
    pub line: fn(&str) -> String,
}

/// The line, with the function that finds the parts of it that are about the store which this
/// thread works on.
static LAST_LINE: OnceLock<(LastLine, Parts)> = OnceLock::new();

/// The parts of the last line if a mapped file became shorter than what is read of it, and it is not known
/// which store that is of.
static SHORTENED: OnceLock<[String; 2]> = OnceLock::new();

/// A function that a signal's handler may call.
type Parts = fn() -> Option<&'static [String; 2]>;

/// The character in place of the reason, which is known only when the line is written.
const LATER: char = '…';

/// Returns the parts of the last line before and after the reason; `say` forms its text.
pub(crate) fn last_line(say: impl FnOnce(&str) -> String) -> Option<[String; 2]> {
    let line = (LAST_LINE.get()?.0.line)(&say(LATER.encode_utf8(&mut [0; 4])));
    line.rsplit_once(LATER).map(|(start, end)| [start, end].map(str::to_owned))
}

/// Makes this process end with a line and the exit code 2 if a library ends it while it works on a
/// store.
pub(crate) fn end_with(line: LastLine, parts: Parts) {
    if LAST_LINE.set((line, parts)).is_ok() {
        let shortened = last_line(|why| {
            format!(
                "a store changed while it was read, or its device failed: {why}; stop what writes to \
                 it, or measure a copy"
            )
        });
        if let Some(parts) = shortened {
            let _ = SHORTENED.set(parts);
        }
        #[cfg(target_os = "linux")]
        os::install();
    }
}

/// Writes out what libraries in C have printed on standard output and standard error so far.
pub fn flush_printed() {
    #[cfg(target_os = "linux")]
    os::flush_printed();
}

#[cfg(target_os = "linux")]
mod os {
    use std::{cell::UnsafeCell, ffi::c_char, mem::MaybeUninit, ptr};

    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU, c_int, sigaction};

    use super::{LAST_LINE, SHORTENED};

    /// The signals by which a library ends the process, and what they mean.
    const SIGNALS: [(c_int, &str); 6] = [
        (SIGABRT, "it ended the process (SIGABRT)"),
        (SIGBUS, "it read what its file does not have (SIGBUS)"),
        (SIGFPE, "it divided by zero (SIGFPE)"),
        (SIGILL, "it ran what is no instruction (SIGILL)"),
        (SIGSEGV, "it touched memory that it does not have (SIGSEGV)"),
        (SIGXCPU, "it took too long (SIGXCPU)"),
    ];

    /// A buffer for what libraries in C have printed on their standard error and is not written
    /// yet, ended by zeros.
    struct Printed(UnsafeCell<[u8; 4096]>);

    // SAFETY: only the C library writes to it, under its own lock.
    unsafe impl Sync for Printed {}

    static PRINTED: Printed = Printed(UnsafeCell::new([0; 4096]));

    unsafe extern "C" {
        static stderr: *mut libc::FILE;
        static stdout: *mut libc::FILE;
        fn flockfile(file: *mut libc::FILE);
        fn funlockfile(file: *mut libc::FILE);
    }

    pub(super) fn flush_printed() {
        // SAFETY: the streams are there as long as the process. The buffer is cleared under the lock of its
        // stream, so that nothing else writes to it: a crash later takes what is in it for its reason.
        unsafe {
            libc::fflush(stdout);
            flockfile(stderr);
            libc::fflush(stderr);
            PRINTED.0.get().write_bytes(0, 1);
            funlockfile(stderr);
        }
    }

    pub(super) fn install() {
        let buffer: *mut c_char = PRINTED.0.get().cast();
        // SAFETY: nothing in C has printed yet, and the buffer is there as long as the process. The
        // handler calls what may be called in one alone. Rust's own handlers, which it calls where it
        // does nothing itself, see an overflow of a stack.
        unsafe {
            // An assertion prints before it aborts: on the same line, or, where nothing else ends the
            // process, when it ends.
            libc::setvbuf(stderr, buffer, libc::_IOFBF, size_of::<Printed>());
            libc::setvbuf(stdout, ptr::null_mut(), libc::_IOLBF, 0);
            for (number, _) in SIGNALS {
                let mut action: sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
                action.sa_flags = libc::SA_ONSTACK;
                let slot = previous_action(number);
                sigaction(number, &raw const action, slot);
            }
        }
    }

    /// The actions of the signals before the handlers were set.
    struct PreviousActions(UnsafeCell<[MaybeUninit<sigaction>; SIGNALS.len()]>);

    // SAFETY: written once, before any of the handlers that read it.
    unsafe impl Sync for PreviousActions {}

    /// The action of each signal before.
    static PREVIOUS: PreviousActions =
        PreviousActions(UnsafeCell::new([const { MaybeUninit::zeroed() }; SIGNALS.len()]));

    fn previous_action(signal: c_int) -> *mut sigaction {
        let index = SIGNALS.iter().position(|(number, _)| *number == signal).unwrap_or(0);
        PREVIOUS.0.get().cast::<sigaction>().wrapping_add(index)
    }

    extern "C" fn on_signal(signal: c_int) {
        let known = LAST_LINE.get();
        let shortened = || SHORTENED.get().filter(|_| signal == SIGBUS);
        let known = known.and_then(|(last, parts)| Some((last, parts().or_else(shortened)?)));
        let Some((last, [start, end])) = known else {
            // SAFETY: as it was. When this returns it happens again, or `abort` goes on.
            unsafe { sigaction(signal, previous_action(signal), ptr::null_mut()) };
            return;
        };
        if last.to != libc::STDERR_FILENO {
            let printed = printed();
            // SAFETY: as below.
            unsafe { libc::write(libc::STDERR_FILENO, printed.as_ptr().cast(), printed.len()) };
        }
        let mut line = [0; 256];
        // What was printed may say nothing of the end.
        let said = last_line(&mut line).map_or([&[][..]; 2], |line| [line, b"; "]);
        let [said, then] = said;
        for part in [start.as_bytes(), said, then, meaning(signal).as_bytes(), end.as_bytes()] {
            // SAFETY: writes bytes that are there. A failure has nobody to go to.
            unsafe { libc::write(last.to, part.as_ptr().cast(), part.len()) };
        }
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(2) }
    }

    fn meaning(signal: c_int) -> &'static str {
        SIGNALS.iter().find(|(number, _)| *number == signal).map_or("", |(_, meaning)| meaning)
    }

    /// Returns what libraries have printed on standard error and is not written yet.
    fn printed() -> &'static [u8] {
        // SAFETY: the thread that would write to it is in this handler; another one may change bytes,
        // which are then others.
        let printed = unsafe { &*PRINTED.0.get() };
        let end = printed.iter().position(|byte| *byte == 0).unwrap_or(printed.len());
        &printed[..end]
    }

    /// Returns the last line that a library has printed, if any, in a form that fits into a line of
    /// any form.
    fn last_line(into: &mut [u8; 256]) -> Option<&[u8]> {
        let line = printed().trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?;
        // It may start with the path of the source where the library was built.
        let word = line.split(|byte| *byte == b' ').next()?;
        let folder = word.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let line = &line[folder..];
        let length = line.len().min(into.len());
        for (to, from) in into.iter_mut().zip(line) {
            *to = if from.is_ascii_graphic() && !b"\"\\".contains(from) { *from } else { b' ' };
        }
        (length > 0).then_some(&into[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_is_still_unknown() {
        assert!(last_line(|_| String::new()).is_none(), "nobody has asked for one");
        let line = |why: &str| format!("{{\"why\":\"{why}\"}}\n");
        assert!(LAST_LINE.set((LastLine { to: 2, line }, || None)).is_ok());
        let parts = last_line(|why| format!("a…b: {why}")).unwrap();
        assert_eq!(parts, ["{\"why\":\"a…b: ", "\"}\n"]);
    }
}
