//! Settings as variables of the server, and back.

use model::{Durability, Settings};

use crate::server::{Variables, variables};

/// Returns the variables that settings ask for; a later one replaces an earlier one of its name.
pub(super) fn of(settings: &Settings) -> Vec<(String, String)> {
    let autovacuum = if settings.get("vacuum") == Some("auto") { "on" } else { "off" };
    // The server has no other way to show that a session waited for a lock.
    let mut all = vec![("log_lock_waits", "on"), ("deadlock_timeout", "1ms")];
    all.push(("autovacuum", autovacuum));
    if let Some(sync) = settings.get("sync") {
        let (fsync, commit) = match sync {
            "off" => ("off", "off"),
            "async" => ("on", "off"),
            _ => ("on", "on"),
        };
        all.extend([("fsync", fsync), ("full_page_writes", fsync), ("synchronous_commit", commit)]);
    }
    // On Apple's systems nothing else reaches the drive.
    if cfg!(target_vendor = "apple") {
        all.push(("wal_sync_method", "fsync_writethrough"));
    }
    let cache = settings.parse::<u64>("cache").map(|bytes| format!("{}kB", bytes / 1024));
    all.extend(cache.as_deref().map(|cache| ("shared_buffers", cache)));
    let all = all.into_iter().chain(variables(settings));
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns what a session on an existing server runs first.
pub(super) fn session(settings: &Settings) -> String {
    let commit = |sync| ("synchronous_commit", if sync == "on" { "on" } else { "off" });
    let quoted = |text: &str| text.replace('\'', "''");
    let set = |(name, value): (&str, &str)| {
        ["SELECT set_config('", &quoted(name), "','", &quoted(value), "',false);"].concat()
    };
    settings.get("sync").map(commit).into_iter().chain(variables(settings)).map(set).collect()
}

/// Asynchronous commits reach the disk a moment later and in order; a page that a power cut tears
/// is whole in the WAL only with `full_page_writes`.
pub(super) fn durability(variables: &Variables) -> Durability {
    if variables.is("fsync", "off") || variables.is("full_page_writes", "off") {
        Durability::None
    } else if variables.is("synchronous_commit", "off") {
        Durability::Consistent
    } else {
        Durability::Durable
    }
}

/// Returns the settings of the server as read back.
pub(super) fn in_effect(variables: &Variables) -> Settings {
    let number = |name| variables.get(name).parse::<u64>().unwrap_or(0);
    let sync = match (variables.get("fsync"), variables.get("synchronous_commit")) {
        ("off", _) => "off",
        (_, "off") => "async",
        _ => "on",
    };
    let mut settings = Settings::default();
    settings.set("cache", number("shared_buffers") * number("block_size"));
    settings.set("sync", sync);
    settings.set("set.wal_sync_method", variables.get("wal_sync_method"));
    settings
}
