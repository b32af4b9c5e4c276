//! `storemark cache`: which files are in the page cache; fills, empties or locks it.

#[cfg(unix)]
mod hold;
mod options;
#[cfg(unix)]
mod show;
#[cfg(unix)]
mod summary;

use model::Error;
#[cfg(unix)]
use pagecache::{Crawl, Found, Problem, Root};

pub(crate) use self::options::CacheOptions;
#[cfg(unix)]
use self::show::Show;
use crate::exit::Failure;

#[cfg(not(unix))]
pub(crate) fn run(_: &CacheOptions) -> Result<(), Failure> {
    let os = std::env::consts::OS;
    Err(Error::unsupported(format!("{os} does not show its page cache")).into())
}

#[cfg(unix)]
pub(crate) fn run(options: &CacheOptions) -> Result<(), Failure> {
    if options.daemon && !hold::is_daemon() {
        return hold::start_daemon(options);
    }
    let start = std::time::Instant::now();
    let (found, show) = crawl(options)?;
    if options.holds() {
        return hold::until_signalled(options, &found, &show);
    }
    if options.json {
        crate::output::print(&summary::json(&found, &show, start.elapsed()))?;
    } else if !options.quiet {
        crate::output::print(&summary::text(options, &found, start.elapsed()))?;
    }
    match show.failed() {
        Some(line) => Err(Failure::PartWay(Error::failed(line))),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn crawl(options: &CacheOptions) -> Result<(Found, Show), Failure> {
    let roots = roots(options)?;
    let crawl_options = options.crawl();
    let mut crawl = Crawl::new(&crawl_options, Show::new(options));
    for root in &roots {
        crawl.root(root)?;
    }
    let (found, mut show) = crawl.finish();
    show.flush()?;
    Ok((found, show))
}

/// The list's paths, then those of the command line, which must all exist.
#[cfg(unix)]
fn roots(options: &CacheOptions) -> Result<Vec<Root>, Failure> {
    let mut roots: Vec<_> = match &options.list {
        Some(list) => listed(list, options.null)?,
        None => Vec::new(),
    };
    for path in &options.paths {
        let root = Root::new(path.into());
        std::fs::symlink_metadata(path).map_err(|error| Problem { path: path.into(), error })?;
        roots.push(root);
    }
    Ok(roots)
}

#[cfg(unix)]
fn listed(list: &std::path::Path, by_zeros: bool) -> Result<Vec<Root>, Failure> {
    use std::{ffi::OsStr, fs, io::Read, os::unix::ffi::OsStrExt};

    let mut text = Vec::new();
    let read = match list.to_str() {
        Some("-") => std::io::stdin().read_to_end(&mut text),
        _ => fs::File::open(list).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| Problem { path: list.to_owned(), error })?;
    let end = if by_zeros { 0 } else { b'\n' };
    let paths = text.split(|byte| *byte == end).filter(|path| !path.is_empty());
    Ok(paths.map(|path| Root::new(OsStr::from_bytes(path).into())).collect())
}

#[cfg(unix)]
impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Error(Error::io(problem.path.display(), problem.error))
    }
}
