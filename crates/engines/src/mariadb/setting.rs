//! Variables of a server, asked for by `set.NAME=`.

use model::{Accepts, Error, ErrorKind, Result, Setting, Settings};

use super::{durability, kind::Kind};
use crate::server::check_inside;

/// The setting that names the storage engine.
pub(crate) const ENGINE: Setting = Setting::new(
    "engine",
    Accepts::Words(Kind::WORDS),
    "the storage engine of the table; fixed once it is made",
);

/// The setting for what InnoDB flushes, of a server that is started.
pub(crate) const SYNC: Setting = Setting::new(
    "sync",
    Accepts::Words(durability::SYNC),
    "InnoDB's log: never flushed, once a second, or at each commit",
);

/// The setting that sizes the cache of the storage engine.
pub(crate) const CACHE: Setting = Setting::new(
    "cache",
    Accepts::Size { min: 5 << 20, max: 1 << 46 },
    "innodb_buffer_pool_size, key_buffer_size or aria_pagecache_buffer_size, in bytes",
);

/// The setting that stands for any variable, of a server that is started.
pub(crate) const ANY: Setting = Setting::new(
    "set.*",
    Accepts::Text,
    "a variable of the server that names no place or code, set when it starts",
);
const PREFIX: &str = "set.";

/// Names with the values asked for; a name that could be more than a name is refused.
pub(crate) fn variables(settings: &Settings) -> Result<Vec<(&str, &str)>> {
    let named = settings
        .0
        .iter()
        .filter_map(|(name, value)| Some((name.strip_prefix(PREFIX)?, value.as_str())));
    named
        .map(|(name, value)| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.chars().all(plain) {
                Ok((name, value))
            } else {
                Err(Error::usage(format!(
                    "set.{name}: no name of a variable (letters, digits and _, as in \
                     set.innodb_io_capacity)"
                )))
            }
        })
        .collect()
}

/// Those for a server that is started: they keep it in its folder.
pub(crate) fn own_variables(settings: &Settings) -> Result<Vec<(&str, &str)>> {
    let all = variables(settings)?;
    all.iter().try_for_each(|(name, value)| check_inside(name, value))?;
    Ok(all)
}

/// A server that did not start since it does not know a variable, or refuses its value, was asked
/// for the wrong thing.
pub(crate) fn explain(error: Error, settings: &Settings, version: &str) -> Error {
    let said = error.to_string();
    let unknown = |name: &str| {
        ["unknown variable", "unknown option", "ambiguous option"].iter().any(|what| {
            said.contains(&format!("{what} '{name}")) || said.contains(&format!("{what} '--{name}"))
        })
    };
    let asked = settings.0.iter().find(|(name, _)| name.strip_prefix(PREFIX).is_some_and(unknown));
    match asked {
        Some((name, value)) => {
            Error::usage(format!("{name}={value}: MariaDB {version} has no such variable"))
        }
        None if names_one(&said, settings) => error.with_kind(ErrorKind::Usage),
        None => error,
    }
}

/// Whether the server complains of a variable that was asked for.
fn names_one(said: &str, settings: &Settings) -> bool {
    let said = said.replace('-', "_");
    let apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let named = |name: &str| said.split(apart).any(|word| word.eq_ignore_ascii_case(name));
    variables(settings).is_ok_and(|asked| asked.iter().any(|(name, _)| named(name)))
}

/// What is in effect of a variable: as asked for where the server says the same in other words.
pub(crate) fn in_effect(name: &str, asked: &str, found: Option<String>) -> Result<String> {
    match found {
        Some(found) if same(asked, &found) => Ok(asked.to_owned()),
        Some(found) => Err(Error::usage(format!(
            "set.{name}={asked} did not take effect: the server has {found:?}"
        ))),
        None => Err(Error::usage(format!("set.{name}: the server has no such variable"))),
    }
}

fn same(asked: &str, found: &str) -> bool {
    asked.eq_ignore_ascii_case(found)
        || truth(asked).is_some_and(|asked| truth(found) == Some(asked))
        || number(asked).is_some_and(|asked| number(found) == Some(asked))
}

fn truth(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" | "yes" => Some(true),
        "off" | "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// A number with the server's suffixes, which are powers of 1024.
fn number(word: &str) -> Option<f64> {
    let factors = [('k', 1024.0), ('m', 1_048_576.0), ('g', 1_073_741_824.0)];
    let lower = word.to_ascii_lowercase();
    let suffix = factors.iter().find(|(letter, _)| lower.ends_with(*letter));
    let (digits, factor) = suffix.map_or((lower.as_str(), 1.0), |(letter, factor)| {
        (lower.strip_suffix(*letter).unwrap_or_default(), *factor)
    });
    digits.parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_in_other_words_is_the_same() {
        for (asked, found) in [
            ("1G", "1073741824"),
            ("on", "1"),
            ("OFF", "0"),
            ("o_direct", "O_DIRECT"),
            ("0.50", "0.500000"),
        ] {
            assert_eq!(in_effect("x", asked, Some(found.to_owned())).unwrap(), asked);
        }
        for (asked, found) in
            [("1G", "1G1"), ("200", "100"), ("on", "OFF"), ("", "x"), ("k", "1024")]
        {
            assert!(in_effect("x", asked, Some(found.to_owned())).is_err(), "{asked}");
        }
        assert!(in_effect("x", "1", None).unwrap_err().to_string().contains("no such variable"));
    }

    #[test]
    fn only_what_the_server_says_of_a_variable_is_wrong_input() {
        let mut settings = Settings::default();
        settings.set("set.innodb_buffer_pool_size", "9T");
        for (said, kind) in [
            ("unknown variable 'innodb_buffer_pool_size=9T'", ErrorKind::Usage),
            ("Error while setting value '9T' to 'innodb-buffer-pool-size'", ErrorKind::Usage),
            ("Cannot map innodb_buffer_pool_size_max=8583072m", ErrorKind::Failed),
            ("mariadbd: Out of memory", ErrorKind::Failed),
            ("did not start (exit status: 1)", ErrorKind::Failed),
        ] {
            let error = explain(Error::failed(said), &settings, "10.11");
            assert_eq!(error.kind(), kind, "{error}");
        }
    }

    #[test]
    fn a_name_is_a_name() {
        let asked = |name: &str| {
            let mut settings = Settings::default();
            settings.set(name, "1");
            variables(&settings).map(|found| found.len())
        };
        assert_eq!(asked("set.innodb_io_capacity").unwrap(), 1);
        assert_eq!(asked("engine").unwrap(), 0);
        for name in ["set.a=b", "set.a b", "set.--x", "set.a`"] {
            assert!(asked(name).is_err(), "{name}");
        }
    }
}
