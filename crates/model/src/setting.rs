//! Settings of an engine: what they accept, checking what was asked for, and the nearest match of a
//! mistake.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, no_such, target::settings_text, units};

/// The kind of data that an engine stores: an engine has a facet for each experiment that it can
/// take part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facet {
    /// Values under keys.
    Blobs,
    /// Rows of two integers.
    Rows,
    /// Tasks of a queue.
    Tasks,
}

/// The values that a setting accepts.
#[derive(Clone, Copy, Debug)]
pub enum Accepts {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A size in bytes (`4096`, `10k`, `10KiB`), from the first to the second.
    Size(u64, u64),
    /// A whole number, from the first to the second.
    Integer(i64, i64),
    /// A size in bytes from the second to the third number that is a multiple of the first: the
    /// engine would round others.
    Multiple(u64, u64, u64),
    /// A duration (`500ms`, `30s`, `10m`), from the first to the second in seconds.
    Duration(u64, u64),
    /// Any text.
    Text,
    /// A power of two in bytes, from the first to the second.
    PowerOfTwo(u64, u64),
}

/// Shows what is accepted, for messages: `sql, blob`.
impl fmt::Display for Accepts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(words) => f.write_str(&words.join(", ")),
            Self::Text => f.write_str("any text"),
            Self::Size(min, max) => write!(f, "{min} to {max} bytes"),
            Self::Multiple(of, min, max) => write!(f, "a multiple of {of} from {min} to {max}"),
            Self::PowerOfTwo(min, max) => write!(f, "a power of two from {min} to {max}"),
            Self::Integer(min, max) => write!(f, "{min} to {max}"),
            Self::Duration(min, max) => write!(f, "{min}s to {max}s"),
        }
    }
}

/// A setting of an engine, as the engine declares it.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The key in a target string. A name that ends in `*` matches all keys that start with the
    /// part before it.
    pub name: &'static str,
    /// The values that the setting accepts.
    pub accepts: Accepts,
    /// A description in one line.
    pub help: &'static str,
    /// The facets that have the setting.
    pub facets: &'static [Facet],
    /// Whether the setting changes the files of a store, not only how they are used.
    pub stored: bool,
    /// Whether the value decides if a store can be opened at all.
    pub opens: bool,
}

impl Setting {
    /// Declares a setting that all facets have.
    pub const fn new(name: &'static str, accepts: Accepts, help: &'static str) -> Self {
        let facets = &[Facet::Blobs, Facet::Rows, Facet::Tasks];
        Self { name, accepts, help, facets, stored: true, opens: false }
    }

    /// Declares that a store can be opened with any value of the setting, whatever it was created
    /// with.
    #[must_use]
    pub const fn of_use(self) -> Self {
        Self { stored: false, ..self }
    }

    /// Declares that the value decides whether a store can be opened at all.
    #[must_use]
    pub const fn to_open(self) -> Self {
        Self { opens: true, ..self }
    }

    /// Restricts the setting to these facets.
    #[must_use]
    pub const fn only_for(self, facets: &'static [Facet]) -> Self {
        Self { facets, ..self }
    }

    /// Returns whether `name` is a key of this setting.
    fn is_named(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(start) => name.strip_prefix(start).is_some_and(|rest| !rest.is_empty()),
            None => name == self.name,
        }
    }

    /// Returns `text` in canonical form (sizes in bytes).
    ///
    /// # Errors
    ///
    /// Fails if the setting does not accept it; the sentence says what is accepted.
    fn canonical(&self, text: &str) -> Result<String> {
        let wrong = |why: String| Error::usage(format!("{}={text}: {why}", self.name));
        let (value, is_within) = match self.accepts {
            Accepts::Text => return Ok(text.to_owned()),
            Accepts::Words(words) => {
                // A plugin may declare words in capitals.
                let known = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                let lower = text.to_ascii_lowercase();
                let unknown = || wrong(no_such("value", &lower, words.iter().copied()));
                return known.map(|word| (*word).to_owned()).ok_or_else(unknown);
            }
            Accepts::Size(min, max) | Accepts::PowerOfTwo(min, max) => {
                let value = units::parse_size(text).map_err(|e| wrong(e.to_string()))?;
                let fits = matches!(self.accepts, Accepts::Size(..)) || value.is_power_of_two();
                (value.to_string(), fits && (min..=max).contains(&value))
            }
            Accepts::Multiple(of, min, max) => {
                let value = units::parse_size(text).map_err(|e| wrong(e.to_string()))?;
                let near = nearest_multiple(value, of).clamp(min, max);
                if near != value {
                    return Err(wrong(format!(
                        "accepted: {}; the nearest is {near}",
                        self.accepts
                    )));
                }
                (value.to_string(), true)
            }
            Accepts::Duration(min, max) => {
                let value = units::parse_duration(text).map_err(|e| wrong(e.to_string()))?;
                let (seconds, ms) = (value.as_secs_f64(), value.as_millis());
                let whole = ms.is_multiple_of(1000);
                let shown = if whole { format!("{}s", ms / 1000) } else { format!("{ms}ms") };
                (shown, (min as f64..=max as f64).contains(&seconds))
            }
            Accepts::Integer(min, max) => {
                let value = units::parse_integer(text).map_err(|e| wrong(e.to_string()))?;
                (value.to_string(), (min..=max).contains(&value))
            }
        };
        if is_within { Ok(value) } else { Err(wrong(format!("accepted: {}", self.accepts))) }
    }
}

fn nearest_multiple(value: u64, of: u64) -> u64 {
    value.saturating_add(of / 2) / of * of
}

/// A set of settings by name, with values in canonical form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, String>);

impl Settings {
    /// Returns the settings that are part of a store's files, according to an engine's `table`.
    #[must_use]
    pub fn stored<'t>(&self, table: impl IntoIterator<Item = &'t Setting>) -> Self {
        self.only(table.into_iter().filter(|setting| setting.stored))
    }

    /// Returns the settings without which a store may not open, according to an engine's `table`.
    #[must_use]
    pub fn to_open<'t>(&self, table: impl IntoIterator<Item = &'t Setting>) -> Self {
        self.only(table.into_iter().filter(|setting| setting.opens))
    }

    fn only<'t>(&self, table: impl Iterator<Item = &'t Setting>) -> Self {
        let table: Vec<_> = table.collect();
        let is_named = |name: &str| table.iter().any(|setting| setting.is_named(name));
        let own = self.0.iter().filter(|(name, _)| is_named(name));
        Self(own.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Checks `asked` against an engine's `table`, and returns the settings in canonical form;
    /// later pairs win over earlier ones.
    ///
    /// # Errors
    ///
    /// Fails if a name is not in the table, or a value is not accepted.
    pub fn check<'t, 'a>(
        table: impl IntoIterator<Item = &'t Setting>,
        asked: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self> {
        let table: Vec<_> = table.into_iter().collect();
        let mut settings = Self::default();
        for (name, text) in asked {
            let Some(setting) = table.iter().find(|setting| setting.is_named(name)) else {
                let names = table.iter().map(|setting| setting.name);
                return Err(Error::usage(no_such("setting", name, names)));
            };
            settings.0.insert(name.to_owned(), setting.canonical(text)?);
        }
        Ok(settings)
    }

    /// Returns the value of `name`, or `None` if it is not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns whether `name` is set to `word`.
    pub fn is(&self, name: &str, word: &str) -> bool {
        self.get(name) == Some(word)
    }

    /// Returns the value of `name` as a number or a word of an enum, or `None` if it is not set.
    /// Checked settings always parse.
    pub fn parse<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).and_then(|text| text.parse().ok())
    }

    /// Sets `name` to `value`.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass numbers and words")]
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.0.insert(name.to_owned(), value.to_string());
    }

    /// Returns these settings with those of `other` added, which win.
    #[must_use]
    pub fn overlaid(mut self, other: &Self) -> Self {
        self.0.extend(other.0.clone());
        self
    }

    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Shows the settings as a target has them, `name=value&…`, sorted by name.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&settings_text(
            self.0.iter().map(|(name, value)| (name.as_str(), value.as_str())),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Setting] = &[
        Setting::new("page_size", Accepts::PowerOfTwo(512, 65536), ""),
        Setting::new("api", Accepts::Words(&["sql", "blob"]), ""),
        Setting::new("mode", Accepts::Words(&["MVCC", "Lock"]), ""),
        Setting::new("mmap", Accepts::Size(0, 1 << 40), ""),
        Setting::new("cache", Accepts::Multiple(1024, 0, 1 << 40), ""),
        Setting::new("timeout", Accepts::Duration(1, 100), ""),
        Setting::new("set.*", Accepts::Text, ""),
    ];

    #[test]
    fn values_take_their_canonical_form() {
        let settings =
            Settings::check(TABLE, [("mmap", "1GiB"), ("api", "BLOB"), ("page_size", "4KiB")]);
        assert_eq!(settings.unwrap().to_string(), "api=blob&mmap=1073741824&page_size=4096");
        let words = Settings::check(TABLE, [("mode", "mvcc")]).unwrap();
        assert_eq!(words.to_string(), "mode=MVCC", "a word as it was declared");
    }

    #[test]
    fn a_duration_is_kept_in_seconds() {
        let check =
            |text| Settings::check(TABLE, [("timeout", text)]).map(|found| found.to_string());
        for (text, canonical) in
            [("1m", "60s"), ("5", "5s"), ("1500ms", "1500ms"), ("1.5s", "1500ms")]
        {
            assert_eq!(check(text).unwrap(), format!("timeout={canonical}"));
        }
        assert!(check("0s").unwrap_err().to_string().contains("accepted: 1s to 100s"));
        assert!(check("2h").unwrap_err().to_string().contains("accepted: 1s to 100s"));
        assert!(check("soon").unwrap_err().to_string().contains("500ms, 30s, 10m"));
    }

    #[test]
    fn a_star_matches_any_ending() {
        let settings = Settings::check(TABLE, [("set.sql_mode", "ANSI"), ("set.x", "")]).unwrap();
        assert_eq!(settings.to_string(), "set.sql_mode=ANSI&set.x=");
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_match() {
        let say = |pair| Settings::check(TABLE, [pair]).unwrap_err().to_string();
        assert!(say(("pagesize", "4096")).contains("did you mean page_size?"));
        assert!(say(("api", "blbo")).contains("did you mean blob?"));
        assert!(say(("page_size", "1000")).contains("a power of two from 512 to 65536"));
        assert!(say(("mmap", "lots")).contains("mmap=lots"));
        let says = say(("cache", "2MB"));
        assert!(
            says.ends_with("a multiple of 1024 from 0 to 1099511627776; the nearest is 1999872"),
            "{says}"
        );
        assert!(say(("cache", "10")).ends_with("the nearest is 0"));
        assert!(say(("set.", "on")).contains("no setting"));
    }
}
