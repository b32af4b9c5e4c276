//! Writes the record as things happen, a line at a time, and keeps it in memory for the report.

use std::{
    io::{self, Write},
    iter,
};

use model::{
    Error, Finding, Result,
    record::{End, Header, Line, Record},
};
use serde::Serialize;

/// A file to which a record is written.
pub trait RecordFile: Write {
    /// Puts all that was written in its place.
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// The record of a run, growing. Runs of a sweep follow each other.
pub struct Recorder {
    out: Option<Box<dyn RecordFile>>,
    /// The records of earlier runs.
    earlier: Vec<Record>,
    record: Option<Record>,
    /// Whether a record that was taken over could be written.
    copied: Result<()>,
}

impl Recorder {
    /// Writes lines to `out` as well as keeping them.
    pub fn new(out: Option<Box<dyn RecordFile>>) -> Self {
        Self { out, earlier: Vec::new(), record: None, copied: Ok(()) }
    }

    /// Writes the first line.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The record is then empty.
    pub fn begin(&mut self, header: Header) -> Result<()> {
        self.write(&Line::Header(Box::new(header.clone())))?;
        self.record = Some(Record::new(header));
        Ok(())
    }

    /// Takes over a record that was kept elsewhere. If it cannot be written, [`Self::finish`] says so.
    pub fn copy(&mut self, record: &Record) {
        let Record { header, stores, samples, findings, end, .. } = record.clone();
        let stores = stores.into_iter().map(Line::Store);
        let samples = samples.into_iter().map(|sample| Line::Sample(Box::new(sample)));
        let lines = iter::once(Line::Header(Box::new(header))).chain(stores).chain(samples);
        let mut lines =
            lines.chain(findings.into_iter().map(Line::Finding)).chain(end.map(Line::End));
        self.copied = lines.try_for_each(|line| self.write(&line));
        self.record = Some(record.clone());
    }

    /// Sets the record aside: what begins next is another.
    pub fn set_aside(&mut self) {
        self.earlier.extend(self.record.take());
    }

    /// Finishes the file, and returns everything that was recorded, and whether the file could be
    /// written.
    pub fn finish(mut self) -> (Vec<Record>, Result<()>) {
        self.set_aside();
        let finished = self.out.take().map_or(Ok(()), RecordFile::finish);
        (self.earlier, self.copied.and(finished.map_err(not_written)))
    }

    /// Writes a further line. A line before the first is written but not kept.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. The line is kept nevertheless.
    pub fn push(&mut self, line: Line) -> Result<()> {
        let written = self.write(&line);
        // A line that cannot be written can still be shown.
        if let Some(record) = &mut self.record {
            record.push(line);
        }
        written
    }

    /// Writes further findings.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn note(&mut self, findings: impl IntoIterator<Item = Finding>) -> Result<()> {
        findings.into_iter().try_for_each(|finding| self.push(Line::Finding(finding)))
    }

    /// Writes the last line, and before it what `find` finds in the whole record: how a run ended decides which
    /// of its looks was the last.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn end(&mut self, end: End, find: fn(&Record) -> Vec<Finding>) -> Result<()> {
        let found = self.record.as_mut().map(|record| {
            record.end = Some(end.clone());
            find(record)
        });
        let noted = self.note(found.unwrap_or_default());
        let written = self.write(&Line::End(end));
        noted.and(written)
    }

    /// Returns what was recorded of this run; `None` before it started.
    pub fn record(&self) -> Option<&Record> {
        self.record.as_ref()
    }

    fn write(&mut self, line: &Line) -> Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| write_line(out, line)).map_err(not_written)
    }
}

/// Writes `line` as JSON, at once.
pub fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}

fn not_written(cause: io::Error) -> Error {
    Error::io("the record cannot be written", cause)
}

#[cfg(test)]
mod tests {
    use model::{
        Environment, FindingKind, Plan, Rounds,
        record::{Ended, FORMAT},
    };

    use super::*;

    /// A disk with room for one line.
    struct Full(bool);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            self.0 = true;
            Ok(())
        }
    }

    impl RecordFile for Full {}

    fn header() -> Header {
        let plan = Plan {
            seed: 1,
            experiment: model::RowsData { rows: 1 }.into(),
            targets: vec![],
            baseline: 0,
            workloads: vec![],
            caches: vec![],
            durability: None,
            memory: None,
            hosts: vec![],
            rounds: Rounds::within(1.0),
            study: None,
        };
        let environment = Environment::default();
        Header { format: FORMAT, started: 0, environment, plan, spec: None, point: None }
    }

    #[test]
    fn what_cannot_be_written_is_kept_to_be_shown() {
        let mut recorder = Recorder::new(Some(Box::new(Full(false))));
        recorder.begin(header()).unwrap();
        assert!(recorder.note([Finding::run(FindingKind::OnlyWarm)]).is_err());
        assert_eq!(recorder.record().unwrap().findings.len(), 1);
    }

    #[test]
    fn what_a_whole_record_shows_is_found_with_its_end() {
        let mut recorder = Recorder::new(None);
        recorder.begin(header()).unwrap();
        let find = |record: &Record| {
            record.end.iter().map(|_| Finding::run(FindingKind::OnlyWarm)).collect()
        };
        recorder.end(End { reason: Ended::Time, seconds: 1.0, requests: None }, find).unwrap();
        let (records, written) = recorder.finish();
        assert!(written.is_ok() && records[0].findings.len() == 1 && records[0].end.is_some());
        // One that cannot be written can still be shown.
        let mut other = Recorder::new(Some(Box::new(Full(false))));
        other.copy(&records[0]);
        let (copied, written) = other.finish();
        assert!(written.is_err() && copied == records);
    }
}
