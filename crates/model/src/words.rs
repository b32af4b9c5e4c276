//! Words with a meaning, and the nearest match of a word without one.

use std::fmt::Display;

use crate::{Error, Result};

/// Declares an enum whose values are words: they are printed, stored and, if the enum says what it
/// is, read as those.
///
/// ```text
/// pub enum Durability as "durability class" {     an error names what was read
///     /// An acknowledged commit survives.
///     Durable = "durable",
/// }
/// ```
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident $(as $what:literal)? {
            $($(#[$doc:meta])* $value:ident = $word:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $value,)*
        }

        impl $name {
            /// All of them, in this order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// The word for it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        $(impl std::str::FromStr for $name {
            type Err = crate::Error;

            fn from_str(text: &str) -> crate::Result<Self> {
                crate::words::named($what, text, &Self::ALL)
            }
        })?
    };
}

pub(crate) use words;

/// The candidate nearest to `word`, if one is near enough to be a likely typo.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(likeness, candidate)| {
            *likeness >= 0.5 || (word.len() >= 2 && candidate.starts_with(word))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `: did you mean size?`, or nothing if no candidate is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!(": did you mean {near}?"))
}

/// Says that nothing of its kind is called `word`:
/// `no setting "pgsize": did you mean page_size? (accepted: …)`.
pub fn no_such<'a>(
    what: &str,
    word: &str,
    accepted: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let list = accepted.clone().into_iter().collect::<Vec<_>>().join(", ");
    if list.is_empty() {
        return format!("no {what} {word:?}: there are none here");
    }
    format!("no {what} {word:?}{} (accepted: {list})", did_you_mean(word, accepted))
}

/// The one of `all` that is printed as `word`.
pub(crate) fn named<T: Copy + Display>(what: &str, word: &str, all: &[T]) -> Result<T> {
    all.iter().copied().find(|one| one.to_string() == word).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(ToString::to_string).collect();
        Error::usage(no_such(what, word, words.iter().map(String::as_str)))
    })
}
