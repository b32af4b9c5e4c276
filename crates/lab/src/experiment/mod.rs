//! What can be measured.

pub(crate) mod request;
