//! Enums whose values are words, and the nearest match of an unknown word.

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
            /// All values, in this order.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$value),*];

            /// Returns the word for this value.
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
                crate::words::find_word($what, text, &Self::ALL)
            }
        })?
    };
}

pub(crate) use words;

/// Returns the candidate nearest to `word`, if one is near enough to be a likely typo: fewer than
/// half of the letters differ, or the word is its start. An ending that two names of files share
/// does not count.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |candidate: &'a str| {
        let (one, other) = without_ending(word, candidate);
        let edits = strsim::damerau_levenshtein(one, other);
        let letters = one.chars().count().max(other.chars().count());
        let is_start = word.len() >= 2 && candidate.starts_with(word);
        (2 * edits < letters || is_start).then_some((edits, candidate))
    };
    let near = candidates.into_iter().filter_map(near);
    near.min_by_key(|(edits, _)| *edits).map(|(_, candidate)| candidate)
}

/// Returns both words without the ending, from the last dot on, that they share.
fn without_ending<'w, 'c>(word: &'w str, candidate: &'c str) -> (&'w str, &'c str) {
    match (word.rsplit_once('.'), candidate.rsplit_once('.')) {
        (Some((one, ending)), Some((other, same))) if ending == same => (one, other),
        _ => (word, candidate),
    }
}

/// Returns `: did you mean size?`, or nothing if no candidate is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!(": did you mean {near}?"))
}

/// Returns a sentence that nothing of its kind is called `word`: `no setting "pgsize": did you mean
/// page_size? (accepted: …)`.
pub fn no_such<'a>(
    what: &str,
    word: &str,
    accepted: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let shown = |name: &'a str| if name.is_empty() { "\"\"" } else { name };
    let list = accepted.clone().into_iter().map(shown).collect::<Vec<_>>().join(", ");
    if list.is_empty() {
        return format!("no {what} {word:?}: there are none here");
    }
    format!("no {what} {word:?}{} (accepted: {list})", did_you_mean(word, accepted))
}

/// Returns the value of `all` that is printed as `word`.
///
/// # Errors
///
/// Fails if there is none; the sentence names the nearest.
pub(crate) fn find_word<T: Copy + Display>(what: &str, word: &str, all: &[T]) -> Result<T> {
    all.iter().copied().find(|one| one.to_string() == word).ok_or_else(|| {
        let words: Vec<String> = all.iter().map(ToString::to_string).collect();
        Error::usage(no_such(what, word, words.iter().map(String::as_str)))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_a_likely_typo_is_suggested() {
        for (word, candidate, near) in [
            ("thums.db", "thumbs.db", true),
            ("thums.db", "photos.db", false),
            ("a.db", "b.db", false),
            ("siez", "size", true),
            ("blbo", "blob", true),
            ("slq", "sql", true),
            ("sqlight", "sqlite", true),
            ("read", "trace", false),
            ("thumbs", "thumbs.db", true),
            ("x", "y", false),
        ] {
            assert_eq!(nearest(word, [candidate]).is_some(), near, "{word} {candidate}");
        }
        assert_eq!(nearest("thums.db", ["photos.db", "thumb.db", "thumbs.db"]), Some("thumb.db"));
    }

    proptest! {
        #[test]
        fn words_of_other_letters_are_never_suggested(word in "[a-m]{1,9}", other in "[n-z]{1,9}") {
            let names = [format!("{other}.db"), other];
            prop_assert_eq!(nearest(&word, names.iter().map(String::as_str)), None);
            let word = format!("{word}.db");
            prop_assert_eq!(nearest(&word, names.iter().map(String::as_str)), None);
        }

        #[test]
        fn one_typo_in_a_word_is_found(word in "[a-z]{3,12}", at in 0_usize..12, letter in "[a-z]") {
            let at = at % word.len();
            let typo = format!("{}{letter}{}", &word[..at], &word[at + 1..]);
            prop_assert_eq!(nearest(&typo, [&*word]), Some(&*word));
        }
    }
}
