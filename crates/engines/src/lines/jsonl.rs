//! JSON, an array a line: `[1,2]`, written and parsed by `serde_json`.

use std::{
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
};

use model::{Error, Result};

use super::Form;

pub(crate) struct JsonLines;

impl Form for JsonLines {
    const NAME: &'static str = "jsonl";
    const ABOUT: &'static str = "a file with a JSON array a line";
    type Writer = BufWriter<File>;

    fn writer(file: File) -> Self::Writer {
        BufWriter::new(file)
    }

    fn write(out: &mut Self::Writer, row: (i64, i64)) -> Result<()> {
        serde_json::to_writer(&mut *out, &row).map_err(|e| wrong(e.into()))?;
        out.write_all(b"\n").map_err(wrong)
    }

    fn finish(out: Self::Writer) -> Result<File> {
        out.into_inner().map_err(|e| wrong(e.into_error()))
    }

    fn visit(file: File, visit: &mut dyn FnMut((i64, i64)) -> Result<()>) -> Result<()> {
        let mut input = BufReader::new(file);
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).map_err(wrong)? > 0 {
            visit(serde_json::from_slice(&line).map_err(|e| Error::corrupt(e.to_string()))?)?;
            line.clear();
        }
        Ok(())
    }
}

fn wrong(cause: std::io::Error) -> Error {
    Error::io("a row", cause)
}
