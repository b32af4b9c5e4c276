//! The server that is installed here, and its arguments.

use std::{ffi::OsString, path::Path, sync::OnceLock};

use model::{Facet, Result, Settings};

use super::kind::{KINDS, StorageEngine};
use crate::server::{LOOPBACK, ServerFolder, Software, TCP_USER, Tcp, own_variables, variables};

pub(super) static SOFTWARE: Software = Software {
    name: "MariaDB",
    engine: "mariadb",
    users: &["mysql"],
    servers: &["mariadbd", "mysqld"],
    by_name: false,
    installer: Some("mariadb-install-db"),
    usual: &[
        "/usr/sbin",
        "/usr/bin",
        "/usr/libexec",
        "/usr/local/sbin",
        "/usr/local/libexec",
        "/usr/local/mysql/bin",
        "/usr/local/mariadb/bin",
        "/opt/homebrew/opt/mariadb/bin",
        "/usr/local/opt/mariadb/bin",
        "/opt/local/lib/mariadb/bin",
        "/opt/homebrew/opt/mariadb@*/bin",
    ],
    package: "MariaDB's server is needed (Debian: apt-get install mariadb-server)",
    version: (&["--no-defaults", "--version"], " Ver "),
    // The first with programs of these names.
    least: "10.5",
    otherwise: "; mysql://user@host/database measures a MySQL server that runs",
    variables: &["--no-defaults", "--verbose", "--help"],
    signals: ["TERM", "TERM"],
    mark: (
        "storemark.mariadb",
        "A store of storemark: data/ is a MariaDB server's data directory.\n",
    ),
    sign: "data",
    folders: &["data", "tmp"],
    socket: "socket",
    pid: "pid",
    found: OnceLock::new(),
};

/// Returns the options of a server for a word of `sync`. `debug_no_sync` leaves out what the rest
/// of the server flushes; 2700 s is the longest time that the log may wait.
fn sync_options(sync: &str) -> &'static [&'static str] {
    match sync {
        "none" => &[
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-flush-log-at-timeout=2700",
            "--innodb-flush-method=nosync",
            "--innodb-doublewrite=0",
            "--loose-innodb-log-file-buffering=1",
            "--debug-no-sync",
        ],
        "second" => &["--innodb-flush-log-at-trx-commit=2", "--loose-innodb-log-file-buffering=1"],
        _ => &["--innodb-flush-log-at-trx-commit=1"],
    }
}

/// Returns the option of the flush method. Values are read and written through the page cache, as
/// by the other engines, so that cache states mean the same. Rows have no cache states, and the
/// server's default.
fn flush_method(facet: Facet, sync: &str) -> Option<&'static str> {
    (facet == Facet::Blobs && sync != "none").then_some("--innodb-flush-method=fsync")
}

fn variable((name, value): (&str, &str)) -> OsString {
    format!("--{name}={value}").into()
}

/// Returns an option that names a path in the folder.
fn path_option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// Returns the arguments of the program that creates the data directory. It flushes nothing: a power cut
/// during installation leaves no usable store anyway.
pub(super) fn installer_arguments(folder: &ServerFolder, settings: &Settings) -> Vec<OsString> {
    const ALWAYS: &[&str] = &[
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        "--skip-name-resolve",
    ];
    let mut arguments: Vec<_> =
        ALWAYS.iter().chain(sync_options("none")).map(OsString::from).collect();
    arguments.push(path_option("--datadir=", &folder.data()));
    arguments.push(path_option("--tmpdir=", &folder.path().join("tmp")));
    // Some of these cannot change once the data directory exists (`innodb_page_size`).
    let fixed = variables(settings).filter(|(name, _)| name.starts_with("innodb_"));
    arguments.extend(fixed.map(variable));
    arguments
}

/// Returns the arguments of a server that reaches nothing outside the folder, and reads no pages
/// ahead of their first use, because a store that was just opened is measured.
pub(super) fn server_arguments(
    folder: &ServerFolder,
    facet: Facet,
    settings: &Settings,
) -> Result<Vec<OsString>> {
    const ALWAYS: &[&str] = &[
        "--no-defaults",
        "--skip-log-bin",
        "--skip-name-resolve",
        "--innodb-buffer-pool-load-at-startup=0",
        "--innodb-buffer-pool-dump-at-shutdown=0",
        "--max-allowed-packet=1G",
        "--max-connections=1000",
        "--wait-timeout=31536000",
    ];
    let sync = settings.get("sync").unwrap_or("commit");
    let method = flush_method(facet, sync);
    let all = ALWAYS.iter().chain(sync_options(sync)).copied().chain(method);
    let mut arguments: Vec<_> = all.map(OsString::from).collect();
    if let Some(bytes) = settings.get("cache") {
        // A server of rows has tables of all kinds.
        let asked = StorageEngine::from_settings(settings).word;
        let kinds = KINDS.iter().filter(|kind| facet == Facet::Rows || kind.word == asked);
        arguments.extend(kinds.filter_map(|kind| kind.cache).map(|name| variable((name, bytes))));
    }
    arguments.extend(own_variables(settings)?.into_iter().map(variable));
    let data = folder.data();
    arguments.extend([
        path_option("--datadir=", &data),
        path_option("--innodb-data-home-dir=", &data),
        path_option("--innodb-log-group-home-dir=", &data),
        path_option("--aria-log-dir-path=", &data),
        path_option("--tmpdir=", &folder.path().join("tmp")),
        // Relative to the data, because the path of a socket is short.
        path_option("--socket=../", SOFTWARE.socket.as_ref()),
        path_option("--pid-file=", &folder.pid_file()),
    ]);
    arguments.extend(network(folder)?);
    Ok(arguments)
}

/// Returns the options that let a user with a password, and no other one, connect over TCP.
fn network(folder: &ServerFolder) -> Result<Vec<OsString>> {
    let Some(Tcp { port, password }) = folder.tcp() else {
        return Ok(vec!["--skip-networking".into()]);
    };
    let user = format!("{TCP_USER}@'{LOOPBACK}'");
    let first = folder.write(
        "first.sql",
        &format!(
            "DELETE FROM mysql.global_priv WHERE Host<>'localhost' OR User='';\n\
             FLUSH PRIVILEGES;\n\
             CREATE OR REPLACE USER {user} IDENTIFIED BY '{password}';\n\
             GRANT ALL ON *.* TO {user};\n"
        ),
    )?;
    Ok(vec![
        format!("--bind-address={LOOPBACK}").into(),
        format!("--port={port}").into(),
        // Run before the server listens.
        path_option("--init-file=", &first),
    ])
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn another_server_or_an_old_one_is_refused() {
        let version = |printed| SOFTWARE.version_in(printed);
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        assert_eq!(version(debian).unwrap(), "10.11.19-MariaDB-0+deb12u1");
        assert!(version("mysqld  Ver 11.4.2-MariaDB for osx on arm64 (Homebrew)").is_ok());
        for (printed, why) in [
            ("mysqld  Ver 10.1.48-MariaDB for Linux on x86_64", "10.5 is the least"),
            ("mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)", "mysql://"),
            ("MariaDB", "too old"),
            ("MariaDB Ver ", "too old"),
            ("MariaDB Ver .-", "too old"),
            ("", "is not MariaDB"),
        ] {
            let error = version(printed).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
