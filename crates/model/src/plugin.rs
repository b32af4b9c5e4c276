//! What a plugin, a store in a shared object, declares: a worker that has loaded it reports that to the
//! process that measures, which never loads it.

use serde::{Deserialize, Serialize};

use crate::{
    Accepts, Capabilities, Declaration, Durability, DurabilitySettings, Error, Facet, LIBRARY,
    Result, Setting, Settings, WORKER,
};

/// The name of a plugin's engine in a target string, `plugin:./libmystore.so`.
pub const PLUGIN: &str = "plugin";
/// The setting of a plugin that names a store of the user's own.
pub const STORE: &str = "store";

/// What a plugin declares of itself and of its stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginFacts {
    /// The name of its library.
    pub name: String,
    /// The version of its library.
    pub version: String,
    /// The way in which it detects damage; `None` if it does not.
    pub integrity: Option<String>,
    /// What its stores can do.
    pub can: PluginAbilities,
    /// Its settings.
    pub settings: Vec<PluginSetting>,
    /// The durability classes that it gives.
    pub durability: Vec<PluginDurability>,
}

/// The optional abilities of a plugin's stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent yes-or-no facts, named one by one")]
pub struct PluginAbilities {
    /// Several sessions may write at once.
    pub writers: bool,
    /// It has batches: several writes can be one commit.
    pub batches: bool,
    /// A batch is stored as a whole or not at all.
    pub atomic_batches: bool,
    /// A scan shows the store as it was at one moment.
    pub snapshots: bool,
    /// All values are in memory while the store is open.
    pub resident: bool,
    /// Opening a store to read changes none of its files.
    pub unchanged: bool,
    /// The library calls the kernel without the C library.
    pub own_calls: bool,
}

/// A setting of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginSetting {
    /// Its name in a target string.
    pub name: String,
    /// Words with `|` between them, `1..9` for numbers in a range, or `SIZE`, `NUMBER` or `TEXT`.
    pub accepts: String,
    /// A description in one line.
    pub help: String,
}

/// A durability class of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginDurability {
    /// The class.
    pub class: Durability,
    /// The settings that give it, `sync=full&log=on`.
    pub settings: String,
    /// The calls that keep it, and when.
    pub how: String,
}

/// The setting that the path of the shared object becomes.
const LOADED: Setting = Setting::new(LIBRARY, Accepts::Text, "the shared object of the plugin")
    .only_for(&[Facet::Blobs])
    .of_use();

/// The setting that names a store of the user's own, and reaches no plugin.
const OWN_STORE: Setting = Setting::new(STORE, Accepts::Text, "a store that exists, in its format")
    .only_for(&[Facet::Blobs])
    .of_use();

impl PluginFacts {
    /// Returns the declaration of the engine, which is kept for the rest of this process.
    ///
    /// # Errors
    ///
    /// Fails if a setting has a name that storemark uses, or a class needs one that is not declared.
    pub fn declare(&self) -> Result<&'static Declaration> {
        let mut settings = vec![LOADED, OWN_STORE];
        for setting in &self.settings {
            let name = &*setting.name;
            let is_taken = name.is_empty()
                || name == WORKER
                || settings.iter().any(|other| other.name == name);
            if is_taken {
                let why = "storemark has one of this name, or it is declared twice";
                return Err(Error::usage(format!("the setting {name:?} is not accepted: {why}")));
            }
            let setting = Setting::new(kept(name), accepts(&setting.accepts), kept(&setting.help));
            settings.push(setting.only_for(&[Facet::Blobs]));
        }
        let classes: Result<Vec<_>> =
            self.durability.iter().map(|class| class.declare(&settings)).collect();
        let PluginAbilities {
            writers,
            batches,
            atomic_batches,
            snapshots,
            resident,
            own_calls,
            ..
        } = self.can;
        let title = kept(&self.name);
        Ok(Box::leak(Box::new(Declaration {
            title,
            settings: settings.leak(),
            durability: classes?.leak(),
            integrity: self.integrity.as_deref().map(kept),
            capabilities: Capabilities {
                resident,
                meta: false,
                snapshots,
                batches,
                atomic_batches,
                concurrent_writes: writers,
                own_calls,
                ..Capabilities::IN_ONE_PROCESS
            },
            ..Declaration::new(PLUGIN, "a store in a shared object")
        })))
    }
}

impl PluginDurability {
    fn declare(&self, settings: &[Setting]) -> Result<DurabilitySettings> {
        let pairs = self.settings.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let checked = Settings::check(settings, pairs)
            .map_err(|error| error.context(format!("its durability {}", self.class)))?;
        let kept_pairs = checked.0.iter().map(|(name, value)| (kept(name), kept(value)));
        Ok(self.class.kept_by(kept_pairs.collect::<Vec<_>>().leak(), kept(&self.how)))
    }
}

fn accepts(text: &str) -> Accepts {
    match text {
        "SIZE" => Accepts::Size(0, 1 << 50),
        "NUMBER" => Accepts::Integer(i64::MIN, i64::MAX),
        "TEXT" => Accepts::Text,
        text => range(text).unwrap_or_else(|| {
            Accepts::Words(text.split('|').map(kept).collect::<Vec<_>>().leak())
        }),
    }
}

/// Returns the whole numbers of a range, `1..9`; `None` if the text is none.
fn range(text: &str) -> Option<Accepts> {
    let (least, most) = text.split_once("..")?;
    Some(Accepts::Integer(least.parse().ok()?, most.parse().ok()?))
}

fn kept(text: &str) -> &'static str {
    text.to_owned().leak()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(setting: &str, accepts: &str, class: &str) -> PluginFacts {
        let setting =
            PluginSetting { name: setting.into(), accepts: accepts.into(), ..<_>::default() };
        let how = "fdatasync(2) at each commit".to_owned();
        let class = PluginDurability { class: Durability::Durable, settings: class.into(), how };
        PluginFacts { settings: vec![setting], durability: vec![class], ..<_>::default() }
    }

    #[test]
    fn a_plugin_declares_its_settings_and_classes() {
        let declared = facts("sync", "full|off", "sync=full").declare().unwrap();
        let names: Vec<_> = declared.settings.iter().map(|setting| setting.name).collect();
        assert_eq!(names, ["lib", "store", "sync"]);
        assert_eq!(declared.durability[0].settings, [("sync", "full")]);
        assert!(!declared.capabilities.concurrent_writes);
        let sizes = facts("cache", "SIZE", "cache=4KiB").declare().unwrap();
        assert_eq!(sizes.durability[0].settings, [("cache", "4096")]);
    }

    #[test]
    fn what_a_plugin_declares_wrongly_is_refused() {
        for (name, accepts, class, said) in [
            ("store", "TEXT", "", "the setting \"store\" is not accepted"),
            ("", "TEXT", "", "the setting \"\" is not accepted"),
            ("sync", "full|off", "sync=half", "its durability durable: "),
            ("sync", "full|off", "snyc=full", "did you mean sync?"),
        ] {
            let error = facts(name, accepts, class).declare().err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
