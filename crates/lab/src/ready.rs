//! A store that is ready to be measured: where it is and how every trial opens it.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use model::{Engine, OpenOptions, Result, Store};

/// How one target's store is opened.
pub(crate) struct Ready {
    pub(crate) engine: &'static dyn Engine,
    pub(crate) path: PathBuf,
    pub(crate) options: OpenOptions,
    /// The store itself, where closing would lose it.
    pub(crate) held: Option<Box<dyn Store>>,
}

impl Ready {
    /// Opens the store, lets `use_it` work on it, closes it. Also returns how long opening took.
    pub(crate) fn with<T>(
        &self,
        use_it: impl FnOnce(&dyn Store) -> Result<T>,
    ) -> Result<(T, Duration)> {
        if let Some(store) = &self.held {
            return Ok((use_it(store.as_ref())?, Duration::ZERO));
        }
        let start = Instant::now();
        let store = self.engine.open(&self.path, &self.options)?;
        let opening = start.elapsed();
        let result = use_it(store.as_ref())?;
        store.close()?;
        Ok((result, opening))
    }

    /// The files and folders of the store that are there.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.engine.files(&self.path).into_iter().filter(|path| path.exists()).collect()
    }

    /// Whether reads deliver what was written.
    pub(crate) fn retains(&self) -> bool {
        self.engine.capabilities().retains
    }
}
