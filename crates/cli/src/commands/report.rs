//! `storemark report`: the tables of records, a page with charts, or other forms, from the records
//! alone.

use std::{
    io::{self, BufWriter},
    path::PathBuf,
};

use clap::Args;
use model::{Error, Result, record::Record};
use report::{Machine, ReportData, pages};

use super::{export_hdr, records};
use crate::{exit::Failure, files, output};

pub(crate) const EXAMPLES: &str = "\
Examples:
  storemark report run.json                  the tables of `storemark run --json run.json`
  storemark report run.json --explain        with what explains the differences
  storemark report run.json --html run.html  a page with charts
  storemark report run.json --csv            every trial as a row
  storemark report - --verbose               a record from standard input, with all findings";

#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The record (- for standard input); several of one plan, from different machines or days, make
    /// one page
    #[arg(required = true, value_name = "RECORD")]
    pub(crate) records: Vec<PathBuf>,
    /// Write a page with charts to FILE, for a browser
    #[arg(long, value_name = "FILE", conflicts_with_all = ["csv", "markdown", "json"])]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) form: FormOptions,
    /// Write the latencies into folder DIR, a file for each target and kind of operation, as
    /// HdrHistogram's listing of percentiles
    #[arg(long, value_name = "DIR")]
    pub(crate) export_hdr: Option<PathBuf>,
    /// Show what explains the differences: processor time, faults, calls, bytes from and to devices
    #[arg(long)]
    pub(crate) explain: bool,
    /// Show how passes went over time, in slices of 100 ms, and where they stalled
    #[arg(long)]
    pub(crate) over_time: bool,
    /// Show all findings
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// One at most; none: tables for a terminal.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct FormOptions {
    /// Print every trial as comma-separated values, a row each
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print estimates and verdicts as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let page = files::page(options.html.as_deref(), &[])?;
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

/// One record given twice would look like two machines that agree.
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

/// Tables are those of each record; the other forms print all runs one after the other.
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
    let text = if form.json {
        output::json(&ReportData::of(&runs))?
    } else {
        pages::records(&runs, pages::Detail { all: true, ..pages::Detail::default() }).markdown()
    };
    output::print(&text)
}

fn page(records: &[Record], options: &ReportOptions) -> String {
    let ReportOptions { verbose, explain, over_time, .. } = *options;
    let detail = pages::Detail { all: verbose, explain, over_time };
    output::page(&pages::records(records, detail))
}
