//! The server that is installed here, and its arguments.

use std::{
    ffi::OsString,
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
};

use model::{Facet, Result, Settings};

use crate::server::{ServerFolder, Software, own_variables};

/// Returns Valkey if it is installed, else Redis. The name of the file does not decide: packages install
/// either program under both names.
pub(super) fn software() -> &'static Software {
    if VALKEY.installed().is_ok() { &VALKEY } else { &REDIS }
}

/// Valkey; a store of it has the same form as one of Redis.
pub(super) static VALKEY: Software = software_called("Valkey", &["valkey-server", "redis-server"]);
static REDIS: Software = software_called("Redis", &["redis-server"]);

const fn software_called(name: &'static str, servers: &'static [&'static str]) -> Software {
    Software {
        name,
        engine: "valkey",
        users: &["valkey", "redis"],
        servers,
        by_name: true,
        installer: None,
        usual: &["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/opt/local/bin"],
        package: "Valkey's or Redis's server is needed (Debian: apt-get install redis-server)",
        version: (&["--version"], " v="),
        // The first whose log is in several files; older ones are not maintained any longer.
        least: "7",
        otherwise: "; redis://host/0 measures one that runs",
        variables: &["--version"],
        signals: ["TERM", "TERM"],
        mark: (
            "storemark.valkey",
            "A store of storemark: data/ is the data directory of a Valkey or Redis server.\n",
        ),
        sign: "data",
        folders: &["data"],
        socket: "socket",
        pid: "pid",
        found: OnceLock::new(),
    }
}

/// The variables that no setting changes. Values come from the log alone, which has every write.
pub(super) const FIXED: &[(&str, &str)] = &[
    ("port", "0"),
    ("tls-port", "0"),
    // Relative to the data, because the path of a socket is short.
    ("unixsocket", "../socket"),
    ("unixsocketperm", "700"),
    ("daemonize", "no"),
    ("set-proc-title", "no"),
    ("logfile", ""),
    ("save", ""),
    ("appendonly", "yes"),
    ("appenddirname", "appendonlydir"),
    ("no-appendfsync-on-rewrite", "no"),
    ("maxmemory-policy", "noeviction"),
    ("cluster-enabled", "no"),
];

pub(super) fn server_arguments(
    folder: &ServerFolder,
    _: Facet,
    settings: &Settings,
) -> Result<Vec<OsString>> {
    let sync = match settings.get("sync") {
        Some("off" | "no") => "no",
        Some("always") => "always",
        _ => "everysec",
    };
    // A rewrite of the log at some moment of a pass is not the work of that pass.
    let mut all = vec![("auto-aof-rewrite-percentage", "0"), ("appendfsync", sync)];
    all.extend(own_variables(settings)?);
    let mut arguments = vec![OsString::from("--dir"), folder.data().into()];
    for (name, value) in all.into_iter().chain(FIXED.iter().copied()) {
        arguments.extend([OsString::from(format!("--{name}")), value.into()]);
    }
    arguments.extend(["--replicaof", "no", "one", "--pidfile"].map(OsString::from));
    arguments.push(folder.pid_file().into());
    Ok(arguments)
}

/// Cuts off the log at the path of a store where it cannot be read, and returns the command that does it;
/// `None` if it fails.
pub(super) fn repair(store: &Path) -> Option<String> {
    let program = software().program(&["valkey-check-aof", "redis-check-aof"]).ok()?;
    let manifest = "data/appendonlydir/appendonly.aof.manifest";
    let mut command = Command::new(&program);
    command.arg("--fix").arg(store.join(manifest)).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    // It asks whether it may. One that has ended does not read the answer.
    let _ = child.stdin.take().map(|mut answer| answer.write_all(b"y\n"));
    let name = program.file_name()?.to_string_lossy();
    child.wait().ok()?.success().then(|| format!("{name} --fix {manifest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_the_server_prints() {
        let redis = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=ae4d";
        let valkey = "Valkey server v=9.1.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1";
        assert_eq!(REDIS.version_in(redis).unwrap(), "7.0.15");
        assert_eq!(VALKEY.version_in(valkey).unwrap(), "9.1.0");
        for (software, printed) in [
            (&VALKEY, redis),
            (&REDIS, valkey),
            (&REDIS, "Redis server v=6.2.14 sha=0:0"),
            (&REDIS, "Redis"),
            (&REDIS, ""),
        ] {
            assert!(software.version_in(printed).is_err(), "{printed}");
        }
    }
}
