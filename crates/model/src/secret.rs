//! Passwords, and the addresses that hold them.

use std::fmt;

/// A password, or the address of a server that may contain one. It is printed without the password,
/// and nothing serialises it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    is_address: bool,
}

impl Secret {
    /// Creates a secret from a password.
    pub fn password(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_address: false }
    }

    /// Creates a secret from an address, of which all but the password may be shown.
    pub fn address(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_address: true }
    }

    /// Returns the text with the password, for the server that it is meant for.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

/// Shows an address without its password, and nothing of a password.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_address {
            f.write_str(&without_password(&self.text))
        } else {
            f.write_str("…")
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

/// Returns whether a `?` between `head` and `tail` is in the login of an address, so that what
/// follows it is no setting.
pub(crate) fn is_in_login(head: &[u8], tail: &[u8]) -> bool {
    let after = head.windows(2).position(|two| two == b"//").map(|at| &head[at + 2..]);
    after.is_some_and(|rest| !rest.contains(&b'@')) && tail.contains(&b'@')
}

/// Returns a server's address (`//user:password@host/database`), or what was meant for one, without
/// its secrets: everything from the first `:` of the login to the last `@`, however the password is
/// written, and the values of settings that are named after a password.
pub fn without_password(address: &str) -> String {
    let (head, tail) = match address.rsplit_once('?') {
        // A password may have a `?` as well as an `@`.
        Some((head, tail)) if !tail.contains('@') => (head, Some(tail)),
        _ => (address, None),
    };
    let start = head.find("//").map_or(0, |slashes| slashes + 2);
    let (scheme, rest) = head.split_at(start);
    let shown = match rest.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            format!("{scheme}{user}@{host}")
        }
        // The host was forgotten: what follows the user is no port.
        None if start > 0 && !has_port(rest) => {
            format!("{scheme}{}", rest.split(':').next().unwrap_or_default())
        }
        None => head.to_owned(),
    };
    tail.map_or(shown.clone(), |tail| format!("{shown}?{}", without_secret_settings(tail)))
}

/// Returns whether a `:` in an address without a login is followed by a port, or is in the brackets
/// of an IPv6 address.
fn has_port(rest: &str) -> bool {
    let host = rest.split('/').next().unwrap_or_default();
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    host.starts_with('[')
        || (!rest[host.len()..].contains(':') && port.parse::<u16>().is_ok())
        || !rest.contains(':')
}

fn without_secret_settings(tail: &str) -> String {
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}=…"),
        _ => pair.to_owned(),
    };
    tail.split('&').map(shown).collect::<Vec<_>>().join("&")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["pass", "pwd", "secret", "token"].iter().any(|part| name.contains(part))
}

/// Returns `line` without the passwords of the addresses in it, as a last resort for messages about
/// words that were not understood. An address ends at a space, unless its login has one.
pub fn without_passwords(line: &str) -> String {
    const SCHEME: &str = "://";
    let starts = line.match_indices(SCHEME).filter(|(at, _)| starts_address(&line[..*at]));
    let mut starts: Vec<_> = starts.map(|(at, _)| at + SCHEME.len()).collect();
    let mut shown = line[..starts.first().copied().unwrap_or(line.len())].to_owned();
    starts.push(line.len());
    for ends in starts.windows(2) {
        shown += &without_login(&line[ends[0]..ends[1]]);
    }
    shown.split_inclusive(char::is_whitespace).map(without_settings).collect()
}

/// Returns a word without the values of settings that are named after a password.
fn without_settings(word: &str) -> String {
    let shown = without_slashes(word);
    let ends = shown.trim_end_matches(|c: char| c.is_whitespace() || c == ':').len();
    match shown[..ends].split_once('?') {
        Some((head, tail)) => {
            format!("{head}?{}{}", without_secret_settings(tail), &shown[ends..])
        }
        None => shown,
    }
}

/// Returns a word that was meant for an address, `scheme:user:password@host`, without its password.
fn without_slashes(word: &str) -> String {
    let login = word.rfind('@').map(|at| (&word[..at], &word[at..]));
    let cut = login.and_then(|(login, host)| {
        let (scheme, rest) = login.split_once(':').filter(|(_, rest)| !rest.starts_with("//"))?;
        let (user, _) = rest.split_once(':')?;
        Some(format!("{scheme}:{user}{host}"))
    });
    cut.unwrap_or_else(|| word.to_owned())
}

/// Returns whether the last word `before` the slashes is a scheme: a password may have slashes too.
fn starts_address(before: &str) -> bool {
    let rest = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    let starts = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '[');
    rest.len() < before.len() && rest.chars().next_back().is_none_or(starts)
}

/// Returns the part of an address after its scheme, without the password.
fn without_login(part: &str) -> String {
    // Too many slashes start no path: a login follows.
    let (slashes, part) = part.split_at(part.len() - part.trim_start_matches('/').len());
    format!("{slashes}{}", without_user(part))
}

fn without_user(part: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '@' | '"' | '\'' | ')' | ',');
    let Some((user, rest)) = part.split_once(':').filter(|(user, _)| !user.contains(is_end)) else {
        return part.to_owned();
    };
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    let before = word.trim_end_matches([':', ';', ',', '"', '\'', ')']);
    let is_port = before.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok());
    // The word for a password in help and messages.
    let is_example = rest.starts_with("password@");
    if is_example || (is_port && !word.contains('@')) {
        return part.to_owned();
    }
    match rest.rfind('@') {
        Some(end) => format!("{user}{}", &rest[end..]),
        None if before.is_empty() => part.to_owned(),
        None => format!("{user}{}", &rest[before.len()..]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TypedTarget;

    #[test]
    fn a_password_is_not_shown() {
        for (address, shown) in [
            ("//user:secret@host:1/db", "//user@host:1/db"),
            ("mysql://user:se:cr@et@host/db/t", "mysql://user@host/db/t"),
            ("//user@host/db", "//user@host/db"),
            ("//:secret@host", "//@host"),
            ("//user:se/cret@host/db", "//user@host/db"),
            ("//u:p@%2Ftmp%2Fsocket/db", "//u@%2Ftmp%2Fsocket/db"),
            ("mysql://u:a?b=secret@host/db", "mysql://u@host/db"),
            ("mysql://u:secret@host?x@host/db", "mysql://u@host/db"),
            (
                "mysql://u@host/db?password=secret&engine=aria",
                "mysql://u@host/db?password=…&engine=aria",
            ),
            ("mysql://u:secret/db", "mysql://u"),
            ("mysql://u:se/cr:et", "mysql://u"),
            ("mysql:/u:secret@host/db", "mysql@host/db"),
            ("root:secret@host", "root@host"),
            ("mysql://host:3306/db", "mysql://host:3306/db"),
            ("mysql://[::1]:1/db", "mysql://[::1]:1/db"),
            ("a/b", "a/b"),
            ("", ""),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }

    #[test]
    fn a_line_is_shown_without_the_passwords_in_it() {
        for (line, shown) in [
            ("no mysql://u:secret@h:1/db here", "no mysql://u@h:1/db here"),
            ("\"mysql://u:se cr et@h/db\": bad", "\"mysql://u@h/db\": bad"),
            ("mysql://u:secret: absent", "mysql://u: absent"),
            ("a://u:secret@h b://v:secret@h", "a://u@h b://v@h"),
            ("mysql://u:a://secret@h", "mysql://u@h"),
            ("mysql://u@h/db?x=1&password=secret: no", "mysql://u@h/db?x=1&password=…: no"),
            ("mysql:///u:secret@h/db: no", "mysql:///u@h/db: no"),
            ("no mysql:/u:secret@h/db here", "no mysql:/u@h/db here"),
        ] {
            assert_eq!(without_passwords(line), shown);
        }
        for same in [
            "mysql://u: names no database",
            "mysql://u@h:3306/db: Access denied for user 'me'@'localhost'",
            "postgres://h:5432/db: role 'me'@'localhost' is absent",
            "(accepted: mysql://user:password@host:port/database)",
            "https://example.org/a:b@c and a/b: no such file",
        ] {
            assert_eq!(without_passwords(same), same);
        }
    }

    #[test]
    fn a_secret_shows_nothing() {
        let address = Secret::address("//me:secret@host/db");
        for text in ["secret", "se//secret", "a://secret@host"] {
            let word = Secret::password(text);
            for shown in [format!("{word}{address}"), format!("{word:?}{address:?}")] {
                assert!(!shown.contains("secret") && shown.contains("//me@host/db"), "{shown}");
            }
            assert_eq!(word.reveal(), text);
        }
    }

    #[test]
    fn a_question_mark_of_a_password_starts_no_settings() {
        let target = TypedTarget::parse("mysql://u:a?b=c@host/db");
        assert_eq!(
            (target.location.to_str(), target.settings.len()),
            (Some("//u:a?b=c@host/db"), 0)
        );
        let target = TypedTarget::parse("mysql://u:a?b=c@host/db?x=1");
        assert_eq!(
            (target.location.to_str(), target.settings.len()),
            (Some("//u:a?b=c@host/db"), 1)
        );
    }

    proptest! {
        #[test]
        fn no_address_keeps_its_password(
            user in "[a-z]*",
            before in "[a-z:/?=&@%.#]{0,9}",
            after in "[a-z:/?=&@%.#]{0,9}",
            host in "[a-z:0-9]*",
        ) {
            let address = format!("mysql://{user}:{before}SECRET{after}@{host}/db");
            let line = format!("{address}: cannot be reached (accepted: //a@b)");
            prop_assert!(!without_password(&address).contains("SECRET"), "{}", address);
            prop_assert!(!without_passwords(&line).contains("SECRET"), "{}", line);
        }
    }
}
