//! Several records of one plan as one.

use model::{Error, Result, Sample, record::Record};

use super::unlike::record_difference;

/// A file with a record, or with the records of a sweep.
#[derive(Clone, Debug)]
pub struct NamedRecords {
    /// The name of the file.
    pub name: String,
    /// Its records, at least one.
    pub records: Vec<Record>,
}

/// Merges records of one plan, or sweeps of one, into one record of which each file is a run. The
/// intervals then include what differs between records that were measured minutes apart. Each file
/// comes with its name.
///
/// # Errors
///
/// Fails if there is no file, or the records are of different plans.
pub fn as_runs(files: Vec<NamedRecords>) -> Result<Vec<Record>> {
    let mut files = files.into_iter();
    let first = files.next().ok_or_else(|| Error::usage("there is no record in it"))?;
    let NamedRecords { name: first, records: mut all } = first;
    for (run, NamedRecords { name, records }) in (1..).zip(files) {
        if let Some(difference) = record_difference(&all, &records) {
            return Err(Error::usage(format!(
                "{first} and {name} are of different plans, so that they are not runs of one: \
                 {difference}"
            )));
        }
        all.iter_mut().zip(records).for_each(|(one, more)| add(one, more, run));
    }
    Ok(all)
}

/// Adds all of `more` to `one` as its run number `run`.
fn add(one: &mut Record, more: Record, run: u32) {
    if run == 1 {
        one.samples.iter_mut().for_each(|sample| sample.run = 0);
    }
    one.header.plan.rounds.runs = run + 1;
    one.records = run + 1;
    let next = one.samples.iter().map(|sample| sample.round + 1).max().unwrap_or(0);
    for sample in more.samples {
        one.samples.push(Sample { run, round: next + sample.round, ..sample });
    }
    let new: Vec<_> =
        more.findings.into_iter().filter(|finding| !one.findings.contains(finding)).collect();
    one.findings.extend(new);
}
