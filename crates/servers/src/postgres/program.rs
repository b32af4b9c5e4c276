//! The server that is installed here, and its arguments.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::Path,
    sync::OnceLock,
};

use model::{Error, Facet, Result, Settings};

use crate::server::{LOOPBACK, ServerFolder, Software, TCP_USER, numbers, own_variables, run};

/// The name of the user that owns the database.
pub(super) const USER: &str = TCP_USER;
/// The port, which is only a part of the socket's name unless the folder has a port to listen on.
pub(super) const PORT: u16 = 5432;

pub(super) static SOFTWARE: Software = Software {
    name: "PostgreSQL",
    engine: "postgres",
    users: &["postgres"],
    servers: &["postgres"],
    by_name: false,
    installer: Some("initdb"),
    usual: &[
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin",
        "/opt/homebrew/opt/postgresql@*/bin",
        "/usr/local/opt/postgresql@*/bin",
    ],
    package: "a package brings it (Debian: apt-get install postgresql)",
    version: (&["--version"], "(PostgreSQL)"),
    // Older ones are not maintained any longer, and untried.
    least: "12",
    otherwise: "",
    variables: &["--describe-config"],
    signals: ["INT", "QUIT"],
    mark: ("storemark-postgres", "A PostgreSQL cluster that storemark made\n"),
    sign: "data/PG_VERSION",
    folders: &["data", "socket"],
    socket: "socket/.s.PGSQL.5432",
    pid: "data/postmaster.pid",
    found: OnceLock::new(),
};

pub(super) fn installer_arguments(folder: &ServerFolder, _: &Settings) -> Vec<OsString> {
    let user = format!("--username={USER}");
    let auth = ["--auth-local=trust", "--auth-host=scram-sha-256"];
    let fixed = [&auth[..], &["--no-sync", "--encoding=UTF8", "--locale=C", &user, "-D"]].concat();
    let mut all: Vec<_> = fixed.into_iter().map(OsString::from).collect();
    all.push(folder.data().into());
    if folder.tcp().is_some() {
        all.extend([OsString::from("--pwfile"), folder.tcp_file().into()]);
    }
    all
}

/// The variables that no setting changes.
pub(super) const FIXED: &[(&str, &str)] = &[
    ("listen_addresses", ""),
    // Relative to the data, so that no character of the path needs a quote.
    ("unix_socket_directories", "../socket"),
    ("unix_socket_permissions", "0700"),
    ("logging_collector", "off"),
    ("log_destination", "stderr"),
    ("log_line_prefix", ""),
    ("port", "5432"),
];

pub(super) fn server_arguments(
    folder: &ServerFolder,
    _: Facet,
    settings: &Settings,
) -> Result<Vec<OsString>> {
    check_version(folder)?;
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
    all.extend(own_variables(settings)?);
    let mut arguments = vec![OsString::from("-D"), folder.data().into()];
    let port = folder.tcp().map(|tcp| tcp.port.to_string());
    let network = port.iter().flat_map(|port| [("listen_addresses", LOOPBACK), ("port", port)]);
    for (name, value) in all.into_iter().chain(FIXED.iter().copied()).chain(network) {
        arguments.extend([OsString::from("-c"), format!("{name}={value}").into()]);
    }
    Ok(arguments)
}

/// Replaces the write-ahead log of the store at `store` by an empty one, so that its server starts without
/// what is damaged, and returns the command; `None` if it fails.
pub(super) fn repair(store: &Path) -> Option<String> {
    let program = SOFTWARE.program(&["pg_resetwal"]).ok()?;
    // The program takes what a killed server left for a server that runs.
    let _ = fs::remove_file(store.join(SOFTWARE.pid));
    let data = store.join("data");
    let arguments = [OsStr::new("-f"), OsStr::new("-D"), data.as_os_str()];
    run(&program, &arguments, SOFTWARE.account()).ok()?;
    Some("pg_resetwal -f -D data".to_owned())
}

/// Checks that the installed version can open the data.
fn check_version(folder: &ServerFolder) -> Result<()> {
    let installed = SOFTWARE.installed()?;
    let file = folder.data().join("PG_VERSION");
    let text = std::fs::read_to_string(&file).map_err(|e| Error::io(file.display(), e))?;
    let (made, version) = (text.trim(), &installed.version);
    if numbers(made).first() == numbers(version).first() {
        return Ok(());
    }
    Err(Error::unsupported(format!(
        "{} was made by PostgreSQL {made}; {} is PostgreSQL {version}, which cannot open it",
        folder.path().display(),
        installed.server.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_one_that_the_server_prints() {
        let version = |printed: &str| SOFTWARE.version_in(printed).ok();
        let debian = "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)";
        assert_eq!(version(debian).as_deref(), Some("15.14"));
        assert_eq!(version("postgres (PostgreSQL) 18beta1").as_deref(), Some("18beta1"));
        for printed in [
            "",
            "postgres",
            "postgres (PostgreSQL)",
            "postgres (PostgreSQL) devel",
            "postgres (PostgreSQL) 9.6.24",
        ] {
            assert_eq!(version(printed), None, "{printed}");
        }
    }

    #[test]
    fn the_port_is_a_part_of_the_name_of_the_socket() {
        assert!(SOFTWARE.socket.ends_with(&format!(".{PORT}")));
        assert!(FIXED.contains(&("port", &PORT.to_string())));
    }
}
