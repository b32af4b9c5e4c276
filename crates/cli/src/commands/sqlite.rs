//! `storemark sqlite`: builds of SQLite to be measured against each other.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lab::Stop;

use crate::exit::Failure;
#[cfg(feature = "sqlite")]
use {
    crate::output,
    engines::sqlite::{self, Build},
    model::{Library, Result},
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark sqlite build --name plain        storemark's own SQLite, with the usual flags
  storemark sqlite build -- -O3              the same with -O3
  storemark sqlite build --source old/sqlite3.c --name old -- -DSQLITE_THREADSAFE=0
  storemark sqlite list                      what was built

Builds are measured as targets: storemark run 'sqlite:?lib=plain' 'sqlite:?lib=old'")]
pub(crate) struct SqliteOptions {
    #[command(subcommand)]
    command: SqliteCommand,
}

#[derive(Debug, Subcommand)]
enum SqliteCommand {
    /// Compile SQLite with the C compiler of this machine (cc, or what CC names)
    Build(BuildOptions),
    /// List the builds, with version, check-in and flags
    List,
}

#[derive(Debug, Args)]
struct BuildOptions {
    /// An amalgamation (sqlite3.c), or a folder that has one; default: the one of storemark
    #[arg(long, value_name = "PATH")]
    source: Option<PathBuf>,
    /// Its name in `lib=NAME`; default: one made of version and flags
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// For the compiler, after -O2 -fPIC -shared
    #[arg(last = true)]
    flags: Vec<String>,
}

/// Fails in a build without SQLite.
#[cfg(not(feature = "sqlite"))]
pub(crate) fn run(_: &SqliteOptions, _: &Stop) -> std::result::Result<(), Failure> {
    engines::registry::databases().map(drop).map_err(Failure::from)
}

#[cfg(feature = "sqlite")]
pub(crate) fn run(options: &SqliteOptions, stop: &Stop) -> std::result::Result<(), Failure> {
    let built = match &options.command {
        SqliteCommand::List => sqlite::builds(),
        SqliteCommand::Build(BuildOptions { source, name, flags }) => {
            let stopped = || stop.is_set();
            vec![sqlite::build(source.as_deref(), name.as_deref(), flags, &stopped)?]
        }
    };
    if built.is_empty() {
        let folder = sqlite::builds_folder()?;
        return Ok(output::print(&format!("{}: no builds yet\n", folder.display()))?);
    }
    Ok(output::print_lines(&lines(&built))?)
}

#[cfg(feature = "sqlite")]
fn lines(built: &[Build]) -> String {
    let width = built.iter().map(|build| build.name.len()).max().unwrap_or_default();
    let line = |build: &Build| {
        let Build { name, flags, library } = build;
        let line = format!("{name:<width$}  {}  {flags}", about(library));
        line.trim_end().to_owned() + "\n"
    };
    built.iter().map(line).collect()
}

#[cfg(feature = "sqlite")]
fn about(library: &Result<Library>) -> String {
    match library {
        Ok(Library { version, source, .. }) => {
            format!("{version:<8}  {}", source.as_deref().unwrap_or_default())
        }
        Err(error) => format!("cannot be used: {error}"),
    }
}
