//! The filling of scratch stores from a source of values.

use model::{OpenOptions, Result};

use super::{blobs::source::Source, meter::flush};
use crate::{Progress, Stop, store::ReadyStore};

/// Creates and fills the store, without durability for speed; trials open it again with the settings
/// that are measured.
pub(super) fn fill(
    ready: &mut ReadyStore,
    source: &Source,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<()> {
    let how = ready.filling();
    let ReadyStore { engine, path, options, held, .. } = &mut *ready;
    let persistent = engine.capabilities().persistent;
    let mut settings = options.settings.clone();
    if persistent {
        settings = settings.overlaid(&engine.scratch_settings()?);
    }
    let store = engine.create(path, &OpenOptions { settings, ..options.clone() })?;
    source.fill(&mut *store.session()?, how, progress, stop)?;
    store.flush_writes()?;
    if persistent {
        store.close()?;
    } else {
        *held = Some(store);
    }
    flush(&ready.files())
}
