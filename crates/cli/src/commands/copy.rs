//! copy
use crate::{args::*, exit::Failure};
use lab::Stop;
pub(crate) fn export(_: &ExportOptions, _: &Stop) -> Result<(), Failure> { Ok(()) }
pub(crate) fn import(_: &ImportOptions, _: &Stop) -> Result<(), Failure> { Ok(()) }
pub(crate) fn run(_: &CopyOptions, _: &Stop) -> Result<(), Failure> { Ok(()) }
