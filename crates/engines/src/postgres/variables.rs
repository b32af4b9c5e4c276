//! Settings as variables of the server, and back.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use model::{Account, Durability, Error, Result, Settings, nearest};
use postgres::Client;

use super::error::told;
use crate::server;

/// How a setting names any variable.
const ANY: &str = "set.";

/// The variables that settings ask for, each over those before it.
pub(super) fn of(settings: &Settings) -> Vec<(String, String)> {
    let mut variables = vec![
        // The server's only way to tell that a session waited for a lock.
        ("log_lock_waits", "on".to_owned()),
        ("deadlock_timeout", "1ms".to_owned()),
        (
            "autovacuum",
            if settings.get("vacuum") == Some("auto") { "on" } else { "off" }.to_owned(),
        ),
    ];
    let (fsync, commit) = match settings.get("sync") {
        Some("off") => (Some("off"), Some("off")),
        Some("async") => (Some("on"), Some("off")),
        Some(_) => (Some("on"), Some("on")),
        None => (None, None),
    };
    for (name, value) in
        [("fsync", fsync), ("full_page_writes", fsync), ("synchronous_commit", commit)]
    {
        variables.extend(value.map(|value| (name, value.to_owned())));
    }
    // On Apple's systems nothing else reaches the drive.
    if cfg!(target_vendor = "apple") {
        variables.push(("wal_sync_method", "fsync_writethrough".to_owned()));
    }
    if let Some(bytes) = settings.number::<u64>("cache") {
        variables.push(("shared_buffers", format!("{}kB", bytes / 1024)));
    }
    let named = variables.into_iter().map(|(name, value)| (name.to_owned(), value));
    named.chain(any(settings).map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

/// The variables asked for by name.
pub(super) fn any(settings: &Settings) -> impl Iterator<Item = (&str, &str)> {
    let Settings(all) = settings;
    all.iter().filter_map(|(name, value)| Some((name.strip_prefix(ANY)?, value.as_str())))
}

/// Refuses variables that would take the server out of its folder.
pub(crate) fn check_inside(settings: &Settings) -> Result<()> {
    any(settings).try_for_each(|(name, value)| server::check_inside(name, value))
}

/// What a session of another's server sets first.
pub(super) fn session(settings: &Settings) -> String {
    let commit = settings
        .get("sync")
        .map(|sync| ("synchronous_commit", if sync == "on" { "on" } else { "off" }));
    let quoted = |text: &str| text.replace('\'', "''");
    let set = |(name, value): (&str, &str)| {
        ["SELECT set_config('", &quoted(name), "','", &quoted(value), "',false);"].concat()
    };
    commit.into_iter().chain(any(settings)).map(set).collect()
}

/// Refuses variables that a session has set and the server does not know.
pub(super) fn check_set(client: &mut Client, asked: &Settings) -> Result<()> {
    let effect = Variables::read(client)?;
    match any(asked).find(|(name, _)| !effect.has(name)) {
        Some((name, value)) => Err(no_effect(name, value, NO_SUCH)),
        None => Ok(()),
    }
}

/// The installed server, asked before it is started.
pub(super) struct Known<'a> {
    pub(super) postgres: &'a Path,
    pub(super) data: &'a Path,
    pub(super) account: Option<Account>,
}

impl Known<'_> {
    /// The values that variables asked for by name shall have, as the server writes them.
    pub(super) fn check(&self, settings: &Settings) -> Result<BTreeMap<String, String>> {
        check_inside(settings)?;
        any(settings)
            .map(|(name, value)| {
                let expected = self.value(name, value).map_err(|why| {
                    let hint = if why.contains("unrecognized") { self.hint(name) } else { None };
                    let hint = hint.unwrap_or_default();
                    Error::usage(format!("{ANY}{name}={value}: {why}{hint}"))
                })?;
                Ok((name.to_owned(), expected))
            })
            .collect()
    }

    fn run(&self, arguments: &[OsString]) -> Result<String> {
        server::run(self.postgres, arguments, self.account)
    }

    fn value(&self, name: &str, value: &str) -> Result<String, String> {
        let mut arguments = vec![OsString::from("-D"), self.data.into()];
        arguments.extend(["-c", &format!("{name}={value}"), "-C", name].map(OsString::from));
        self.run(&arguments).map_err(|error| {
            let said = error.to_string();
            let line = said.split_once("FATAL:").map_or(said.as_str(), |(_, line)| line);
            line.trim().to_owned()
        })
    }

    fn hint(&self, name: &str) -> Option<String> {
        let all = self.run(&[OsString::from("--describe-config")]).ok()?;
        // One variable a line, its name first; `run` has joined the lines.
        let names = all.split(" | ").filter_map(|line| line.split('\t').next());
        nearest(name, names).map(|near| format!("; did you mean {near}?"))
    }
}

/// What the server has in effect.
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn read(client: &mut Client) -> Result<Self> {
        let rows = client.query("SELECT lower(name), setting FROM pg_settings", &[]);
        let rows = rows.map_err(|e| told(&e))?;
        Ok(Self(rows.iter().map(|row| (row.get(0), row.get(1))).collect()))
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(&name.to_ascii_lowercase())
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(&name.to_ascii_lowercase()).map_or("", String::as_str)
    }

    fn is(&self, name: &str, value: &str) -> bool {
        self.get(name) == value
    }

    /// Asynchronous commits reach the disk a moment later and in order; a page that is torn by a
    /// power cut is whole in the WAL only with `full_page_writes`.
    pub(crate) fn durability(&self) -> Durability {
        if self.is("fsync", "off") || self.is("full_page_writes", "off") {
            Durability::None
        } else if self.is("synchronous_commit", "off") {
            Durability::Consistent
        } else {
            Durability::Durable
        }
    }

    /// `vacuum=`'s word.
    pub(super) fn vacuum(&self) -> &'static str {
        if self.is("autovacuum", "on") { "auto" } else { "settle" }
    }

    fn sync(&self) -> &'static str {
        match (self.get("fsync"), self.get("synchronous_commit")) {
            ("off", _) => "off",
            (_, "off") => "async",
            _ => "on",
        }
    }

    /// Those of the server as read back. Those asked for by name were found in effect before.
    pub(crate) fn settings(&self, asked: &Settings) -> Settings {
        let number = |name| self.get(name).parse::<u64>().unwrap_or(0);
        let mut settings = Settings::default();
        settings.set("cache", number("shared_buffers") * number("block_size"));
        settings.set("sync", self.sync());
        settings.set("set.wal_sync_method", self.get("wal_sync_method"));
        for (name, value) in any(asked) {
            settings.set(&format!("{ANY}{name}"), value);
        }
        settings
    }
}

/// Refuses variables that took no effect.
pub(super) fn verify(
    client: &mut Client,
    asked: &Settings,
    expected: &BTreeMap<String, String>,
) -> Result<()> {
    if expected.is_empty() {
        return Ok(());
    }
    let effect = Variables::read(client)?;
    for (name, value) in any(asked) {
        let found = if effect.has(name) { effect.get(name) } else { NO_SUCH };
        if expected.get(name).is_some_and(|expected| expected != found) {
            return Err(no_effect(name, value, found));
        }
    }
    Ok(())
}

/// One that a dot makes an extension's, and that no extension has.
const NO_SUCH: &str = "no such variable";

fn no_effect(name: &str, value: &str, found: &str) -> Error {
    Error::usage(format!("{ANY}{name}={value} has no effect: the server has {found}"))
}
