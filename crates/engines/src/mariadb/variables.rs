//! Variables of a server: whether one has the value that was asked for, and what an error about
//! one means.

use model::{Error, ErrorKind, Settings};

use crate::server::variables;

/// A server that did not start because it does not know a variable, or refuses its value, was
/// asked for the wrong thing.
pub(super) fn explain_start(error: Error, settings: &Settings, version: &str) -> Error {
    let said = error.to_string();
    let unknown = |name: &str| {
        ["unknown variable", "unknown option", "ambiguous option"].iter().any(|what| {
            said.contains(&format!("{what} '{name}")) || said.contains(&format!("{what} '--{name}"))
        })
    };
    if let Some((name, value)) = variables(settings).find(|(name, _)| unknown(name)) {
        let what = format!("set.{name}={value}: MariaDB {version} has no such variable");
        return Error::usage(what);
    }
    let said = said.replace('-', "_");
    let apart = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let named = |name: &str| said.split(apart).any(|word| word.eq_ignore_ascii_case(name));
    let about_one = variables(settings).any(|(name, _)| named(name));
    if about_one { error.with_kind(ErrorKind::Usage) } else { error }
}

/// Whether the server writes the value that was `asked` for in other words.
pub(super) fn same(asked: &str, found: &str) -> bool {
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
            assert!(same(asked, found), "{asked}");
        }
        for (asked, found) in
            [("1G", "1G1"), ("200", "100"), ("on", "OFF"), ("", "x"), ("k", "1024")]
        {
            assert!(!same(asked, found), "{asked}");
        }
    }

    #[test]
    fn only_an_error_about_a_variable_is_wrong_input() {
        let mut settings = Settings::default();
        settings.set("set.innodb_buffer_pool_size", "9T");
        for (said, kind) in [
            ("unknown variable 'innodb_buffer_pool_size=9T'", ErrorKind::Usage),
            ("Error while setting value '9T' to 'innodb-buffer-pool-size'", ErrorKind::Usage),
            ("Cannot map innodb_buffer_pool_size_max=8583072m", ErrorKind::Failed),
            ("mariadbd: Out of memory", ErrorKind::Failed),
            ("did not start (exit status: 1)", ErrorKind::Failed),
        ] {
            let error = explain_start(Error::failed(said), &settings, "10.11");
            assert_eq!(error.kind(), kind, "{error}");
        }
    }
}
