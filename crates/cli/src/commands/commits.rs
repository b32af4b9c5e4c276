//! `storemark write-commits` and `storemark check-commits`: the program that `storemark crash` cuts the
//! power of, and the check of what is left of its store.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use lab::{CommitsFound, CommitsRequest};
use model::{Durability, Error, Result};

use crate::{exit::Failure, output, targets};

/// The options of both commands.
#[derive(Debug, Args)]
struct SeriesOptions {
    /// An engine with its settings
    target: OsString,
    /// The folder of the store
    folder: PathBuf,
    #[arg(long)]
    seed: u64,
    /// The first commit; those before it are in the store already
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    first: u64,
    /// The last commit
    #[arg(long)]
    last: u64,
}

#[derive(Debug, Args)]
pub(crate) struct WriteCommitsOptions {
    #[command(flatten)]
    series: SeriesOptions,
}

#[derive(Debug, Args)]
pub(crate) struct CheckCommitsOptions {
    #[command(flatten)]
    series: SeriesOptions,
    /// The class that the store promises
    #[arg(long)]
    class: Durability,
}

impl SeriesOptions {
    fn request(&self) -> Result<CommitsRequest> {
        let target = targets::resolve(&self.target)?;
        Ok(CommitsRequest {
            engine: target.engine,
            settings: target.settings(&[])?,
            location: self.folder.join(STORE),
            seed: self.seed,
            commits: self.first..self.last + 1,
        })
    }
}

/// The name of the store in its folder.
pub(crate) const STORE: &str = "store";

/// Writes the number of each commit to the file that `STOREMARK_ACK` names, once it has returned.
pub(crate) fn write(options: &WriteCommitsOptions) -> Result<(), Failure> {
    let path = variable("STOREMARK_ACK")?;
    let failed = |error| Error::io(Path::new(&path).display(), error);
    let mut file = File::options().append(true).open(&path).map_err(failed)?;
    let mut acknowledge =
        |number: u64| file.write_all(format!("{number}\n").as_bytes()).map_err(failed);
    Ok(lab::write_commits(&options.series.request()?, &mut acknowledge)?)
}

/// Prints what the store holds of the commits that the file that `STOREMARK_ACKED` names acknowledges.
pub(crate) fn check(options: &CheckCommitsOptions) -> Result<(), Failure> {
    let path = variable("STOREMARK_ACKED")?;
    let text = fs::read_to_string(&path).map_err(|e| Error::io(Path::new(&path).display(), e))?;
    let acknowledged = text.lines().filter_map(|line| line.trim().parse().ok()).next_back();
    let killed = env::var_os("STOREMARK_MODEL").is_some_and(|model| model == "kill");
    let acknowledged = acknowledged.unwrap_or(options.series.first - 1);
    // The engine's library may end this process; the last line counts.
    print_line(&CommitsFound::unopened(acknowledged))?;
    let request = options.series.request()?;
    let found = lab::check_commits(&request, options.class, acknowledged, killed);
    print_line(&found)?;
    if found.reason.is_none() { Ok(()) } else { Err(Failure::GATE) }
}

fn print_line(found: &CommitsFound) -> Result<()> {
    let line = serde_json::to_string(found);
    let line = line.map_err(|error| Error::failed(format!("JSON cannot be made: {error}")))?;
    output::print(&(line + "\n"))
}

fn variable(name: &str) -> Result<OsString> {
    env::var_os(name)
        .ok_or_else(|| Error::usage(format!("{name} is not set; `storemark crash` sets it")))
}
