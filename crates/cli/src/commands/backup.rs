//! `storemark backup`: measures backups of a folder, or keeps one repository and reads it.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant, UNIX_EPOCH},
};

use backup::{About, Kept, Problem, Saved};
use clap::{Args, Subcommand};
use engines::registry;
use lab::Stop;
use model::{
    Blobs, Durability, Error, Facet, Result, Settings, harmless,
    spec::{BackupSpec, Name, RunSpec},
    units::{show_count, show_duration, show_size},
};

use super::measure;
use crate::{exit::Failure, output};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct BackupOptions {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    spec: BackupSpec,
    /// Back up the folder itself, once, into the repository in the folder DIR, which stays; a new one
    /// is made if there is none
    #[arg(long, value_name = "DIR", help_heading = "Data")]
    keep: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the backups in a repository
    List {
        /// The repository
        #[arg(value_name = "DIR")]
        repository: PathBuf,
    },
    /// Restore a backup, with modes, times and links
    Restore {
        /// The repository
        #[arg(value_name = "DIR")]
        repository: PathBuf,
        /// A new folder, or an empty one
        #[arg(value_name = "TO")]
        to: PathBuf,
        /// The number of the backup, as `list` prints it; default: the last one
        #[arg(long, value_name = "N")]
        snapshot: Option<u32>,
    },
    /// Check the catalogue, then the packs, then every byte
    Check {
        /// The repository
        #[arg(value_name = "DIR")]
        repository: PathBuf,
    },
}

pub(crate) fn run(options: BackupOptions, stop: &'static Stop) -> Result<(), Failure> {
    match (options.action, options.keep) {
        (Some(Action::List { repository }), _) => list(&repository),
        (Some(Action::Restore { repository, to, snapshot }), _) => {
            restore(&repository, &to, snapshot, stop)
        }
        (Some(Action::Check { repository }), _) => check(&repository, stop),
        (None, Some(keep)) => save(&options.spec, &keep, stop),
        (None, None) => measure::run(RunSpec::Backup(Box::new(options.spec)), stop),
    }
}

/// The repository in a folder, which exists.
fn open(folder: &Path) -> Result<Kept> {
    let about = About::of(folder)?.ok_or_else(|| {
        Error::usage(format!("{}: is no repository of storemark backup", folder.display()))
    })?;
    let engine = registry::blobs(&about.engine)?;
    let own = about.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let settings = Settings::check(engine.settings(Facet::Blobs), own)?;
    Kept::open(folder, engine, &settings).map_err(|e| e.context(folder.display()))
}

fn list(folder: &Path) -> Result<(), Failure> {
    let kept = open(folder)?;
    let snapshots = kept.repository().snapshots()?;
    kept.close()?;
    let line = |of: &backup::Snapshot| {
        let (date, entries, bytes) = (utc(of.seconds), show_count(of.entries), show_size(of.bytes));
        let folder = of.folder.display().to_string();
        format!("{:>4}  {date}  {entries} entries  {bytes}  {}\n", of.version, harmless(&folder))
    };
    Ok(output::print(&snapshots.iter().map(line).collect::<String>())?)
}

fn restore(
    folder: &Path,
    to: &Path,
    snapshot: Option<u32>,
    stop: &'static Stop,
) -> Result<(), Failure> {
    let kept = open(folder)?;
    let start = Instant::now();
    let restored = backup::restore(kept.repository(), snapshot, to, &|| stop.check())?;
    kept.close()?;
    output::print(&format!(
        "{}: {} files, {}, restored in {}\n",
        to.display(),
        show_count(restored.files),
        show_size(restored.bytes),
        show_duration(start.elapsed())
    ))?;
    say_all(
        &restored.problems,
        "paths that could not be restored, because the repository is damaged",
    )
}

/// Names each path; an error if there is any.
fn say_all(problems: &[Problem], what: &str) -> Result<(), Failure> {
    for problem in problems {
        output::say(&harmless(&problem.to_string()));
    }
    match problems.len() {
        0 => Ok(()),
        count => {
            let why = format!("{what}: {}", show_count(count as u64));
            Err(Failure::PartWay(Error::failed(why)))
        }
    }
}

fn check(folder: &Path, stop: &'static Stop) -> Result<(), Failure> {
    let kept = open(folder)?;
    let checked = backup::check(kept.repository(), &|| stop.check())?;
    kept.close()?;
    if checked.problems.is_empty() {
        return Ok(output::print(&format!(
            "ok: {} blocks, {}, in {} packs\n",
            show_count(checked.blocks),
            show_size(checked.bytes),
            show_count(checked.packs)
        ))?);
    }
    let lines: Vec<_> = checked.problems.iter().map(|line| harmless(line) + "\n").collect();
    output::print(&lines.concat())?;
    let count = checked.problems.len();
    let why = format!("{}: is damaged: see the lines above ({count})", folder.display());
    Err(Failure::PartWay(Error::corrupt(why)))
}

/// Backs up the user's folder into a repository that stays.
fn save(spec: &BackupSpec, keep: &Path, stop: &'static Stop) -> Result<(), Failure> {
    let (folder, stores) = spec.folder_and_stores();
    let folder = folder.map(Name::path).ok_or_else(|| {
        Error::usage("--keep: name the folder to back up, as in storemark backup FOLDER --keep DIR")
    })?;
    check_places(folder, keep)?;
    let kept = match About::of(keep)? {
        Some(_) if stores.is_empty() => open(keep)?,
        Some(about) => {
            return Err(Error::usage(format!(
                "--keep {}: its catalogue is in {}; leave out the store",
                keep.display(),
                about.engine
            ))
            .into());
        }
        None => {
            let (engine, settings) = catalogue(stores, spec.durability())?;
            Kept::create(keep, engine, &settings)?
        }
    };
    let start = Instant::now();
    let saved = backup::save(kept.repository(), folder, &|| stop.check())?;
    kept.close().map_err(Failure::PartWay)?;
    output::print(&summary(&saved, start.elapsed().as_secs_f64()))?;
    say_all(&saved.problems, "paths that were not backed up as they are")
}

/// A repository in the folder would be backed up into itself.
fn check_places(folder: &Path, keep: &Path) -> Result<()> {
    let full = |path: &Path| path.canonicalize();
    let folder = full(folder).map_err(|e| Error::io(folder.display(), e))?;
    let place =
        keep.ancestors().find_map(|path| full(path).ok()).or_else(|| full(".".as_ref()).ok());
    match place.filter(|place| place.starts_with(&folder)) {
        None => Ok(()),
        Some(_) => Err(Error::usage(format!(
            "--keep {}: is inside the folder that is backed up; name another place",
            keep.display()
        ))),
    }
}

/// Where a new repository has its catalogue.
fn catalogue(stores: &[Name], class: Durability) -> Result<(&'static dyn Blobs, Settings)> {
    let text = match stores {
        [] => "sqlite:".as_ref(),
        [one] => one.as_ref(),
        _ => return Err(Error::usage("--keep: takes one store for the catalogue")),
    };
    let target = measure::catalogue(text)?;
    if !target.engine.capabilities().persistent {
        let name = target.engine.name();
        return Err(Error::usage(format!("--keep: the store of {name}: does not stay on disk")));
    }
    Ok((target.engine, target.settings_for(Facet::Blobs, Some(class))?))
}

fn summary(saved: &Saved, seconds: f64) -> String {
    let share = saved.catalogue.as_secs_f64() / seconds * 100.0;
    format!(
        "backup {}: {} entries, {}, in {seconds:.2} s (catalogue {share:.0} %); files read: \
         {} ({}); new blocks: {} ({}); not encrypted\n",
        saved.version,
        show_count(saved.entries),
        show_size(saved.bytes),
        show_count(saved.files_read),
        show_size(saved.bytes_read),
        show_count(saved.new_blocks),
        show_size(saved.stored_bytes)
    )
}

/// `2026-11-23T02:10:00Z`; a time that no calendar has, as it is.
fn utc(seconds: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    let mut text = String::new();
    let written = time.map(|time| write!(text, "{}", humantime::format_rfc3339_seconds(time)));
    if written == Some(Ok(())) { text } else { format!("{seconds} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_as_long_as_a_year_has_four_digits() {
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(253_402_300_799), "9999-12-31T23:59:59Z");
        assert_eq!(utc(253_402_300_800), "253402300800 s");
        assert_eq!(utc(u64::MAX), format!("{} s", u64::MAX));
    }
}
