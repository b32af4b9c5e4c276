//! `storemark doctor`: whether this machine is fit to measure on.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use engines::registry;
use lab::{DoctorRequest, Stop};
use model::{DoctorReport, Error, ErrorKind, Result, Severity, units};
use spec::Talk;

use crate::{exit::Failure, files, listener::Listener, output, plan::fresh_seed, program};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark doctor                           the current folder's disk, in a minute
  storemark doctor /srv --quick              another folder's, in ten seconds
  storemark doctor --strict --json -         for scripts")]
pub(crate) struct DoctorOptions {
    /// The folder that stores would be in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Time for all of it; most goes to measuring how small a difference shows here
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "60s")]
    pub(crate) time: Duration,
    /// Ten seconds (--time 10s)
    #[arg(long, conflicts_with = "time")]
    pub(crate) quick: bool,
    /// End with code 3 if anything may mislead
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write one JSON object to FILE (- for standard output, instead of the page)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

/// The time of `--quick`.
const QUICK: Duration = Duration::from_secs(10);

pub(crate) fn run(options: &DoctorOptions, stop: &Stop) -> Result<(), Failure> {
    let request = request(options)?;
    let head = files::head(&output::json(&DoctorReport::default())?);
    let json = files::try_json(options.json.as_deref(), &head, &mut files::Taken::default())?;
    let doctor = |listener: &Listener| lab::doctor(&request, listener, stop);
    let (report, interrupted) = Listener::during(options.talk, doctor);
    let text = output::page(&report::pages::doctor(&report));
    if let Err(error) = output::json(&report).and_then(|data| json.print(&data, &text)) {
        // It took long to find out.
        output::print(&text)?;
        return Err(error.into());
    }
    let misleading = report.advice.iter().any(|advice| advice.severity > Severity::Note);
    if interrupted {
        return Err(Failure::PartWay(Error::interrupted()));
    }
    if options.strict && misleading { Err(Failure::GATE) } else { Ok(()) }
}

fn request(options: &DoctorOptions) -> Result<DoctorRequest> {
    let folder = folder(&options.folder)?;
    Ok(DoctorRequest {
        folder,
        // The second needs the file system as well.
        engines: vec![registry::in_memory(), registry::folders()],
        time: if options.quick { QUICK } else { options.time },
        seed: fresh_seed(),
        worker: program::worker_command()?,
        libraries: registry::linked().collect(),
    })
}

/// Returns the folder without links, because its mount is found by its path.
fn folder(path: &Path) -> Result<PathBuf> {
    let folder = host::real_path(path)
        .map_err(|error| Error::io(path.display(), error).with_kind(ErrorKind::Usage))?;
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Error::usage("is no folder; name the one it is in").at(path.display()))
}
