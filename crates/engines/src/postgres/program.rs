//! The server that is installed here.

use std::{ffi::OsString, path::PathBuf, sync::OnceLock};

use model::{Error, Library, Result};

use crate::server::{self, Program};

const SERVER: Program = Program {
    names: &["postgres"],
    usual: &[
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/usr/local/pgsql/bin",
        "/opt/homebrew/opt/postgresql@*/bin",
        "/usr/local/opt/postgresql@*/bin",
    ],
    package: "a package brings it (Debian: apt-get install postgresql)",
};

/// Older ones are no longer maintained, and untried.
const LEAST: u32 = 12;

/// The programs and their version.
pub(super) struct Installed {
    pub(super) postgres: PathBuf,
    pub(super) initdb: PathBuf,
    pub(super) major: u32,
    version: String,
}

impl Installed {
    /// The first on the path or in a usual place, looked for once.
    pub(super) fn find() -> Result<&'static Self> {
        static FOUND: OnceLock<Installed> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let postgres = SERVER.find()?;
        let initdb = postgres.with_file_name("initdb");
        if !initdb.is_file() {
            return Err(Error::unsupported(format!(
                "{} is missing beside the server: {}",
                initdb.display(),
                SERVER.package
            )));
        }
        let said = server::run(&postgres, &[OsString::from("--version")], None)?;
        let (major, version) = parse(&said).ok_or_else(|| {
            Error::unsupported(format!("{} tells no version: {said:?}", postgres.display()))
        })?;
        if major < LEAST {
            return Err(Error::unsupported(format!(
                "{} is PostgreSQL {version}; {LEAST} is the least that is accepted",
                postgres.display()
            )));
        }
        Ok(FOUND.get_or_init(|| Self { postgres, initdb, major, version }))
    }

    pub(super) fn library(&self) -> Library {
        Library {
            name: "PostgreSQL".to_owned(),
            version: self.version.clone(),
            options: Vec::new(),
        }
    }
}

/// `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`, `postgres (PostgreSQL) 18beta1`.
fn parse(said: &str) -> Option<(u32, String)> {
    let version = said.split("(PostgreSQL)").nth(1)?.split_whitespace().next()?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((digits.parse().ok()?, version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_what_the_server_says() {
        let read = |said: &str| parse(said).map(|(major, _)| major);
        assert_eq!(read("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"), Some(15));
        assert_eq!(read("postgres (PostgreSQL) 9.6.24"), Some(9));
        assert_eq!(read("postgres (PostgreSQL) 18beta1"), Some(18));
        for said in ["", "postgres", "postgres (PostgreSQL)", "postgres (PostgreSQL) devel"] {
            assert_eq!(read(said), None, "{said}");
        }
    }
}
