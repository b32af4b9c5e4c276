//! Copies the HTML report's script, packed, and its style to where the crate includes them from.
//!
//! npm bundles them once from `web/` into `web/dist`, with a stamp of their sources. As long as the
//! stamp is that of the sources, as in a packaged crate, npm is not needed. Where npm cannot do it, the
//! script is empty, and pages have no charts.

use std::{
    env, fs,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use flate2::{Compression, write::GzEncoder};

const BUNDLE: [&str; 2] = ["report.js", "report.css"];
const SETTINGS: [&str; 4] = ["build.mjs", "package.json", "package-lock.json", ".npmrc"];
const WEB: &str = "web";
const STYLE: &str = "web/src/report.css";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    for input in SETTINGS.iter().chain(&["src"]) {
        println!("cargo::rerun-if-changed={WEB}/{input}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let Err(error) = bundle(&out) else { return ExitCode::SUCCESS };
    // Who builds from a package may have no npm, and could not see what is missing.
    let is_package = Path::new("Cargo.toml.orig").exists();
    let plain = if is_package { Err(error.clone()) } else { without_charts(&out) };
    match plain {
        Ok(()) => {
            println!("cargo::warning=pages will have tables and no charts: {error}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn bundle(out: &Path) -> Result<(), String> {
    let web = Path::new(WEB);
    let dist = web.join("dist");
    let stamp = stamp(web).map_err(|error| format!("reading {WEB}: {error}"))?;
    if !is_fresh(&dist, &stamp) {
        let _one_at_a_time = lock(&dist).map_err(|error| format!("locking {WEB}/dist: {error}"))?;
        if !is_fresh(&dist, &stamp) {
            build(web, &dist, &stamp)?;
        }
    }
    let [script, style] = BUNDLE.map(|file| dist.join(file));
    let taken = fs::read(script).and_then(|script| take(&script, &style, out));
    taken.map_err(|error| format!("copying {WEB}/dist: {error}"))
}

/// Pages look the same, and run no script.
fn without_charts(out: &Path) -> Result<(), String> {
    let taken = take(b"", Path::new(STYLE), out);
    taken.map_err(|error| format!("writing {}: {error}", out.display()))
}

fn take(script: &[u8], style: &Path, out: &Path) -> io::Result<()> {
    let mut packed = GzEncoder::new(File::create(out.join("report.js.gz"))?, Compression::best());
    packed.write_all(script)?;
    packed.finish()?;
    fs::copy(style, out.join(BUNDLE[1])).map(drop)
}

/// Other builds wait here until the file is closed.
fn lock(dist: &Path) -> io::Result<File> {
    fs::create_dir_all(dist)?;
    let file = File::create(dist.join("lock"))?;
    file.lock()?;
    Ok(file)
}

fn is_fresh(dist: &Path, stamp: &str) -> bool {
    fs::read_to_string(dist.join("stamp")).is_ok_and(|found| found == stamp)
        && BUNDLE.iter().all(|file| dist.join(file).is_file())
}

/// The stamp is removed first and written last: files with a stamp are complete.
fn build(web: &Path, dist: &Path, stamp: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("writing {WEB}/dist: {error}");
    match fs::remove_file(dist.join("stamp")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    npm(web, &["ci", "--loglevel=error"])?;
    npm(web, &["run", "--silent", "build", "--", "dist/new"])?;
    for file in BUNDLE {
        fs::rename(dist.join("new").join(file), dist.join(file)).map_err(failed)?;
    }
    fs::remove_dir(dist.join("new")).map_err(failed)?;
    fs::write(dist.join("stamp"), stamp).map_err(failed)
}

fn npm(web: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let step = format!("`npm {}` in crates/report/web", arguments.join(" "));
    let output = Command::new(program).args(arguments).current_dir(web).output();
    match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("npm is missing".to_owned()),
        Err(error) => Err(format!("{step} did not start: {error}")),
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{step} failed: {}", reason(&output.stderr))),
    }
}

/// In lines of npm that name where this machine gets packages from, or where its logs are.
const OF_THIS_MACHINE: [&str; 5] = ["://", "registry", "network", "getaddrinfo", "_logs"];

/// What npm reported, in one line and without what concerns this machine only.
fn reason(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr)
        .lines()
        .filter(|line| !OF_THIS_MACHINE.iter().any(|word| line.contains(word)))
        .map(|line| line.trim_start_matches("npm error").trim())
        .filter(|line| !line.is_empty())
        .take(8)
        .collect::<Vec<_>>()
        .join("; ")
}

/// A hash of the names and contents of everything that the bundle is built from: FNV-1a with 64 bits,
/// the same on every system and with every compiler.
fn stamp(web: &Path) -> io::Result<String> {
    let mut files: Vec<PathBuf> = SETTINGS.iter().map(|file| web.join(file)).collect();
    for entry in fs::read_dir(web.join("src"))? {
        files.push(entry?.path());
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.file_name().unwrap_or_default().as_encoded_bytes();
        for part in [name, &fs::read(&file)?] {
            // With the length, no two lists of parts have the same bytes.
            for byte in (part.len() as u64).to_le_bytes().iter().chain(part) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    Ok(format!("{hash:016x}\n"))
}
