//! Reading records that the user named.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use model::{Error, ErrorKind, Result, record::Record};

use crate::output;

/// The record at `path`, or those of a sweep; what could not be read of it is said.
pub(super) fn read(path: &Path) -> Result<Vec<Record>> {
    let (records, warnings) = report::read(open(path)?).map_err(|e| e.context(path.display()))?;
    for warning in warnings {
        output::say(&format!("{}: {warning}", path.display()));
    }
    Ok(records)
}

fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    if path.is_dir() {
        return Err(Error::usage(format!("{}: is a folder, not a record", path.display())));
    }
    let file =
        File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage))?;
    Ok(Box::new(BufReader::new(file)))
}
