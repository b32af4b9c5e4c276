//! `storemark copy`, and kvtest's `export` and `import`, which are copies.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use engines::{LeftOut, Several, files_left_out, registry};
use lab::{CopyJob, Place, Stop};
use model::{
    Blobs, Error, Facet, Result, Settings, Target,
    spec::Talk,
    units::{show_count, show_duration, show_size},
};

use crate::{exit::Failure, listener::Listener, output, targets};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark copy thumbs.db files:thumbs               into a folder
  storemark copy thumbs lmdb:thumbs.lmdb              into another engine
  storemark copy thumbs sqlite:new.db?page_size=8192  with a setting that a store keeps
  storemark copy thumbs files:thumbs2 --resume        go on with what was interrupted";

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  storemark export test1.db test1.dir        files 000001, 000002, …
  storemark export test1.db test1.tree --tree
  storemark export test1.db test1.dir --force";

pub(crate) const IMPORT_EXAMPLES: &str = "\
Examples:
  storemark import thumbnails thumbs.db      names, modes and times are kept
  storemark import thumbnails thumbs.db --force --pagesize 8192";

/// What all commands that make a store have in common.
#[derive(Clone, Debug, Args)]
pub(crate) struct CopyFlags {
    /// Replace a store that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Go on with what was interrupted
    #[arg(long)]
    pub(crate) resume: bool,
    /// Where a source that reading would change is copied to be read; default: next to it
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

#[derive(Debug, Args)]
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
pub(crate) struct ImportOptions {
    /// The folder, or any other target
    pub(crate) from: OsString,
    /// The database to make
    pub(crate) database: PathBuf,
    /// Its page size: a power of two from 512 to 65536
    #[arg(long, value_name = "BYTES")]
    pub(crate) pagesize: Option<String>,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

#[derive(Debug, Args)]
pub(crate) struct CopyOptions {
    /// The store to copy, only read
    pub(crate) from: OsString,
    /// The store to make: a target with an engine, such as sqlite:new.db or files:new?layout=tree
    pub(crate) to: OsString,
    #[command(flatten)]
    pub(crate) flags: CopyFlags,
}

pub(crate) fn run(options: &CopyOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    let to = destination(&options.to)?;
    carry_out(from, to, &options.flags, stop)
}

pub(crate) fn export(options: &ExportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(options.database.as_os_str())?;
    let layout = if options.tree { Some(("layout", "tree")) } else { None };
    let to = place(registry::folders(), &options.directory, layout)?;
    carry_out(from, to, &options.flags, stop)
}

pub(crate) fn import(options: &ImportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    let page_size = options.pagesize.as_deref().map(|size| ("page_size", size));
    let to = place(registry::databases()?, &options.database, page_size)?;
    carry_out(from, to, &options.flags, stop)
}

pub(super) fn carry_out(
    from: Place,
    to: Place,
    flags: &CopyFlags,
    stop: &Stop,
) -> Result<(), Failure> {
    if from.engine.name() == registry::folders().name() {
        report_left_out(&from.path)?;
    }
    let began = Instant::now();
    let name = to.path.display().to_string();
    let CopyFlags { force, resume, scratch, talk } = flags.clone();
    let listener = Listener::new(talk);
    let job = CopyJob { from, to, force, resume, scratch };
    let copied = lab::copy(&job, &listener, stop);
    drop(listener);
    let copied = copied?;
    let there = match copied.resumed {
        0 => String::new(),
        count => format!(", {} of them were there", show_count(count)),
    };
    output::print(&format!(
        "{name}: {} values, {} in {}{there}\n",
        show_count(copied.count),
        show_size(copied.bytes),
        show_duration(began.elapsed())
    ))?;
    Ok(())
}

/// A store that exists, to be read.
pub(super) fn source(text: &OsStr) -> Result<Place> {
    let (resolved, path) = targets::existing(text)?;
    Ok(Place { engine: resolved.engine, path, settings: resolved.settings(&[])? })
}

/// A store to be created: its engine has to be named, unless it replaces one that exists.
fn destination(text: &OsStr) -> Result<Place> {
    let words = text.to_string_lossy();
    if Target::parse(&words).engine.is_none() && !Path::new(text).exists() {
        return Err(Error::usage(format!(
            "{words}: name the engine of the new store, as in ENGINE:{words}; storemark engines lists them"
        )));
    }
    let resolved = targets::resolve(text)?;
    let settings = resolved.settings(&[])?;
    match resolved.location {
        Some(path) => Ok(Place { engine: resolved.engine, path, settings }),
        None => Err(Error::usage(format!("{}: a copy needs a place on disk", resolved.text))),
    }
}

pub(super) fn place(
    engine: &'static dyn Blobs,
    path: &Path,
    setting: Option<(&str, &str)>,
) -> Result<Place> {
    let settings = Settings::check(engine.settings(Facet::Blobs), setting)?;
    Ok(Place { engine, path: path.to_owned(), settings })
}

/// Prints what in a folder is not a file and so not in its dataset. A file that cannot be read is an
/// error: a copy without it would pass for whole.
pub(super) fn report_left_out(folder: &Path) -> Result<()> {
    let LeftOut { symlinks, special, unreadable, empty_folders } = files_left_out(folder)?;
    if unreadable.count > 0 {
        return Err(Error::usage(format!(
            "{}: {} cannot be read: {}",
            folder.display(),
            show_count(unreadable.count),
            names(&unreadable)
        )));
    }
    for (several, what) in [
        (symlinks, "symbolic link"),
        (special, "device, socket or pipe"),
        (empty_folders, "empty folder"),
    ] {
        if several.count > 0 {
            output::say(&format!(
                "{}: left out: {} × {what}: {}",
                folder.display(),
                show_count(several.count),
                names(&several)
            ));
        }
    }
    Ok(())
}

fn names(several: &Several) -> String {
    let shown: Vec<_> = several.names.iter().map(|name| name.display().to_string()).collect();
    let more = if several.count > shown.len() as u64 { ", …" } else { "" };
    shown.join(", ") + more
}
