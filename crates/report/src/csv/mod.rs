//! Trials as comma-separated values: one row a trial, as RFC 4180 has it, text in quotes and numbers
//! without.

mod cell;
mod columns;

use std::{collections::BTreeSet, io::Write, ops::Deref};

use csv::{QuoteStyle, Writer, WriterBuilder};
use model::{Error, PlannedTarget, Result, Sample, Workload, record::Record};

use self::{cell::Cell, columns::COLUMNS};

/// A trial with what it is of.
struct Trial<'a> {
    /// Counted from 1.
    run: usize,
    record: &'a Record,
    target: &'a PlannedTarget,
    workload: &'a Workload,
    sample: &'a Sample,
}

impl Deref for Trial<'_> {
    type Target = Sample;

    fn deref(&self) -> &Sample {
        self.sample
    }
}

/// Name and meaning of each column, but for those of a sweep.
pub fn csv_columns() -> impl Iterator<Item = (&'static str, &'static str)> {
    COLUMNS.iter().map(|column| (column.name, column.about))
}

/// Writes every trial of `records`, whose runs are numbered from 1; what varies in a sweep is in
/// columns of its own, before the others.
pub fn csv(records: &[Record], out: impl Write) -> Result<()> {
    let varied = varied(records);
    let mut out = WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).from_writer(out);
    let names = varied.iter().map(|name| format!("sweep_{name}"));
    let names = names.chain(COLUMNS.iter().map(|column| column.name.to_owned()));
    out.write_record(names).map_err(not_written)?;
    for (index, record) in records.iter().enumerate() {
        for sample in &record.samples {
            let plan = &record.header.plan;
            let of = plan.targets.get(sample.target).zip(plan.workloads.get(sample.workload));
            // One that is of neither is a finding, and no trial.
            let Some((target, workload)) = of else { continue };
            row(&mut out, &varied, &Trial { run: index + 1, record, target, workload, sample })?;
        }
    }
    out.flush().map_err(|error| not_written(error.into()))
}

/// The options that vary from run to run.
fn varied(records: &[Record]) -> BTreeSet<&str> {
    let points = records.iter().filter_map(|record| record.header.point.as_ref());
    points.flat_map(|point| point.varied.keys().map(String::as_str)).collect()
}

fn row(out: &mut Writer<impl Write>, varied: &BTreeSet<&str>, trial: &Trial<'_>) -> Result<()> {
    let point = trial.record.header.point.as_ref();
    let value = |name: &&str| point.and_then(|point| point.varied.get(*name));
    let varied = varied.iter().map(|name| Cell::text(value(name).map_or("", String::as_str)));
    let cells = varied.chain(COLUMNS.iter().map(|column| (column.cell)(trial)));
    out.write_record(cells.map(|cell| cell.0)).map_err(not_written)
}

fn not_written(error: csv::Error) -> Error {
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io("CSV", error),
        _ => Error::failed(message),
    }
}
