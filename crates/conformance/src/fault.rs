//! What an engine does that it should not.

use std::{fmt, io};

use model::{Error, OwnedKey, Shown};

/// What a check found, in words for people.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    said: String,
    is_unchecked: bool,
}

/// The result of a check, or of a part of it.
pub type Checked<T = ()> = Result<T, Fault>;

impl Fault {
    /// Creates a fault of the engine.
    pub fn new(said: impl Into<String>) -> Self {
        Self { said: said.into(), is_unchecked: false }
    }

    /// Creates the fault of a process that ended, from what it `said`: its last line, but for a note on how to
    /// see more.
    pub(crate) fn of_process(process: &str, said: &str) -> Self {
        let last = said.lines().rfind(|line| !line.is_empty() && !line.starts_with("note: "));
        Self::new(format!("{process} ended: {}", last.unwrap_or("without a word")))
    }

    /// Creates the result of a check that could not be made here, for this reason.
    pub fn unchecked(why: impl Into<String>) -> Self {
        Self { said: why.into(), is_unchecked: true }
    }

    /// Returns whether nothing was checked.
    pub fn is_unchecked(&self) -> bool {
        self.is_unchecked
    }

    /// Adds what was being done.
    #[must_use]
    pub fn within(self, what: impl fmt::Display) -> Self {
        Self { said: format!("{what}: {}", self.said), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::new(format!("an operation failed: {error}"))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::new(format!("a file of the check: {error}"))
    }
}

/// Fails with a sentence unless it holds.
pub(crate) fn holds(it: bool, otherwise: impl fmt::Display) -> Checked {
    if it { Ok(()) } else { Err(Fault::new(otherwise.to_string())) }
}

/// Fails unless `found` is `expected`; `what` is what they are.
#[expect(
    clippy::needless_pass_by_value,
    reason = "callers pass what an operation has just returned"
)]
pub(crate) fn same<T: PartialEq + Describe>(
    what: impl fmt::Display,
    found: T,
    expected: T,
) -> Checked {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (found.describe(), expected.describe());
    Err(Fault::new(format!("{what} is {found}, expected: {expected}")))
}

/// Fails at the first of `found` that differs from `expected`, or if they are not as many.
pub(crate) fn same_items<T: PartialEq + Describe>(
    what: impl fmt::Display,
    found: &[T],
    expected: &[T],
) -> Checked {
    if let Some(at) = found.iter().zip(expected).position(|(one, other)| one != other) {
        let (found, expected) = (found[at].describe(), expected[at].describe());
        let said = format!("{what}: item {} is {found}, expected: {expected}", at + 1);
        return Err(Fault::new(said));
    }
    let (own, count) = (found.len(), expected.len());
    holds(own == count, format!("{what}: {own} items, expected: {count}"))
}

/// What can be described in a few words.
pub(crate) trait Describe {
    fn describe(&self) -> String;
}

impl Describe for bool {
    fn describe(&self) -> String {
        if *self { "yes" } else { "no" }.to_owned()
    }
}

impl Describe for usize {
    fn describe(&self) -> String {
        self.to_string()
    }
}

impl Describe for String {
    fn describe(&self) -> String {
        self.clone()
    }
}

/// A value, or its absence.
impl Describe for Option<Vec<u8>> {
    fn describe(&self) -> String {
        self.as_ref().map_or_else(|| "absent".to_owned(), |value| value_in_words(value))
    }
}

/// A length.
impl Describe for Option<u64> {
    fn describe(&self) -> String {
        self.map_or_else(|| "absent".to_owned(), |length| format!("{length} bytes"))
    }
}

impl Describe for (OwnedKey, Vec<u8>) {
    fn describe(&self) -> String {
        format!("key {} with {}", key_in_words(&self.0), value_in_words(&self.1))
    }
}

impl Describe for (OwnedKey, u64) {
    fn describe(&self) -> String {
        format!("key {} with {} bytes", key_in_words(&self.0), self.1)
    }
}

fn key_in_words(key: &OwnedKey) -> String {
    match key {
        OwnedKey::Int(key) => key.to_string(),
        OwnedKey::Name(name) => format!("\"{}\"", Shown(name)),
    }
}

/// Describes a value by its length and its first bytes.
fn value_in_words(value: &[u8]) -> String {
    const START: usize = 8;
    if value.is_empty() {
        return "0 bytes".to_owned();
    }
    let start: Vec<_> = value.iter().take(START).map(|byte| format!("{byte:02x}")).collect();
    let rest = if value.len() > START { " …" } else { "" };
    format!("{} bytes ({}{rest})", value.len(), start.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_said_in_a_few_words() {
        let said = |checked: Checked| checked.unwrap_err().to_string();
        let value = |length| Some(vec![7_u8; length]);
        assert_eq!(
            said(same("key 3", value(9), None)),
            "key 3 is 9 bytes (07 07 07 07 07 07 07 07 …), expected: absent"
        );
        let items = [(OwnedKey::Int(1), 5_u64), (OwnedKey::Int(2), 6)];
        assert_eq!(said(same_items("a scan", &items, &items[..1])), "a scan: 2 items, expected: 1");
        let other = [(OwnedKey::Int(1), 5), (OwnedKey::Name((*b"a").into()), 6)];
        assert_eq!(
            said(same_items("a scan", &items, &other)),
            "a scan: item 2 is key 2 with 6 bytes, expected: key \"a\" with 6 bytes"
        );
        assert_eq!(same("it", true, true), Ok(()));
    }
}
