//! Engines: the declaration of each, and a facet (a trait) for each kind of data that it stores.
//! All facets are synchronous and usable as trait objects.

mod blobs;
mod capabilities;
mod durability_settings;
mod servers;

use std::path::Path;

use crate::{
    Action, COPY_OF, Durability, Error, Facet, LIBRARY, Library, Maintenance, Requests, Result,
    Setting, Settings, WORKER,
    rows::{RowStore, RowTables, Style},
    tasks::Queue,
};

pub use blobs::{Blobs, CopiedValues, FoundValues};
pub use capabilities::Capabilities;
pub use durability_settings::DurabilitySettings;
pub use servers::{Account, Cleaned, Leftover, Servers};

/// The declaration of an engine, the same for all its facets: everything that is known without
/// opening a store.
pub struct Declaration {
    /// The engine's name in a target string.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The name of its stores in a sentence: `plain files`, `SQLite`.
    pub title: &'static str,
    /// The ending of a new store's name; `None` if a path is not enough to create a store.
    pub extension: Option<&'static str>,
    /// The settings that a target string may have, each with its facets.
    pub settings: &'static [Setting],
    /// The durability classes that it can give, each with its settings.
    pub durability: &'static [DurabilitySettings],
    /// The limits of the engine that [`Capabilities`] do not show, a phrase for each.
    pub limitations: &'static [&'static str],
    /// The operations that the engine supports.
    pub capabilities: Capabilities,
    /// The way in which the engine detects damage when a whole store is read or checked; `None` if
    /// it does not.
    pub integrity: Option<&'static str>,
    /// The way in which the engine gives the space of deleted values back to the file system when it
    /// is asked to; `None` if it does so at once or not at all.
    pub reclaim: Option<&'static str>,
    /// The maintenance that an open store can do while sessions work, each with the way in which it
    /// does it.
    pub maintenance: &'static [(Maintenance, &'static str)],
    /// The settings that fill a new store of values fast; `None` if the settings of durability
    /// `none` are used.
    pub fill: Option<Fill>,
    /// The servers that do its work; `None` if it is a library that is linked into this program, or
    /// a part of it.
    pub servers: Option<&'static dyn Servers>,
    /// The name and version of the linked library, if it does not report them itself: that of the lock
    /// file.
    pub linked: Option<(&'static str, &'static str)>,
    /// The setting, with its word, that lets several processes write at once; `None` if all settings
    /// do, or none.
    pub lets_several_write: Option<(&'static str, &'static str)>,
    /// Whether a transaction can take the lock of a writer at its first write
    /// ([`Mode::Deferred`](crate::Mode::Deferred)).
    pub defers: bool,
    /// Whether it is a limit of the machine that others are compared with, not a place for data:
    /// advice never names it.
    pub reference: bool,
    /// The settings that `storemark advise` tries, fewer first; empty if it is no place for data
    /// that a user chooses.
    pub worth_trying: &'static [Try],
    /// The settings that decide what sessions that read and sessions that write cost each other;
    /// `storemark advise --readers` measures each of them. Each has what the engine does by default
    /// before it. Empty if there are none.
    pub sharing: &'static [(&'static str, Try)],
    /// The name of the setting for the largest value, in bytes, that it keeps in another way than
    /// longer ones; `None` if it keeps all values in the same way.
    pub threshold: Option<&'static str>,
    /// The schemes of the addresses `scheme://…` that it opens.
    pub schemes: &'static [&'static str],
    /// The form of what follows the scheme in such an address.
    pub address: &'static str,
    /// The engine as a store of values; `None` if it stores none.
    pub blobs: Option<&'static dyn Blobs>,
    /// The engine as a store of rows; `None` if it stores none.
    pub rows: Option<&'static dyn Rows>,
    /// The engine as a store of tasks; `None` if it stores none.
    pub tasks: Option<&'static dyn Tasks>,
}

impl Declaration {
    /// Creates the declaration of an engine on disk without settings, classes or facets; the caller
    /// overrides fields with `..`.
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
            maintenance: &[],
            fill: None,
            servers: None,
            linked: None,
            lets_several_write: None,
            defers: false,
            reference: false,
            worth_trying: &[],
            sharing: &[],
            threshold: None,
            schemes: &[],
            address: "user@host:port/database",
            blobs: None,
            rows: None,
            tasks: None,
        }
    }

    /// Returns the form of an existing server's address, for help and messages.
    pub fn address_form(&self) -> String {
        let own = self.schemes.iter().find(|scheme| **scheme == self.name);
        let scheme = own.or(self.schemes.first()).unwrap_or(&self.name);
        format!("{scheme}://{}", self.address)
    }

    /// Returns the strongest durability class whose settings are all among those in effect, `None`
    /// if there is none.
    pub fn class_of(&self, in_effect: &Settings) -> Durability {
        self.kept(in_effect).map(|kept| kept.class).max().unwrap_or(Durability::None)
    }

    /// Returns whether a killed process loses commits with the settings in effect.
    pub fn is_lost_if_killed(&self, in_effect: &Settings) -> bool {
        self.kept(in_effect).any(|kept| kept.lost_if_killed)
    }

    /// Returns whether a killed server loses commits with the settings in effect.
    pub fn is_lost_if_server_killed(&self, in_effect: &Settings) -> bool {
        self.kept(in_effect).any(|kept| kept.lost_if_server_killed)
    }

    /// Returns the durability classes whose settings are all among those in effect.
    fn kept(&self, in_effect: &Settings) -> impl Iterator<Item = &'static DurabilitySettings> {
        self.durability
            .iter()
            .filter(move |kept| kept.settings.iter().all(|(name, word)| in_effect.is(name, word)))
    }

    /// Returns a sentence on the first of `settings` that belongs to a class below `class`, or
    /// `None` if all keep `class`.
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

/// A kind of store: its declaration, and what depends on the machine or on settings. An engine
/// overrides what differs; [`EngineFacts`] follows.
pub trait Engine: EngineFacts + Sync {
    /// Returns the declaration.
    fn declaration(&self) -> &'static Declaration;

    /// Returns the library or server that does the work of a target with `settings`; `None` if
    /// storemark's own code does.
    fn library(&self, _settings: &Settings) -> Option<Library> {
        self.declaration().linked.map(|(name, version)| Library::new(name, version))
    }

    /// Checks that settings go together and that this machine can follow them.
    ///
    /// # Errors
    ///
    /// Fails, with a sentence that names the setting, if they do not.
    fn check(&self, _facet: Facet, _settings: &Settings) -> Result<()> {
        Ok(())
    }

    /// Returns why a store with `settings` cannot give `class` although the engine can; `None` if
    /// it can.
    fn unsupported_reason(&self, _class: Durability, _settings: &Settings) -> Option<String> {
        None
    }

    /// Returns the program in whose workers the engine opens its stores; `None` if this process opens
    /// them.
    fn program(&self) -> Option<&Path> {
        None
    }

    /// Returns this engine as a store of values, or `None` if it stores none. An engine that is
    /// created while the program runs returns itself.
    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        self.declaration().blobs
    }

    /// Returns the name by which another process of this program finds the engine. An engine that
    /// wraps another one adds how it changes it.
    fn full_name(&self) -> String {
        self.name().to_owned()
    }
}

/// The properties that follow from an engine's declaration and methods, the same for all engines.
pub trait EngineFacts {
    /// Returns the declaration, as [`Engine::declaration`] does.
    fn declared(&self) -> &'static Declaration;

    /// Returns the engine's name in a target string.
    fn name(&self) -> &'static str {
        self.declared().name
    }

    /// Returns what the engine can do.
    fn capabilities(&self) -> Capabilities {
        self.declared().capabilities
    }

    /// Returns the settings that a target string of this facet may have.
    fn settings(&self, facet: Facet) -> Vec<&'static Setting> {
        let settings = self.declared().settings.iter();
        settings.filter(|setting| setting.facets.contains(&facet)).collect()
    }

    /// Returns how this engine keeps a durability class; `None` if it cannot give that class.
    fn durability_settings(&self, class: Durability) -> Option<&'static DurabilitySettings> {
        self.declared().durability.iter().find(|settings| settings.class == class)
    }

    /// Returns the settings with which a target of this facet keeps a durability class.
    ///
    /// # Errors
    ///
    /// Fails if the engine cannot give that class.
    fn class_settings(&self, facet: Facet, class: Durability) -> Result<Settings> {
        let Some(kept) = self.durability_settings(class) else {
            let classes = self.declared().durability.iter().map(|kept| kept.class.to_string());
            let classes = classes.collect::<Vec<_>>().join(", ");
            let gives = if classes.is_empty() { "it declares no class" } else { "it gives: " };
            return Err(Error::usage(format!("cannot give durability {class} ({gives}{classes})")));
        };
        Settings::check(self.settings(facet), kept.settings.iter().copied())
    }

    /// Returns the settings with which a scratch store of values is filled: those of class `none`, or the
    /// engine's defaults if it lacks that class.
    ///
    /// # Errors
    ///
    /// Fails if the engine stores no values.
    fn scratch_settings(&self) -> Result<Settings> {
        match self.durability_settings(Durability::None) {
            Some(_) => self.class_settings(Facet::Blobs, Durability::None),
            None => Ok(Settings::default()),
        }
    }

    /// Returns why a target with `settings` of its own does not reach `class`, as far as that is
    /// known before its store is opened; `None` if nothing prevents it.
    fn unreached(&self, class: Durability, settings: &Settings) -> Option<String>;

    /// Returns whether a target with `settings` is only compared with, and never advised.
    fn is_reference(&self, settings: &Settings) -> bool {
        let builds = [LIBRARY, WORKER].into_iter().filter_map(|name| settings.get(name));
        builds.into_iter().any(|build| build.starts_with(COPY_OF)) || self.declared().reference
    }

    /// Returns how a new store is filled fast.
    fn fill(&self) -> Fill {
        self.declared().fill.unwrap_or_else(|| {
            let none = self.durability_settings(Durability::None);
            let settings = none.map_or(&[][..], |none| none.settings);
            Fill { settings, sessions: 1, whole_blocks_from: None }
        })
    }

    /// Returns why several processes cannot write to a store opened with `settings`, and what
    /// allows them to; `None` if they can, or if the engine lacks [`Capabilities::processes`].
    fn writes_alone(&self, settings: &Settings) -> Option<String> {
        let (setting, word) = self.declared().lets_several_write?;
        (!settings.is(setting, word)).then(|| {
            let name = self.name();
            format!("{name} lets one process write, alone; {name}:?{setting}={word} lets several")
        })
    }

    /// Returns why the power cannot be cut, by simulation, under a store of values; `None` if it can.
    fn power_cut_refusal(&self) -> Option<&'static str> {
        let Capabilities { persistent, retains, remote, written_once, .. } = self.capabilities();
        match () {
            () if remote => {
                Some("runs already; the power is cut only under servers that storemark starts")
            }
            () if !persistent || !retains => Some("keeps nothing on disk"),
            () if written_once => Some("is written once, without commits"),
            () if self.declared().reference => Some("is only compared with, and promises nothing"),
            () => None,
        }
    }

    /// Returns this engine as a store of rows, or `None` if it stores none.
    fn rows(&self) -> Option<&'static dyn Rows> {
        self.declared().rows
    }

    /// Returns this engine as a store of tasks, or `None` if it stores none.
    fn tasks(&self) -> Option<&'static dyn Tasks> {
        self.declared().tasks
    }

    /// Returns the servers that do this engine's work.
    ///
    /// # Errors
    ///
    /// Fails if it has none.
    fn servers(&self) -> Result<&'static dyn Servers> {
        let none = || Error::unsupported(format!("{} has no servers that exist", self.name()));
        self.declared().servers.ok_or_else(none)
    }

    /// Checks that the engine can be used on this machine, as [`Servers::usable`] does.
    ///
    /// # Errors
    ///
    /// Fails if it cannot.
    fn usable(&self) -> Result<()> {
        self.declared().servers.map_or(Ok(()), Servers::usable)
    }

    /// Returns the user that does the work, as [`Servers::account`] does.
    fn account(&self) -> Option<Account> {
        self.declared().servers?.account()
    }

    /// Returns the requests of an operation, as [`Servers::requests`] does.
    fn requests(&self, action: Action, bytes: u64, settings: &Settings) -> Option<Requests> {
        self.declared().servers?.requests(action, bytes, settings)
    }

    /// Returns whether the operations of a target with `settings` are requests to a service that may
    /// charge for them: an object store, be it one that storemark starts.
    fn sends_requests(&self, settings: &Settings) -> bool {
        self.requests(Action::Read, 1, settings).is_some()
    }

    /// Returns whether the operations of a target with `settings` are requests to a service of the
    /// user's, which may charge for them.
    fn is_charged(&self, settings: &Settings) -> bool {
        self.sends_requests(settings) && self.capabilities().remote
    }
}

impl<E: Engine> EngineFacts for E {
    fn declared(&self) -> &'static Declaration {
        self.declaration()
    }

    fn unreached(&self, class: Durability, settings: &Settings) -> Option<String> {
        let cannot = self.unsupported_reason(class, settings);
        cannot.or_else(|| self.declaration().weakened(class, settings))
    }
}

/// The facet of an engine that stores rows.
pub trait Rows: Engine {
    /// Returns the names of the settings that belong to a table: targets that differ only in these
    /// share a store (a server). A name ends in `*` as in [`Setting`]. By default these are all
    /// settings.
    fn table_settings(&self) -> &'static [&'static str] {
        &["*"]
    }

    /// Returns the styles that the engine has with these settings.
    fn styles(&self, settings: &Settings) -> &'static [Style];

    /// Returns why several processes cannot use one database at once with these settings; `None` if
    /// they can.
    fn alone(&self, _settings: &Settings) -> Option<&'static str> {
        None
    }

    /// Prepares a store at `location` (starts a server), without any database yet. Settings that
    /// belong to a table are ignored.
    ///
    /// # Errors
    ///
    /// Fails if anything exists at `location`, or the server does not start.
    fn start(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowStore>>;

    /// Opens the tables that another process created with the same settings in the store that it
    /// keeps running. `location` is its [`RowStore::location`].
    fn join(&self, location: &Path, settings: &Settings) -> Result<Box<dyn RowTables>>;
}

/// The facet of an engine that stores tasks.
pub trait Tasks: Engine {
    /// Creates an empty queue at `location`.
    ///
    /// # Errors
    ///
    /// Fails if anything exists there.
    fn create(&self, location: &Path, settings: &Settings) -> Result<Box<dyn Queue>>;
}

/// A set of settings that may suit a user's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// The settings as in a target string, `api=blob&mmap=1GiB`; empty for the engine's defaults.
    pub settings: &'static str,
    /// The gains and costs of the settings, in words for people.
    pub trades: &'static str,
}

impl Try {
    /// Creates a suggestion to try `settings`.
    pub const fn new(settings: &'static str, trades: &'static str) -> Self {
        Self { settings, trades }
    }
}

/// The way in which an engine fills a new store fast.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// Settings that do not survive a power cut, against which the caller flushes. After a killed
    /// process the store holds what was committed, values of the last batch perhaps torn; or it
    /// does not open.
    pub settings: &'static [(&'static str, &'static str)],
    /// The number of sessions that are fastest together.
    pub sessions: usize,
    /// The mean size of values in bytes from which each takes up whole blocks of the file system; `None` if
    /// no value does.
    pub whole_blocks_from: Option<u64>,
}
