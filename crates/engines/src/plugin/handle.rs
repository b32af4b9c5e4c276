//! A plugin's open store, as its sessions need it.

use model::{Access, KeyKind};

use super::header::{Hooks, RawStore};
use crate::caught::StoreName;

/// An open store.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    pub(super) hooks: &'static Hooks,
    pub(super) raw: RawStore,
    /// What a crash is named after.
    pub(super) plugin: &'static StoreName,
    pub(super) keys: KeyKind,
    pub(super) access: Access,
}
