//! Compiles an amalgamation of SQLite with the user's C compiler.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use model::{Error, ErrorKind, Result};

use super::{FLAGS, folder, is_name, library_in};
use crate::sqlite::ffi;

/// The amalgamation that is linked into this program, which is compiled if nothing else is named.
#[cfg(feature = "amalgamation")]
static BUNDLED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sqlite3.c.gz"));

/// The flags that every library needs; the user's flags come after these and win.
const ALWAYS: [&str; 4] = ["-O2", "-fPIC", "-shared", "-w"];
/// The libraries that SQLite may use.
const LINKED: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// Compiles `source` (a file, or a folder that has `sqlite3.c`; else the bundled amalgamation) with
/// `flags` into the cache, and returns its name: `name`, or one formed of version and flags.
/// `stopped` is called at times.
///
/// # Errors
///
/// Fails if the compiler does, or the user stops it.
pub(in crate::sqlite) fn build(
    source: Option<&Path>,
    name: Option<&str>,
    flags: &[String],
    stopped: &dyn Fn() -> bool,
) -> Result<String> {
    check(name, flags)?;
    let code = source.map_or_else(bundled, read)?;
    let version = version(&code).ok_or_else(|| {
        let source = source.map_or_else(String::new, |path| format!("{}: ", path.display()));
        Error::usage(format!("{source}is no amalgamation of SQLite: it defines no SQLITE_VERSION"))
    })?;
    let name = name.map_or_else(|| build_name(&version, flags), str::to_owned);
    let (all, place) = (folder()?, folder()?.join(&name));
    fs::create_dir_all(&all).map_err(|e| Error::io(all.display(), e))?;
    // One after the other: what a killed one left is in the way of none.
    let _lock = lock(&all.join(".lock"))?;
    if place.exists() {
        let what = place.display();
        return Err(Error::usage(format!(
            "{what} is there already; give another --name, or remove it"
        ))
        .at(&name));
    }
    let unfinished = all.join(".unfinished");
    let built = compile_into(&unfinished, &code, flags, stopped).and_then(|()| {
        fs::rename(&unfinished, &place).map_err(|e| Error::io(place.display(), e))?;
        ffi::load(&library_in(&place), false).map_err(|e| e.context("what was compiled"))?;
        Ok(name)
    });
    if built.is_err() {
        // It is in the cache, and the next build removes it as well.
        let _ = fs::remove_dir_all(&unfinished).or_else(|_| fs::remove_dir_all(&place));
    }
    built
}

fn check(name: Option<&str>, flags: &[String]) -> Result<()> {
    if let Some(name) = name.filter(|name| !is_name(name)) {
        return Err(Error::usage(format!(
            "--name {name}: starts with a letter or digit, and has only these and . _ + = -"
        )));
    }
    match flags.iter().find(|flag| !flag.starts_with('-') || flag.contains(char::is_whitespace)) {
        None => Ok(()),
        Some(flag) => Err(Error::usage(format!(
            "{flag:?} is no flag of a C compiler (accepted: -O3, -DSQLITE_THREADSAFE=0, …)"
        ))),
    }
}

fn lock(path: &Path) -> Result<File> {
    let lock = File::create(path).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|e| Error::io(path.display(), e))
}

#[cfg(feature = "amalgamation")]
fn bundled() -> Result<Vec<u8>> {
    use std::io::Read as _;

    let mut code = Vec::new();
    let inflated = flate2::read::GzDecoder::new(BUNDLED).read_to_end(&mut code);
    inflated.map_err(|e| Error::io("the amalgamation in this program", e))?;
    if code.is_empty() { Err(Error::unsupported(NONE)) } else { Ok(code) }
}

#[cfg(not(feature = "amalgamation"))]
fn bundled() -> Result<Vec<u8>> {
    Err(Error::unsupported(NONE))
}

const NONE: &str = "this storemark has no source of SQLite in it (the cargo feature amalgamation, which a build \
                    with all engines has); --source names an amalgamation";

fn read(path: &Path) -> Result<Vec<u8>> {
    let path = if path.is_dir() { &path.join("sqlite3.c") } else { path };
    fs::read(path).map_err(|e| Error::io(path.display(), e))
}

/// Returns the version, `3.54.1`, from its `#define`.
fn version(code: &[u8]) -> Option<String> {
    const DEFINE: &[u8] = b"#define SQLITE_VERSION ";
    let start = code.windows(DEFINE.len()).position(|part| part == DEFINE)? + DEFINE.len();
    let line = code[start..].split(|byte| *byte == b'\n').next()?;
    let version = str::from_utf8(line).ok()?.trim().trim_matches('"');
    is_name(version).then(|| version.to_owned())
}

/// Returns the name of a build, `3.54.1-O3-THREADSAFE=0`.
fn build_name(version: &str, flags: &[String]) -> String {
    let word = |flag: &String| {
        let option = flag.trim_start_matches('-');
        let define = option.strip_prefix('D').unwrap_or(option);
        let name = define.strip_prefix("SQLITE_").unwrap_or(define);
        name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '=', "_")
    };
    flags.iter().map(word).fold(version.to_owned(), |name, word| format!("{name}-{word}"))
}

/// Compiles into `folder`, which it creates again.
fn compile_into(
    folder: &Path,
    code: &[u8],
    flags: &[String],
    stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |e| Error::io(path.display(), e)
    };
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(io(folder))?;
    }
    fs::create_dir(folder).map_err(io(folder))?;
    let (source, said) = (folder.join("sqlite3.c"), folder.join("said"));
    fs::write(&source, code).map_err(io(&source))?;
    compile(&source, &library_in(folder), flags, &said, stopped)?;
    for file in [&source, &said] {
        fs::remove_file(file).map_err(io(file))?;
    }
    fs::write(folder.join(FLAGS), flags.join(" ")).map_err(io(folder))
}

fn compile(
    source: &Path,
    library: &Path,
    flags: &[String],
    said: &Path,
    stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let chosen = std::env::var("CC").unwrap_or_default();
    let mut words = chosen.split_whitespace();
    let compiler = words.next().unwrap_or("cc");
    let output = File::create(said).map_err(|e| Error::io(said.display(), e))?;
    let mut command = Command::new(compiler);
    command.args(words).args(ALWAYS).args(flags).arg(source).arg("-o").arg(library).args(LINKED);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    let mut running = command.spawn().map_err(|e| {
        Error::usage(format!(
            "the C compiler cannot be run ({e}); install one (Debian: gcc libc6-dev), or \
             name one in CC"
        ))
        .at(compiler)
    })?;
    let status = loop {
        if let Some(status) = running.try_wait().map_err(|e| Error::io(compiler, e))? {
            break status;
        }
        if stopped() {
            // Whether it has just ended by itself makes no difference.
            let _ = running.kill().and_then(|()| running.wait());
            return Err(Error::new(ErrorKind::Interrupted, "interrupted; nothing was built"));
        }
        thread::sleep(Duration::from_millis(20));
    };
    if status.success() {
        return Ok(());
    }
    let said = fs::read_to_string(said).unwrap_or_default();
    Err(Error::usage(format!("{compiler} failed: {}", complaint(&said, source))))
}

/// Returns the first error that a compiler printed.
fn complaint(said: &str, source: &Path) -> String {
    let error = said.lines().find(|line| line.contains("error")).or(said.lines().next());
    let folder = source.parent().map(|folder| format!("{}/", folder.display()));
    error.unwrap_or("it printed no reason").replace(&folder.unwrap_or_default(), "")
}
