//! Stores that workers of another storemark program have open, so that two versions of a library, or of
//! storemark's own code, are measured in one run.
//!
//! [`engine`] and [`store`] are such a store as this process sees it: single calls go to the worker,
//! which is enough to fill and to check it. What is measured are passes that the worker makes by itself
//! over the store that it has open ([`store::ProgramStore::with_passes`], and the lanes of an epoch).
//! [`call`] has the messages, [`serve`] is the worker's side.

pub(super) mod call;
pub(crate) mod engine;
pub(super) mod serve;
pub(crate) mod store;
