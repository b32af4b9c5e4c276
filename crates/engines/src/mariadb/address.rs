//! The address of a server, `//user:password@host:port/database/table`.

use std::{env, fmt, path::Path};

use model::{Error, Result, without_password};

/// The port that the server listens on by default.
const PORT: u16 = 3306;

/// Where a server is, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Socket(String),
    Host(String, u16),
}

/// An address, taken apart.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) place: Place,
    pub(crate) user: String,
    pub(crate) password: Option<String>,
    pub(crate) database: String,
    pub(crate) table: String,
    /// Without the password.
    shown: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Address {
    /// Takes `location` apart; its last part is the table.
    pub(crate) fn parse(location: &Path) -> Result<Self> {
        let text = location.to_str().unwrap_or_default();
        let (database, table) = text.rsplit_once('/').unwrap_or_default();
        let shown = format!("mysql:{}", without_password(database));
        let wrong = |why: &str| {
            Error::usage(format!(
                "{shown}: {why} (accepted: mysql://user:password@host:port/database, \
                                  for a socket its path with %2F for each /, as host)"
            ))
        };
        let (login, rest) = database
            .strip_prefix("//")
            .and_then(|rest| rest.rsplit_once('@'))
            .ok_or_else(|| wrong("names no user"))?;
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, password) = match login.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (login, None),
        };
        let part = |text: &str| {
            decoded(text).ok_or_else(|| wrong("a % stands before no two hexadecimal digits"))
        };
        let named = |text: &str, what| {
            if text.is_empty() { Err(wrong(what)) } else { part(text) }
        };
        let database = named(database, "names no database")?;
        if database.contains('/') {
            return Err(wrong("a database's name has no /"));
        }
        Ok(Self {
            place: place(&part(host)?).map_err(wrong)?,
            user: named(user, "names no user")?,
            password: password.map(part).transpose()?.or_else(|| env::var("MYSQL_PWD").ok()),
            database,
            table: table.to_owned(),
            shown,
        })
    }

    /// The table as a statement names it.
    pub(crate) fn quoted_table(&self) -> String {
        format!("{}.{}", quoted(&self.database), quoted(&self.table))
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn place(host: &str) -> Result<Place, &'static str> {
    if host.starts_with('/') {
        return Ok(Place::Socket(host.to_owned()));
    }
    let (host, port) = match host.rsplit_once(':') {
        // An IPv6 address without a port ends in its bracket.
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| "its port is no number from 1 to 65535")?)
        }
        _ => (host, PORT),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if bare.is_empty() { Err("names no host") } else { Ok(Place::Host(bare.to_owned(), port)) }
}

/// `text` with its `%XX` replaced.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Address> {
        Address::parse(Path::new(text))
    }

    #[test]
    fn an_address_is_taken_apart() {
        let address = parse("//me:p%40ss@db.example:3307/shop/storemark_0_read").unwrap();
        assert_eq!(address.place, Place::Host("db.example".to_owned(), 3307));
        assert_eq!((&*address.user, address.password.as_deref()), ("me", Some("p@ss")));
        assert_eq!(address.quoted_table(), "`shop`.`storemark_0_read`");
        assert_eq!(address.to_string(), "mysql://me@db.example:3307/shop");
        let socket = parse("//root@%2Frun%2Fmysqld.sock/db/t").unwrap();
        assert_eq!(socket.place, Place::Socket("/run/mysqld.sock".to_owned()));
        assert_eq!(parse("//a@[::1]/d/t").unwrap().place, Place::Host("::1".to_owned(), PORT));
        assert_eq!(parse("//a@[::1]:1/d/t").unwrap().place, Place::Host("::1".to_owned(), 1));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for (text, why) in [
            ("//host/db/t", "no user"),
            ("//:SECRET@host/db/t", "no user"),
            ("//me:SECRET@host/t", "no database"),
            ("//me:SECRET@/db/t", "no host"),
            ("//me:SECRET@host:port/db/t", "port is no number"),
            ("//me:SECRET@host:99999/db/t", "port is no number"),
            ("//me:SECRET%4@host/db/t", "hexadecimal"),
            ("//me:SECRET@host/a/b/t", "has no /"),
            ("", "no user"),
        ] {
            let error = parse(text).err().unwrap().to_string();
            assert!(error.contains(why) && !error.contains("SECRET"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "//[a-z:@%/0-9é]{0,30}") {
            let _ = parse(&text);
        }
    }
}
