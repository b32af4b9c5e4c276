//! `storemark copy`, and kvtest's `export` and `import`, which are copies.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Instant,
};

use engines::{LeftOut, Several, files_left_out, registry};
use lab::{CopyJob, Place, Stop};
use model::{
    Error, Facet, Result, Settings, Target,
    units::{show_count, show_duration, show_size},
};

use crate::{
    args::{CopyFlags, CopyOptions, ExportOptions, ImportOptions},
    exit::Failure,
    listener::Listener,
    output, targets,
};

pub(crate) fn run(options: &CopyOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    let to = destination(&options.to)?;
    carry_out(from, to, &options.flags, stop)
}

pub(crate) fn export(options: &ExportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(options.database.as_os_str())?;
    let layout = if options.tree { Some(("layout", "tree")) } else { None };
    let to = place("files", &options.directory, layout)?;
    carry_out(from, to, &options.flags, stop)
}

pub(crate) fn import(options: &ImportOptions, stop: &Stop) -> Result<(), Failure> {
    let from = source(&options.from)?;
    let page_size = options.pagesize.as_deref().map(|size| ("page_size", size));
    let to = place("sqlite", &options.database, page_size)?;
    carry_out(from, to, &options.flags, stop)
}

pub(super) fn carry_out(
    from: Place,
    to: Place,
    flags: &CopyFlags,
    stop: &Stop,
) -> Result<(), Failure> {
    if from.engine.name() == "files" {
        tell_left_out(&from.path)?;
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

/// A store that is there, to be read.
pub(super) fn source(text: &OsStr) -> Result<Place> {
    let (resolved, path) = targets::existing(text)?;
    Ok(Place { engine: resolved.engine, path, settings: resolved.settings(&[])? })
}

/// A store to be made: its engine has to be named, unless it replaces one that is there.
fn destination(text: &OsStr) -> Result<Place> {
    let words = text.to_string_lossy();
    if Target::parse(&words).engine.is_none() && !Path::new(text).exists() {
        return Err(Error::usage(format!(
            "{words}: name the engine of the new store, as in sqlite:{words} or files:{words}"
        )));
    }
    let resolved = targets::resolve(text)?;
    let settings = resolved.settings(&[])?;
    match resolved.location {
        Some(path) => Ok(Place { engine: resolved.engine, path, settings }),
        None => Err(Error::usage(format!("{}: a copy needs a place on disk", resolved.text))),
    }
}

pub(super) fn place(engine: &str, path: &PathBuf, setting: Option<(&str, &str)>) -> Result<Place> {
    let engine = registry::blobs(engine)?;
    let settings = Settings::check(engine.settings(Facet::Blobs), setting)?;
    Ok(Place { engine, path: path.to_owned(), settings })
}

/// Says what of a folder is no file and so not in its dataset. A file that cannot be read is an
/// error: a copy without it would pass for whole.
pub(super) fn tell_left_out(folder: &Path) -> Result<()> {
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
