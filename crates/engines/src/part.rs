//! The part of a store that has the values: a database of LMDB, a keyspace of fjall, a column family of
//! `RocksDB`. Its own parts storemark calls by the kind of their keys; those that another program made are
//! named by a setting, and their keys are bytes of any kind.

use std::path::Path;

use model::{
    Accepts, Entry, EntryKind, Error, Facet, FoundValues, KeyKind, Result, Setting, Settings,
    Shown, TableFacts, no_such, settings_text, shell_quoted,
    units::{show_count, show_size},
};

use crate::ordered;

/// The part of storemark's own stores with the modes and times of values that have names, where the library
/// keeps them apart.
pub(crate) const METAS: &str = "meta";

/// The part of a store that has its values.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) keys: KeyKind,
    /// Whether another program made it, or storemark made it as another program would.
    pub(crate) is_users: bool,
}

/// Returns the setting `word` that names a part.
pub(crate) const fn setting(word: &'static str, help: &'static str) -> Setting {
    Setting::new(word, Accepts::Text, help).only_for(&[Facet::Blobs])
}

impl Part {
    /// Returns the part of a new store for keys of this kind.
    ///
    /// # Errors
    ///
    /// Fails if a part is named and the keys are integers, whose form is storemark's own.
    pub(crate) fn new(word: &str, settings: &Settings, keys: KeyKind) -> Result<Self> {
        match settings.get(word) {
            None => Ok(Self { name: keys.as_str().to_owned(), keys, is_users: false }),
            Some(name) if keys == KeyKind::Names => {
                Ok(Self { name: name.to_owned(), keys, is_users: true })
            }
            Some(name) => Err(Error::usage(format!(
                "{word}={name}: has keys that are names; leave it out for keys that are integers"
            ))),
        }
    }

    /// Returns the part of the store at `path`, among its parts `all`, that is named, or else storemark's own,
    /// or else the only one.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or several may be meant.
    pub(crate) fn choose(
        word: &str,
        settings: &Settings,
        path: &Path,
        all: &[String],
    ) -> Result<Self> {
        let has = |name: &str| all.iter().any(|own| own == name);
        let users =
            |name: &str| Self { name: name.to_owned(), keys: KeyKind::Names, is_users: true };
        if let Some(name) = settings.get(word) {
            let names = all.iter().map(String::as_str);
            let missing = || Error::usage(no_such(word, name, names)).at(path.display());
            return if has(name) { Ok(users(name)) } else { Err(missing()) };
        }
        match (ordered::kind(path, has), all) {
            (Ok(keys), _) => Self::new(word, settings, keys),
            (Err(_), [only]) => Ok(users(only)),
            (Err(error), []) => Err(error),
            (Err(_), several) => {
                let named = several.join(", ");
                let why = format!("name one of its parts with {word}=: {named}");
                Err(Error::usage(why).at(path.display()))
            }
        }
    }

    /// Returns whether a value is followed by its mode and time.
    pub(crate) fn has_metas(&self) -> bool {
        !self.is_users && self.keys == KeyKind::Names
    }

    /// Returns whether the files of a user's part have others as well, among all parts of the store, and the
    /// bytes that it takes if the library counts them; `None` if the part is storemark's own.
    pub(crate) fn facts(&self, all: &[Size]) -> Option<TableFacts> {
        let (own, others): (Vec<_>, Vec<_>) = all.iter().partition(|size| size.name == self.name);
        let shares_files = others.iter().any(|size| size.values != Some(0));
        let counted = own.first().filter(|size| shares_files && size.how.is_empty());
        let own_bytes = counted.and_then(|size| size.bytes);
        self.is_users.then(|| TableFacts { shares_files, own_bytes, ..TableFacts::default() })
    }

    /// Returns the other parts that have values, among all parts of the store, as what a copy leaves out;
    /// `word` names a part.
    pub(crate) fn left_out(&self, word: &str, all: &[Size]) -> Vec<Entry> {
        let is_own = |name: &str| name == self.name || self.has_metas() && name == METAS;
        let others = all.iter().filter(|size| !is_own(&size.name) && size.values != Some(0));
        let entry = |size: &Size| Entry {
            name: format!("{word} {}", size.name).into_bytes(),
            kind: EntryKind::Further,
            content: Vec::new(),
        };
        others.map(entry).collect()
    }

    /// Adds the setting that names a user's part to those in effect.
    pub(crate) fn report(&self, word: &str, in_effect: &mut Settings) {
        if self.is_users {
            in_effect.set(word, &self.name);
        }
    }
}

/// How much a part of a store holds, as far as its library knows without reading it.
pub(crate) struct Size {
    pub(crate) name: String,
    /// `None` if the library does not count them.
    pub(crate) values: Option<u64>,
    /// The word before a number that is estimated: `about `.
    pub(crate) how: &'static str,
    /// The bytes of the pages that its values take, or an estimate; `None` if the library does not count them.
    pub(crate) bytes: Option<u64>,
}

impl Size {
    /// Shows it as `2,000 values, about 7.5 kB on average`.
    fn show(&self) -> String {
        let Some(count) = self.values else { return "an unknown number of values".to_owned() };
        let values = if count == 1 { "value" } else { "values" };
        let values = format!("{}{} {values}", self.how, show_count(count));
        match self.bytes.and_then(|bytes| bytes.checked_div(count)) {
            Some(mean) => format!("{values}, about {} on average", show_size(mean)),
            None => values,
        }
    }
}

/// Finds the part that has the values of a store at `path` that another program made, if its name is not
/// asked for. Returns `None` if it is, or if the part is storemark's own.
///
/// # Errors
///
/// Fails if no part has values, or several have.
pub(crate) fn find(
    word: &str,
    asked: &Settings,
    path: &Path,
    sizes: impl FnOnce() -> Result<Vec<Size>>,
) -> Result<Option<FoundValues>> {
    if asked.get(word).is_some() {
        return Ok(None);
    }
    // What is wrong with a store is said when it is opened.
    let Ok(mut found) = sizes() else { return Ok(None) };
    let is_own = |size: &Size| KeyKind::ALL.iter().any(|keys| keys.as_str() == size.name);
    if found.iter().any(is_own) {
        return Ok(None);
    }
    found.retain(|size| size.values != Some(0));
    let at = path.display();
    let one = |size: &Size| {
        let target = format!("{at}?{}", settings_text([(word, size.name.as_str())]));
        format!("{} ({})", shell_quoted(&target), size.show())
    };
    match &found[..] {
        [] => Err(Error::usage(format!("no {word} of it has values")).at(&at)),
        [only] => {
            let mut settings = Settings::default();
            settings.set(word, &only.name);
            let name = Shown(only.name.as_bytes());
            let about = Some(format!("the values of {word}={name} ({})", only.show()));
            Ok(Some(FoundValues { settings, about, only_moved: None }))
        }
        several => {
            let named = several.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ");
            let more = if several.len() > NAMED { ", …" } else { "" };
            let count = several.len();
            Err(Error::usage(format!(
                "{count} of its parts can have the values; name one: {named}{more}"
            ))
            .at(&at))
        }
    }
}

/// The largest number of parts that a message names.
const NAMED: usize = 8;
