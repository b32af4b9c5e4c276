//! `storemark cache`: which files are in the page cache; fills, empties or locks it.

#[cfg(unix)]
mod hold;
mod options;
#[cfg(unix)]
mod show;
#[cfg(unix)]
mod summary;

use model::Error;

pub(crate) use self::options::CacheOptions;
use crate::exit::Failure;
#[cfg(unix)]
use crate::files;

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
    let (found, show) = show::crawl(options)?;
    if options.holds() {
        return hold::until_signalled(options, &found, &show);
    }
    if !options.quiet {
        let elapsed = start.elapsed();
        let text = summary::text(options, &found, elapsed);
        let json = || Ok(summary::json(&found, &show, elapsed));
        files::print(options.json.as_deref(), json, &text, &mut files::Taken::default())?;
    }
    match show.failed() {
        Some(line) => Err(Failure::PartWay(Error::failed(line))),
        None => Ok(()),
    }
}
