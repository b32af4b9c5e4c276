//! `storemark advise`: which store and which settings suit some data.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use checks::Advice;
use clap::Args;
use engines::registry;
use lab::{AdviseRequest, Data, Recorder, ResolvedTarget, Stop, StoreLocation};
use model::{Batch, Blobs, Durability, Error, Result, Roles, units};
use report::pages;
use spec::{BlobsSpec, DataSource, GeneratedOptions, Name, ScratchAndSeed, Talk, given_value};

use super::measure;
use crate::{
    exit::Failure,
    files::{self, Form, Taken},
    images,
    listener::Listener,
    output,
    plan::fresh_seed,
    program,
    store_place::StorePlace,
    targets,
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark advise ~/thumbnails                      where these files should be
  storemark advise thumbs.db --reads 50              a database, half of the operations updates
  storemark advise --data ~/thumbnails --explain     with everything that was tried
  storemark advise --size 10k --durability durable   values of 10 kB that are yet to come
  storemark advise --size 300 --readers 4 --writers 2   the sessions of a web server")]
pub(crate) struct AdviseOptions {
    /// The folder or store that the data are in now; none: values are generated
    #[arg(value_name = "STORE", conflicts_with = "data")]
    pub(crate) store: Option<OsString>,

    #[command(flatten)]
    pub(crate) source: DataSource,
    #[command(flatten)]
    pub(crate) generated: GeneratedOptions,

    /// How many of a hundred operations read a value; the others replace one
    #[arg(long, value_name = "PERCENT", value_parser = units::parse_of_a_hundred, default_value = "95", help_heading = "Use")]
    pub(crate) reads: f64,
    /// Values are mostly not in memory when they are read
    #[arg(long, conflicts_with_all = ["readers", "writers"], help_heading = "Use")]
    pub(crate) cold: bool,
    /// What a power cut must leave: none, consistent (whole values) or durable (each commit)
    #[arg(long, value_name = "CLASS", value_parser = |text: &str| text.parse::<Durability>(), default_value = "consistent", help_heading = "Use")]
    pub(crate) durability: Durability,
    /// Sessions that work at the same time
    #[arg(long, value_name = "N", value_parser = |text: &str| units::parse_up_to(text, 1024), default_value = "1", conflicts_with_all = ["readers", "writers"], help_heading = "Use")]
    pub(crate) threads: u32,
    /// Sessions that read while others write: stores are compared with both at the same time, and the
    /// settings that decide what they cost each other are measured one by one
    #[arg(long, value_name = "N", value_parser = sessions, requires = "writers", help_heading = "Use")]
    pub(crate) readers: Option<u32>,
    /// Sessions that write while others read
    #[arg(long, value_name = "N", value_parser = sessions, requires = "readers", help_heading = "Use")]
    pub(crate) writers: Option<u32>,
    /// Operations that a program does in one transaction, or all; default: 1 for updates, all for reads,
    /// as `run` does
    #[arg(long, value_name = "N", value_parser = batch, help_heading = "Use")]
    pub(crate) batch: Option<Batch>,
    /// Try the database servers that are installed, too
    #[arg(long, help_heading = "Use")]
    pub(crate) servers: bool,

    /// Time for all of it
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "3m", help_heading = "Run")]
    pub(crate) time: Duration,
    #[command(flatten)]
    pub(crate) own: ScratchAndSeed,

    /// Show everything that was tried, and why it was dropped
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
    /// Write the record of the last candidates to FILE (- for standard output)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

const RECORD: Form<'_> =
    Form { option: "--json", what: "a record of storemark advise", head: files::RECORD_HEAD };

pub(crate) fn run(options: &AdviseOptions, stop: &Stop) -> Result<(), Failure> {
    let request = request(options)?;
    if let (Data::Store(place), Some(source)) = (&request.data, &request.source)
        && place.engine.account().is_some()
    {
        output::say(&format!(
            "{source}: a part of its keys is listed, and a sample of at most 1,000 values (64 MB) is read \
             for each step of the search; objects of storemark's own are made there in a part of their own, \
             measured and removed"
        ));
    }
    let measured = match &request.data {
        Data::Store(place) => place.engine.files(&place.path),
        Data::Generated(_) | Data::Targets => Vec::new(),
    };
    let out = files::open(options.json.as_deref(), RECORD, &mut Taken::measured(measured))?;
    let mut recorder = Recorder::new(out);
    let find = |listener: &Listener| lab::advise(&request, &mut recorder, listener, stop);
    let found = Listener::during(options.talk, find);
    let (_, finished) = recorder.finish();
    let found = found?;
    let grid = grid(options, &request, &found);
    let page = output::page(&pages::advice(&found, options.explain.then_some(grid.as_str())));
    output::print_next_to(options.json.as_deref(), &page, options.talk.quiet)?;
    finished.map_err(Failure::PartWay)
}

fn batch(text: &str) -> Result<Batch> {
    match text.parse()? {
        Batch::Of(0) => Err(Error::usage("accepted is 1 or more, or all")),
        batch => Ok(batch),
    }
}

fn sessions(text: &str) -> Result<u32> {
    units::parse_up_to(text, 1024)
}

/// Returns the roles of sessions that read and sessions that write, as `run --roles` takes them; `None`
/// if they were not asked for.
fn roles(options: &AdviseOptions) -> Result<Option<String>> {
    let (Some(readers), Some(writers)) = (options.readers, options.writers) else {
        return Ok(None);
    };
    let batch = match options.batch {
        None => 1,
        Some(Batch::Of(operations)) => operations,
        Some(Batch::All) => {
            return Err(Error::usage(
                "--batch all: with --readers and --writers, accepted is a number",
            ));
        }
    };
    Ok(Some(format!("readers={readers},writers={writers}:batch={batch}")))
}

fn request(options: &AdviseOptions) -> Result<AdviseRequest> {
    let seed = given_value(&options.own.seed).unwrap_or_else(fresh_seed);
    let (data, now) = data(options, seed)?;
    let path = match &data {
        Data::Store(place) if !place.engine.capabilities().remote => {
            Some(images::original(&place.path))
        }
        Data::Store(_) | Data::Generated(_) | Data::Targets => None,
    };
    let scratch = options.own.scratch.as_ref().map(Name::path);
    if let Some(folder) = scratch.filter(|folder| !folder.is_dir()) {
        return Err(Error::usage(format!("--scratch {}: no such folder", folder.display())));
    }
    let scratch = scratch
        .or(path.as_deref().and_then(Path::parent))
        .filter(|folder| *folder != Path::new(""));
    let scratch = scratch.map(Path::to_owned);
    Ok(AdviseRequest {
        source: data.store_name(),
        data,
        now,
        engines: registry::plainest_first().collect(),
        usual: &BlobsSpec::TARGETS,
        servers: options.servers,
        reads: options.reads,
        cold: options.cold,
        durability: options.durability,
        threads: options.threads,
        roles: roles(options)?
            .map_or(Ok(Vec::new()), |text| Ok::<_, Error>(text.parse::<Roles>()?.0))?,
        batch: options.batch,
        time: options.time,
        seed,
        scratch,
        worker: program::worker_command()?,
    })
}

/// Returns where the values are, and a store like it.
fn data(options: &AdviseOptions, seed: u64) -> Result<(Data, ResolvedTarget<dyn Blobs>)> {
    let folder = || ResolvedTarget::scratch(&now(registry::folders().name()), registry::folders());
    let named = options.source.data.as_ref().map(AsRef::as_ref);
    if let Some(path) = named.filter(|path| measure::is_folder(path)) {
        options.generated.check_unused("--data")?;
        return Ok((measure::directory(Path::new(path))?, folder()));
    }
    let Some(text) = named.or(options.store.as_deref()) else {
        return Ok((Data::Generated(options.generated.dataset(seed)), folder()));
    };
    options.generated.check_unused(&text.to_string_lossy())?;
    let (resolved, path) = targets::existing(text)?;
    let place = StoreLocation { engine: resolved.engine, path, settings: resolved.settings(&[])? };
    if let StorePlace::Image(_) = resolved.place {
        if named.is_none() {
            let why = "is an image, and none is made of the values to compare it with others; --data IMAGE takes its values";
            return Err(Error::usage(why).at(&resolved.text));
        }
        return Ok((Data::Store(place), folder()));
    }
    let written = resolved.settings.iter().map(|(name, value)| format!(" {name}={value}"));
    let label = now(&written.fold(resolved.engine.name().to_owned(), |label, pair| label + &pair));
    let at_address = resolved.engine.capabilities().remote.then(|| place.path.clone());
    let target = ResolvedTarget {
        settings: place.settings.clone(),
        location: at_address,
        address: resolved.place.address().cloned(),
        // The service has a class of its own.
        keeps_class: resolved.place.address().is_some(),
        ..ResolvedTarget::scratch(&label, resolved.engine)
    };
    Ok((Data::Store(place), target))
}

/// Returns the label of the present store.
fn now(label: &str) -> String {
    format!("{label} now")
}

/// Returns the candidates as a run takes them, what is there now first.
fn targets_of(request: &AdviseRequest, found: &Advice) -> String {
    let others = found.candidates.iter().filter(|of| of.label != found.now);
    let targets = others.map(|of| model::shell_quoted(&of.target));
    let now = format!("{}:", request.now.engine.name());
    [now].into_iter().chain(targets).collect::<Vec<_>>().join(" ")
}

/// Returns the command that measures all candidates in one run; empty if there is none, because the
/// data are in a store.
fn grid(options: &AdviseOptions, request: &AdviseRequest, found: &Advice) -> String {
    let data = match &request.data {
        Data::Store(place) if place.engine.name() == registry::folders().name() => {
            format!("--data {}", model::shell_quoted(&place.path.display().to_string()))
        }
        Data::Generated(of) => format!(
            "--keys {} --size {} --variance {} --seed {}",
            of.count, of.size, of.variance, of.seed
        ),
        Data::Store(_) | Data::Targets => return String::new(),
    };
    if let Ok(Some(roles)) = roles(options) {
        let durability = options.durability;
        let targets = targets_of(request, found);
        return format!("storemark run {targets} {data} --roles {roles} --durability {durability}");
    }
    let shares = [("--read", options.reads), ("--update", 1.0 - options.reads)];
    let work = shares.into_iter().filter(|(_, share)| *share > 0.0).map(|(option, _)| option);
    let work = work.collect::<Vec<_>>().join(" ");
    let cache = if options.cold { " --cache data-cold" } else { "" };
    let targets = targets_of(request, found);
    let AdviseOptions { durability, batch, threads, .. } = options;
    let batch = match batch {
        None => String::new(),
        Some(Batch::All) => " --batch all".to_owned(),
        Some(Batch::Of(operations)) => format!(" --batch {operations}"),
    };
    format!(
        "storemark run {targets} {data} {work}{cache} --durability {durability}{batch} --threads \
         {threads}"
    )
}
