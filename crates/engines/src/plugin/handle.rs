//! A plugin's open store, as its sessions need it.

use std::ffi::c_int;

use model::{Access, KeyKind, Result};

use super::{
    header::{Hooks, RawStore},
    hook::{Hook, PluginName},
};

/// An open store.
#[derive(Clone, Copy)]
pub(super) struct Handle {
    pub(super) hooks: &'static Hooks,
    pub(super) raw: RawStore,
    pub(super) plugin: &'static PluginName,
    pub(super) keys: KeyKind,
    pub(super) access: Access,
}

impl Handle {
    /// Calls a hook, and returns an error unless it returned `STOREMARK_OK`.
    #[inline]
    pub(super) fn call(&self, hook: Hook, call: impl FnOnce(&Hooks) -> c_int) -> Result<()> {
        self.hooks.succeeded(hook, self.plugin.at_work(hook, || call(self.hooks)))
    }

    /// Calls a hook that may return `STOREMARK_NO`, and returns whether it returned `STOREMARK_OK`.
    #[inline]
    pub(super) fn ask(&self, hook: Hook, call: impl FnOnce(&Hooks) -> c_int) -> Result<bool> {
        self.hooks.answer(hook, self.plugin.at_work(hook, || call(self.hooks)))
    }
}
