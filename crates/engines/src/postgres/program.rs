//! The server that is installed here, and what it is given.

use std::{ffi::OsString, sync::OnceLock};

use model::{Error, Result, Settings, nearest};

use super::variables;
use crate::server::{
    Arguments, Expected, Folder, Installed, Layout, Program, Signals, Software, numbers,
    own_variables, run,
};

/// The name of the user that owns the database.
pub(super) const USER: &str = "storemark";
/// Only a part of the socket's name: no port is opened.
pub(super) const PORT: u16 = 5432;

const USUAL: &[&str] = &[
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/usr/local/pgsql/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
];

const PACKAGE: &str = "a package brings it (Debian: apt-get install postgresql)";

pub(super) static SOFTWARE: Software = Software {
    name: "PostgreSQL",
    engine: "postgres",
    users: &["postgres"],
    server: Program { names: &["postgres"], usual: USUAL, package: PACKAGE },
    installer: Program { names: &["initdb"], usual: USUAL, package: PACKAGE },
    version: (&["--version"], "(PostgreSQL)"),
    // Older ones are not maintained any longer, and untried.
    least: "12",
    otherwise: "",
    signals: Signals { clean: "INT", quick: "QUIT" },
    layout: Layout {
        mark: ("storemark-postgres", "A PostgreSQL cluster that storemark made\n"),
        sign: "data/PG_VERSION",
        folders: &["data", "socket"],
        socket: "socket/.s.PGSQL.5432",
        pid: "data/postmaster.pid",
    },
    arguments: Arguments {
        install: |folder, _| Ok(install_arguments(folder)),
        start: |folder, _, settings| Ok(start_arguments(folder, settings)),
        expected,
        explain: |error, _| error,
    },
    found: OnceLock::new(),
};

fn install_arguments(folder: &Folder) -> Vec<OsString> {
    let fixed = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"];
    let fixed = fixed.map(OsString::from).into_iter();
    let user = format!("--username={USER}").into();
    fixed.chain([user, "-D".into(), folder.data().into()]).collect()
}

fn start_arguments(folder: &Folder, settings: &Settings) -> Vec<OsString> {
    let port = PORT.to_string();
    let fixed = [
        ("listen_addresses", ""),
        // Relative to the data, so that no character of the path needs a quote.
        ("unix_socket_directories", "../socket"),
        ("unix_socket_permissions", "0700"),
        ("logging_collector", "off"),
        ("log_destination", "stderr"),
        ("log_line_prefix", ""),
        ("port", &port),
    ];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut arguments = vec![OsString::from("-D"), folder.data().into()];
    for (name, value) in variables::of(settings).into_iter().chain(fixed) {
        arguments.extend([OsString::from("-c"), format!("{name}={value}").into()]);
    }
    arguments
}

/// Returns the values that the server will have of the variables that were asked for by name, as
/// it writes them; an error if this version cannot open the data.
fn expected(folder: &Folder, settings: &Settings) -> Result<Expected> {
    let installed = SOFTWARE.installed()?;
    check_version(folder, installed)?;
    let asked = own_variables(settings)?.into_iter();
    let value =
        |(name, value)| Ok((str::to_owned(name), value_of(folder, installed, name, value)?));
    asked.map(value).collect()
}

fn check_version(folder: &Folder, installed: &Installed) -> Result<()> {
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

fn value_of(folder: &Folder, installed: &Installed, name: &str, value: &str) -> Result<String> {
    let account = SOFTWARE.account();
    let mut arguments = vec![OsString::from("-D"), folder.data().into()];
    arguments.extend(["-c", &format!("{name}={value}"), "-C", name].map(OsString::from));
    run(&installed.server, &arguments, account).map_err(|error| {
        let said = error.to_string();
        let why = said.split_once("FATAL:").map_or(&*said, |(_, why)| why).trim();
        let hint = if why.contains("unrecognized") { hint(installed, name) } else { None };
        Error::usage(format!("set.{name}={value}: {why}{}", hint.unwrap_or_default()))
    })
}

fn hint(installed: &Installed, name: &str) -> Option<String> {
    let arguments = [OsString::from("--describe-config")];
    let all = run(&installed.server, &arguments, SOFTWARE.account()).ok()?;
    // One variable a line, its name first; `run` has joined the lines.
    let names = all.split(" | ").filter_map(|line| line.split('\t').next());
    nearest(name, names).map(|near| format!("; did you mean {near}?"))
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
}
