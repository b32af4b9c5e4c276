//! `storemark crash TARGETS`: the power is cut while a hidden command of storemark makes commits to a
//! store, and another one checks what is left of them.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use clap::Args;
use engines::registry;
use host::Scratch;
use lab::{CommitsRequest, CrashRequest, Progress, Stop};
use model::{
    Access, Blobs, CrashedStore, Durability, EngineFacts, Error, Facet, KeyKind, OpenOptions,
    Result, Settings, settings_text,
};

use super::CrashOptions;
use crate::{
    commands::commits::STORE,
    listener::Listener,
    targets::{self, FoundTarget},
};

/// The options of stores.
#[derive(Debug, Args)]
pub(crate) struct StoresOptions {
    /// The stores under which the power is cut: engines with their settings (sqlite:,
    /// sqlite:?journal=delete), or servers that storemark starts (postgres:); default: all embedded ones
    #[arg(value_name = "TARGETS", conflicts_with = "check")]
    targets: Vec<OsString>,
    /// The class that every store is set up for: none, consistent or durable; default: each of them, or
    /// the class of a target's own settings
    #[arg(long, value_name = "CLASS", help_heading = "Stores", conflicts_with = "check")]
    durability: Vec<Durability>,
    /// Stores created while the power can be cut (new), or before (established); default: both
    #[arg(long, value_name = "KIND", value_parser = [NEW, ESTABLISHED], help_heading = "Stores",
        conflicts_with = "check")]
    stores: Vec<String>,
    /// Commits made to each store while the power can be cut
    #[arg(long, value_name = "N", default_value = "100", help_heading = "Stores",
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    commits: u64,
}

const NEW: &str = "new";
const ESTABLISHED: &str = "established";

/// The commits of an established store before its recording.
const BEFORE: u64 = 40;

/// The seed of the commits, always the same, so that a state can be made again whatever the seed of
/// what is lost.
const SEED: u64 = 36;

/// The longest value that an engine keeps in another way than longer ones: a part of the values is
/// longer.
const THRESHOLD: u64 = 10_000;

/// A store whose power is to be cut.
struct CutStore {
    target: String,
    engine: &'static dyn Blobs,
    settings: Settings,
    class: Durability,
    /// A folder with the store after the first commits.
    prepared: Scratch,
}

/// Cuts the power under each store, in each class and kind, and returns what is left. `like` has all but
/// the programs and the prepared folder.
pub(super) fn run(
    options: &CrashOptions,
    like: &CrashRequest,
    listener: &Listener,
    stop: &Stop,
) -> Result<Vec<CrashedStore>> {
    let stores = stores(&options.stores)?;
    let kinds = stores.iter().map(|(target, _)| kinds(target, &options.stores));
    let kinds = kinds.collect::<Result<Vec<_>>>()?;
    if like.only.is_some() && kinds.iter().map(Vec::len).sum::<usize>() > 1 {
        let what = "makes one state: name one target, its --durability and one of --stores";
        return Err(Error::usage(what).at("--cut"));
    }
    let mut found = Vec::new();
    for ((target, class), kinds) in stores.into_iter().zip(kinds) {
        let states = options.states(is_server(target.engine));
        let scratch = host::enterable(&like.scratch, target.engine.account());
        if scratch != like.scratch {
            let (asked, used) = (like.scratch.display(), scratch.display());
            listener.detail(&format!("the server's user cannot enter {asked}: {used} is used"));
        }
        let like = CrashRequest { states, scratch, ..like.clone() };
        let store = CutStore::prepare(&target, class, &like.scratch)?;
        for kind in kinds {
            let name = format!("{} {} ({kind})", store.target, store.class);
            listener.part(&name);
            listener.detail(&name);
            let established = kind == ESTABLISHED;
            let request = store.request(options.stores.commits, established, &like)?;
            let result = lab::crash(&request, listener, stop).map_err(|e| e.context(&name))?;
            let (target, durability) = (store.target.clone(), store.class);
            let server = is_server(store.engine);
            found.push(CrashedStore { target, durability, established, server, result });
        }
    }
    Ok(found)
}

/// Returns the kinds of stores of a target: of a server only an established one, because nothing flushes
/// the files of a server that is being installed.
fn kinds(target: &FoundTarget, options: &StoresOptions) -> Result<Vec<&'static str>> {
    let asked =
        |kind: &&str| options.stores.is_empty() || options.stores.iter().any(|asked| asked == kind);
    let can = |kind: &&str| *kind == ESTABLISHED || !is_server(target.engine);
    let kinds: Vec<_> = [NEW, ESTABLISHED].into_iter().filter(asked).filter(can).collect();
    if !kinds.is_empty() {
        return Ok(kinds);
    }
    let what = "is a server, whose installation is not flushed: use --stores established";
    Err(Error::usage(what).at(&target.text))
}

/// Returns each target with the class that it is set up for; `None` if its own settings decide.
fn stores(options: &StoresOptions) -> Result<Vec<(FoundTarget, Option<Durability>)>> {
    let engines = registry::all_blobs().filter(|engine| engine.power_cut_refusal().is_none());
    let embedded = engines.filter(|engine| !is_server(*engine));
    let all = embedded.map(|engine| OsString::from(format!("{}:", engine.name())));
    let texts = if options.targets.is_empty() { all.collect() } else { options.targets.clone() };
    let with_classes = texts.iter().map(|text| {
        let target = named(text)?;
        let classes = classes(&target, options)?;
        Ok(classes.into_iter().map(move |class| (target.clone(), class)))
    });
    Ok(with_classes.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn classes(target: &FoundTarget, options: &StoresOptions) -> Result<Vec<Option<Durability>>> {
    let declared = target.engine.declared().durability;
    let decides = |name: &str| {
        declared.iter().any(|kept| kept.settings.iter().any(|(other, _)| *other == name))
    };
    let gives = |class: &Durability| declared.iter().any(|kept| kept.class == *class);
    if options.durability.is_empty() && target.settings.iter().any(|(name, _)| decides(name)) {
        return Ok(vec![None]);
    }
    if declared.is_empty() && !options.targets.is_empty() {
        let why = "has no durability class: it promises nothing that a power cut could break";
        return Err(Error::usage(why).at(&target.text));
    }
    let asked = match options.durability.as_slice() {
        [] => declared.iter().map(|kept| kept.class).collect(),
        asked => asked.to_vec(),
    };
    // An engine that the user names has to give the class; of all engines, those are left out that do not.
    let kept = asked.into_iter().filter(|class| !options.targets.is_empty() || gives(class));
    let checked = kept.map(|class| {
        target.with_settings(&[])?.settings_for(Facet::Blobs, Some(class)).map(|_| Some(class))
    });
    checked.collect()
}

fn named(text: &OsStr) -> Result<FoundTarget> {
    let target = targets::resolve(text)?;
    if !target.is_scratch() {
        return Err(Error::usage(
            "the power is cut under a new store; name only the engine and settings",
        )
        .at(&target.text));
    }
    match target.engine.power_cut_refusal() {
        None => Ok(target),
        Some(why) => {
            let able = registry::all_blobs().filter(|engine| engine.power_cut_refusal().is_none());
            let names = able.map(EngineFacts::name).collect::<Vec<_>>().join(", ");
            Err(Error::usage(format!("{why} (accepted: {names})")).at(&target.text))
        }
    }
}

/// Returns whether a server does the work of `engine`.
fn is_server(engine: &dyn Blobs) -> bool {
    engine.declared().servers.is_some()
}

impl CutStore {
    /// Makes the first commits to a store that the class is read back from.
    fn prepare(target: &FoundTarget, class: Option<Durability>, scratch: &Path) -> Result<Self> {
        let resolved = target.with_settings(&[])?;
        let mut settings = resolved.settings_for(Facet::Blobs, class)?;
        let engine = target.engine;
        if let Some(threshold) = engine.declared().threshold
            && settings.get(threshold).is_none()
        {
            settings.set(threshold, THRESHOLD);
        }
        let prepared = Scratch::new_in(scratch)?;
        let location = folder(&prepared, engine)?.join(STORE);
        let request = CommitsRequest {
            engine,
            settings: settings.clone(),
            location: location.clone(),
            seed: SEED,
            commits: 1..BEFORE + 1,
        };
        lab::write_commits(&request, &mut |_| Ok(()))?;
        let options =
            OpenOptions { settings: settings.clone(), access: Access::Write, keys: KeyKind::Names };
        let store = engine.open(&location, &options)?;
        let (_, gives) = store.in_effect()?;
        store.close()?;
        let target = target.text.clone();
        match class.filter(|class| *class > gives) {
            None => Ok(Self { target, engine, settings, class: gives, prepared }),
            Some(class) => Err(Error::usage(format!(
                "cannot give durability {class}: its settings give {gives}"
            ))
            .at(target)),
        }
    }

    /// Returns the request of the power cuts.
    fn request(
        &self,
        commits: u64,
        established: bool,
        like: &CrashRequest,
    ) -> Result<CrashRequest> {
        let program = std::env::current_exe().map_err(|e| Error::io("this program", e))?;
        let first = if established { BEFORE + 1 } else { 1 };
        let series = (SEED, first, first + commits - 1);
        let command = |name: &str| {
            let words = [program.clone().into(), OsString::from(name)];
            words.into_iter().chain(arguments(self.engine, &self.settings, series))
        };
        let class = ["--class".to_owned(), self.class.to_string()].map(OsString::from);
        Ok(CrashRequest {
            program: command("write-commits").collect(),
            check: command("check-commits").chain(class).collect(),
            prepared: established.then(|| folder(&self.prepared, self.engine)).transpose()?,
            owner: self.engine.account(),
            ..like.clone()
        })
    }
}

/// Returns the arguments of the hidden commands for commits to a store of `engine` with `settings`.
fn arguments(
    engine: &'static dyn Blobs,
    settings: &Settings,
    (seed, first, last): (u64, u64, u64),
) -> Vec<OsString> {
    let pairs = settings.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let target = format!("{}:?{}", engine.name(), settings_text(pairs));
    let target = target.trim_end_matches('?').to_owned();
    let numbers = [("--seed", seed), ("--first", first), ("--last", last)];
    let numbers = numbers.into_iter().flat_map(|(name, number)| [name.into(), number.to_string()]);
    // `crash` replaces the braces by the folder.
    [target, "{}".to_owned()].into_iter().chain(numbers).map(OsString::from).collect()
}

/// Returns the folder of a store below a scratch folder, which belongs to the user of its server.
fn folder(scratch: &Scratch, engine: &dyn Blobs) -> Result<PathBuf> {
    scratch.folder("established", engine.account())
}
