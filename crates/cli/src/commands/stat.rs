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
    /// The store to look at: of a database also pages and integrity
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

/// The engines whose stores are, or have, a database that kvtest's `stat` looks at.
#[cfg(feature = "sqlite")]
const WITH_DATABASE: [&str; 2] = ["sqlite", "hybrid"];

#[cfg(feature = "sqlite")]
pub(crate) fn run(options: &StatOptions, stop: &Stop) -> Result<(), Failure> {
    let (engine, path, settings) = &located(&options.database)?;
    let place = engine.map(|engine| StoreLocation {
        engine,
        path: path.clone(),
        settings: settings.clone(),
    });
    let stat = match place {
        Some(place) if !WITH_DATABASE.contains(&place.engine.name()) => {
            return sizes(options, &place, stop);
        }
        Some(place) if !options.vacuum => {
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
    if let Some(texts) = stat.texts.filter(|texts| *texts > 0) {
        line("Texts among them:", texts.to_string());
    }
    if stat.nulls_and_numbers > 0 {
        line("NULLs and numbers:", stat.nulls_and_numbers.to_string());
    }
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

/// Prints the number and the sizes of the values of a store that has no database, from a list of its keys.
#[cfg(feature = "sqlite")]
fn sizes(options: &StatOptions, place: &StoreLocation, stop: &Stop) -> Result<(), Failure> {
    if options.vacuum {
        let why = "--vacuum rewrites a database file; this is none";
        return Err(Error::usage(why).at(options.database.display()).into());
    }
    let sizes = |path: &Path| {
        let settings = place.settings.clone();
        StoreLocation { engine: place.engine, path: path.to_owned(), settings }.sizes(stop)
    };
    let (amount, [least, most], left_out) = place.read_unchanged(stop, sizes)?;
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

/// Returns the engine and the path of a store, and the settings that find its values; a file that is no
/// store has no engine.
#[cfg(feature = "sqlite")]
fn located(text: &OsStr) -> Result<(Option<&'static dyn Blobs>, PathBuf, Settings), Error> {
    let path = Path::new(text);
    let is_image = host::ReadOnlyKind::recognise(path).is_some();
    if path.exists() && !is_image && registry::recognise(path).is_none() {
        if path.is_dir() {
            return Err(targets::unknown(path));
        }
        return Ok((None, targets::followed(path.to_owned()), Settings::default()));
    }
    let (found, path) = targets::existing(text)?;
    let settings = found.settings(&[])?;
    Ok((Some(found.engine), path, settings))
}
