//! `storemark stat`: what kvtest's `stat` shows of a database, or of the one in a `hybrid:` store.

use std::ffi::OsString;

use clap::Args;

use crate::exit::Failure;
#[cfg(feature = "sqlite")]
use {
    super::copy,
    crate::{output, targets},
    engines::{registry, stat},
    lab::{Stop, StoreLocation},
    model::{Blobs, Error, Settings},
    std::{
        ffi::OsStr,
        path::{Path, PathBuf},
    },
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark stat test1.db                    number and sizes of blobs, pages, integrity
  storemark stat test1.db --vacuum           rewritten without free pages first
  storemark stat 'app.db?table=photos'       a table of your own
  storemark stat s3://photos/2026            objects with this prefix, which are listed")]
pub(crate) struct StatOptions {
    /// The database to look at, a hybrid: store, or objects in a bucket
    pub(crate) database: OsString,
    /// Rewrite it first, without free pages
    #[arg(long)]
    pub(crate) vacuum: bool,
}

/// Fails in a build without SQLite.
#[cfg(not(feature = "sqlite"))]
pub(crate) fn run(_: &StatOptions, _: &lab::Stop) -> Result<(), Failure> {
    engines::registry::databases().map(drop).map_err(Failure::from)
}

#[cfg(feature = "sqlite")]
pub(crate) fn run(options: &StatOptions, stop: &Stop) -> Result<(), Failure> {
    if targets::resolve(&options.database).is_ok_and(|found| found.address.is_some()) {
        return on_server(options, stop);
    }
    let (path, settings) = &located(&options.database)?;
    let stat = match recognised(path)? {
        Some(engine) if !options.vacuum => {
            let place = StoreLocation { engine, path: path.clone(), settings: settings.clone() };
            place.read_unchanged(stop, |path| stat(path, settings, false))?
        }
        // SQLite says what is wrong with a file that is no database.
        _ => stat(path, settings, options.vacuum)?,
    };
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push(format!("{name:<20}{value:>8}\n"));
    line("Number of entries:", stat.count.to_string());
    if !stat.left_out.is_empty() {
        line("Other entries:", stat.left_out.len().to_string());
    }
    line("Average value size:", stat.average.map_or_else(|| "-".into(), |a| format!("{a:.0}")));
    line("Minimum value size:", stat.smallest.to_string());
    line("Maximum value size:", stat.largest.to_string());
    if let Some(inline) = stat.inline {
        line("Largest in database:", inline.to_string());
    }
    line("Page-size:", stat.page_size.to_string());
    line("Page-count:", stat.page_count.to_string());
    line("Freelist-count:", stat.freelist_count.to_string());
    lines.extend(copy::left_out_lines(&stat.left_out).map(|text| format!("{:20}{text}\n", "")));
    lines.extend(stat.integrity.iter().map(|said| format!("Integrity-check:    {said}\n")));
    output::print_lines(&lines.concat())?;
    if stat.integrity.iter().any(|said| said != "ok") {
        return Err(Error::corrupt("is damaged").at(path.display()).into());
    }
    Ok(())
}

/// Prints the number and the sizes of values on a server, without reading them.
#[cfg(feature = "sqlite")]
fn on_server(options: &StatOptions, stop: &Stop) -> Result<(), Failure> {
    let (found, path) = targets::existing(&options.database)?;
    if options.vacuum {
        let why = "--vacuum rewrites a database file; this is none";
        return Err(Error::usage(why).at(&found.text).into());
    }
    let place = StoreLocation { engine: found.engine, path, settings: found.settings(&[])? };
    let (amount, [least, most], left_out) = place.sizes(stop)?;
    let average = amount.bytes as f64 / amount.count.max(1) as f64;
    let sizes = [
        ("Number of entries:", amount.count.to_string()),
        ("Average value size:", format!("{average:.0}")),
        ("Minimum value size:", least.to_string()),
        ("Maximum value size:", most.to_string()),
    ];
    let lines = sizes.map(|(name, value)| format!("{name:<20}{value:>8}\n"));
    let others = copy::left_out_lines(&left_out);
    let others = others.map(|line| format!("{:20}{line}\n", "Other entries:"));
    Ok(output::print_lines(&lines.into_iter().chain(others).collect::<String>())?)
}

/// Returns the path of a store, with the settings that find its values; a file that is no store has none.
#[cfg(feature = "sqlite")]
fn located(text: &OsStr) -> Result<(PathBuf, Settings), Error> {
    let path = Path::new(text);
    if path.exists() && recognised(path)?.is_none() {
        return Ok((targets::followed(path.to_owned()), Settings::default()));
    }
    let (found, path) = targets::existing(text)?;
    let settings = found.settings(&[])?;
    Ok((path, settings))
}

/// Returns the engine of the store at `path`, which must be one with a database; `None` for a file
/// that is no store.
#[cfg(feature = "sqlite")]
fn recognised(path: &Path) -> Result<Option<&'static dyn Blobs>, Error> {
    const WITH_DATABASE: [&str; 2] = ["sqlite", "hybrid"];
    match registry::recognise(path) {
        Some(engine) if !WITH_DATABASE.contains(&engine.name()) => Err(Error::usage(format!(
            "{0}: is a store of {1}; stat looks at SQLite databases and at stores of hybrid; \
             storemark verify {0} counts its values",
            path.display(),
            engine.name()
        ))),
        None if path.is_dir() => Err(targets::unknown(path)),
        engine => Ok(engine),
    }
}
