//! The filling of scratch stores from a source of values.

use model::{OpenOptions, Result, Session, Store};

use super::source::Source;
use crate::{Progress, Stop, store::ReadyStore};

/// Creates and fills the store; trials open it again with the settings that are measured. One that is
/// in memory alone stays open.
pub(in crate::experiment) fn fill(
    ready: &mut ReadyStore,
    source: &Source,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<()> {
    let how = ready.filling();
    let store = create_filled(ready, |session| source.fill(session, how, progress, stop))?;
    if !ready.engine.capabilities().persistent {
        ready.held = Some(store);
        return Ok(());
    }
    store.close()?;
    // What its own cache held would stay with this process.
    host::release_freed_memory();
    host::sync(&ready.path)
}

/// Creates a store, without durability for speed, has it filled, and leaves nothing to its background.
pub(super) fn create_filled(
    ready: &ReadyStore,
    fill: impl FnOnce(&mut dyn Session) -> Result<()>,
) -> Result<Box<dyn Store>> {
    let ReadyStore { engine, path, options, .. } = ready;
    let mut settings = options.settings.clone();
    if engine.capabilities().persistent {
        settings = settings.overlaid(&engine.scratch_settings()?);
    }
    let store = engine.create(path, &OpenOptions { settings, ..options.clone() })?;
    fill(&mut *store.session()?)?;
    store.flush_writes()?;
    Ok(store)
}
