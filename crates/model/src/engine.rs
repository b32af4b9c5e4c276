//! What an engine is to storemark: a declaration, and a facet for each thing that it stores. All
//! are synchronous and usable as trait objects.

use std::path::{Path, PathBuf};

use crate::{
    Accepts, Action, COPY_OF, Durability, Error, Facet, LIBRARY, Library, OpenOptions, Requests,
    Result, Setting, Settings, Store,
    rows::{RowStore, RowTables, Style},
    tasks::Queue,
};

/// What is known of an engine without opening a store: declared once for all its facets.
pub struct Declaration {
    /// The word in a target string.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What its stores are called in a sentence: `plain files`, `SQLite`.
    pub title: &'static str,
    /// How the name of a new store ends, if a path is all that it takes to make one.
    pub extension: Option<&'static str>,
    /// What a target string may set, for each facet.
    pub settings: &'static [Setting],
    /// The durability classes that it can give.
    pub durability: &'static [DurabilitySettings],
    /// What it cannot do besides what [`Capabilities`] show, a phrase each, for people.
    pub limitations: &'static [&'static str],
    /// What it can do.
    pub capabilities: Capabilities,
    /// How it finds damage when all of a store is read or checked; `None`: it does not.
    pub integrity: Option<&'static str>,
    /// How it gives the space of deleted values back to the file system when it is asked to; `None`: it
    /// does so at once, or not at all.
    pub reclaim: Option<&'static str>,
    /// How a new store of values is filled fast; `None`: with the settings of durability `none`.
    pub fill: Option<Fill>,
    /// It is a program of its own, not a library that is linked into this one.
    pub server: bool,
    /// It is a limit of the machine that others are held against, not a place for data: it is never
    /// the answer.
    pub reference: bool,
    /// What `storemark advise` tries of it, fewer settings first; empty: it is no place for data that
    /// a user chooses.
    pub worth_trying: &'static [Try],
    /// The setting for the largest value, in bytes, that it keeps in another way than longer ones.
    pub threshold: Option<&'static str>,
    /// It opens addresses `scheme://…` with one of these schemes.
    pub schemes: &'static [&'static str],
    /// What follows the scheme in such an address.
    pub address: &'static str,
    /// The engine as a store of values.
    pub blobs: Option<&'static dyn Blobs>,
    /// The engine as a store of rows.
    pub rows: Option<&'static dyn Rows>,
    /// The engine as a store of tasks.
    pub tasks: Option<&'static dyn Tasks>,
}

impl Declaration {
    /// An engine on disk without settings or classes; the other fields are written over it.
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            title: name,
            extension: None,
            settings: &[],
            durability: &[],
            limitations: &[],
            capabilities: Capabilities::ON_DISK,
            integrity: None,
            reclaim: None,
            fill: None,
            server: false,
            reference: false,
            worth_trying: &[],
            threshold: None,
            schemes: &[],
            address: "user@host:port/database",
            blobs: None,
            rows: None,
            tasks: None,
        }
    }

    /// How the address of an existing server is written.
    pub fn address_form(&self) -> String {
        let own = self.schemes.iter().find(|scheme| **scheme == self.name);
        let scheme = own.or(self.schemes.first()).unwrap_or(&self.name);
        format!("{scheme}://{}", self.address)
    }

    /// The strongest durability class whose settings are all among those in effect.
    pub fn class_of(&self, in_effect: &Settings) -> Durability {
        let is_kept = |kept: &&DurabilitySettings| {
            kept.settings.iter().all(|(name, word)| in_effect.is(name, word))
        };
        let kept = self.durability.iter().filter(is_kept).map(|kept| kept.class);
        kept.max().unwrap_or(Durability::None)
    }

    /// Whether a killed process loses commits with the settings in effect.
    pub fn is_lost_if_killed(&self, in_effect: &Settings) -> bool {
        let is_kept = |kept: &&DurabilitySettings| {
            kept.settings.iter().all(|(name, word)| in_effect.is(name, word))
        };
        self.durability.iter().filter(is_kept).any(|kept| kept.lost_if_killed)
    }

    /// Which of `settings` is that of a class below `class`, and of which.
    fn weakened(&self, class: Durability, settings: &Settings) -> Option<String> {
        let kept = self.durability.iter().find(|kept| kept.class == class)?;
        let changed = kept.settings.iter().filter(|(name, word)| !settings.is(name, word));
        changed.into_iter().find_map(|(name, _)| {
            let word = settings.get(name)?;
            let weaker = self.durability.iter().filter(|weaker| weaker.class < class);
            let of = weaker.filter(|weaker| weaker.settings.contains(&(name, word)));
            let gives = of.map(|weaker| weaker.class).max()?;
            Some(format!("{name}={word} gives {gives}; leave it out, or use --durability {gives}"))
        })
    }
}

/// A kind of store: its declaration, what depends on this machine, and its facets.
pub trait Engine: Sync {
    /// What is known of it without opening a store.
    fn declaration(&self) -> &'static Declaration;

    /// The library or server that does the work of a target with `settings`.
    fn library(&self, _settings: &Settings) -> Option<Library> {
        None
    }

    /// Whether a target with `settings` is only compared with, and never the answer.
    fn is_reference(&self, settings: &Settings) -> bool {
        let copied = settings.get(LIBRARY).is_some_and(|lib| lib.starts_with(COPY_OF));
        copied || self.declaration().reference
    }

    /// Refuses settings that do not go together, or that this machine cannot follow.
    fn check(&self, _facet: Facet, _settings: &Settings) -> Result<()> {
        Ok(())
    }

    /// Why a store with `settings` cannot give `class` although the engine can; `None`: it can.
    fn unsupported_reason(&self, _class: Durability, _settings: &Settings) -> Option<String> {
        None
    }

    /// Why a target with `settings` of its own does not reach `class`, as far as that is known before
    /// its store is opened.
    fn unreached(&self, class: Durability, settings: &Settings) -> Option<String> {
        let cannot = self.unsupported_reason(class, settings);
        cannot.or_else(|| self.declaration().weakened(class, settings))
    }

    /// Why it cannot be used on this machine, and what would help (a package to install, say).
    fn usable(&self) -> Result<()> {
        Ok(())
    }

    /// The user that another process works as on its stores, which must be able to enter their
    /// folder; `None`: this process's own.
    fn account(&self) -> Option<Account> {
        None
    }

    /// This engine as a store of values.
    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        self.declaration().blobs
    }

    /// This engine as a store of rows.
    fn rows(&'static self) -> Option<&'static dyn Rows> {
        self.declaration().rows
    }

    /// This engine as a store of tasks.
    fn tasks(&'static self) -> Option<&'static dyn Tasks> {
        self.declaration().tasks
    }

    /// The word in a target string.
    fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// The settings that a target string of this facet may carry.
    fn settings(&self, facet: Facet) -> Vec<&'static Setting> {
        let settings = self.declaration().settings.iter();
        settings.filter(|setting| setting.facets.contains(&facet)).collect()
    }

    /// How this engine keeps a durability class; `None` if it cannot give that class.
    fn durability_settings(&self, class: Durability) -> Option<&'static DurabilitySettings> {
        self.declaration().durability.iter().find(|settings| settings.class == class)
    }

    /// The settings with which a target of this facet keeps a durability class.
    fn class_settings(&self, facet: Facet, class: Durability) -> Result<Settings> {
        let Some(kept) = self.durability_settings(class) else {
            let gives = self.declaration().durability.iter().map(|kept| kept.class.to_string());
            return Err(Error::usage(format!(
                "{} cannot give durability {class} (it gives: {})",
                self.name(),
                gives.collect::<Vec<_>>().join(", ")
            )));
        };
        Settings::check(self.settings(facet), kept.settings.iter().copied())
    }

    /// The name by which another process of this program finds it: that of an engine which changes
    /// another one says how.
    fn full_name(&self) -> String {
        self.name().to_owned()
    }

    /// What it can do.
    fn capabilities(&self) -> Capabilities {
        self.declaration().capabilities
    }
}

/// An engine that stores values under keys.
pub trait Blobs: Engine {
    /// The durability class of the existing server at `address`, which storemark does not change.
    fn class_at(&self, _address: &str, _settings: &Settings) -> Result<Durability> {
        Err(Error::unsupported(format!("{} has no servers that exist", self.name())))
    }

    /// The most requests that an operation on values of `bytes` sends to a service that charges for
    /// them, and their cost; `None`: it sends none.
    fn requests(&self, _: Action, _bytes: u64, _: &Settings) -> Option<Requests> {
        None
    }

    /// The most requests of a store besides those of operations: to create, list and remove so many
    /// `values`.
    fn store_requests(&self, _values: u64, _: &Settings) -> Option<Requests> {
        None
    }

    /// Removes the tables that killed runs left in the database of the existing server at `address`.
    fn clean(&self, _address: &str, _settings: &Settings) -> Result<Vec<Leftover>> {
        Err(Error::unsupported(format!("{} has no servers that exist", self.name())))
    }

    /// The value of its setting `cache` with which `sessions` of a store have a cache of `bytes`
    /// together; `None`: it has none of its own.
    fn cache(&self, bytes: u64, _sessions: u32) -> Option<u64> {
        let table = self.settings(Facet::Blobs);
        let accepts = table.iter().find(|setting| setting.name == "cache")?.accepts;
        Some(if let Accepts::Multiple(of, ..) = accepts { bytes / of * of } else { bytes })
    }

    /// How a new store is filled fast.
    fn fill(&self) -> Fill {
        self.declaration().fill.unwrap_or_else(|| {
            let none = self.durability_settings(Durability::None);
            let settings = none.map_or(&[][..], |none| none.settings);
            Fill { settings, sessions: 1, whole_blocks: false }
        })
    }

    /// Whether the file or folder at `path` looks like one of this engine's stores.
    fn recognises(&self, _path: &Path) -> bool {
        false
    }

    /// The files and folders that make up the store at `location`, present or not. A folder
    /// means all in it.
    fn files(&self, location: &Path) -> Vec<PathBuf> {
        if self.capabilities().persistent { vec![location.to_owned()] } else { Vec::new() }
    }

    /// Why the store at `location` cannot be opened for reading without changing or creating a
    /// file; `None` when it can.
    fn reading_changes(&self, _location: &Path, _settings: &Settings) -> Option<String> {
        None
    }

    /// Why several processes cannot write to a store opened with `settings`, and what lets them.
    /// Only asked of engines with [`Capabilities::processes`].
    fn writes_alone(&self, _settings: &Settings) -> Option<String> {
        None
    }

    /// Whether targets with these settings can have the same files open in one process, only to read.
    fn shares_files(&self, own: &Settings, other: &Settings) -> bool {
        let stored = |settings: &Settings| settings.stored(self.settings(Facet::Blobs));
        stored(own) == stored(other)
    }

    /// Whether not even the keys of the store at `location` can be read without changing its
    /// files, so that a copy of them is opened instead; refused if another process works on
    /// them, because a copy would be torn.
    fn reads_a_copy(&self, _location: &Path) -> Result<bool> {
        Ok(false)
    }

    /// What the store at `location` holds besides its dataset (other tables, say): what would be
    /// lost with it. For people.
    fn other_contents(&self, _location: &Path) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Creates an empty store at `location`, where nothing may exist yet.
    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location`; an absent one is an error, never a new store.
    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>>;

    /// Opens the store at `location` alongside another process that has it open and keeps it open.
    /// Only asked of engines with [`Capabilities::processes`].
    fn join(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.open(location, options)
    }
}

/// An engine that stores rows.
pub trait Rows: Engine {
    /// Names of those settings that belong to a table, so that targets which differ in nothing else
    /// share a store (a server). A name ends in `*` as in [`Setting`]. Default: all of them.
    fn table_settings(&self) -> &'static [&'static str] {
        &["*"]
    }

    /// The styles that it has with these settings.
    fn styles(&self, settings: &Settings) -> &'static [Style];

    /// Why several processes cannot use one database at once with these settings; `None`: they can.
    fn alone(&self, _settings: &Settings) -> Option<&'static str> {
        None
    }

    /// Prepares a store at `location` (a server is started), without any database yet. Nothing may
    /// exist there. Of the settings only those count that do not belong to a table.
    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>>;

    /// The tables that another process created, with the same settings, in the store that it keeps
    /// running. `location` is its [`RowStore::location`].
    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>>;
}

/// An engine that stores tasks.
pub trait Tasks: Engine {
    /// Creates an empty queue at `location`, where nothing may exist yet.
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>>;
}

/// Settings that may suit a user's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// As in a target string, `api=blob&mmap=1GiB`; empty: as the engine is set.
    pub settings: &'static str,
    /// What they gain and what they cost. For people.
    pub trades: &'static str,
}

impl Try {
    /// These settings.
    pub const fn new(settings: &'static str, trades: &'static str) -> Self {
        Self { settings, trades }
    }
}

/// How an engine keeps a durability class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurabilitySettings {
    /// The class.
    pub class: Durability,
    /// The settings for it.
    pub settings: &'static [(&'static str, &'static str)],
    /// Which calls it makes with them, when, and what a power cut leaves. For people.
    pub how: &'static str,
    /// Whether commits are lost if the process that made them is killed, without a power cut.
    pub lost_if_killed: bool,
}

impl DurabilitySettings {
    /// The same for an engine that keeps commits in the memory of its process.
    #[must_use]
    pub const fn lost_if_killed(self) -> Self {
        Self { lost_if_killed: true, ..self }
    }
}

impl Durability {
    /// This class, kept by `settings`, in the way that `how` describes.
    pub const fn kept_by(
        self,
        settings: &'static [(&'static str, &'static str)],
        how: &'static str,
    ) -> DurabilitySettings {
        DurabilitySettings { class: self, settings, how, lost_if_killed: false }
    }
}

/// A user of the system, by the numbers of the user and of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The user.
    pub user: u32,
    /// Its group.
    pub group: u32,
}

impl Account {
    /// Whether it can enter a folder of `owner` with this `mode`. Access lists do not count.
    pub fn can_enter(self, owner: Self, mode: u32) -> bool {
        let shift = match (owner.user == self.user, owner.group == self.group) {
            (true, _) => 6,
            (_, true) => 3,
            _ => 0,
        };
        mode >> shift & 1 == 1
    }
}

/// A table that a run left on an existing server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its name.
    pub table: String,
    /// Who made it, for people.
    pub owner: String,
    /// What became of it.
    pub outcome: Cleaned,
}

/// What became of a [`Leftover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleaned {
    /// It was removed.
    Removed,
    /// Its owner is connected and still uses it.
    InUse,
    /// It could not be removed, for this reason.
    Failed(String),
}

/// What an engine can do beyond the required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent yes-or-no facts, named one by one")]
pub struct Capabilities {
    /// The store is on disk and exists after closing. One that is not is held open from its
    /// making to the end of a run.
    pub persistent: bool,
    /// All values are in memory while it is open.
    pub resident: bool,
    /// It keeps what is written. `false` only for `null`, which measures the tool.
    pub retains: bool,
    /// It keeps mode and time with a named value.
    pub meta: bool,
    /// It keeps the type of a value ([`ValueType`](crate::ValueType)).
    pub types: bool,
    /// Names are paths of a file system: none can be a file and a folder.
    pub paths: bool,
    /// A scan shows the store as it was at one moment, whatever others write meanwhile.
    pub snapshots: bool,
    /// Several sessions may write at once (they may wait for each other).
    pub concurrent_writes: bool,
    /// Several processes may have a store open at once, see [`Blobs::join`].
    pub processes: bool,
    /// One process may open a store several times.
    pub reopens: bool,
    /// A location is an address of an existing server (`//user@host/database`), in which
    /// stores are created (`//user@host/database/table`) and dropped when they are closed.
    pub remote: bool,
}

impl Capabilities {
    /// Those of a store on disk that sessions and processes share.
    pub const ON_DISK: Self = Self {
        persistent: true,
        resident: false,
        retains: true,
        meta: true,
        types: false,
        paths: false,
        snapshots: true,
        concurrent_writes: true,
        processes: true,
        reopens: true,
        remote: false,
    };
    /// Those of a store on disk that one process locks.
    pub const IN_ONE_PROCESS: Self = Self { processes: false, reopens: false, ..Self::ON_DISK };
    /// Those of a store in the memory of one process.
    pub const IN_MEMORY: Self = Self { persistent: false, resident: true, ..Self::IN_ONE_PROCESS };
    /// Those of an existing server.
    pub const REMOTE: Self = Self { persistent: false, remote: true, ..Self::ON_DISK };
}

/// How an engine fills a new store fast.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Settings without care for a power cut, against which the caller flushes. After a killed
    /// process the store holds what was committed, values of the last batch perhaps torn; or it
    /// does not open.
    pub settings: &'static [(&'static str, &'static str)],
    /// Sessions that are fastest together.
    pub sessions: usize,
    /// Every value takes up whole blocks of the file system.
    pub whole_blocks: bool,
}
