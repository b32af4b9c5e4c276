//! Packs the amalgamation of SQLite, for `storemark sqlite build`.

#[cfg(feature = "amalgamation")]
fn main() -> std::io::Result<()> {
    use std::{env, fs, io::Write, path::PathBuf};

    use flate2::{Compression, write::GzEncoder};

    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=DEP_SQLITE3_INCLUDE");
    // The folder that libsqlite3-sys compiled it from. The system's library has none.
    let folder = env::var_os("DEP_SQLITE3_INCLUDE").map(PathBuf::from).unwrap_or_default();
    let code = fs::read(folder.join("sqlite3.c")).unwrap_or_default();
    let place = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sqlite3.c.gz");
    let mut packed = GzEncoder::new(fs::File::create(place)?, Compression::best());
    packed.write_all(&code)?;
    packed.finish().map(drop)
}

#[cfg(not(feature = "amalgamation"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
