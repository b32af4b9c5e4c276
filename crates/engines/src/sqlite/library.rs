//! The build of SQLite that a target uses: the one that is linked into this program, or that of
//! `lib=`.

use std::path::{Path, PathBuf};

use model::{COPY_OF, Error, LIBRARY, Library, Result, Settings, no_such};

use super::{
    built,
    ffi::{self, Connection, Functions, LINKED, Open},
};

/// The setting that names a library, or a build of `storemark sqlite build`.
pub(super) const SETTING: &str = LIBRARY;

/// Returns the build that a target with `settings` uses.
///
/// # Errors
///
/// Fails if there is no such build, or if it is too old, is the linked one, or is loaded already under
/// another path.
pub(super) fn functions(settings: &Settings) -> Result<&'static Functions> {
    let Some(name) = settings.get(SETTING) else { return Ok(&LINKED) };
    let (as_copy, own) = name.strip_prefix(COPY_OF).map_or((false, name), |name| (true, name));
    let loaded = file(own).and_then(|path| ffi::load(&path, as_copy));
    loaded.map_err(|e| e.context(format!("{SETTING}={name}")))
}

/// Returns the path of a library. A path has a separator; anything else is the name of a build.
fn file(name: &str) -> Result<PathBuf> {
    if name.contains(std::path::is_separator) {
        return Ok(name.into());
    }
    if let Some(path) = built::find(name) {
        return Ok(path);
    }
    if Path::new(name).exists() {
        return Err(Error::usage(format!(
            "no build has this name; the file is {SETTING}=./{name}"
        )));
    }
    let names = built::names();
    let none = no_such("build", name, names.iter().map(String::as_str));
    Err(Error::usage(format!("{none}; a path has a /, and `storemark sqlite build` makes builds")))
}

/// Returns the description that the build of a target reports about itself.
pub(super) fn describe_library(settings: &Settings) -> Result<Library> {
    let sqlite = functions(settings)?;
    let db = Connection::open(sqlite, Path::new(""), Open::Memory)?;
    let mut options = db.column("PRAGMA compile_options", 0)?;
    let loaded = settings.get(SETTING).map(str::to_owned);
    if loaded.is_none() {
        let flags = super::FLAGS.split_whitespace();
        options.extend(flags.filter_map(|flag| flag.strip_prefix("-D")).map(str::to_owned));
    }
    Ok(Library {
        name: "SQLite".to_owned(),
        version: sqlite.version(),
        source: Some(sqlite.source_id()),
        loaded,
        options,
        ..Library::default()
    })
}

/// A build in the user's cache.
pub struct Build {
    /// The name.
    pub name: String,
    /// The flags of the compiler, in addition to those of all builds.
    pub flags: String,
    /// The description that the build reports about itself, or why it cannot be loaded.
    pub library: Result<Library>,
}

impl Build {
    fn describe(name: String) -> Self {
        let mut settings = Settings::default();
        settings.set(SETTING, &name);
        Self { flags: built::flags(&name), library: describe_library(&settings), name }
    }
}

/// Returns all builds, by their names.
pub fn builds() -> Vec<Build> {
    built::names().into_iter().map(Build::describe).collect()
}

/// Compiles SQLite: see `storemark sqlite build --help`. `stopped` is called at times.
///
/// # Errors
///
/// Fails if the compiler does, or the user stops it.
pub fn build(
    source: Option<&Path>,
    name: Option<&str>,
    flags: &[String],
    stopped: &dyn Fn() -> bool,
) -> Result<Build> {
    built::build(source, name, flags, stopped).map(Build::describe)
}
