//! The address of an existing server, `//user:password@host:port/database/table`.

use std::path::Path;

use model::{Error, Result, Secret, Settings, variable, without_password};

use super::tls::Tls;

/// The form of the addresses of a kind of server.
pub(crate) struct AddressForm {
    pub(crate) scheme: &'static str,
    /// The names of the servers that may answer, for messages.
    pub(crate) servers: &'static str,
    /// The port that the server listens on by default.
    pub(crate) port: u16,
    /// Whether an address must name a user; without one it is the user of this process.
    pub(crate) needs_user: bool,
    /// The user that a password without a user belongs to.
    pub(crate) password_of: Option<&'static str>,
    /// The environment variable that has the password if the address has none.
    pub(crate) password: &'static str,
    /// A hint for the user, as the end of a sentence.
    pub(crate) hint: &'static str,
}

#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// A name or number, or the path of a socket or of its folder, which starts with a slash.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret>,
    pub(crate) database: String,
    pub(crate) table: String,
    pub(crate) tls: Option<Tls>,
    /// The address without the table and the password, for messages.
    pub(crate) shown: String,
}

impl Address {
    /// Parses `location`; its last part is the table.
    ///
    /// # Errors
    ///
    /// Fails if a part is missing or malformed.
    pub(crate) fn parse(location: &Path, settings: &Settings, form: &AddressForm) -> Result<Self> {
        let text = location.to_str().unwrap_or_default();
        let (server, table) = text.rsplit_once('/').unwrap_or_default();
        let scheme = form.scheme;
        let shown = format!("{scheme}:{}", without_password(server));
        let wrong = |why: &str| {
            Error::usage(format!(
                "{why} (accepted: {scheme}://user:password@host:port/database{})",
                form.hint
            ))
            .at(&shown)
        };
        let server = server.trim_start_matches('/');
        let (login, rest) = server.rsplit_once('@').unwrap_or(("", server));
        let (host, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, password) =
            login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
        let decode = |text: &str| {
            percent_decode(text)
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .ok_or_else(|| wrong("a % is followed by no two hexadecimal digits"))
        };
        let alone = password.and(form.password_of).unwrap_or_default();
        let user = if user.is_empty() { alone } else { user };
        if user.is_empty() && (form.needs_user || password.is_some()) {
            return Err(wrong("names no user"));
        }
        if database.is_empty() || table.is_empty() {
            return Err(wrong("names no database"));
        }
        if database.contains('/') {
            return Err(wrong("a database's name has no /"));
        }
        let (host, port) = host_and_port(host, form.port).map_err(wrong)?;
        let (host, tls) = (decode(host)?, Tls::from_settings(settings)?);
        if tls.is_some() && host.starts_with('/') {
            return Err(Error::usage("tls: a socket is not encrypted").at(&shown));
        }
        let password = password.map(decode).transpose()?.or_else(|| variable(form.password));
        let password = password.map(Secret::password);
        Ok(Self {
            host,
            port,
            user: (!user.is_empty()).then(|| decode(user)).transpose()?,
            password,
            database: decode(database)?,
            table: table.to_owned(),
            tls,
            shown,
        })
    }
}

fn host_and_port(text: &str, default: u16) -> Result<(&str, u16), &'static str> {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address without a port ends in its bracket.
        Some((host, port)) if !port.ends_with(']') => {
            (host, port.parse().map_err(|_| "its port is no number from 1 to 65535")?)
        }
        _ => (text, default),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if bare.is_empty() { Err("names no host") } else { Ok((bare, port)) }
}

/// Decodes the `%XX` of a text; returns `None` if a `%` is followed by anything else.
pub(crate) fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    const FORM: AddressForm = AddressForm {
        scheme: "mysql",
        servers: "MariaDB",
        port: 3306,
        needs_user: true,
        password_of: None,
        password: "STOREMARK_TEST_NO_PASSWORD",
        hint: "",
    };

    fn parse(text: &str) -> Result<Address> {
        Address::parse(Path::new(text), &Settings::default(), &FORM)
    }

    #[test]
    fn an_address_has_its_parts() {
        let address = parse("//me:p%40ss@db.example:3307/shop/storemark_0_read").unwrap();
        assert_eq!((&*address.host, address.port), ("db.example", 3307));
        assert_eq!(
            (address.user.as_deref(), address.password.as_ref().map(Secret::reveal)),
            (Some("me"), Some("p@ss"))
        );
        assert_eq!((&*address.database, &*address.table), ("shop", "storemark_0_read"));
        assert_eq!(address.shown, "mysql://me@db.example:3307/shop");
        for (text, host, port) in [
            ("//root@%2Frun%2Fmysqld.sock/db/t", "/run/mysqld.sock", 3306),
            ("//root@%2Frun:1/db/t", "/run", 1),
            ("//a@[::1]/d/t", "::1", 3306),
            ("//a@[::1]:1/d/t", "::1", 1),
        ] {
            let address = parse(text).unwrap();
            assert_eq!((&*address.host, address.port), (host, port));
        }
    }

    #[test]
    fn a_user_may_be_optional() {
        let (form, none) = (AddressForm { needs_user: false, ..FORM }, Settings::default());
        let address = Address::parse("//host/db/t".as_ref(), &none, &form).unwrap();
        assert_eq!((address.user, address.password), (None, None));
        assert!(Address::parse("//:SECRET@host/db/t".as_ref(), &none, &form).is_err());
        let form = AddressForm { password_of: Some("default"), ..form };
        let address = Address::parse("//:SECRET@host/db/t".as_ref(), &none, &form).unwrap();
        assert_eq!(address.user.as_deref(), Some("default"));
    }

    #[test]
    fn a_wrong_address_is_shown_without_its_password() {
        for (text, why) in [
            ("//host/db/t", "no user"),
            ("//:SECRET@host/db/t", "no user"),
            ("//me:SECRET@host", "no user"),
            ("//me:SECRET@host/", "no database"),
            ("//me:SECRET@host/t", "no database"),
            ("//me:SECRET@host//t", "no database"),
            ("//me:SECRET@host/db/", "no database"),
            ("//me:SECRET@/t", "no database"),
            ("//me:SECRET@/db/t", "no host"),
            ("//me:SECRET@host:port/db/t", "port is no number"),
            ("//me:SECRET@host:99999/db/t", "port is no number"),
            ("//me:SECRET%4@host/db/t", "hexadecimal"),
            ("//me:SECRET@host/a/b/t", "has no /"),
            ("//", "no user"),
            ("", "no user"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            let said = error.to_string();
            assert!(said.contains(why) && !said.contains("SECRET"), "{text}: {said}");
            assert!(said.contains("accepted: mysql://"), "{said}");
        }
    }

    proptest! {
        #[test]
        fn no_address_panics(text in "//[a-z:@%/0-9é]{0,30}") {
            let _ = parse(&text);
        }
    }
}
