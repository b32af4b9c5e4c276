//! The server that is installed here, and starting it on a folder.

use std::{
    ffi::OsString,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use model::{Account, Error, ErrorKind, Result, Settings};

use super::{durability, folder::Folder, kind::Kind, setting};
use crate::server::{Program, Recipe, Server, run};

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

const SERVER: Program = Program { names: &["mariadbd", "mysqld"], usual: USUAL, package: PACKAGE };
const INSTALLER: Program =
    Program { names: &["mariadb-install-db"], usual: USUAL, package: PACKAGE };

/// The first with programs of these names.
const LEAST: (u32, u32) = (10, 5);

/// The server's programs.
pub(crate) struct Installed {
    server: PathBuf,
    installer: PathBuf,
    pub(crate) version: String,
}

impl Installed {
    pub(crate) fn find() -> Result<Self> {
        let server = SERVER.find()?;
        let said = run(&server, &["--no-defaults", "--version"].map(OsString::from), None)?;
        let version = version(&said).map_err(|e| e.context(server.display()))?;
        Ok(Self { server, installer: INSTALLER.find()?, version })
    }

    /// Fills the data directory of `folder`. A power cut meanwhile leaves no store, so that
    /// nothing is flushed.
    pub(crate) fn install(
        &self,
        folder: &Folder,
        settings: &Settings,
        account: Option<Account>,
    ) -> Result<()> {
        let mut arguments = vec![
            "--no-defaults".into(),
            "--auth-root-authentication-method=normal".into(),
            "--skip-test-db".into(),
            "--skip-name-resolve".into(),
            option("--datadir=", &folder.data()),
            option("--tmpdir=", &folder.temporary()),
        ];
        arguments.extend(durability::options("none").iter().map(OsString::from));
        // What is fixed once the data directory is made (`innodb_page_size`) is among these.
        let variables = setting::own_variables(settings)?.into_iter();
        let fixed = variables.filter(|(name, _)| name.starts_with("innodb_"));
        arguments.extend(fixed.map(|(name, value)| format!("--{name}={value}").into()));
        run(&self.installer, &arguments, account)
            .map(drop)
            .map_err(|error| setting::explain(error, settings, &self.version))
    }

    /// Starts it on `folder`, with tables of these `kinds`, and waits until it answers.
    pub(crate) fn start(
        &self,
        folder: &Folder,
        kinds: &[Kind],
        settings: &Settings,
        account: Option<Account>,
    ) -> Result<Server> {
        let recipe = Recipe {
            name: "MariaDB",
            program: self.server.clone(),
            arguments: arguments(folder, kinds, settings)?,
            account,
            log: folder.log(),
            clean: "TERM",
            quick: "TERM",
        };
        let socket = folder.socket();
        Server::start(&recipe, || UnixStream::connect(&socket).is_ok())
            .map_err(|error| setting::explain(error, settings, &self.version))
    }
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// What a server is given: its places; nothing that outlives it or reaches beyond it; and no pages
/// read ahead of the first use, since a store that was just opened is measured.
fn arguments(folder: &Folder, kinds: &[Kind], settings: &Settings) -> Result<Vec<OsString>> {
    const ALWAYS: &[&str] = &[
        "--skip-log-bin",
        "--skip-name-resolve",
        "--innodb-buffer-pool-load-at-startup=0",
        "--innodb-buffer-pool-dump-at-shutdown=0",
        "--max-allowed-packet=1G",
        "--max-connections=1000",
        "--wait-timeout=31536000",
    ];
    let mut arguments = vec!["--no-defaults".into()];
    arguments.extend(ALWAYS.iter().map(OsString::from));
    let sync = settings.get("sync").unwrap_or("commit");
    arguments.extend(durability::options(sync).iter().map(OsString::from));
    if let Some(bytes) = settings.get("cache") {
        let variables = kinds.iter().filter_map(|kind| kind.cache());
        arguments.extend(variables.map(|variable| format!("--{variable}={bytes}").into()));
    }
    for (name, value) in setting::own_variables(settings)? {
        arguments.push(format!("--{name}={value}").into());
    }
    // Last, so that they win.
    arguments.extend([
        "--skip-networking".into(),
        option("--datadir=", &folder.data()),
        option("--innodb-data-home-dir=", &folder.data()),
        option("--innodb-log-group-home-dir=", &folder.data()),
        option("--aria-log-dir-path=", &folder.data()),
        option("--tmpdir=", &folder.temporary()),
        option("--socket=", &folder.socket()),
        option("--pid-file=", &folder.pid()),
    ]);
    Ok(arguments)
}

/// `10.11.19-MariaDB…` of what `--version` prints.
fn version(said: &str) -> Result<String> {
    let unfit = |why: String| Err(Error::new(ErrorKind::Unsupported, why));
    let version = said
        .split_once(" Ver ")
        .and_then(|(_, rest)| rest.split_whitespace().next())
        .unwrap_or_default();
    if !said.contains("MariaDB") {
        return unfit(format!(
            "is MySQL or unknown (it says {said:?}), which is not started; mysql://user@host/database \
             measures one that runs; {PACKAGE}"
        ));
    }
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let known = numbers.next().and_then(Result::ok).zip(numbers.next().and_then(Result::ok));
    match known {
        Some(known) if known >= LEAST => Ok(version.to_owned()),
        _ => unfit(format!(
            "MariaDB {version} is too old: {}.{} is the least that is accepted",
            LEAST.0, LEAST.1
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_mariadb_or_too_old_is_told() {
        let debian = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64";
        assert_eq!(version(debian).unwrap(), "10.11.19-MariaDB-0+deb12u1");
        assert!(version("mysqld  Ver 11.4.2-MariaDB for osx on arm64 (Homebrew)").is_ok());
        for (said, why) in [
            ("mysqld  Ver 10.1.48-MariaDB for Linux on x86_64", "10.5 is the least"),
            ("mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL Community Server - GPL)", "is MySQL"),
            ("MariaDB", "too old"),
            ("MariaDB Ver ", "too old"),
            ("MariaDB Ver .-", "too old"),
            ("", "is MySQL or unknown"),
        ] {
            let error = version(said).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
