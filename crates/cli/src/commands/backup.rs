//! `storemark backup`: measures backups of a folder, or keeps one repository and reads it.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant, UNIX_EPOCH},
};

use backup::{About, KeptRepository, Listed, Problem, Saved};
use clap::{Args, Subcommand};
use engines::registry;
use lab::Stop;
use model::{
    Blobs, Durability, Error, Facet, LIBRARY, Result, Settings, harmless,
    units::{show_count, show_duration, show_size},
};
use spec::{BackupSpec, Name, RunSpec, given_value};

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
    /// is made if there is none. It takes one store, --durability and --quiet. Without --keep, backups
    /// are measured, and nothing is kept
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

/// The words of [`Action`].
const ACTIONS: [&str; 3] = ["list", "restore", "check"];

pub(crate) fn run(options: BackupOptions, stop: &'static Stop) -> Result<(), Failure> {
    if options.action.is_none() {
        check_order(&options.spec)?;
    }
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

/// Refuses the name of an action after options of a measurement: it would be taken for a folder.
fn check_order(spec: &BackupSpec) -> Result<()> {
    let Some(first) = spec.folder_and_stores().0 else { return Ok(()) };
    let text = first.path().to_string_lossy();
    if !ACTIONS.contains(&&*text) || first.path().exists() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "is taken for a folder after an option, and there is none; accepted: \
         storemark backup {text} DIR, without options of a measurement (-q, --keep …)"
    ))
    .at(&text))
}

/// A function that opens a repository.
type Opening = fn(&Path, &dyn Blobs, &Settings) -> Result<KeptRepository>;

/// Opens the repository in a folder. Fails if there is none.
fn open(folder: &Path, opening: Opening) -> Result<KeptRepository> {
    let about = About::read(folder)?
        .ok_or_else(|| Error::usage("is no repository of storemark backup").at(folder.display()))?;
    open_as(folder, &about, opening)
}

/// Returns the engine of a repository's catalogue, and its settings.
fn engine(about: &About) -> Result<(&'static dyn Blobs, Settings)> {
    let engine = registry::blobs(&about.engine)?;
    let own = about.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok((engine, Settings::check(engine.settings(Facet::Blobs), own)?))
}

fn open_as(folder: &Path, about: &About, opening: Opening) -> Result<KeptRepository> {
    let (engine, settings) = engine(about)?;
    opening(folder, engine, &settings).map_err(|e| e.context(folder.display()))
}

/// Writes one line on standard output: whatever names are in it, it is one line, and no terminal obeys it.
fn print_line(text: &str) -> Result<()> {
    output::print(&(harmless(text) + "\n"))
}

fn list(folder: &Path) -> Result<(), Failure> {
    let kept = open(folder, KeptRepository::open)?;
    let Listed { snapshots, mut damage } = kept.repository().list()?;
    kept.close()?;
    let line = |of: &backup::Snapshot| {
        let (date, entries, bytes) = (utc(of.seconds), show_count(of.entries), show_size(of.bytes));
        let folder = of.folder.display();
        format!("{:>4}  {date}  {entries} entries  {bytes}  {folder}", of.version)
    };
    snapshots.iter().map(line).try_for_each(|line| print_line(&line))?;
    let named = |what: String| Error::corrupt(what).at(folder.display());
    let Some(last) = damage.pop_last() else { return Ok(()) };
    for what in damage {
        output::say(&named(what).to_string());
    }
    Err(Failure::PartWay(named(last)))
}

fn restore(
    folder: &Path,
    to: &Path,
    snapshot: Option<u32>,
    stop: &'static Stop,
) -> Result<(), Failure> {
    let kept = open(folder, KeptRepository::open)?;
    let start = Instant::now();
    let restored = backup::restore(kept.repository(), snapshot, to, &|| stop.check())?;
    kept.close()?;
    print_line(&format!(
        "{}: {} files, {}, restored in {}",
        to.display(),
        show_count(restored.files),
        show_size(restored.bytes),
        show_duration(start.elapsed())
    ))?;
    say_all(&restored.problems, "paths that could not be restored as they were")
}

/// Prints each problem; fails if there is any.
fn say_all(problems: &[Problem], what: &str) -> Result<(), Failure> {
    for problem in problems {
        output::say(&problem.to_string());
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
    let kept = open(folder, KeptRepository::open)?;
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
    checked.problems.iter().try_for_each(|line| print_line(line))?;
    let count = checked.problems.len();
    let why = format!("{}: is damaged: see the lines above ({count})", folder.display());
    Err(Failure::PartWay(Error::corrupt(why)))
}

/// The options that `--keep` takes.
const TAKEN: [&str; 3] = ["targets", "durability", "quiet"];

/// Refuses an option that only a measurement has.
fn check_options(spec: &BackupSpec) -> Result<()> {
    let given = RunSpec::Backup(Box::new(spec.clone())).given_options();
    match given.keys().find(|name| !TAKEN.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Error::usage(format!(
            "--{name}: is for measuring backups; --keep takes a folder, one store, --durability and \
             --quiet"
        ))),
    }
}

/// Backs up the user's folder into a repository that stays.
fn save(spec: &BackupSpec, keep: &Path, stop: &'static Stop) -> Result<(), Failure> {
    check_options(spec)?;
    let (folder, stores) = spec.folder_and_stores();
    let folder = folder.map(Name::path).ok_or_else(|| {
        Error::usage("--keep: name the folder to back up, as in storemark backup FOLDER --keep DIR")
    })?;
    check_places(folder, keep)?;
    host::create_private();
    let mut kept = if let Some(mut about) = About::read(keep)? {
        about.settings.extend(check_same(stores, &about, keep)?);
        check_class(given_value(&spec.durability), &about, keep)?;
        open_as(keep, &about, KeptRepository::open_to_save)?
    } else {
        let (engine, settings) = catalogue(stores, spec.durability())?;
        KeptRepository::create(keep, engine, &settings)?
    };
    let start = Instant::now();
    let saved = kept.save(folder, &|| stop.check())?;
    kept.close().map_err(Failure::PartWay)?;
    print_line(&summary(&saved, start.elapsed().as_secs_f64()))?;
    if !spec.shown.talk.quiet {
        say_left_out(&saved, keep);
    }
    say_all(&saved.problems, "paths that were not backed up as they are")
}

/// Says what is not in the backup, or no longer where it was, without being a failure.
fn say_left_out(saved: &Saved, keep: &Path) {
    if saved.access_lists > 0 {
        let count = show_count(saved.access_lists);
        output::say(&format!(
            "paths with an access list (ACL), which is not backed up: {count}; they are restored with \
             the rights of their owner, group and others"
        ));
    }
    if saved.set_aside > 0 {
        let (count, place) = (show_count(saved.set_aside), keep.join("set-aside"));
        output::say(&format!(
            "packs that no backup mentions: {count}, moved to {}; remove that folder if no backup is \
             missed",
            place.display()
        ));
    }
}

/// Refuses a store that is not the one that the repository has its catalogue in; returns the setting that
/// a repository does not have: the library to use it with.
fn check_same(stores: &[Name], about: &About, keep: &Path) -> Result<Option<(String, String)>> {
    let Some(text) = stores.first() else { return Ok(None) };
    let asked = measure::catalogue(text.as_ref())?;
    let has = |(name, value): (&String, &String)| {
        name == LIBRARY || about.settings.iter().any(|(known, set)| known == name && set == value)
    };
    if stores.len() == 1 && asked.engine.name() == about.engine && asked.settings.0.iter().all(has)
    {
        let library = asked.settings.get(LIBRARY);
        return Ok(library.map(|library| (LIBRARY.to_owned(), library.to_owned())));
    }
    Err(Error::usage(format!(
        "--keep {}: its catalogue is in {}; leave out the store",
        keep.display(),
        shown_catalogue(about)
    )))
}

/// Refuses a durability class that is not the one of a repository's catalogue.
fn check_class(class: Option<Durability>, about: &About, keep: &Path) -> Result<()> {
    let Some(class) = class else { return Ok(()) };
    let (engine, settings) = engine(about)?;
    let gives_less = engine.unreached(class, &settings).is_some();
    if !gives_less && engine.declaration().class_of(&settings) <= class {
        return Ok(());
    }
    Err(Error::usage(format!(
        "--durability {class}: the catalogue of {} is in {}; leave it out",
        keep.display(),
        shown_catalogue(about)
    )))
}

/// Returns the target that a repository has its catalogue in.
fn shown_catalogue(about: &About) -> String {
    let settings = about.settings.iter().map(|(name, value)| format!("{name}={value}"));
    format!("{}:?{}", about.engine, settings.collect::<Vec<_>>().join("&"))
}

/// Fails if the repository is inside the folder, which would be backed up into itself.
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

/// Returns where a new repository has its catalogue.
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
         {} ({}); new blocks: {} ({}); not encrypted",
        saved.version,
        show_count(saved.entries),
        show_size(saved.bytes),
        show_count(saved.files_read),
        show_size(saved.bytes_read),
        show_count(saved.new_blocks),
        show_size(saved.stored_bytes)
    )
}

/// Formats a time, `2026-11-23T02:10:00Z`; one that no calendar has is printed in seconds.
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
