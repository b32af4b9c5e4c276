//! Tests that need what a machine may lack.

use std::{
    env,
    fmt::Display,
    io::{Write, stderr},
};

/// The variable that names what tests do without, with commas between: a server (`mariadb`),
/// `root`, `fuse`, `strace`, `shm`.
pub const WITHOUT: &str = "STOREMARK_WITHOUT";

/// Leaves out a test that lacks `what`, if the variable [`WITHOUT`] names it: a line on standard
/// error, which the harness does not capture, counts it.
///
/// # Panics
///
/// Panics if the variable does not name it, so that no test is left out unnoticed.
pub fn unchecked(what: &str, why: impl Display) {
    assert!(
        does_without(what),
        "this test needs {what}: {why}; {WITHOUT}={what} leaves such tests out"
    );
    // If standard error is closed, nobody counts.
    let _ = writeln!(stderr(), "{WITHOUT}: 1 test unchecked: {what}: {why}");
}

/// Returns whether the variable [`WITHOUT`] names `what`.
pub fn does_without(what: &str) -> bool {
    let named = env::var(WITHOUT).unwrap_or_default();
    named.split(',').any(|word| word.trim() == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "this test needs no-such-thing: it is not here")]
    fn what_is_left_out_without_being_named_fails() {
        unchecked("no-such-thing", "it is not here");
    }
}
