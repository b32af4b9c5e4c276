//! `storemark report`: the tables of records, a page with charts, or other forms, from the records
//! alone.

use std::io::{self, BufWriter};

use model::{Error, Result, record::Record};
use report::{Machine, ReportData, report_markdown};

use super::{export_hdr, records};
use crate::{args::ReportOptions, exit::Failure, output, page_file};

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let page = page_file::open(options.html.as_deref(), &[])?;
    let all: Vec<Vec<Record>> =
        options.records.iter().map(|path| records::read(path)).collect::<Result<_>>()?;
    if let Some(folder) = &options.export_hdr {
        let [records] = all.as_slice() else {
            return Err(Error::usage("--export-hdr: takes one record").into());
        };
        export_hdr::write(records, folder)?;
    }
    if let Some(page) = page {
        refuse_twice(options, &all)?;
        return Ok(page.write(&report::html(&machines(options, &all))?)?);
    }
    Ok(print(all, options)?)
}

/// One record beside itself would look like two machines that agree.
fn refuse_twice(options: &ReportOptions, all: &[Vec<Record>]) -> Result<()> {
    let headers = || options.records.iter().zip(all).map(|(path, runs)| (path, &runs[0].header));
    for (number, (path, header)) in headers().enumerate() {
        if let Some((earlier, _)) = headers().take(number).find(|(_, other)| *other == header) {
            let (path, earlier) = (path.display(), earlier.display());
            return Err(Error::usage(format!("{path}: is the same record as {earlier}")));
        }
    }
    Ok(())
}

fn machines<'a>(options: &ReportOptions, all: &'a [Vec<Record>]) -> Vec<Machine<'a>> {
    let files = options.records.iter().map(|path| Some(path.display().to_string()));
    files.zip(all).map(|(file, records)| Machine { file, records }).collect()
}

/// Tables are those of each record; the other forms tell all runs one after the other.
fn print(all: Vec<Vec<Record>>, options: &ReportOptions) -> Result<()> {
    let form = &options.form;
    if !(form.csv || form.markdown || form.json) {
        let pages: Vec<String> = all.iter().map(|records| page(records, options)).collect();
        return output::print(&pages.join("\n"));
    }
    let runs: Vec<Record> = all.into_iter().flatten().collect();
    if form.csv {
        // Of a long study it is too much to be held at once.
        let out = BufWriter::new(output::Quietly(io::stdout().lock()));
        return report::csv(&runs, out);
    }
    let text =
        if form.json { output::json(&ReportData::of(&runs))? } else { report_markdown(&runs) };
    output::print(&text)
}

fn page(records: &[Record], options: &ReportOptions) -> String {
    let style = output::style(options.verbose, options.explain);
    let mut text = report::page(records, &style);
    if options.over_time {
        text.push_str(&report::over_time(records, &style));
    }
    text
}
