//! `storemark report`: the tables of a record, from the record alone.

use super::{export_hdr, records};
use crate::{args::ReportOptions, exit::Failure, output};

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let records = records::read(&options.record)?;
    if let Some(folder) = &options.export_hdr {
        export_hdr::write(&records, folder)?;
    }
    let style = output::style(options.verbose, options.explain);
    output::print(&report::page(&records, &style))?;
    Ok(())
}
