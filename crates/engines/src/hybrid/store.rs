//! An open store.

use std::path::Path;

use model::{
    Access, Durability, Entry, EntryKind, Key, KeyKind, OpenOptions, Result, Session, Settings,
    Store,
};

use super::{DECLARATION, INLINE, orphans, parts::Parts, session::HybridSession};

pub(super) struct HybridStore {
    parts: Parts,
}

impl HybridStore {
    pub(super) fn create(location: &Path, options: &OpenOptions) -> Result<Self> {
        Ok(Self { parts: Parts::create(location, options)? })
    }

    pub(super) fn open(location: &Path, options: &OpenOptions) -> Result<Self> {
        let parts = Parts::open(location, options)?;
        if options.access == Access::Write {
            orphans::remove(&parts)?;
        }
        Ok(Self { parts })
    }
}

impl Store for HybridStore {
    fn keys(&self) -> KeyKind {
        self.parts.rows.keys()
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(HybridSession::new(&self.parts)?))
    }

    fn check_item(&self, key: Key<'_>, length: u64) -> Result<()> {
        self.parts.rows.check_item(key, if length > self.parts.inline { 0 } else { length })
    }

    fn in_effect(&self) -> Result<(Settings, Durability)> {
        let (mut settings, class) = self.parts.rows.in_effect()?;
        settings.set(INLINE, self.parts.inline);
        let own = |name: &str| DECLARATION.settings.iter().any(|setting| setting.name == name);
        settings.0.retain(|name, _| own(name));
        Ok((settings, class))
    }

    fn settle(&self) -> Result<()> {
        self.parts.rows.settle()?;
        self.parts.release_all()
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let rows = self.parts.rows.integrity()?.unwrap_or_default();
        // A damaged database may name any file.
        if rows.is_empty() { orphans::damage(&self.parts).map(Some) } else { Ok(Some(rows)) }
    }

    /// Of a store that another process writes to, also files whose rows are yet to come.
    fn left_out(&self) -> Result<Vec<Entry>> {
        let mut files = self.parts.files.worker();
        let entry = |number| {
            let path = files.path(Key::Int(number))?;
            let path = path.strip_prefix(&self.parts.path).unwrap_or(&path);
            let name = path.to_string_lossy().into_owned().into_bytes();
            Ok(Entry { name, kind: EntryKind::Orphan, content: Vec::new() })
        };
        orphans::find(&self.parts)?.into_iter().map(entry).collect()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.parts.release_all()
    }
}
