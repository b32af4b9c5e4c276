//! `storemark report`: the tables of a record, from the record alone, or other forms of it.

use std::io::{self, BufWriter};

use model::{Result, record::Record};
use report::{ReportData, report_markdown};

use super::{export_hdr, records};
use crate::{args::ReportOptions, exit::Failure, output};

pub(crate) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let records = records::read(&options.record)?;
    if let Some(folder) = &options.export_hdr {
        export_hdr::write(&records, folder)?;
    }
    Ok(print(&records, options)?)
}

fn print(records: &[Record], options: &ReportOptions) -> Result<()> {
    let form = &options.form;
    if form.csv {
        // Of a long study it is too much to be held at once.
        let out = BufWriter::new(output::Quietly(io::stdout().lock()));
        return report::csv(records, out);
    }
    output::print(&if form.markdown {
        report_markdown(records)
    } else if form.json {
        output::json(&ReportData::of(records))?
    } else {
        page(records, options)
    })
}

fn page(records: &[Record], options: &ReportOptions) -> String {
    let style = output::style(options.verbose, options.explain);
    let mut text = report::page(records, &style);
    if options.over_time {
        text.push_str(&report::over_time(records, &style));
    }
    text
}
