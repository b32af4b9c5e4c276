//! The software of a server: its programs, which are looked for once, its version, and its
//! arguments.

use std::{
    cmp::Reverse,
    env,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use glob::glob;
use model::{Account, Error, Library, Result, Settings, nearest};
use nix::unistd::{User, geteuid};

use super::{command::run, variables::variables};

/// The variable that names folders of programs, which are searched before the path.
const PROGRAMS: &str = "STOREMARK_PROGRAMS";

/// A kind of server, as this machine may have it installed.
pub(crate) struct Software {
    /// The name for messages.
    pub(crate) name: &'static str,
    /// The engine that starts it.
    pub(crate) engine: &'static str,
    /// The users that packages create for it.
    pub(crate) users: &'static [&'static str],
    /// The names of the server's program, the best first.
    pub(crate) servers: &'static [&'static str],
    /// Whether its program is one of several by the name that it is run under. Otherwise it finds
    /// its own files relative to the real path of its program.
    pub(crate) by_name: bool,
    /// The program that creates a new data directory, from the same package; `None` if the server
    /// does.
    pub(crate) installer: Option<&'static str>,
    /// The folders to search after the path; one `*` matches the end of a name, the greatest
    /// version first.
    pub(crate) usual: &'static [&'static str],
    /// The package to install, as the end of a sentence.
    pub(crate) package: &'static str,
    /// The arguments with which the server prints its version, and the text before it.
    pub(crate) version: (&'static [&'static str], &'static str),
    /// The oldest version that is accepted.
    pub(crate) least: &'static str,
    /// The target that measures another kind of server whose program has the same name, for
    /// messages.
    pub(crate) otherwise: &'static str,
    /// The arguments with which the server prints its variables, each at the start of a line.
    pub(crate) variables: &'static [&'static str],
    /// The names of the signals that end it: once it has written all data to its files, and at
    /// once.
    pub(crate) signals: [&'static str; 2],
    /// The file that marks a folder as a whole store, and the text in it.
    pub(crate) mark: (&'static str, &'static str),
    /// A file or folder that a data directory always has.
    pub(crate) sign: &'static str,
    /// The folders that the server needs and does not create.
    pub(crate) folders: &'static [&'static str],
    pub(crate) socket: &'static str,
    /// The file in which a running server has its process id.
    pub(crate) pid: &'static str,
    pub(crate) found: OnceLock<Installed>,
}

/// The programs that were found.
pub(crate) struct Installed {
    pub(crate) server: PathBuf,
    pub(crate) installer: Option<PathBuf>,
    pub(crate) version: String,
}

impl Software {
    pub(crate) fn installed(&self) -> Result<&Installed> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let server = self.find(self.servers, None)?;
        let printed = run(&server, self.version.0, None)?;
        let version = self.version_in(&printed).map_err(|e| e.at(server.display()))?;
        // Both are of one version if they are in one folder.
        let installer = self.installer.map(|name| self.find(&[name], server.parent()));
        let installer = installer.transpose()?;
        Ok(self.found.get_or_init(|| Installed { server, installer, version }))
    }

    /// Returns the path of another program of the server's package.
    pub(crate) fn program(&self, names: &[&str]) -> Result<PathBuf> {
        self.find(names, self.installed()?.server.parent())
    }

    /// Finds a program in the folder `first`, in those that are named, on the path or in a usual folder.
    fn find(&self, names: &[&str], first: Option<&Path>) -> Result<PathBuf> {
        let [own, path] = [PROGRAMS, "PATH"].map(|name| env::var_os(name).unwrap_or_default());
        let usual = self.usual.iter().flat_map(|pattern| folders(pattern));
        let first = first.map(Path::to_owned).into_iter().chain(env::split_paths(&own));
        let folders = first.chain(env::split_paths(&path));
        let mut files = folders.chain(usual).flat_map(|f| names.iter().map(move |n| f.join(n)));
        let found = files.find_map(|file| {
            let real = file.canonicalize().ok().filter(|file| file.is_file())?;
            Some(if self.by_name { file } else { real })
        });
        found.ok_or_else(|| {
            let names = names.join(" or ");
            Error::unsupported(format!("{names} is not installed here: {}", self.package))
        })
    }

    /// Returns the user that its servers run as, because they refuse to run as root; `None` for the
    /// user of this process.
    pub(crate) fn account(&self) -> Option<Account> {
        let mut names = self.users.iter().chain(&["nobody"]);
        let user = if geteuid().is_root() {
            names.find_map(|name| User::from_name(name).ok()?)
        } else {
            None
        };
        user.map(|user| Account { user: user.uid.as_raw(), group: user.gid.as_raw() })
    }

    pub(crate) fn library(&self) -> Option<Library> {
        let version = self.installed().ok()?.version.clone();
        Some(Library::new(self.name, version))
    }

    /// Returns the version in what the server prints.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be used.
    pub(crate) fn version_in(&self, printed: &str) -> Result<String> {
        let Self { name, least, otherwise, .. } = self;
        if !otherwise.is_empty() && !printed.contains(name) {
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

    /// Returns the meaning of a program's error: an error that names a variable that was asked for
    /// is about wrong input.
    pub(crate) fn explain(&self, error: Error, settings: &Settings) -> Error {
        let plain = |text: &str| text.replace('-', "_");
        let said = plain(&error.to_string());
        let apart = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.';
        let named = |name: &str| {
            let name = plain(name);
            said.split(apart).any(|word| word.trim_matches(['.', '_']).eq_ignore_ascii_case(&name))
        };
        let Some((name, value)) = variables(settings).find(|(name, _)| named(name)) else {
            return error;
        };
        let known = self
            .installed()
            .and_then(|installed| run(&installed.server, self.variables, self.account()));
        let lines = known.unwrap_or_default().replace('-', "_");
        // `run` has joined the lines.
        let known = lines.split(" | ").filter_map(|line| line.split_whitespace().next());
        let near = nearest(name, known).filter(|near| *near != name);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Error::usage(format!("set.{name}={value}: {error}{hint}"))
    }
}

/// Returns the folders that match `pattern`.
fn folders(pattern: &str) -> Vec<PathBuf> {
    let mut found: Vec<_> = glob(pattern).into_iter().flatten().flatten().collect();
    found.sort_by_key(|folder| Reverse(numbers(&folder.to_string_lossy())));
    found
}

/// Returns the numbers in a version, for comparison: 9.6 comes before 15.
pub(crate) fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::ErrorKind;

    use super::*;
    use crate::server::tests::shell;

    #[test]
    fn its_version_is_the_one_that_it_prints() {
        assert_eq!(shell().installed().unwrap().version, "1.2");
    }

    #[test]
    fn the_error_names_the_package() {
        let error = shell().find(&["storemark-no-such-server"], None).unwrap_err();
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
            fs::write(bin.join("storemark-server"), "").unwrap();
        }
        let found = folders(&format!("{}/*/bin", root.display()));
        assert_eq!(found, ["15", "14", "9.6"].map(|version| root.join(version).join("bin")));
        let some = folders(&format!("{}/1*/bin", root.display()));
        assert_eq!(some, ["15", "14"].map(|version| root.join(version).join("bin")));
        let names = ["storemark-other", "storemark-server"];
        let server = shell().find(&names, Some(&found[0])).unwrap();
        assert_eq!(server, root.join("15/bin/storemark-server"));
    }

    #[test]
    fn no_server_runs_as_root() {
        let account = shell().account();
        assert_eq!(account.is_some(), geteuid().is_root());
        assert!(account.is_none_or(|account| account.user > 0));
    }

    #[test]
    fn only_an_error_about_a_variable_is_wrong_input() {
        let mut settings = Settings::default();
        settings.set("set.work_mme", "9T");
        for (said, kind, end) in [
            ("unknown variable 'work_mme=9T'", ErrorKind::Usage, "; did you mean work_mem?"),
            ("Error while setting value '9T' to 'work-mme'", ErrorKind::Usage, "work_mem?"),
            ("Cannot map work_mme_max=8583072m", ErrorKind::Failed, "8583072m"),
            ("did not start (exit status: 1)", ErrorKind::Failed, "1)"),
        ] {
            let error = shell().explain(Error::failed(said), &settings);
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().ends_with(end), "{error}");
        }
    }
}
