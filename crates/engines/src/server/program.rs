//! Finds the programs of a server.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use model::{Error, ErrorKind, Result};

/// A program that a package brings.
pub(crate) struct Program {
    /// Its names, the best first.
    pub(crate) names: &'static [&'static str],
    /// Folders where it is when it is not on the path; one `*` stands for every end of a name, the
    /// greatest version first.
    pub(crate) usual: &'static [&'static str],
    /// What has to be installed, as a sentence ends.
    pub(crate) package: &'static str,
}

impl Program {
    /// Where it is.
    pub(crate) fn find(&self) -> Result<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let on_path = env::split_paths(&path).collect::<Vec<_>>();
        let usual = self.usual.iter().flat_map(|pattern| folders(pattern));
        self.find_in(on_path.into_iter().chain(usual)).ok_or_else(|| {
            let names = self.names.join(" or ");
            let what = format!("{names} is not installed here: {}", self.package);
            Error::new(ErrorKind::Unsupported, what)
        })
    }

    fn find_in(&self, mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
        folders.find_map(|folder| {
            let mut candidates = self.names.iter().map(|name| folder.join(name));
            // Servers look for their files from where they really are.
            candidates.find(|path| path.is_file()).and_then(|path| path.canonicalize().ok())
        })
    }
}

/// The folders that `pattern` stands for.
fn folders(pattern: &str) -> Vec<PathBuf> {
    let Some((before, after)) = pattern.split_once('*') else { return vec![pattern.into()] };
    let (folder, start) = before.rsplit_once('/').unwrap_or((".", before));
    let mut names: Vec<_> = fs::read_dir(format!("{folder}/"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(start))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(version(name)));
    let after = after.trim_start_matches('/');
    names.iter().map(|name| Path::new(folder).join(name).join(after)).collect()
}

/// The numbers in `name`: 9.6 comes before 15.
fn version(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Program = Program {
        names: &["storemark-no-such-server"],
        usual: &["/nowhere", "/nowhere/*/bin"],
        package: "Debian: apt-get install no-such-server",
    };

    #[test]
    fn what_is_absent_names_its_package() {
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
        assert_eq!(program.find_in(found.into_iter()).unwrap(), root.join("15/bin/server"));
    }
}
