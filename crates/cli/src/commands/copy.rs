//! `storemark copy` and `storemark verify`; kvtest's `init`, `export` and `import` are copies.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fmt::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use engines::registry;
use lab::{Checked, Copied, CopyJob, Differences, Stop, StoreLocation, StoreTotals, Verified};
use model::{
    Blobs, CopiedValues, EngineFacts, Entry, Error, ErrorKind, Facet, Generated, Removed, Result,
    Settings, Shown, TypedTarget, harmless, requests_sent,
    units::{self, show_amount, show_count, show_duration, show_size},
};
use spec::Talk;

use crate::{exit::Failure, files, listener::Listener, output, plan::fresh_seed, targets};

/// The options that all commands which create a store have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct CopyFlags {
    /// Replace a store that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on with what was interrupted
    #[arg(long)]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

/// The options that all commands which read a whole store have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReadingOptions {
    /// Where a store that reading would change is copied to be read; default: next to it
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark export test1.db test1.dir        files 000001, 000002, …
  storemark export test1.db test1.tree --tree
  storemark export test1.db test1.dir --force")]
pub(crate) struct ExportOptions {
    /// The database
    pub(crate) database: PathBuf,
    /// The folder to make
    pub(crate) directory: PathBuf,
    /// A hierarchy of folders with no more than 100 entries each
    #[arg(long)]
    pub(crate) tree: bool,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark import thumbnails thumbs.db      names, modes and times are kept
  storemark import thumbnails thumbs.db --force --pagesize 8192
  storemark import thumbnails 'hybrid:thumbs.hybrid?inline=20k'")]
pub(crate) struct ImportOptions {
    /// The folder, or any other target
    pub(crate) from: OsString,
    /// The database to make, or a target with an engine
    pub(crate) database: PathBuf,
    /// Its page size: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES")]
    pub(crate) pagesize: Option<String>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark copy thumbs.db files:thumbs               into a folder
  storemark copy thumbs lmdb:thumbs.lmdb              into another engine
  storemark copy thumbs 'sqlite:new.db?page_size=8192'  with a setting that a store keeps
  storemark copy thumbs files:thumbs2 --resume        go on with what was interrupted
  storemark copy s3://photos/2026 files:photos        objects of a bucket, only read
  storemark copy thumbs s3://photos/thumbs            objects under these names, with --resume too
  storemark copy 'app.db?table=photos&key=name' files:photos --key-suffix .jpg
  storemark copy thumbs 'own.db?table=photos&key=name&value=data'
  storemark copy thumbs 'app.db?table=photos&key=name&value=data' --in-place")]
pub(crate) struct CopyOptions {
    /// The store to copy, only read
    pub(crate) from: OsString,
    /// The store to make: a target with an engine, such as sqlite:new.db or files:new?layout=tree
    pub(crate) to: OsString,
    /// Put this behind each key
    #[arg(long, value_name = "TEXT")]
    pub(crate) key_suffix: Option<String>,
    /// Put the values into an existing table of your own, in one transaction; --force replaces those
    /// that are there
    #[arg(long, conflicts_with = "resume")]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark init test1.db                                   1,000 blobs of 10,000 bytes
  storemark init test2.db --count 2k --size 10k --variance 2k
  storemark init test1.db --force --seed 7                  in its place, the same each time
  storemark init files:made.dir                             files")]
pub(crate) struct InitOptions {
    /// The database to make, or a target with an engine
    pub(crate) database: PathBuf,
    /// Number of blobs
    #[arg(long, value_name = "N", value_parser = units::parse_size, default_value = "1000")]
    pub(crate) count: u64,
    /// Their middle size in bytes
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "10000")]
    pub(crate) size: u64,
    /// How far sizes vary to either side
    #[arg(long, value_name = "BYTES", value_parser = units::parse_size, default_value = "0")]
    pub(crate) variance: u64,
    /// Its page size: a power of two from 512 to 65536 [default: 4096]
    #[arg(long, value_name = "BYTES")]
    pub(crate) pagesize: Option<String>,
    /// Makes the same bytes again; default: a new one each time, printed
    #[arg(long, value_name = "N", value_parser = units::parse_size)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark verify thumbs.db thumbs          exit code 3 if anything differs
  storemark verify thumbs lmdb:thumbs.lmdb
  storemark verify thumbs.hybrid --in-place  removes what an interrupted write left, then checks
  storemark verify thumbs.db                 reads all, runs the engine's check; 3 if it is damaged")]
pub(crate) struct VerifyOptions {
    /// One store
    pub(crate) a: OsString,
    /// The other; without it, the one is checked for damage
    pub(crate) b: Option<OsString>,
    /// Put this behind each key of A, as copy does
    #[arg(long, value_name = "TEXT", requires = "b")]
    pub(crate) key_suffix: Option<String>,
    /// Open the stores for writing first, so that what a killed writer left is repaired or removed
    #[arg(long)]
    pub(crate) in_place: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingOptions,
}

pub(crate) fn copy(options: &CopyOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    if options.in_place {
        return into_table(from, options, stop);
    }
    let to = destination(&options.to)?;
    if to.engine.capabilities().remote {
        return carry_out(from, to, options.key_suffix.clone(), &options.flags, stop);
    }
    let is_users = |to: &StoreLocation| to.engine.find_values(&to.path, &to.settings);
    if to.path.exists() && is_users(&to).is_ok_and(|found| found.is_some()) {
        let why = "exists, and is not replaced; --in-place puts the values into its table";
        return Err(Error::new(ErrorKind::Exists, why).at(to.path.display()).into());
    }
    let moved = moved_out(&from, &to, options.key_suffix.as_deref())?;
    carry_out(from, to, options.key_suffix.clone(), &options.flags, stop)?;
    Ok(output::print_lines(&moved)?)
}

/// Puts values into a table of the user's own.
fn into_table(from: StoreLocation, options: &CopyOptions, stop: &Stop) -> Result<(), Failure> {
    let (found, path) = targets::existing(&options.to)?;
    let settings = found.settings(&[])?;
    if found.engine.find_values(&path, &settings)?.is_none() {
        let why = "--in-place puts values into a table of your own: FILE?table=NAME&key=COLUMN&value=COLUMN";
        return Err(Error::usage(why).at(&found.text).into());
    }
    let (began, source) = (Instant::now(), from.shown());
    let CopyFlags { force, reading: ReadingOptions { scratch, talk }, .. } = options.flags.clone();
    let to = StoreLocation { engine: found.engine, path, settings };
    let key_suffix = options.key_suffix.clone();
    let job = CopyJob { from, to, force, resume: false, scratch, key_suffix };
    let copied = Listener::during(talk, |listener| lab::copy_in_place(&job, listener, stop))?;
    say_copied(&source, &found.text, &copied, began)
}

/// Returns the lines with the statements that replace the values of a table by the paths of their copies;
/// empty if they are in no table, or the copies are no files.
fn moved_out(from: &StoreLocation, to: &StoreLocation, suffix: Option<&str>) -> Result<String> {
    // The statements have paths of one folder.
    let in_one_folder = !to.settings.is("layout", "tree");
    if to.engine.name() != registry::folders().name() || !in_one_folder {
        return Ok(String::new());
    }
    let StoreLocation { engine, path, settings } = from;
    let copied = CopiedValues { location: path, settings, to: &to.path, suffix };
    let lines = match engine.replace_by_paths(&copied) {
        Err(why) if why.kind() == ErrorKind::Unsupported => {
            return Ok(format!(
                "no statements are given that replace the values by the paths: {why}\n"
            ));
        }
        lines => lines?,
    };
    let Some(lines) = lines else { return Ok(String::new()) };
    let head = "these statements replace the values by the paths of the files, and give their space back; \
                none was run. Run them before anything else writes to the table: a value that was \
                added or changed since this copy would be lost:\n";
    Ok(lines.iter().fold(head.to_owned(), |text, line| format!("{text}  {line}\n")))
}

pub(crate) fn export(options: &ExportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(options.database.as_os_str())?;
    let layout = options.tree.then_some(("layout", "tree"));
    let to = new_location(registry::folders(), &options.directory, layout)?;
    carry_out(from, to, None, &options.flags, stop)
}

pub(crate) fn import(options: &ImportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    let to = new_database(&options.database, options.pagesize.as_deref())?;
    carry_out(from, to, None, &options.flags, stop)
}

pub(crate) fn init(options: &InitOptions, stop: &Stop) -> Result<(), Failure> {
    let seed = options.seed.unwrap_or_else(fresh_seed);
    let InitOptions { count, size, variance, .. } = *options;
    let from = lab::generated(Generated { seed, count, size, variance, random_percent: 100 })?;
    let to = new_database(&options.database, options.pagesize.as_deref())?;
    carry_out(from, to, None, &options.flags, stop)?;
    if options.seed.is_none() {
        output::print(&format!("--seed {seed} makes the same bytes again\n"))?;
    }
    Ok(())
}

/// Returns the SQLite database to make, or the store of the engine that is named.
fn new_database(database: &Path, page_size: Option<&str>) -> Result<StoreLocation> {
    let page_size = page_size.map(|size| ("page_size", size));
    if TypedTarget::parse(database.as_os_str()).engine.is_none() {
        return new_location(registry::databases()?, database, page_size);
    }
    let page_size = page_size.map(|(name, size)| (name, size.to_owned()));
    resolved(database.as_os_str(), page_size.as_slice())
}

fn carry_out(
    from: StoreLocation,
    to: StoreLocation,
    key_suffix: Option<String>,
    flags: &CopyFlags,
    stop: &Stop,
) -> Result<(), Failure> {
    let began = Instant::now();
    let (source, name) = (from.shown(), to.shown());
    let CopyFlags { force, resume, reading: ReadingOptions { scratch, talk } } = flags.clone();
    let job = CopyJob { from, to, force, resume, scratch, key_suffix };
    let copied = Listener::during(talk, |listener| lab::copy(&job, listener, stop))?;
    say_copied(&source, &name, &copied, began)
}

/// Prints what was copied, and what was not.
fn say_copied(source: &str, name: &str, copied: &Copied, began: Instant) -> Result<(), Failure> {
    say_left_out(source, &copied.left_out);
    let there = match copied.resumed {
        0 => String::new(),
        count => format!(", {} of them were there", show_count(count)),
    };
    let (count, size) = (show_count(copied.count), show_size(copied.bytes));
    let took = show_duration(began.elapsed());
    let sent = requests_sent();
    let requests = match sent.count() {
        0 => String::new(),
        count => format!(", {} requests", show_count(count)),
    };
    let cost =
        sent.cost.map_or_else(String::new, |cost| format!(", which cost {}", show_amount(cost)));
    let text = format!("{name}: {count} values, {size} in {took}{there}{requests}{cost}\n");
    Ok(output::print_lines(&text)?)
}

/// Resolves a store that exists, to be read.
fn source(text: &OsStr) -> Result<StoreLocation> {
    let (resolved, path) = targets::existing(text)?;
    Ok(StoreLocation { engine: resolved.engine, path, settings: resolved.settings(&[])? })
}

/// Resolves a store to be created: its engine has to be named, unless it replaces one that exists, or
/// its ending and settings are those of an engine.
fn destination(text: &OsStr) -> Result<StoreLocation> {
    let (words, typed) = (text.to_string_lossy(), TypedTarget::parse(text));
    let path = Path::new(&typed.location);
    if typed.engine.is_none() && !Path::new(text).exists() && !path.exists() {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            files::check_folder(parent).map_err(|error| error.context(&words))?;
        }
        let ending = path.extension().and_then(OsStr::to_str);
        let by_ending = registry::all_blobs()
            .find(|engine| ending.is_some() && engine.declaration().extension == ending);
        if let Some(engine) = by_settings(&typed) {
            let mut named = OsString::from(format!("{}:", engine.name()));
            named.push(text);
            return resolved(&named, &[]);
        }
        let engine = by_ending.map_or("ENGINE", EngineFacts::name);
        return Err(Error::usage(format!(
            "name the engine of the new store, as in {engine}:{words}; storemark engines \
             lists them"
        ))
        .at(&words));
    }
    resolved(text, &[])
}

/// Returns the only engine that has all settings of a target; `None` if there are several, or no
/// settings.
fn by_settings(typed: &TypedTarget) -> Option<&'static dyn Blobs> {
    let has_all = |engine: &&'static dyn Blobs| {
        let own = engine.settings(Facet::Blobs);
        // A store on a server has an address.
        let is_local = !engine.capabilities().remote;
        let has = |name: &str| own.iter().any(|setting| setting.name == name);
        is_local && typed.settings.iter().all(|(name, _)| has(name))
    };
    let mut engines = registry::all_blobs().filter(has_all);
    engines.next().filter(|_| engines.next().is_none() && !typed.settings.is_empty())
}

/// Resolves a target with an engine, with `defaults` below its settings.
fn resolved(text: &OsStr, defaults: &[(&str, String)]) -> Result<StoreLocation> {
    let resolved = targets::resolve(text)?.into_destination()?;
    let settings = resolved.settings(defaults)?;
    let Some(path) = resolved.place.location().map(Path::to_owned) else {
        let name = resolved.engine.name();
        let why = format!("a copy needs a place on disk, as in {name}:PATH");
        return Err(Error::usage(why).at(&resolved.text));
    };
    Ok(StoreLocation { engine: resolved.engine, path, settings })
}

fn new_location(
    engine: &'static dyn Blobs,
    path: &Path,
    setting: Option<(&str, &str)>,
) -> Result<StoreLocation> {
    let settings = Settings::check(engine.settings(Facet::Blobs), setting)?;
    Ok(StoreLocation { engine, path: path.to_owned(), settings })
}

/// Prints what a store holds that is no value, and so not in its dataset, and what a copy of its values
/// does not keep.
pub(super) fn say_left_out(store: &str, entries: &[Entry]) {
    let (properties, others): (Vec<_>, Vec<_>) =
        entries.iter().cloned().partition(|entry| entry.kind.is_property());
    for (what, entries) in [("left out", others), ("not kept", properties)] {
        for line in left_out_lines(&entries) {
            output::say(&format!("{store}: {what}: {line}"));
        }
    }
}

/// Returns a line for each kind of entry: how many, and the first ten.
pub(super) fn left_out_lines(entries: &[Entry]) -> impl Iterator<Item = String> {
    let mut kinds = BTreeMap::<_, BTreeSet<_>>::new();
    for entry in entries {
        kinds.entry(entry.kind).or_default().insert(&entry.name);
    }
    kinds.into_iter().map(|(kind, entries)| {
        const SHOWN: usize = 10;
        let first = entries.iter().take(SHOWN).map(|name| Shown(name).to_string());
        let first = first.collect::<Vec<_>>().join(", ");
        let more = if entries.len() > SHOWN { ", …" } else { "" };
        format!("{} × {kind}: {first}{more}", show_count(entries.len() as u64))
    })
}

pub(crate) fn verify(options: &VerifyOptions, stop: &Stop) -> Result<(), Failure> {
    match compare_or_check(options, stop) {
        // A damaged store may not even show where its values are.
        Err(Failure::Error(error)) if error.kind() == ErrorKind::Corrupt && options.b.is_none() => {
            Err(report_damage(&[error.to_string()])?)
        }
        done => done,
    }
}

fn compare_or_check(options: &VerifyOptions, stop: &Stop) -> Result<(), Failure> {
    let scratch = options.reading.scratch.as_deref();
    let a = source(&options.a)?;
    let other = options.b.as_ref().map(|b| source(b)).transpose()?;
    if options.in_place {
        [Some(&a), other.as_ref()].into_iter().flatten().try_for_each(repair)?;
    }
    let (Some(b), Some(other)) = (&options.b, other) else { return check(options, &a, stop) };
    let verify = |listener: &Listener| {
        lab::verify([&a, &other], options.key_suffix.as_deref(), scratch, listener, stop)
    };
    let verified = Listener::during(options.reading.talk, verify)?;
    if let Some(damage) = verified.damage {
        return Err(report_damage(&[damage])?);
    }
    let names = [&options.a, b].map(|name| name.display().to_string());
    output::print_lines(&show(&verified, &names))?;
    if verified.is_equal() { Ok(()) } else { Err(Failure::GATE) }
}

/// Repairs a store, and prints what that removed.
fn repair(place: &StoreLocation) -> Result<(), Failure> {
    let Removed { files, bytes } = place.repair()?;
    if files > 0 {
        let (name, count) = (place.path.display().to_string(), show_count(files));
        let what = format!("removed files that no row names: {count}, {}", show_size(bytes));
        output::print_lines(&(harmless(&format!("{name}: {what}")) + "\n"))?;
    }
    Ok(())
}

/// Checks one store for damage.
fn check(options: &VerifyOptions, place: &StoreLocation, stop: &Stop) -> Result<(), Failure> {
    let scratch = options.reading.scratch.as_deref();
    let check = |listener: &Listener| lab::check(place, scratch, listener, stop);
    let Checked { totals, damage, digest } = Listener::during(options.reading.talk, check)?;
    let name = options.a.display().to_string();
    let Some(digest) = digest else {
        return Err(report_damage(&damage)?);
    };
    let by = match place.engine.declaration().integrity {
        Some(check) => format!("checked by {check}: no damage found"),
        None => format!("{} has no checksums: all of it can be read, no more", place.engine.name()),
    };
    let text = format!("{name}: {}; {by}\nblake3 {digest} {name}\n", amount(totals));
    Ok(output::print_lines(&text)?)
}

/// Prints each damage, and returns the failure of the check.
fn report_damage(damage: &[String]) -> Result<Failure> {
    let line = |what: &String| format!("damaged: {}\n", harmless(what));
    output::print_lines(&damage.iter().map(line).collect::<String>())?;
    Ok(Failure::GATE)
}

fn show(verified: &Verified, stores: &[String; 2]) -> String {
    let [a, b] = stores;
    let mut text = String::new();
    for (what, Differences { count, first }) in [
        (format!("missing in {b}"), &verified.missing),
        (format!("extra in {b}"), &verified.extra),
        ("different".to_owned(), &verified.different),
        ("same bytes, other mode or time".to_owned(), &verified.other_meta),
    ] {
        let more = if *count > first.len() as u64 { ", …" } else { "" };
        if *count > 0 {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{what}: {}: {}{more}", show_count(*count), first.join(", "));
        }
    }
    let (same, bytes) = (show_count(verified.same), show_size(verified.bytes));
    let _ = writeln!(text, "same: {same} values, {bytes}");
    let [left, right] = verified.totals.map(amount);
    let _ = writeln!(text, "looked at: {a}: {left}; {b}: {right}");
    for (name, digest) in stores.iter().zip(&verified.digests) {
        let _ = writeln!(text, "blake3 {digest} {name}");
    }
    text
}

/// Formats what was counted: `3 values, 12 B and 1 other entry`.
fn amount(StoreTotals { values, bytes, others }: StoreTotals) -> String {
    let values = format!("{} values, {}", show_count(values), show_size(bytes));
    match others {
        0 => values,
        1 => values + " and 1 other entry",
        others => format!("{values} and {} other entries", show_count(others)),
    }
}

#[cfg(test)]
mod tests {
    use model::EntryKind;

    use super::*;

    #[test]
    fn only_ten_names_are_shown_of_many() {
        let entry = |n| Entry {
            name: format!("{n:02}").into_bytes(),
            kind: EntryKind::Link,
            content: Vec::new(),
        };
        let lines: Vec<_> = left_out_lines(&(0..25).map(entry).collect::<Vec<_>>()).collect();
        assert_eq!(lines.len(), 1);
        let line = &lines[0];
        assert!(line.starts_with("25 × symbolic link: 00, 01") && line.ends_with("08, 09, …"));
    }
}
