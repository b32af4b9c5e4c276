//! Builds of SQLite that `storemark sqlite build` compiled, each in a folder of the user's cache.

use std::{
    env::{self, consts::DLL_SUFFIX},
    fs,
    path::{Path, PathBuf},
};

use model::{Error, Result};

mod compile;

pub(super) use compile::build;

/// The file with the flags of a build, next to its library.
const FLAGS: &str = "flags";

fn library_in(folder: &Path) -> PathBuf {
    folder.join(format!("libsqlite3{DLL_SUFFIX}"))
}

/// Returns the folder of all builds
/// (<https://specifications.freedesktop.org/basedir-spec/latest/>).
///
/// # Errors
///
/// Fails if the environment names no home.
pub fn folder() -> Result<PathBuf> {
    let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || set("HOME").map(|home| home.join(".cache"));
    let cache = set("XDG_CACHE_HOME").or_else(home).or_else(|| set("LOCALAPPDATA"));
    let cache = cache.ok_or_else(|| {
        Error::usage("no folder for builds of SQLite: neither XDG_CACHE_HOME nor HOME is set")
    })?;
    Ok(cache.join("storemark").join("sqlite"))
}

/// Returns the library of the build called `name`, if there is one.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let folder = folder().ok().filter(|_| is_name(name))?.join(name);
    Some(library_in(&folder)).filter(|path| path.exists())
}

/// Returns whether `name` is accepted: it cannot be a path, an option, or a file that is hidden.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._+=-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_part)
}

/// Returns the names of all builds, sorted.
pub(super) fn names() -> Vec<String> {
    let entries = folder().ok().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| find(name).is_some()).collect();
    names.sort_unstable();
    names
}

/// Returns the flags of the compiler for a build, in addition to those of all builds.
pub(super) fn flags(name: &str) -> String {
    let file = folder().map(|folder| folder.join(name).join(FLAGS));
    file.ok().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default()
}
