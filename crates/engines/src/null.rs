//! `null:` does nothing, so that what is measured through it is the tool itself.

use std::path::Path;

use model::{
    Blobs, Capabilities, Declaration, Durability, Engine, Idle, KeyKind, OpenOptions, Result,
    Session, Store,
};

/// The engine that keeps nothing, to measure the cost of the measurement itself.
pub(crate) struct Null;

static DECLARATION: Declaration = Declaration {
    durability: &[Durability::None.kept_by(&[], "nothing is kept")],
    capabilities: Capabilities {
        persistent: false,
        retains: false,
        meta: false,
        ..Capabilities::ON_DISK
    },
    blobs: Some(&Null),
    reference: true,
    ..Declaration::new("null", "does nothing: measures the tool itself")
};

impl Engine for Null {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Null {
    fn create(&self, _: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Nothing { keys: options.keys }))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        self.create(location, options)
    }
}

/// A store without values.
struct Nothing {
    keys: KeyKind,
}

impl Store for Nothing {
    fn keys(&self) -> KeyKind {
        self.keys
    }

    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(Idle))
    }
}
