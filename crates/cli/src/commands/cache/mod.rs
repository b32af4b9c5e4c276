//! `storemark cache`: which files are in the page cache; fills, empties or locks it.

use model::Error;

#[cfg(unix)]
use crate::output;
use crate::{args::CacheOptions, exit::Failure};

#[cfg(unix)]
mod act;
#[cfg(unix)]
mod crawl;
#[cfg(unix)]
mod hold;
#[cfg(unix)]
mod look;
#[cfg(unix)]
mod map;
#[cfg(unix)]
mod pattern;
#[cfg(unix)]
mod pidfile;
#[cfg(unix)]
mod roots;
#[cfg(unix)]
mod summary;
#[cfg(unix)]
mod tally;

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
    let roots = roots::given(options)?;
    let mut crawl = crawl::Crawl::new(options);
    for root in &roots {
        crawl.root(root)?;
    }
    let (tally, locked, listed) = crawl.finish()?;
    if options.holds() {
        return hold::until_signalled(options, &tally, locked);
    }
    if options.json {
        output::print(&summary::json(&tally, listed, start.elapsed()))?;
    } else if !options.quiet {
        output::print(&summary::text(options, &tally, start.elapsed()))?;
    }
    match tally.problems.line(options.verbose) {
        Some(line) => Err(Failure::PartWay(Error::failed(line))),
        None => Ok(()),
    }
}
