//! `storemark worker`: one of the processes that a measuring command starts.

use std::io;

use engines::registry;
use lab::Stop;

use crate::exit::Failure;

/// Does what comes on standard input until that ends.
pub(crate) fn run(stop: &'static Stop) -> Result<(), Failure> {
    Ok(lab::serve(registry::blobs, io::stdin(), io::stdout(), stop)?)
}

/// The same for rows.
pub(crate) fn run_rows() -> Result<(), Failure> {
    Ok(lab::rows_worker(registry::rows)?)
}
