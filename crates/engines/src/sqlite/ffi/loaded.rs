//! Builds of SQLite that are loaded while the program runs.

use std::{
    env,
    fs::{self, File},
    io,
    path::{self, Path, PathBuf},
    sync::Mutex,
    thread::{self, ThreadId},
};

use kit::lock;
use libloading::Library;
use model::{Error, Result};

use super::table::{Functions, LINKED};

/// The first SQLite that moves blob handles from row to row.
const LEAST_VERSION: (i32, &str) = (3_007_004, "3.7.4");

/// The builds that were loaded, by the files that they came from, and whether from copies of them.
/// None is ever unloaded.
static LOADED: Mutex<Vec<(PathBuf, bool, &Functions)>> = Mutex::new(Vec::new());

/// Loads the build of SQLite in the library at `path`, or in a copy of it.
///
/// # Errors
///
/// Fails if it is no SQLite, too old, or loaded already.
pub(crate) fn load(path: &Path, copied: bool) -> Result<&'static Functions> {
    let path = path::absolute(path).map_err(|e| Error::io(path.display(), e))?;
    let mut loaded = lock::hold(&LOADED);
    let is_it = |(other, copy, _): &&(PathBuf, bool, _)| *other == path && *copy == copied;
    if let Some((.., functions)) = loaded.iter().find(is_it) {
        return Ok(functions);
    }
    let functions = if copied { opened_from_copy(&path) } else { load_functions(&path) }?;
    if let Some((other, ..)) = loaded.iter().find(|(.., other)| functions.is(other)) {
        let why = format!("is the same file as {}; lib=copy:PATH loads it twice", other.display());
        return Err(Error::usage(why));
    }
    let functions: &Functions = Box::leak(Box::new(functions));
    loaded.push((path, copied, functions));
    Ok(functions)
}

/// Loads a copy of the library. The system loads a file once, whatever its names: a copy is another
/// file, removed once it is loaded.
fn opened_from_copy(path: &Path) -> Result<Functions> {
    let copy = env::temp_dir().join(format!("storemark-{}.so", std::process::id()));
    let copying = || {
        // The copy may be of an earlier process with this number. Nobody else's file is written to.
        let _ = fs::remove_file(&copy);
        io::copy(&mut File::open(path)?, &mut File::create_new(&copy)?)
    };
    let opened = match copying() {
        Ok(_) => load_functions(&copy),
        Err(e) => Err(Error::io(format!("a copy as {}", copy.display()), e)),
    };
    // It stays loaded.
    let _ = fs::remove_file(&copy);
    opened
}

fn load_functions(path: &Path) -> Result<Functions> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("it cannot be read", e))?;
    if !metadata.is_file() {
        return Err(Error::usage("is no library: it is no file"));
    }
    if cfg!(all(unix, target_feature = "crt-static")) {
        return Err(Error::unsupported(
            "this program is static, and can load no library; the one for glibc can",
        ));
    }
    // SAFETY: the user names this library to have its code run; SQLite needs no initialisation.
    let library = unsafe { Library::new(path) }.map_err(|e| {
        Error::usage(format!("cannot be loaded as a library: {}", reason(&e, path)))
    })?;
    // It stays loaded, also if it is refused: what it started may still run.
    let library: &Library = Box::leak(Box::new(library));
    // SAFETY: any type will do for a symbol that is only looked for.
    if unsafe { library.get::<*const ()>("sqlite3_libversion_number") }.is_err() {
        return Err(Error::usage("is no SQLite library: it has no sqlite3_libversion_number()"));
    }
    // SAFETY: a library with that function is SQLite.
    let functions = unsafe { Functions::load_from(library) }.map_err(|lacking| {
        Error::unsupported(format!(
            "lacks {lacking}(): storemark needs SQLite {} or newer with its usual functions",
            LEAST_VERSION.1
        ))
    })?;
    check(&functions).map(|()| functions)
}

/// Checks that a build is not too old, and not the one that is linked.
fn check(functions: &Functions) -> Result<()> {
    if functions.is(&LINKED) {
        return Err(Error::usage("is the SQLite that storemark uses without lib="));
    }
    if functions.version_number() < LEAST_VERSION.0 {
        let (version, least) = (functions.version(), LEAST_VERSION.1);
        return Err(Error::unsupported(format!("is SQLite {version}; {least} or newer is needed")));
    }
    Ok(())
}

/// Returns the system's message, without the path that it starts with.
fn reason(error: &libloading::Error, path: &Path) -> String {
    let source = std::error::Error::source(error);
    let said = source.map_or_else(|| error.to_string(), ToString::to_string);
    said.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&said).to_owned()
}

/// The sessions of builds without mutexes, each with its thread.
static ALONE: Mutex<Vec<(usize, ThreadId)>> = Mutex::new(Vec::new());

/// A session of a build without mutexes: while it is open, no other thread may have one.
pub(super) struct OnOneThread(usize, ThreadId);

impl OnOneThread {
    /// Marks this thread as the only one with a session of a build; returns `None` if the build has
    /// mutexes.
    ///
    /// # Errors
    ///
    /// Fails if another thread has a session of it.
    pub(super) fn claim(functions: &'static Functions) -> Result<Option<Self>> {
        if functions.is_threadsafe() {
            return Ok(None);
        }
        let own = (std::ptr::from_ref(functions) as usize, thread::current().id());
        let mut all = lock::hold(&ALONE);
        if all.iter().any(|(build, thread)| *build == own.0 && *thread != own.1) {
            let why = "this SQLite was compiled with THREADSAFE=0: it serves one thread only";
            return Err(Error::unsupported(why));
        }
        all.push(own);
        Ok(Some(Self(own.0, own.1)))
    }
}

impl Drop for OnOneThread {
    fn drop(&mut self) {
        let mut all = lock::hold(&ALONE);
        let place = all.iter().position(|one| *one == (self.0, self.1));
        all.swap_remove(place.expect("it is listed from its start on"));
    }
}
