//! The server that is installed here, and what it is given.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::{Facet, Result, Settings};

use super::{durability, kind::Kind, variables::explain_start};
use crate::server::{
    Arguments, Expected, Folder, Layout, Program, Signals, Software, own_variables,
};

const PACKAGE: &str = "MariaDB's server is needed (Debian: apt-get install mariadb-server)";

const USUAL: &[&str] = &[
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
];

pub(super) static SOFTWARE: Software = Software {
    name: "MariaDB",
    engine: "mariadb",
    users: &["mysql"],
    server: Program { names: &["mariadbd", "mysqld"], usual: USUAL, package: PACKAGE },
    installer: Program { names: &["mariadb-install-db"], usual: USUAL, package: PACKAGE },
    version: (&["--no-defaults", "--version"], " Ver "),
    // The first with programs of these names.
    least: "10.5",
    otherwise: "; mysql://user@host/database measures a MySQL server that runs",
    signals: Signals { clean: "TERM", quick: "TERM" },
    layout: Layout {
        mark: (
            "storemark.mariadb",
            "A store of storemark: data/ is a MariaDB server's data directory.\n",
        ),
        sign: "data",
        folders: &["data", "tmp"],
        socket: "socket",
        pid: "pid",
    },
    arguments: Arguments {
        install: install_arguments,
        start: start_arguments,
        expected: |_, _| Ok(Expected::new()),
        explain: |error, settings| {
            let version = SOFTWARE.installed().map_or("", |installed| &installed.version);
            explain_start(error, settings, version)
        },
    },
    found: OnceLock::new(),
};

fn temporary(folder: &Folder) -> PathBuf {
    folder.path().join("tmp")
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

fn variable((name, value): (&str, &str)) -> OsString {
    format!("--{name}={value}").into()
}

/// Nothing is flushed, because a power cut before the end leaves no store anyway.
fn install_arguments(folder: &Folder, settings: &Settings) -> Result<Vec<OsString>> {
    let mut arguments = vec![
        "--no-defaults".into(),
        "--auth-root-authentication-method=normal".into(),
        "--skip-test-db".into(),
        "--skip-name-resolve".into(),
        option("--datadir=", &folder.data()),
        option("--tmpdir=", &temporary(folder)),
    ];
    arguments.extend(durability::options("none").iter().map(OsString::from));
    // These include what is fixed once the data directory exists (`innodb_page_size`).
    let variables = own_variables(settings)?.into_iter();
    arguments.extend(variables.filter(|(name, _)| name.starts_with("innodb_")).map(variable));
    Ok(arguments)
}

/// Nothing that reaches out of the folder, and no pages read ahead of their first use, because a
/// store that was just opened is measured.
fn start_arguments(folder: &Folder, facet: Facet, settings: &Settings) -> Result<Vec<OsString>> {
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
    let mut arguments: Vec<_> = ALWAYS.iter().map(OsString::from).collect();
    let sync = settings.get("sync").unwrap_or("commit");
    arguments.extend(durability::options(sync).iter().map(OsString::from));
    if let Some(bytes) = settings.get("cache") {
        // A server of rows has tables of all kinds.
        let kinds = Kind::ALL.into_iter();
        let kinds = kinds.filter(|kind| facet == Facet::Rows || *kind == Kind::asked(settings));
        arguments.extend(kinds.filter_map(Kind::cache).map(|name| variable((name, bytes))));
    }
    arguments.extend(own_variables(settings)?.into_iter().map(variable));
    let data = folder.data();
    arguments.extend([
        "--skip-networking".into(),
        option("--datadir=", &data),
        option("--innodb-data-home-dir=", &data),
        option("--innodb-log-group-home-dir=", &data),
        option("--aria-log-dir-path=", &data),
        option("--tmpdir=", &temporary(folder)),
        option("--socket=", &folder.socket()),
        option("--pid-file=", &folder.pid_file()),
    ]);
    Ok(arguments)
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
