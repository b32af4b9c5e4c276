//! Finds the versions of the libraries that this crate links, for those that do not report them, and packs the
//! amalgamation of SQLite without its comments, which are half of it, for `storemark sqlite build`.

use std::{fs, io};

/// The lock file of the workspace, which decides what is linked.
const LOCK: &str = "../../Cargo.lock";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = fs::read_to_string(LOCK)?;
    let own = package(&lock, env!("CARGO_PKG_NAME")).unwrap_or_default();
    let libraries =
        own.lines().filter_map(|line| line.trim().strip_prefix('"')?.split(['"', ' ']).next());
    for name in libraries {
        let version = version(&lock, name).unwrap_or_else(|| "of an unknown version".to_owned());
        println!("cargo::rustc-env=VERSION_OF_{}={version}", name.to_uppercase().replace('-', "_"));
    }
    pack()
}

/// Returns what the lock file says of a package.
fn package<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let has = |package: &&str| package.lines().any(|line| line == format!("name = {name:?}"));
    lock.split("[[package]]").find(has)
}

/// Returns the version of a library, with the commit or the word `changed` if it is not the one that its
/// authors published.
fn version(lock: &str, name: &str) -> Option<String> {
    let package = package(lock, name)?;
    let field = |name: &str| {
        let value = package.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")))?;
        Some(value.trim_matches('"'))
    };
    let version = field("version")?;
    Some(match field("source") {
        Some(source) if source.starts_with("registry+") => version.to_owned(),
        Some(source) => {
            let commit = source.split_once('#').map_or(source, |(_, commit)| commit);
            format!("{version} ({commit:.12})")
        }
        // Of a folder.
        None => format!("{version} (changed)"),
    })
}

#[cfg(feature = "amalgamation")]
fn pack() -> io::Result<()> {
    use std::{env, io::Write, path::PathBuf};

    use flate2::{Compression, write::GzEncoder};

    println!("cargo::rerun-if-env-changed=DEP_SQLITE3_INCLUDE");
    // The folder that libsqlite3-sys compiled it from. The system's library has none.
    let folder = env::var_os("DEP_SQLITE3_INCLUDE").map(PathBuf::from).unwrap_or_default();
    let code = fs::read(folder.join("sqlite3.c")).unwrap_or_default();
    let place = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sqlite3.c.gz");
    let mut packed = GzEncoder::new(fs::File::create(place)?, Compression::best());
    packed.write_all(&without_comments(&code))?;
    packed.finish().map(drop)
}

/// A comment is a space, as to a C compiler; what looks like one in a text stays.
#[cfg(feature = "amalgamation")]
fn without_comments(code: &[u8]) -> Vec<u8> {
    let until = |rest: &[u8], end: &[u8]| {
        rest.windows(end.len()).position(|part| part == end).map_or(rest.len(), |at| at + end.len())
    };
    let (mut plain, mut rest) = (Vec::with_capacity(code.len()), code);
    while let [first, after @ ..] = rest {
        let length = match (first, after) {
            (b'/', [b'*', comment @ ..]) => {
                plain.push(b' ');
                2 + until(comment, b"*/")
            }
            // Its line goes on after it.
            (b'/', [b'/', comment @ ..]) => 1 + until(comment, b"\n"),
            (b'"' | b'\'', _) => {
                let length = 1 + literal(*first, after);
                plain.extend(&rest[..length]);
                length
            }
            _ => {
                plain.push(*first);
                1
            }
        };
        rest = &rest[length..];
    }
    plain
}

/// The bytes of a text or character after its first quote, with the last one; at most its line.
#[cfg(feature = "amalgamation")]
fn literal(quote: u8, rest: &[u8]) -> usize {
    let mut escaped = false;
    let end = rest.iter().position(|&byte| {
        let ends = !escaped && (byte == quote || byte == b'\n');
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |at| at + 1)
}

#[cfg(not(feature = "amalgamation"))]
fn pack() -> io::Result<()> {
    Ok(())
}
