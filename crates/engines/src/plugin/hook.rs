//! The hooks by name, for what is said when one fails or ends the process.

use std::path::Path;

use model::Error;

use crate::caught::StoreName;

/// A hook, or the function by which an object is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hook {
    Load,
    Open,
    Close,
    Setting,
    Sync,
    Check,
    Session,
    End,
    Begin,
    Commit,
    RollBack,
    Get,
    Stat,
    Put,
    Remove,
    Scan,
}

/// All of them in their order, with the names that they have in the header.
const ALL: [(Hook, &str); 16] = [
    (Hook::Load, "storemark_store_plugin"),
    (Hook::Open, "open"),
    (Hook::Close, "close"),
    (Hook::Setting, "setting"),
    (Hook::Sync, "sync"),
    (Hook::Check, "check"),
    (Hook::Session, "session"),
    (Hook::End, "end"),
    (Hook::Begin, "begin"),
    (Hook::Commit, "commit"),
    (Hook::RollBack, "roll_back"),
    (Hook::Get, "get"),
    (Hook::Stat, "stat"),
    (Hook::Put, "put"),
    (Hook::Remove, "remove"),
    (Hook::Scan, "scan"),
];

impl Hook {
    /// Returns the name that it has in the header.
    pub(super) fn name(self) -> &'static str {
        ALL[self as usize].1
    }
}

/// A loaded object, as the line names it that a crash leaves: with the hook that is at work.
pub(super) struct PluginName([&'static StoreName; ALL.len()]);

impl PluginName {
    /// Returns the name of the object at `path`, which lives as long as this process.
    pub(super) fn new(path: &Path) -> &'static Self {
        let named = |(hook, name): (Hook, &str)| {
            let within = match hook {
                Hook::Load => "while it was loaded".to_owned(),
                _ => format!("in its hook {name}"),
            };
            StoreName::new(path, |why| {
                Error::failed(format!("the plugin gave up {within}: {why}")).at(path.display())
            })
        };
        Box::leak(Box::new(Self(ALL.map(named))))
    }

    /// Lets `work` call a hook.
    #[inline]
    pub(super) fn at_work<T>(&self, hook: Hook, work: impl FnOnce() -> T) -> T {
        self.0[hook as usize].at_work(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hook_has_its_own_name() {
        for (index, (hook, name)) in ALL.into_iter().enumerate() {
            assert_eq!((hook as usize, hook.name()), (index, name));
        }
        let header = include_str!("../../plugin/storemark_store.h");
        let names = ALL.iter().map(|(_, name)| name);
        for name in names {
            let is_declared = [format!("(*{name})("), format!("*{name}(void)")]
                .iter()
                .any(|declared| header.contains(declared));
            assert!(is_declared, "{name}");
        }
    }
}
