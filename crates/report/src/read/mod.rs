//! Reads a record: one JSON object a line, the header first; those of a sweep follow each other.

mod merging;

use std::{
    fmt::Display,
    io::{BufRead, Read},
};

use model::{
    Error, Result, Sample,
    record::{FORMAT, Header, Line, Record},
};
use serde_json::Value;

use self::merging::{KEPT, Merging};

/// Reads a record, or the records of a sweep, at least one, and returns them with sentences about
/// what could not be read.
///
/// # Errors
///
/// Fails if `input` cannot be read or its first line is no header that this version reads.
pub fn read(mut input: impl BufRead) -> Result<(Vec<Record>, Vec<String>)> {
    let mut reading = Reading::new(read_header(&mut input)?);
    while let Some(line) = next_line(&mut input)? {
        if !reading.take_up(&line) {
            break;
        }
    }
    reading.end_record();
    let problems = reading.problems();
    reading.earlier.push(reading.record);
    Ok((reading.earlier, problems))
}

/// Reads up to and including the next line feed, or up to the end; returns `None` at the end.
fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    /// The length above which a line is no line of a record: a device or another kind of file may
    /// have no end.
    const LONGEST: u64 = 64 << 20;
    let mut line = Vec::new();
    let mut limited = Read::take(Read::by_ref(input), LONGEST);
    let length = limited.read_until(b'\n', &mut line).map_err(|e| Error::io("the record", e))?;
    if length as u64 == LONGEST {
        return Err(Error::usage("this is no record of storemark: a line never ends"));
    }
    Ok((length > 0).then_some(line))
}

/// Reads the header of a record.
///
/// # Errors
///
/// Fails if `input` cannot be read or its first line is no header that this version reads.
fn read_header(mut input: impl BufRead) -> Result<Header> {
    let line = next_line(&mut input)?;
    let line = line.ok_or_else(|| Error::usage("this is not a record: there is nothing in it"))?;
    header(&line).map_err(Error::usage)
}

fn header(line: &[u8]) -> Result<Header, String> {
    // PowerShell writes a byte order mark before what it redirects.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let value: Value = serde_json::from_slice(line).map_err(|cause| {
        if cause.is_eof() && line.starts_with(b"{") && !line.ends_with(b"\n") {
            "this record is cut short within line 1, its header: it holds no figures"
        } else {
            "this is not a record: line 1 is not JSON"
        }
    })?;
    if kind_of(&value) != Some("header") {
        return Err(
            "this is not a record: line 1 is JSON, but it is no header (\"line\":\"header\")"
                .to_owned(),
        );
    }
    let format = value["format"].as_u64();
    if let Some(format) = format.filter(|format| *format < u64::from(FORMAT)) {
        return Err(format!(
            "this record has format {format}, older than format {FORMAT}, which this storemark \
             reads; measure again, or use the storemark that wrote it"
        ));
    }
    serde_json::from_value(value).map_err(|cause| match format {
        Some(format) if format > u64::from(FORMAT) => format!(
            "this record has format {format}, whose header a newer storemark can read; \
             this one reads format {FORMAT} (line 1: {cause})"
        ),
        _ => format!("this is not a record: line 1 is no header that can be read: {cause}"),
    })
}

fn kind_of(value: &Value) -> Option<&str> {
    value.get("line").and_then(Value::as_str)
}

/// A record while it is read, and what could not be read.
struct Reading {
    /// The records before it in a sweep.
    earlier: Vec<Record>,
    record: Record,
    /// The number of trials of the records before it.
    trials: usize,
    merging: Merging,
    /// Number of the last line read, counted from 1.
    number: usize,
    /// The record's format, if it is newer than this program's.
    newer: Option<u32>,
    /// The number of lines of an unknown kind.
    unknown: usize,
    damaged: usize,
    first_damage: Option<String>,
    /// Why reading stopped before the end.
    end: Option<String>,
}

impl Reading {
    fn new(header: Header) -> Self {
        Self {
            newer: Some(header.format).filter(|format| *format > FORMAT),
            earlier: Vec::new(),
            record: Record::new(header),
            trials: 0,
            merging: Merging::default(),
            number: 1,
            unknown: 0,
            damaged: 0,
            first_damage: None,
            end: None,
        }
    }

    /// Takes up a line; returns `false` if it no longer belongs to this record.
    fn take_up(&mut self, line: &[u8]) -> bool {
        self.number += 1;
        match serde_json::from_slice(line) {
            Ok(Line::Header(header)) => return self.second_record(*header),
            Ok(Line::Sample(sample)) if !self.is_planned(&sample) => {
                self.damaged("a sample of a target or workload that the plan does not have");
            }
            Ok(line) => {
                self.record.push(line);
                if self.trials + self.record.samples.len() > KEPT {
                    self.merging.take(&mut self.record);
                }
            }
            Err(cause) => self.skip(line, &cause),
        }
        true
    }

    fn is_planned(&self, sample: &Sample) -> bool {
        let plan = &self.record.header.plan;
        sample.target < plan.targets.len() && sample.workload < plan.workloads.len()
    }

    fn damaged(&mut self, cause: impl Display) {
        let what = format!("line {}: {cause}", self.number);
        self.damaged += 1;
        self.first_damage.get_or_insert(what);
    }

    fn end_record(&mut self) {
        self.trials += self.record.samples.len();
        std::mem::take(&mut self.merging).finish(&mut self.record);
    }

    fn second_record(&mut self, header: Header) -> bool {
        let of_sweep = header.point.as_ref().zip(self.record.header.point.as_ref());
        let is_older = header.format < FORMAT;
        if !is_older && of_sweep.is_some_and(|(this, last)| this.follows(last)) {
            self.end_record();
            self.earlier.push(std::mem::replace(&mut self.record, Record::new(header)));
            return true;
        }
        let number = self.number;
        self.end = Some(format!("line {number} begins another record; only the first is shown"));
        false
    }

    fn skip(&mut self, line: &[u8], cause: &serde_json::Error) {
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if self.may_be_newer(&value) => self.unknown += 1,
            // Only the last line can lack its line feed.
            Err(_) if !line.ends_with(b"\n") => self.end = Some(self.cut_short()),
            _ => self.damaged(cause),
        }
    }

    /// Reports whether a newer version may have written the line: kinds of lines and of findings
    /// may be added without a new format number.
    fn may_be_newer(&self, value: &Value) -> bool {
        match kind_of(value) {
            Some("header" | "store" | "sample" | "end") => self.newer.is_some(),
            kind => kind.is_some(),
        }
    }

    fn cut_short(&self) -> String {
        let all = self.earlier.iter().chain([&self.record]);
        let shown = match all.map(|record| record.samples.len()).sum() {
            0_usize => "there is no sample before it".to_owned(),
            1 => "the sample before it is shown".to_owned(),
            n => format!("the {n} samples before it are shown"),
        };
        format!("line {} is cut short; {shown}", self.number)
    }

    fn problems(&mut self) -> Vec<String> {
        let newer = self.newer.map(|format| {
            format!(
                "this record has format {format}, newer than {FORMAT}: \
                 what of it can be read is shown"
            )
        });
        let lines_are = |n| if n == 1 { "1 line is".to_owned() } else { format!("{n} lines are") };
        let unknown = (self.unknown > 0).then(|| {
            format!("{} left out: this storemark does not know their kind", lines_are(self.unknown))
        });
        let damaged = self.first_damage.take().map(|first| {
            format!("{} damaged and left out (first {first})", lines_are(self.damaged))
        });
        [newer, unknown, damaged, self.end.take()].into_iter().flatten().collect()
    }
}
