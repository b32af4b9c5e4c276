//! Target strings: `engine:location?name=value&…`.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    fmt,
};

use crate::{Error, Result, secret::is_in_login};

/// A target as it was typed: an engine with a location and settings. Nothing is looked up here: the
/// caller finds out whether the engine exists and what a bare path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedTarget {
    /// The word before the colon; `None` for a bare path.
    pub engine: Option<String>,
    /// A path, of any bytes that the system allows, or what the engine uses instead of one; it may
    /// be empty (`memory:`).
    pub location: OsString,
    /// The settings in the order written.
    pub settings: Vec<(String, String)>,
}

impl TypedTarget {
    /// Splits a target string.
    ///
    /// | form | read as |
    /// | --- | --- |
    /// | `sqlite:a.db?api=blob&mmap=1GiB` | engine, location, two settings |
    /// | `memory:` | engine without a location |
    /// | `some/dir` or `C:\dir` | a bare path (one letter before a colon is a drive) |
    /// | `some/dir?layout=tree` | a bare path with a setting |
    ///
    /// What follows the last `?` is settings if it holds a `=`, otherwise part of the path. In a value
    /// of a setting, `%26`, `%3F`, `%0A` and `%25` are `&`, `?`, a new line and `%`; any other `%` is
    /// itself, and so is each one outside of settings.
    pub fn parse(text: impl AsRef<OsStr>) -> Self {
        let text = text.as_ref().as_encoded_bytes();
        let (head, settings) = match split_settings(text) {
            Some((head, tail)) => (head, settings(&String::from_utf8_lossy(tail))),
            None => (text, Vec::new()),
        };
        let colon = head.iter().position(|byte| *byte == b':');
        let word = colon.and_then(|at| str::from_utf8(&head[..at]).ok());
        let engine = word.filter(|word| is_engine_word(word)).map(str::to_owned);
        let location = engine.as_ref().map_or(head, |word| &head[word.len() + 1..]);
        Self { engine, location: os_string(location), settings }
    }

    /// Checks that no setting is given twice, because it would be a guess which one counts, and
    /// that settings are not in two parts, of which the first would be read as a part of the path.
    ///
    /// # Errors
    ///
    /// Fails if so.
    pub fn check(&self) -> Result<()> {
        let location = self.location.as_encoded_bytes();
        // An address may have any character before its host.
        let host = location.iter().rposition(|byte| *byte == b'@');
        let start = host.filter(|_| location.starts_with(b"//")).unwrap_or(0);
        if !self.settings.is_empty() && split_settings(&location[start..]).is_some() {
            return Err(Error::usage(
                "has two \"?\"; \"&\" separates settings (NAME=VALUE&NAME=VALUE)",
            ));
        }
        let names = || self.settings.iter().map(|(name, _)| name);
        let twice = names().enumerate().find(|(i, name)| names().take(*i).any(|n| n == *name));
        match twice {
            Some((_, name)) => Err(Error::usage(format!("{name} is set twice"))),
            None => Ok(()),
        }
    }
}

/// Returns the name of a scratch store in tables, with its settings in the order written: `sqlite
/// sync=normal`.
pub fn scratch_label(engine: &str, settings: &[(String, String)]) -> String {
    let settings = settings.iter();
    settings.fold(engine.to_owned(), |label, (name, value)| format!("{label} {name}={value}"))
}

/// Returns what is before and after the last `?` of `text`, if settings follow it.
fn split_settings(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().rposition(|byte| *byte == b'?')?;
    let (head, tail) = (&text[..at], &text[at + 1..]);
    // Long paths of Windows start with `\\?\`.
    let is_long_path = head.ends_with(br"\\") && tail.starts_with(br"\");
    (!is_long_path && tail.contains(&b'=') && !is_in_login(head, tail)).then_some((head, tail))
}

/// Converts bytes of a path that is cut at a character of ASCII.
fn os_string(bytes: &[u8]) -> OsString {
    #[cfg(unix)]
    return <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).to_owned();
    #[cfg(not(unix))]
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn settings(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), unescaped(value)))
        .collect()
}

/// The characters that would end the value of a setting or its line, and `%` itself, with what is written
/// for each.
const ESCAPED: [(char, &str); 4] = [('&', "26"), ('?', "3F"), ('\n', "0A"), ('%', "25")];

/// Returns the character that `digits` behind a `%` mean.
fn escaped_char(digits: &str) -> Option<char> {
    let digits = digits.get(..2)?;
    let found = ESCAPED.iter().find(|(_, code)| code.eq_ignore_ascii_case(digits));
    found.map(|(character, _)| *character)
}

/// Returns the value that a target has as `text`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut value, part| {
        let character = escaped_char(part);
        value.push(character.unwrap_or('%'));
        value.push_str(if character.is_some() { &part[2..] } else { part });
        value
    })
}

/// Returns a setting's value as a target has it, so that it is read back as it is.
pub(crate) fn escaped(value: &str) -> Cow<'_, str> {
    if !value.contains(ESCAPED.map(|(character, _)| character)) {
        return value.into();
    }
    let mut text = String::with_capacity(value.len() + 2);
    for (at, character) in value.char_indices() {
        let code = ESCAPED.iter().find(|(other, _)| *other == character).map(|(_, code)| code);
        match code {
            Some(_) if character == '%' && escaped_char(&value[at + 1..]).is_none() => {
                text.push('%');
            }
            Some(code) => {
                text.push('%');
                text.push_str(code);
            }
            None => text.push(character),
        }
    }
    text.into()
}

/// Returns the settings as a target has them behind its `?`.
pub fn settings_text<'s>(settings: impl IntoIterator<Item = (&'s str, &'s str)>) -> String {
    let one = |(name, value)| format!("{name}={}", escaped(value));
    settings.into_iter().map(one).collect::<Vec<_>>().join("&")
}

/// Quotes a text for a shell of this system if the shell would interpret any of it.
pub fn shell_quoted(text: &str) -> String {
    if cfg!(windows) { quoted_for_windows(text) } else { quoted_for_unix(text) }
}

fn quoted_for_unix(text: &str) -> String {
    if is_plain(text, "/._-:=,+@%") {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Quotes a text in the only way that both `cmd` and PowerShell take.
fn quoted_for_windows(text: &str) -> String {
    if is_plain(text, r"\/._-:=+%") {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('"', "\\\""))
}

fn is_plain(text: &str, signs: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

fn is_engine_word(word: &str) -> bool {
    word.len() >= 2
        && word.bytes().all(|b| b.is_ascii_alphanumeric())
        && word.as_bytes()[0].is_ascii_alphabetic()
}

impl fmt::Display for TypedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(engine) = &self.engine {
            write!(f, "{engine}:")?;
        }
        write!(f, "{}", self.location.display())?;
        if self.settings.is_empty() {
            return Ok(());
        }
        let pairs = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        write!(f, "?{}", settings_text(pairs))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn splits_engine_location_and_settings() {
        let target = TypedTarget::parse("sqlite:thumbs.db?api=blob&mmap=1GiB");
        assert_eq!(target.engine.as_deref(), Some("sqlite"));
        assert_eq!(target.location, "thumbs.db");
        assert_eq!(target.settings[1], ("mmap".to_owned(), "1GiB".to_owned()));
    }

    #[test]
    fn a_drive_letter_is_no_engine_and_a_question_mark_may_be_part_of_a_path() {
        assert_eq!(TypedTarget::parse(r"C:\data").engine, None);
        assert_eq!(TypedTarget::parse("what?").location, "what?");
        assert_eq!(TypedTarget::parse("./a:b").engine, None);
        assert_eq!(TypedTarget::parse("memory:").location, "");
        let drive = TypedTarget::parse(r"sqlite:C:\x.db?api=blob");
        assert_eq!(
            (drive.engine.as_deref(), &drive.location),
            (Some("sqlite"), &r"C:\x.db".into())
        );
        let long = TypedTarget::parse(r"\\?\C:\a=b.db?api=blob");
        assert_eq!((long.engine, &long.location), (None, &r"\\?\C:\a=b.db".into()));
        assert_eq!(TypedTarget::parse(r"files:\\?\C:\a=b").location, r"\\?\C:\a=b");
    }

    #[test]
    fn a_percent_sign_is_itself_unless_it_stands_for_a_character_that_ends_a_value() {
        let target =
            TypedTarget::parse("50%26.db?where=n LIKE '%de%'&table=a%26b%3fc%0a%2526&x=%2");
        assert_eq!(target.location, "50%26.db");
        let values: Vec<_> = target.settings.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["n LIKE '%de%'", "a&b?c\n%26", "%2"]);
    }

    #[test]
    fn a_shell_takes_what_is_quoted_as_one_word() {
        assert_eq!(quoted_for_unix("sqlite:a.db"), "sqlite:a.db");
        assert_eq!(quoted_for_unix("it's?a=1&b=2"), r"'it'\''s?a=1&b=2'");
        assert_eq!(quoted_for_windows(r"sqlite:C:\data\a.db"), r"sqlite:C:\data\a.db");
        assert_eq!(quoted_for_windows(r"C:\it's?a=1&b=2"), r#""C:\it's?a=1&b=2""#);
        assert_eq!(quoted_for_windows("a,b"), r#""a,b""#, "a list for PowerShell");
        assert_eq!([quoted_for_unix(""), quoted_for_windows("")], ["''", r#""""#]);
    }

    #[test]
    fn a_setting_counts_once() {
        let check = |text| TypedTarget::parse(text).check();
        check("sqlite:?journal=wal&sync=off").unwrap();
        let error = check("sqlite:?journal=wal&sync=off&journal=off").unwrap_err();
        assert_eq!(error.to_string(), "journal is set twice");
    }

    #[test]
    fn settings_are_in_one_part() {
        let refused = |text| TypedTarget::parse(text).check().is_err();
        assert!(refused("sqlite:q.db?a=1?b=2") && refused("q.db?a=1?b=2"));
        assert!(refused("mysql://u@h/db?a=1?b=2"));
        for good in ["sqlite:what?.db?a=1", "q.db?a=1", "mysql://u:p?a=b@h/db?x=1", "a?b=1/c"] {
            assert!(!refused(good), "{good}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_path_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;

        let target = TypedTarget::parse(OsStr::from_bytes(b"sqlite:gr\xfc\xdfe.db?api=blob"));
        assert_eq!(target.engine.as_deref(), Some("sqlite"));
        assert_eq!(target.location.as_bytes(), b"gr\xfc\xdfe.db");
        assert_eq!(target.settings[0].0, "api");
        assert_eq!(TypedTarget::parse(OsStr::from_bytes(b"\xfc:a")).engine, None);
    }

    proptest! {
        #[test]
        fn printing_and_parsing_agree(text in "[a-z:/?=&.%0-6F]{0,40}") {
            let once = TypedTarget::parse(&text);
            prop_assert_eq!(TypedTarget::parse(once.to_string()), once);
        }

        #[test]
        fn any_value_is_read_back(value in "([%&?\n=,'0-6AF]|\\PC){0,20}") {
            let text = format!("a.db?{}", settings_text([("table", value.as_str())]));
            let target = TypedTarget::parse(&text);
            prop_assert_eq!((target.check().is_ok(), &target.location), (true, &OsString::from("a.db")));
            prop_assert_eq!(target.settings, [("table".to_owned(), value)]);
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = TypedTarget::parse(&text);
        }
    }
}
