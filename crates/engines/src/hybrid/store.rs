//! An open store.

use std::path::Path;

use model::{
    Access, Durability, EngineFacts, Entry, EntryKind, Facet, Key, KeyKind, OpenOptions, Removed,
    Result, Session, Setting, Settings, Store,
};

use super::{Hybrid, INLINE, orphans, parts::Parts, session::HybridSession};
use crate::sqlite::Sqlite;

pub(super) struct HybridStore {
    parts: Parts,
    removed: Removed,
}

impl HybridStore {
    pub(super) fn create(location: &Path, options: &OpenOptions) -> Result<Self> {
        Ok(Self { parts: Parts::create(location, options)?, removed: Removed::default() })
    }

    pub(super) fn open(location: &Path, options: &OpenOptions) -> Result<Self> {
        let parts = Parts::open(location, options)?;
        let removed = match options.access {
            Access::Write => orphans::remove(&parts)?,
            Access::Read => Removed::default(),
        };
        Ok(Self { parts, removed })
    }

    /// Returns the length of the largest value that is in the database.
    pub(super) fn inline(&self) -> u64 {
        self.parts.inline
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
        let has = |of: &[&Setting], name: &str| of.iter().any(|setting| setting.name == name);
        let (own, all) = (Hybrid.settings(Facet::Blobs), Sqlite.settings(Facet::Blobs));
        // A name that is no setting comes from a loaded library, which reports it about itself.
        settings.0.retain(|name, _| has(&own, name) || !has(&all, name));
        Ok((settings, class))
    }

    fn flush_writes(&self) -> Result<()> {
        self.parts.rows.flush_writes()?;
        self.parts.release_all()
    }

    fn integrity(&self) -> Result<Option<Vec<String>>> {
        let rows = self.parts.rows.integrity()?.unwrap_or_default();
        // A damaged database may name any file.
        if rows.is_empty() { orphans::damage(&self.parts).map(Some) } else { Ok(Some(rows)) }
    }

    /// Lists the files that no row names. If another process writes to the store, these include
    /// files whose rows are not committed yet.
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

    fn removed(&self) -> Removed {
        self.removed
    }

    fn reclaim(self: Box<Self>) -> Result<()> {
        self.parts.rows.execute("VACUUM")?;
        self.flush_writes()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.parts.release_all()
    }
}
