//! The software of a server: its programs, which are looked for once, and its version.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::{Account, Error, Facet, Library, Result, Settings};

use super::{
    account::account,
    folder::{Folder, Layout},
    process::{Signals, run},
    variables::Expected,
};

/// A kind of server, as this machine may have it installed.
pub(crate) struct Software {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The engine that starts it.
    pub(crate) engine: &'static str,
    /// Users that packages create for it.
    pub(crate) users: &'static [&'static str],
    pub(crate) server: Program,
    /// What makes a new data directory, from the same package.
    pub(crate) installer: Program,
    /// What makes the server print its version, and the text before it.
    pub(crate) version: (&'static [&'static str], &'static str),
    /// The oldest version that is accepted.
    pub(crate) least: &'static str,
    /// What measures another kind of server, if one is installed instead; for people.
    pub(crate) otherwise: &'static str,
    pub(crate) signals: Signals,
    pub(crate) layout: Layout,
    pub(crate) arguments: Arguments,
    pub(crate) found: OnceLock<Installed>,
}

/// What the programs are given, and what comes of it.
pub(crate) struct Arguments {
    pub(crate) install: fn(&Folder, &Settings) -> Result<Vec<OsString>>,
    /// What is asked for comes before what must be so: the server takes the last of two values.
    pub(crate) start: fn(&Folder, Facet, &Settings) -> Result<Vec<OsString>>,
    /// Asks the program, before it starts, for the values that variables will have.
    pub(crate) expected: fn(&Folder, &Settings) -> Result<Expected>,
    /// Returns what the error of a program that failed means.
    pub(crate) explain: fn(Error, &Settings) -> Error,
}

/// The programs that were found.
pub(crate) struct Installed {
    pub(crate) server: PathBuf,
    pub(crate) installer: PathBuf,
    pub(crate) version: String,
}

impl Software {
    /// Finds the programs on the path or in a usual folder.
    pub(crate) fn installed(&self) -> Result<&Installed> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let server = self.server.find()?;
        let arguments: Vec<_> = self.version.0.iter().map(OsString::from).collect();
        let printed = run(&server, &arguments, None)?;
        let version = self.version_in(&printed).map_err(|e| e.context(server.display()))?;
        let installer = self.installer.find_beside(&server)?;
        Ok(self.found.get_or_init(|| Installed { server, installer, version }))
    }

    /// The user that its servers run as; `None`: the user of this process.
    pub(crate) fn account(&self) -> Option<Account> {
        account(self.users)
    }

    pub(crate) fn library(&self) -> Option<Library> {
        let version = self.installed().ok()?.version.clone();
        Some(Library { name: self.name.to_owned(), version, options: Vec::new() })
    }

    /// Returns the version in what the server prints; an error if it cannot be used.
    pub(crate) fn version_in(&self, printed: &str) -> Result<String> {
        let Self { name, least, otherwise, .. } = self;
        if !printed.contains(name) {
            return Err(Error::unsupported(format!(
                "is not {name} (it says {printed:?}){otherwise}"
            )));
        }
        let rest = printed.split_once(self.version.1).map_or("", |(_, rest)| rest);
        let version = rest.split_whitespace().next().unwrap_or_default();
        if numbers(version) < numbers(least) {
            return Err(Error::unsupported(format!(
                "{name} {version} is too old: {least} is the least that is accepted"
            )));
        }
        Ok(version.to_owned())
    }
}

/// A program that a package brings.
pub(crate) struct Program {
    /// Its names, the best first.
    pub(crate) names: &'static [&'static str],
    /// Folders to search after the path; one `*` matches the end of a name, the greatest version
    /// first.
    pub(crate) usual: &'static [&'static str],
    /// What must be installed, the end of a sentence.
    pub(crate) package: &'static str,
}

impl Program {
    fn find(&self) -> Result<PathBuf> {
        self.find_in(self.folders())
    }

    /// Finds it in the folder of `other`, so that both are of one version, or where it usually is.
    fn find_beside(&self, other: &Path) -> Result<PathBuf> {
        self.find_in(other.parent().map(Path::to_owned).into_iter().chain(self.folders()))
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&path).collect::<Vec<_>>();
        on_path.into_iter().chain(self.usual.iter().flat_map(|pattern| folders(pattern)))
    }

    fn find_in(&self, mut folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf> {
        let found = folders.find_map(|folder| {
            let mut candidates = self.names.iter().map(|name| folder.join(name));
            // A server finds its own files relative to the real path of its program.
            candidates.find(|path| path.is_file()).and_then(|path| path.canonicalize().ok())
        });
        found.ok_or_else(|| {
            let names = self.names.join(" or ");
            Error::unsupported(format!("{names} is not installed here: {}", self.package))
        })
    }
}

/// Returns the folders that match `pattern`.
fn folders(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (folder, start) = before.rsplit_once('/').unwrap_or((".", before));
    let mut names: Vec<_> = fs::read_dir(format!("{folder}/"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(start))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(numbers(name)));
    let after = after.trim_start_matches('/');
    names.iter().map(|name| Path::new(folder).join(name).join(after)).collect()
}

/// Returns the numbers in a version, for comparison: 9.6 comes before 15.
pub(crate) fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    const ABSENT: Program = Program {
        names: &["storemark-no-such-server"],
        usual: &["/nowhere", "/nowhere/*/bin"],
        package: "Debian: apt-get install no-such-server",
    };

    #[test]
    fn the_error_names_the_package() {
        let error = ABSENT.find().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().ends_with("apt-get install no-such-server"), "{error}");
    }

    #[test]
    fn the_greatest_version_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for version in ["9.6", "15", "14"] {
            let bin = root.join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("server"), "").unwrap();
        }
        let found = folders(&format!("{}/*/bin", root.display()));
        assert_eq!(found, ["15", "14", "9.6"].map(|version| root.join(version).join("bin")));
        let some = folders(&format!("{}/1*/bin", root.display()));
        assert_eq!(some, ["15", "14"].map(|version| root.join(version).join("bin")));
        let program = Program { names: &["other", "server"], ..ABSENT };
        let installer = Program { names: &["server"], ..ABSENT };
        let server = program.find_in(found.into_iter()).unwrap();
        assert_eq!(server, root.join("15/bin/server"));
        assert_eq!(installer.find_beside(&server).unwrap(), server);
    }
}
