//! `storemark report`: the tables of a record, from the record alone.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use model::{Error, ErrorKind, Result};

use super::export_hdr;
use crate::{args::ReportOptions, exit::Failure, output};

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let path = &options.record;
    let (records, warnings) = report::read(open(path)?).map_err(|e| e.context(path.display()))?;
    for warning in warnings {
        output::say(&format!("{}: {warning}", path.display()));
    }
    if let Some(folder) = &options.export_hdr {
        export_hdr::write(&records, folder)?;
    }
    let style = output::style(options.verbose, options.explain);
    let mut text = report::page(&records, &style);
    if options.over_time {
        text.push_str(&report::over_time(&records, &style));
    }
    output::print(&text)?;
    Ok(())
}

fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file =
        File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage))?;
    Ok(Box::new(BufReader::new(file)))
}
