//! `storemark worker`: one of the processes that a measuring command starts.

use std::io;

use engines::registry;
use lab::{Finders, Stop};

use crate::exit::Failure;

/// Does what comes on standard input until that ends.
pub(crate) fn run(stop: &'static Stop) -> Result<(), Failure> {
    let find = Finders { blobs: registry::blobs, rows: registry::rows };
    Ok(lab::serve(find, io::stdin(), io::stdout(), stop)?)
}
