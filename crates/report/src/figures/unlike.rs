//! What several records do not have in common, in words.

use std::fmt;

use itertools::Itertools;
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::NONE;

/// Something that is not the same in all of several records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Differs")]
pub struct Unlike {
    /// What it is: `kernel`, `workloads`.
    pub what: String,
    /// How it is in each record, in their order.
    pub values: Vec<String>,
}

impl Unlike {
    /// `None`: all values are equal. Empty: it is not known, or lacks nothing that others have.
    pub(crate) fn of(what: &str, values: impl IntoIterator<Item = String>) -> Option<Self> {
        let shown = |value: String| if value.is_empty() { NONE.to_owned() } else { value };
        let values: Vec<String> = values.into_iter().map(shown).collect();
        let differ = values.windows(2).any(|two| two[0] != two[1]);
        differ.then(|| Self { what: what.to_owned(), values })
    }

    /// The same of what `value` says of each.
    pub(crate) fn of_each<T>(what: &str, all: &[&T], value: impl Fn(&T) -> String) -> Option<Self> {
        Self::of(what, all.iter().map(|one| value(one)))
    }

    /// Of lists only what is not in all of them is kept, unless they differ in their order alone.
    pub(crate) fn of_lists(what: &str, lists: &[Vec<String>]) -> Option<Self> {
        let whole = || lists.iter().map(|list| list.join("; "));
        let differ = Self::of(what, whole())?;
        let in_all = |item: &String| lists.iter().all(|list| list.contains(item));
        let own = |list: &Vec<String>| list.iter().filter(|item| !in_all(item)).join("; ");
        Some(Self::of(what, lists.iter().map(own)).unwrap_or(differ))
    }
}

/// `kernel: 6.18.5 against 6.12.1`.
impl fmt::Display for Unlike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.values.join(" against "))
    }
}
