//! What several records do not have in common, in words.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Something that is not the same in all of several records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Differs")]
pub struct Unlike {
    /// What it is: `kernel`, `workloads`.
    pub what: String,
    /// How it is in each record, in their order.
    pub values: Vec<String>,
}

/// For a record in which it is not known, or that lacks nothing that others have.
const NOTHING: &str = "–";

impl Unlike {
    /// `None`: all values are equal.
    pub(crate) fn of(what: &str, values: impl IntoIterator<Item = String>) -> Option<Self> {
        let shown = |value: String| if value.is_empty() { NOTHING.to_owned() } else { value };
        let values: Vec<String> = values.into_iter().map(shown).collect();
        let differ = values.windows(2).any(|two| two[0] != two[1]);
        differ.then(|| Self { what: what.to_owned(), values })
    }

    /// Of lists only what is not in all of them is kept, unless they differ in their order alone.
    pub(crate) fn of_lists(what: &str, lists: &[Vec<String>]) -> Option<Self> {
        let whole = || lists.iter().map(|list| list.join("; "));
        let differ = Self::of(what, whole())?;
        let in_all = |item: &String| lists.iter().all(|list| list.contains(item));
        let own = |list: &Vec<String>| {
            let own: Vec<_> = list.iter().filter(|item| !in_all(item)).cloned().collect();
            own.join("; ")
        };
        Some(Self::of(what, lists.iter().map(own)).unwrap_or(differ))
    }
}

/// `kernel: 6.18.5 against 6.12.1`.
impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.values.join(" against "))
    }
}
