//! An engine with a kind of keys and settings, and what the checks do with it.

use std::{fmt, path::Path};

use model::{
    Accepts, Access, Blobs, DurabilitySettings, Facet, KeyKind, Mode, OpenOptions, OwnedKey,
    Result, Session, Settings, Store,
};

use crate::{
    ease::{Ease, bytes},
    fault::Checked,
    store_folder::StoreFolder,
};

/// An engine as a check uses it.
pub struct Case {
    /// The engine.
    pub engine: &'static dyn Blobs,
    /// The kind of keys of its stores.
    pub keys: KeyKind,
    /// The settings that are checked.
    pub settings: Settings,
    /// Those of them that all cases have.
    pub base: Settings,
    /// Where its stores are.
    pub around: &'static Surroundings,
}

/// Where the stores of an engine are.
pub struct Surroundings {
    /// Creates a folder for a new store.
    pub new_folder: fn(&dyn Blobs) -> Checked<StoreFolder>,
    /// Returns the settings by which a store is reached, and which are not checked.
    pub reach: fn(&dyn Blobs) -> Settings,
}

impl Surroundings {
    /// Folders of temporary files.
    pub const FILES: Self =
        Self { new_folder: |_| Ok(StoreFolder::new()?), reach: |_| Settings::default() };
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:?{} with {}", self.engine.name(), self.settings, self.keys)
    }
}

impl Case {
    /// Creates a case of an engine whose stores are in files.
    pub fn new(engine: &'static dyn Blobs, keys: KeyKind, settings: Settings) -> Self {
        Self { engine, keys, settings, base: Settings::default(), around: &Surroundings::FILES }
    }

    /// Lays settings that all cases have over those of this one.
    #[must_use]
    pub fn over(self, base: &Settings) -> Self {
        Self { settings: self.settings.overlaid(base), base: base.clone(), ..self }
    }

    /// Returns the options to open or create a store with.
    pub fn options(&self, access: Access) -> OpenOptions {
        let settings = self.settings.clone().overlaid(&(self.around.reach)(self.engine));
        OpenOptions { settings, access, keys: self.keys }
    }

    /// Creates a folder for a new store.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be created.
    pub fn new_folder(&self) -> Checked<StoreFolder> {
        (self.around.new_folder)(self.engine)
    }

    /// Creates a store.
    pub fn create(&self, path: &Path) -> Result<Box<dyn Store>> {
        self.engine.create(path, &self.options(Access::Write))
    }

    /// Opens a store.
    pub fn open(&self, path: &Path, access: Access) -> Result<Box<dyn Store>> {
        self.engine.open(path, &self.options(access))
    }

    /// Creates a store with the keys 1 to `count`.
    pub fn filled(&self, path: &Path, count: i64) -> Checked<Box<dyn Store>> {
        let store = self.create(path)?;
        self.fill(&mut *store.session()?, count)?;
        Ok(store)
    }

    /// Puts the keys 1 to `count`, 100 bytes each, in one batch.
    pub fn fill(&self, session: &mut dyn Session, count: i64) -> Checked {
        session.begin(Mode::Write)?;
        for n in 1..=count {
            session.write(&self.key(n), &bytes(n, 100))?;
        }
        Ok(session.commit()?)
    }

    /// Creates a store with the keys 1 to `count`, and closes it.
    pub fn create_filled(&self, path: &Path, count: i64) -> Checked {
        Ok(self.filled(path, count)?.close()?)
    }

    /// Returns the `n`-th key: names are in two folders, and their order is not that of `n`.
    pub fn key(&self, n: i64) -> OwnedKey {
        match self.keys {
            KeyKind::Integers => OwnedKey::Int(n),
            KeyKind::Names => {
                OwnedKey::Name(format!("{}/{n}", n.rem_euclid(2)).into_bytes().into())
            }
        }
    }

    /// Reports whether stores exist after they are closed.
    pub fn is_persistent(&self) -> bool {
        self.engine.capabilities().persistent
    }

    /// Reports whether a server does the work.
    pub fn is_server(&self) -> bool {
        self.engine.declaration().servers.is_some()
    }

    /// Returns the strongest durability class whose settings these are; `None` if they are of no class.
    pub fn class(&self) -> Option<&'static DurabilitySettings> {
        let of_class = |kept: &&DurabilitySettings| {
            let is_kept = kept.settings.iter().all(|(name, word)| self.settings.is(name, word));
            let settings = settings_of_class(self.engine, kept).map(|own| own.overlaid(&self.base));
            is_kept && settings.is_some_and(|settings| settings == self.settings)
        };
        let kept = self.engine.declaration().durability.iter().filter(of_class);
        kept.max_by_key(|kept| kept.class)
    }
}

/// Returns the settings that give a durability class in one of its ways; `None` if the engine refuses them.
fn settings_of_class(engine: &dyn Blobs, kept: &DurabilitySettings) -> Option<Settings> {
    Settings::check(engine.settings(Facet::Blobs), kept.settings.iter().copied()).ok()
}

/// Returns the settings with which an engine is checked: none, each word of each setting alone, `inline` if
/// there is one, and those of each durability class, in each of its ways.
///
/// # Errors
///
/// Fails if the engine refuses a setting that it declares.
pub fn settings_of(engine: &dyn Blobs) -> Result<Vec<Settings>> {
    let checked = |name, word| Settings::check(engine.settings(Facet::Blobs), [(name, word)]);
    let mut all = vec![Settings::default()];
    for setting in engine.settings(Facet::Blobs) {
        if let Accepts::Words(words) = setting.accepts {
            let words = words.iter().map(|word| checked(setting.name, word));
            all.extend(words.collect::<Result<Vec<_>>>()?);
        }
        if setting.name == "inline" && matches!(setting.accepts, Accepts::Size(..)) {
            // All but the shortest values are then files.
            all.push(checked(setting.name, "50")?);
        }
    }
    let classes = engine.declaration().durability.iter();
    for settings in classes.filter_map(|kept| settings_of_class(engine, kept)) {
        if !all.contains(&settings) {
            all.push(settings);
        }
    }
    Ok(all)
}
