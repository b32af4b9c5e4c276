//! An engine of another storemark program.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use model::{
    Accepts, Batch, Blobs, COPY_OF, Declaration, Durability, Engine, Error, ErrorKind, Facet,
    FoundValues, LIBRARY, Library, OpenOptions, PluginFacts, Result, Setting, Settings, Store,
    WORKER,
};

use super::store::ProgramStore;
use crate::{
    Stop,
    store::ReadyStore,
    workers::{
        blobs::{StoreJob, StoreRequest},
        message::{PROTOCOL, ProgramFacts, Reply, parse},
        processes::{LOOK, outcomes},
        worker_process::{Launch, WorkerProcess},
    },
};

/// An engine whose stores workers of another program open.
struct ProgramEngine {
    /// The engine of this program that has the same name: where the files are, and what settings it has,
    /// is the same.
    engine: &'static dyn Blobs,
    declaration: &'static Declaration,
    launch: Launch,
    program: PathBuf,
    facts: ProgramFacts,
    stop: &'static Stop,
}

/// Returns `engine` as the storemark program at `path` has it, for the rest of this process.
///
/// # Errors
///
/// Fails if the program cannot be started, is no storemark, has another protocol, or lacks the engine,
/// or if a store of the engine cannot be open in a worker.
pub fn program_engine(
    engine: &'static dyn Blobs,
    path: &Path,
    stop: &'static Stop,
) -> Result<&'static dyn Blobs> {
    let declared = engine.declaration();
    if !works_in_program(engine) {
        return Err(Error::usage(format!(
            "{WORKER}= compares programs over stores in files; {}: has none of its own",
            declared.name
        )));
    }
    let launch = Launch::of_program(path);
    let named = |error| Error::usage(format!("{WORKER}={}: {error}", path.display()));
    let other = format!(
        "is no storemark program; a storemark program with protocol {PROTOCOL} is accepted"
    );
    let facts = greeting(&launch, &other, stop).map_err(named)?;
    if !facts.engines.contains_key(declared.name) {
        let engines: Vec<_> = facts.engines.keys().map(String::as_str).collect();
        return Err(Error::usage(format!(
            "{WORKER}={}: was built without {} (it has: {})",
            path.display(),
            declared.name,
            engines.join(", ")
        )));
    }
    let mut settings = declared.settings.to_vec();
    settings.push(WORKER_SETTING);
    let declaration =
        Declaration { settings: settings.leak(), rows: None, tasks: None, ..*declared };
    let (declaration, program) = (&*Box::leak(Box::new(declaration)), path.to_owned());
    Ok(Box::leak(Box::new(ProgramEngine { engine, declaration, launch, program, facts, stop })))
}

/// The setting that names another program, which every engine has that [`works_in_program`].
pub const WORKER_SETTING: Setting = Setting::new(
    WORKER,
    Accepts::Text,
    "another storemark program, in whose workers the engine works",
)
.only_for(&[Facet::Blobs]);

/// Returns whether workers of a program can open the stores of `engine`: it has files of its own.
pub fn works_in_program(engine: &dyn Blobs) -> bool {
    let (declared, can) = (engine.declaration(), engine.declaration().capabilities);
    declared.servers.is_none() && !can.remote && can.persistent
}

/// Returns what the shared object at `plugin` declares of itself to a worker that loads it, which
/// `command` starts.
///
/// # Errors
///
/// Fails if it is no plugin, or ends the worker.
pub fn plugin_facts(command: &[OsString], plugin: &Path, stop: &Stop) -> Result<PluginFacts> {
    let own = [OsString::from("--plugin"), plugin.into()];
    let command = command.iter().cloned().chain(own).collect::<Vec<_>>();
    let launch = Launch { program: Some(plugin.to_owned()), ..Launch::here(&command, 1).remove(0) };
    let ended = format!("{}: ended its process while it was loaded", plugin.display());
    greeting(&launch, &ended, stop)?.plugin.ok_or_else(|| Error::usage(ended))
}

/// How long a program may take to send its greeting.
const GREETING: Duration = Duration::from_secs(10);

/// Starts the program, and returns what it says of itself. `other` is the error of one that says nothing, or
/// something else.
fn greeting(launch: &Launch, other: &str, stop: &Stop) -> Result<ProgramFacts> {
    let (sender, lines) = channel();
    let process = WorkerProcess::start(0, launch, &sender)?;
    drop(sender);
    let until = Instant::now() + GREETING;
    let line = loop {
        stop.check()?;
        match lines.recv_timeout(LOOK) {
            Ok((_, line)) => break line,
            Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
            Err(_) => break None,
        }
    };
    drop(process);
    match line.and_then(|line| parse::<Reply<()>>(&line).ok()) {
        Some(Reply::Hello { protocol, version, program }) => {
            let facts = program.clone();
            outcomes(Reply::<()>::Hello { protocol, version, program }, true).map(|_| facts)
        }
        Some(Reply::Failed(failure)) => Err(failure.into_error().with_kind(ErrorKind::Usage)),
        _ => Err(Error::usage(other)),
    }
}

impl ProgramEngine {
    fn store(
        &self,
        location: &Path,
        options: &OpenOptions,
        create: bool,
    ) -> Result<Box<dyn Store>> {
        let ready = ReadyStore::new(self.engine, location.to_owned(), options.clone());
        let job = StoreJob { store: StoreRequest::new(&ready), create };
        let mut own = Settings::default();
        options.settings.get(WORKER).into_iter().for_each(|program| own.set(WORKER, program));
        let store = ProgramStore::open(&self.launch, job, own, self.stop)?;
        Ok(Box::new(store))
    }
}

/// Returns the program that settings name; `None` if they name none.
fn program_setting(settings: &Settings) -> Option<&str> {
    let program = settings.get(WORKER)?;
    Some(program.strip_prefix(COPY_OF).unwrap_or(program))
}

/// Returns the settings that the other program knows.
fn without_worker(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.0.remove(WORKER);
    settings
}

impl Engine for ProgramEngine {
    fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    fn library(&self, settings: &Settings) -> Option<Library> {
        let loaded = settings.get(LIBRARY).is_some();
        let own = loaded.then(|| self.engine.library(&without_worker(settings))).flatten();
        let linked = self.facts.engines.get(self.engine.name()).cloned().flatten();
        let library = own.or(linked);
        let library = library.unwrap_or_else(|| Library::new("storemark", &self.facts.version));
        let worker = program_setting(settings).map(str::to_owned);
        Some(Library { worker, program: Some(self.facts.version.clone()), ..library })
    }

    fn check(&self, facet: Facet, settings: &Settings) -> Result<()> {
        self.engine.check(facet, &without_worker(settings))
    }

    fn unsupported_reason(&self, class: Durability, settings: &Settings) -> Option<String> {
        self.engine.unsupported_reason(class, &without_worker(settings))
    }

    fn program(&self) -> Option<&Path> {
        Some(&self.program)
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn full_name(&self) -> String {
        self.engine.full_name()
    }
}

impl Blobs for ProgramEngine {
    fn cache(&self, bytes: u64, sessions: u32) -> Option<u64> {
        self.engine.cache(bytes, sessions)
    }

    fn recognises(&self, path: &Path) -> bool {
        self.engine.recognises(path)
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        self.engine.files(location)
    }

    fn logs(&self, location: &Path) -> Vec<PathBuf> {
        self.engine.logs(location)
    }

    fn reading_changes(
        &self,
        location: &Path,
        settings: &Settings,
        batch: Batch,
    ) -> Option<String> {
        self.engine.reading_changes(location, &without_worker(settings), batch)
    }

    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        program_setting(own) == program_setting(other)
            && self.engine.shares_files(&without_worker(own), &without_worker(other))
    }

    fn reads_a_copy(&self, location: &Path) -> Result<bool> {
        self.engine.reads_a_copy(location)
    }

    fn only_read(&self, location: &Path, settings: &Settings) -> Result<Option<String>> {
        self.engine.only_read(location, &without_worker(settings))
    }

    fn find_values(&self, location: &Path, asked: &Settings) -> Result<Option<FoundValues>> {
        self.engine.find_values(location, &without_worker(asked))
    }

    fn reads_unguarded(&self, location: &Path) -> bool {
        self.engine.reads_unguarded(location)
    }

    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        self.engine.other_contents(location)
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.store(location, options, true)
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.store(location, options, false)
    }
}
