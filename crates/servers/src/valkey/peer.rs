//! The connection to a server, its variables, and their meaning.

use std::{ffi::OsString, sync::Arc, time::Duration};

use model::{Durability, Error, Facet, Result, Settings};

use super::{
    CLASSES,
    connection::{ValkeyClient, other_failure},
    program::{self, software},
};
use crate::server::{
    Address, AddressForm, Answer, Connect, Failure, Peer, ServerFolder, Software, Tcp, Variables,
    Why,
};

/// The variables that affect the figures.
const READ_BACK: &[&str] = &[
    "appendonly",
    "appendfsync",
    "no-appendfsync-on-rewrite",
    "auto-aof-rewrite-percentage",
    "save",
    "maxmemory",
    "maxmemory-policy",
    "io-threads",
];

impl Peer for ValkeyClient {
    const ADDRESS: AddressForm = AddressForm {
        scheme: "redis",
        servers: "Valkey or Redis",
        port: 6379,
        needs_user: false,
        password_of: Some("default"),
        password: "REDISCLI_AUTH",
        hint: "; a database is a number from 0 on; for a socket its path with %2F for each /, as host",
    };
    const START: fn(&ServerFolder, Facet, &Settings) -> Result<Vec<OsString>> =
        program::server_arguments;
    const FIXED: &'static [(&'static str, &'static str)] = program::FIXED;

    fn software() -> &'static Software {
        software()
    }

    fn to_folder(folder: &ServerFolder, _: Option<&str>, _: Option<&Tcp>) -> Connect<Self> {
        let folder = folder.clone();
        Arc::new(move || {
            let reach = folder.reach().map_err(|error| Failure { error, why: Why::Absent })?;
            Self::by_socket(reach.socket())
        })
    }

    fn to_address(address: &Address, _: &Settings) -> Connect<Self> {
        let address = address.clone();
        Arc::new(move || {
            let wrong = |_| {
                let name = &address.database;
                other_failure(Error::usage("no number of a database (0 is the first)").at(name))
            };
            Self::by_address(&address, address.database.parse().map_err(wrong)?)
        })
    }

    fn set_limit(&mut self, limit: Duration) {
        self.driver.set_limit(limit);
    }

    /// Returns all variables. `INFO` has some of them under other names, and is allowed where
    /// `CONFIG` is not.
    fn variables(&mut self) -> Answer<Variables> {
        let info = self.text(&[b"INFO"])?;
        let pairs = info.lines().filter_map(|line| line.trim_end().split_once(':'));
        let mut all: Vec<_> = pairs
            .map(|(name, value)| match (name, value) {
                ("aof_enabled", "0") => ("appendonly".to_owned(), "no".to_owned()),
                ("aof_enabled", _) => ("appendonly".to_owned(), "yes".to_owned()),
                _ => (name.replace('_', "-"), value.to_owned()),
            })
            .collect();
        match self.strings(&[b"CONFIG", b"GET", b"*"]) {
            Ok(config) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                all.extend(
                    config.as_chunks().0.iter().map(|[name, value]| (text(name), text(value))),
                );
            }
            Err(Failure { why: Why::Other, .. }) => {}
            Err(lost) => return Err(lost),
        }
        Ok(Variables::new(all.into_iter()))
    }
}

/// Returns the word of the setting `sync` for what a server does; `unknown` if it does not report
/// how it flushes.
pub(super) fn sync(variables: &Variables) -> &str {
    if variables.is("appendonly", "no") {
        "off"
    } else if variables.is("no-appendfsync-on-rewrite", "yes") {
        "no"
    } else {
        variables.find("appendfsync").unwrap_or("unknown")
    }
}

pub(super) fn class(variables: &Variables) -> Durability {
    let sync = ("sync", sync(variables));
    let class = CLASSES.iter().find(|class| class.settings.contains(&sync));
    class.map_or(Durability::None, |class| class.class)
}

/// Returns the settings that the server reports, with its version. The store adds those asked for.
pub(super) fn in_effect(variables: &Variables) -> Settings {
    let mut found = Settings::default();
    found.set("sync", sync(variables));
    for name in READ_BACK {
        if let Some(value) = variables.find(name) {
            found.set(&format!("set.{name}"), value);
        }
    }
    for (variable, software) in [("valkey-version", "valkey"), ("redis-version", "redis")] {
        if let Some(value) = variables.find(variable) {
            found.set(&format!("{software}_version"), value);
            break;
        }
    }
    found
}

/// Checks that a server that storemark does not change is set as asked, and does not drop values.
pub(super) fn check(settings: &Settings, variables: &Variables) -> Result<()> {
    let policy = variables.get("maxmemory-policy");
    if policy.starts_with("allkeys") && !variables.is("maxmemory", "0") {
        return Err(Error::usage(format!(
            "the server drops values when its memory is full (maxmemory={}, \
             maxmemory-policy={policy}), and storemark does not change it; a server with \
             maxmemory-policy=noeviction keeps them",
            variables.get("maxmemory")
        )));
    }
    let sync = sync(variables);
    let Some(asked) = settings.get("sync").filter(|asked| *asked != sync) else { return Ok(()) };
    let shown = ["appendonly", "appendfsync", "no-appendfsync-on-rewrite"];
    let shown = shown.map(|name| format!("{name}={}", variables.find(name).unwrap_or("unknown")));
    Err(Error::usage(format!(
        "sync={asked} cannot be had: the server has sync={sync} ({}), and storemark does not change \
         the server; without --durability and sync= all targets get the server's own class",
        shown.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        Variables::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn the_class_is_what_the_log_gives() {
        let log = |fsync, rewrite| {
            let all = [
                ("appendonly", "yes"),
                ("appendfsync", fsync),
                ("no-appendfsync-on-rewrite", rewrite),
            ];
            class(&variables(&all))
        };
        assert_eq!(log("always", "no"), Durability::Durable);
        assert_eq!(log("everysec", "no"), Durability::Consistent);
        assert_eq!(log("no", "no"), Durability::None);
        assert_eq!(log("always", "yes"), Durability::None, "no flush while the log is rewritten");
        let off = variables(&[("appendonly", "no"), ("appendfsync", "always")]);
        assert_eq!((sync(&off), class(&off)), ("off", Durability::None));
        let silent = variables(&[("appendonly", "yes")]);
        assert_eq!((sync(&silent), class(&silent)), ("unknown", Durability::None));
    }

    #[test]
    fn a_server_that_may_drop_values_is_refused() {
        let with = |bytes, policy| {
            let all = variables(&[("maxmemory", bytes), ("maxmemory-policy", policy)]);
            check(&Settings::default(), &all).map_err(|error| error.kind())
        };
        assert_eq!(with("100", "allkeys-lru"), Err(ErrorKind::Usage));
        assert_eq!(with("0", "allkeys-lru"), Ok(()));
        // Only keys with a time to live, which storemark's have not.
        assert_eq!(with("100", "volatile-lru"), Ok(()));
        assert_eq!(with("100", "noeviction"), Ok(()));
    }
}
