//! Comma-separated values: `1,2`, written and parsed by the `csv` crate.

use std::fs::File;

use model::{Error, ErrorKind, Result};

use super::Form;

pub(crate) struct Csv;

impl Form for Csv {
    const NAME: &'static str = "csv";
    const ABOUT: &'static str = "a file of comma-separated values";
    type Writer = csv::Writer<File>;

    fn writer(file: File) -> Self::Writer {
        csv::WriterBuilder::new().has_headers(false).from_writer(file)
    }

    fn write(out: &mut Self::Writer, row: (i64, i64)) -> Result<()> {
        out.serialize(row).map_err(|e| wrong(&e))
    }

    fn finish(out: Self::Writer) -> Result<File> {
        out.into_inner().map_err(|e| Error::failed(e.error().to_string()))
    }

    fn visit(file: File, visit: &mut dyn FnMut((i64, i64)) -> Result<()>) -> Result<()> {
        let mut input = csv::ReaderBuilder::new().has_headers(false).from_reader(file);
        let mut record = csv::StringRecord::new();
        while input.read_record(&mut record).map_err(|e| wrong(&e))? {
            visit(record.deserialize(None).map_err(|e| wrong(&e))?)?;
        }
        Ok(())
    }
}

fn wrong(cause: &csv::Error) -> Error {
    let kind = if cause.is_io_error() { ErrorKind::Failed } else { ErrorKind::Corrupt };
    Error::new(kind, cause.to_string())
}
