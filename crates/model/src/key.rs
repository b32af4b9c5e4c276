//! Keys: integers (kvtest's) or names (relative paths), never both in one dataset.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{text::Shown, words::words};

/// A key that borrows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key<'a> {
    /// A key as in kvtest: a 64-bit signed integer.
    Int(i64),
    /// A relative path with `/` between its parts, in the bytes of the file system.
    Name(&'a [u8]),
}

impl Key<'_> {
    /// Returns the key of this kind that is before all others.
    pub fn smallest(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Integers => Self::Int(i64::MIN),
            KeyKind::Names => Self::Name(b""),
        }
    }

    /// Returns the kind of the key.
    pub fn kind(self) -> KeyKind {
        match self {
            Self::Int(_) => KeyKind::Integers,
            Self::Name(_) => KeyKind::Names,
        }
    }
}

/// A key that owns its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OwnedKey {
    /// A 64-bit signed integer.
    Int(i64),
    /// A relative path.
    Name(Box<[u8]>),
}

impl OwnedKey {
    /// Returns the key with its name borrowed.
    pub fn as_key(&self) -> Key<'_> {
        match self {
            Self::Int(key) => Key::Int(*key),
            Self::Name(name) => Key::Name(name),
        }
    }
}

impl From<Key<'_>> for OwnedKey {
    fn from(key: Key<'_>) -> Self {
        match key {
            Key::Int(key) => Self::Int(key),
            Key::Name(name) => Self::Name(name.into()),
        }
    }
}

/// Integers as digits; names as [`Shown`] shows them.
impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(key) => write!(f, "{key}"),
            Self::Name(name) => Shown(name).fmt(f),
        }
    }
}

words! {
    /// The kind of all keys of a dataset.
    pub enum KeyKind {
        /// 64-bit signed integers.
        Integers = "integers",
        /// Relative paths.
        Names = "names",
    }
}

words! {
    /// The type of a value, as a store that distinguishes types reports it.
    #[derive(Default)]
    pub enum ValueType {
        /// Bytes; most engines know no other type.
        #[default]
        Bytes = "bytes",
        /// Text; its bytes are UTF-8.
        Text = "text",
        /// A whole number; its bytes are those of an `i64`, lowest first.
        Integer = "an integer",
        /// A floating-point number; its bytes are those of an `f64`, lowest first.
        Real = "a real number",
        /// No value; it has no bytes.
        Null = "NULL",
    }
}

/// The mode and time that a file system keeps with a named value. Engines that cannot store
/// nanoseconds keep whole seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The Unix mode bits, file type included (`0o100644`).
    pub mode: u32,
    /// The modification time in seconds since 1970.
    pub seconds: i64,
    /// The nanoseconds within that second.
    pub nanoseconds: u32,
}
