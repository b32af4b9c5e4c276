//! verify
use crate::{args::*, exit::Failure};
pub(crate) fn run(_: &VerifyOptions, _: &lab::Stop) -> Result<(), Failure> { Ok(()) }
