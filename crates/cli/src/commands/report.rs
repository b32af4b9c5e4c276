//! `storemark report`: the tables of records, or a page with charts, from the records alone.

use model::{Error, Result, record::Record};
use report::Machine;

use super::{export_hdr, records};
use crate::{args::ReportOptions, exit::Failure, output, page_file};

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let page = page_file::open(options.html.as_deref())?;
    let all: Vec<Vec<Record>> =
        options.records.iter().map(|path| records::read(path)).collect::<Result<_>>()?;
    if let Some(folder) = &options.export_hdr {
        let [records] = all.as_slice() else {
            return Err(Error::usage("--export-hdr: takes one record").into());
        };
        export_hdr::write(records, folder)?;
    }
    if let Some(page) = page {
        return Ok(page.write(&report::html(&machines(options, &all))?)?);
    }
    let style = output::style(options.verbose, options.explain);
    let pages: Vec<String> = all.iter().map(|records| report::page(records, &style)).collect();
    Ok(output::print(&pages.join("\n"))?)
}

fn machines<'a>(options: &ReportOptions, all: &'a [Vec<Record>]) -> Vec<Machine<'a>> {
    let files = options.records.iter().map(|path| Some(path.display().to_string()));
    files.zip(all).map(|(file, records)| Machine { file, records }).collect()
}
