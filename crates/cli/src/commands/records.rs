//! `storemark report` and `storemark compare`: records are read again, and printed or judged.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter},
    path::{Path, PathBuf},
};

use checks::{Gate, Verdict};
use clap::Args;
use model::{DatasetSpec, Error, ErrorKind, Owner, Result, TypedTarget, record::Record};
use report::{
    Comparison, ComparisonData, HistoryData, Machine, NamedRecords, ReportData, comparison,
    pages::{self, Page},
};
use spec::{ExplainOption, GateOptions, HdrOption, Name, PageOption};

use super::gate::{Counters, Limit};
use crate::{
    exit::Failure,
    files::{self, Form, Taken},
    output,
};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark report run.json                  the tables of `storemark run --json run.json`
  storemark report run.json --explain        with what explains the differences
  storemark report run.json --html run.html  a page with charts
  storemark report run.json --csv            every trial as a row
  storemark report - --verbose               a record from standard input, with all findings")]
pub(crate) struct ReportOptions {
    /// The record (- for standard input); several of one plan, from different machines or days, make
    /// one page
    #[arg(required = true, value_name = "RECORD")]
    pub(crate) records: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageOption,
    #[command(flatten)]
    pub(crate) form: FormOptions,
    #[command(flatten)]
    pub(crate) latencies: HdrOption,
    #[command(flatten)]
    pub(crate) details: ExplainOption,
    /// Show how passes went over time, in slices of 100 ms, and where they stalled
    #[arg(long)]
    pub(crate) over_time: bool,
    /// Show all findings
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print results and errors only, not what could not be read of a record
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The form of the output, at most one; by default tables for a terminal.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub(crate) struct FormOptions {
    /// Print every trial as comma-separated values, a row each
    #[arg(long, conflicts_with = "html")]
    pub(crate) csv: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "html")]
    pub(crate) markdown: bool,
    /// Write estimates and verdicts as JSON to FILE (- for standard output, instead of the tables)
    #[arg(long, value_name = "FILE", conflicts_with = "html")]
    pub(crate) json: Option<PathBuf>,
}

/// Reads the record at `path`, or the records of a sweep, and prints what could not be read.
fn read(path: &Path) -> Result<Vec<Record>> {
    read_with(path, false)
}

/// Reads the record at `path`, and prints what could not be read unless it is `quiet`.
fn read_with(path: &Path, quiet: bool) -> Result<Vec<Record>> {
    let (records, warnings) = report::read(open(path)?).map_err(|e| e.context(path.display()))?;
    for warning in warnings.into_iter().filter(|_| !quiet) {
        output::say(&format!("{}: {warning}", path.display()));
    }
    Ok(records)
}

/// Reads the record at `path`, or the records in that folder, by name, which are the runs of one.
fn read_runs(path: &Path) -> Result<Vec<NamedRecords>> {
    let files = if path.is_dir() { in_folder(path)? } else { vec![path.to_owned()] };
    let read = |path: PathBuf| {
        Ok(NamedRecords { name: path.display().to_string(), records: read(&path)? })
    };
    files.into_iter().map(read).collect()
}

/// Fails if two files hold the same record, which would count twice.
fn refuse_same<'f>(files: impl IntoIterator<Item = &'f NamedRecords>) -> Result<()> {
    let files: Vec<_> = files.into_iter().collect();
    for (number, file) in files.iter().enumerate() {
        if let Some(earlier) = files[..number].iter().find(|of| of.records == file.records) {
            let (name, earlier) = (&file.name, &earlier.name);
            return Err(Error::usage(format!("{name} is the same record as {earlier}")));
        }
    }
    Ok(())
}

/// Returns the files of a folder by name.
fn in_folder(path: &Path) -> Result<Vec<PathBuf>> {
    files::check_folder(path)?;
    let wrong = |e| Error::io(path.display(), e);
    let entries = fs::read_dir(path).map_err(wrong)?;
    let mut files: Vec<_> =
        entries.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>().map_err(wrong)?;
    files.sort();
    Ok(files)
}

fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    if path.is_dir() {
        return Err(Error::usage("is a folder, not a record").at(path.display()));
    }
    if !path.exists() {
        return Err(files::missing(path, "record"));
    }
    let opened =
        File::open(path).map_err(|e| Error::io(path.display(), e).with_kind(ErrorKind::Usage));
    Ok(Box::new(BufReader::new(opened?)))
}

pub(crate) fn report(options: &ReportOptions) -> Result<(), Failure> {
    check_parts(options)?;
    let all: Vec<Vec<Record>> =
        options.records.iter().map(|path| read_with(path, options.quiet)).collect::<Result<_>>()?;
    let mut taken = Taken::measured(all.iter().flatten().flat_map(measured));
    let page = files::page(options.page.html.as_ref().map(Name::path), &mut taken)?;
    if let Some(folder) = &options.latencies.export_hdr {
        let [records] = all.as_slice() else {
            return Err(Error::usage("--export-hdr: takes one record").into());
        };
        write_hdr(records, folder.path(), &taken)?;
    }
    if let Some(page) = page {
        refuse_twice(options, &all)?;
        let files = options.records.iter().map(|path| Some(path.display().to_string()));
        let machines = files.zip(&all).map(|(file, records)| Machine { file, records });
        return Ok(page.write(&report::html(&machines.collect::<Vec<_>>())?)?);
    }
    Ok(print(all, options)?)
}

/// Refuses an option that adds to tables if the form has none.
fn check_parts(options: &ReportOptions) -> Result<()> {
    let form = match () {
        () if options.form.csv => "--csv",
        () if options.page.html.is_some() => "--html",
        () => return Ok(()),
    };
    let parts = [("--explain", options.details.explain), ("--over-time", options.over_time)];
    match parts.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((part, _)) => Err(Error::usage(format!(
            "{part}: adds to tables, and {form} has none; leave it out, or use --markdown"
        ))),
    }
}

/// Fails if a record is given twice: it would look like two machines that agree.
fn refuse_twice(options: &ReportOptions, all: &[Vec<Record>]) -> Result<()> {
    let headers = || options.records.iter().zip(all).map(|(path, runs)| (path, &runs[0].header));
    for (number, (path, header)) in headers().enumerate() {
        if let Some((earlier, _)) = headers().take(number).find(|(_, other)| *other == header) {
            let (path, earlier) = (path.display(), earlier.display());
            return Err(Error::usage(format!("is the same record as {earlier}")).at(&path));
        }
    }
    Ok(())
}

/// Tables are those of each record; the other forms print all runs one after the other.
fn print(all: Vec<Vec<Record>>, options: &ReportOptions) -> Result<()> {
    let ReportOptions { form, verbose, details, over_time, .. } = options;
    if !(form.csv || form.markdown) {
        let detail =
            pages::Detail { all: *verbose, explain: details.explain, over_time: *over_time };
        let pages = all.iter().map(|records| output::page(&pages::records(records, detail)));
        let text = pages.collect::<Vec<_>>().join("\n");
        let data = || output::json(&ReportData::new(&all.concat()));
        return files::print(form.json.as_deref(), data, &text, &mut Taken::default());
    }
    let runs: Vec<Record> = all.into_iter().flatten().collect();
    if form.csv {
        // The trials of a long study are too many to hold at once.
        let out = BufWriter::new(output::Quietly(io::stdout().lock()));
        return report::csv(&runs, out);
    }
    let detail = pages::Detail { all: true, explain: details.explain, over_time: *over_time };
    output::print(&pages::records(&runs, detail).markdown())
}

/// Writes a file of latencies for each case, target and kind of operation into `folder`, which is
/// created if needed; of a sweep, each run's into a folder in it by the run's number.
pub(super) fn write_hdr(records: &[Record], folder: &Path, taken: &Taken) -> Result<()> {
    taken.check(EXPORT_HDR.option, folder)?;
    for (number, record) in (1..).zip(records) {
        let folder = match records.len() {
            1 => folder.to_owned(),
            _ => folder.join(format!("{number}")),
        };
        files::write_into(&folder, EXPORT_HDR, taken, report::hdr(record))?;
    }
    Ok(())
}

pub(super) const EXPORT_HDR: Form<'_> =
    Form { option: "--export-hdr", what: "a listing of latencies", head: report::HDR_HEAD };

/// Returns the stores and folders that a record is about, if they still exist.
fn measured(record: &Record) -> Vec<PathBuf> {
    let plan = &record.header.plan;
    let stores = plan.targets.iter().filter(|target| target.owner != Owner::Scratch);
    let data = plan.experiment.blobs().and_then(|blobs| match &blobs.dataset {
        DatasetSpec::Directory { path } => Some(path.as_str()),
        _ => None,
    });
    let places = stores.map(|target| target.location.as_str()).chain(data).map(PathBuf::from);
    let without_settings = |path: PathBuf| {
        if path.exists() { path } else { TypedTarget::parse(path).location.into() }
    };
    places.map(without_settings).filter(|path| path.exists()).collect()
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  storemark compare before.json after.json
  storemark compare before.json after.json --control memory    times divided by another target's
  storemark compare before.json after.json --fail-above 5%     a gate: exit code 3
  storemark compare before.json after.json --markdown          for a pull request
  storemark compare before/ after/                             folders of records, taken in turns
  storemark compare --history records/                         where the times of a folder change

Exit codes with --fail-above: 0 every row passes; 3 a row fails, or is undecided; 2 no row can be
judged, or the new record lacks what the old one has.")]
pub(crate) struct CompareOptions {
    /// The record to compare with, or a folder of records of one plan, each of which is a run
    #[arg(required_unless_present = "history")]
    pub(crate) old: Option<PathBuf>,
    /// The record to judge (- for standard input), or a folder of records
    #[arg(required_unless_present = "history")]
    pub(crate) new: Option<PathBuf>,
    /// Find where times change for good, or creep, in a folder of records over weeks: from 8 records of one
    /// machine, data and conditions on
    #[arg(long, value_name = "DIR", conflicts_with_all = ["old", "fail_above", "fail_on", "verbose"])]
    pub(crate) history: Option<PathBuf>,
    /// Divide times by those of this target in the same rounds, so that what the machine does to both
    /// cancels: its name in the tables; default: the baseline of the new record
    #[arg(long, value_name = "TARGET")]
    pub(crate) control: Option<String>,
    #[command(flatten)]
    pub(crate) gate: GateOptions,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Write JSON (docs/compare.schema.json; of a history, docs/history.schema.json) to FILE (- for
    /// standard output, instead of the tables)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page with a line for each target of a history to FILE, for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show all findings and differences, the 99th percentiles, and the changes that can be seen
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Print the counts alone, and what a gate says
    #[arg(long, short, conflicts_with_all = ["verbose", "markdown"])]
    pub(crate) quiet: bool,
}

pub(crate) fn compare(options: &CompareOptions) -> Result<(), Failure> {
    if let Some(folder) = &options.history {
        return compare_history(folder, options);
    }
    if options.html.is_some() {
        return Err(Error::usage("--html shows a history: add --history DIR").into());
    }
    let [old, new] = [&options.old, &options.new]
        .map(|path| path.as_deref().expect("clap requires both without --history"));
    let files = [read_runs(old)?, read_runs(new)?];
    files.iter().try_for_each(refuse_same)?;
    // A record is equal to itself, but is no independent one among others.
    if files.iter().any(|side| side.len() > 1) && !is_same(&files) {
        refuse_same(files.iter().flatten())?;
    }
    let [old_runs, new_runs] = files.map(report::as_runs);
    let records = [
        old_runs.map_err(|e| e.context(old.display()))?,
        new_runs.map_err(|e| e.context(new.display()))?,
    ];
    let compared = comparison(&records[0], &records[1], options.control.as_deref())?;
    let data = || output::json(&ComparisonData::new(&compared));
    let [old, new] = [old, new].map(|path| path.display().to_string());
    let detail = pages::Detail { all: options.verbose, ..Default::default() };
    let form = if options.quiet { pages::comparison_head } else { pages::comparison };
    let page = form(&compared, [&old, &new], detail);
    let taken = &mut Taken::default();
    files::print(options.json.as_deref(), data, &shown(&page, options), taken)?;
    let counted = gate_on_counters(&compared, &options.gate);
    gate(&compared, &options.gate)?;
    counted
}

/// Finds where the times of the records in a folder change.
fn compare_history(folder: &Path, options: &CompareOptions) -> Result<(), Failure> {
    let read = |path: PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(NamedRecords { name: name.unwrap_or_default(), records: read(&path)? })
    };
    let files = in_folder(folder)?.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    refuse_same(&files).map_err(|e| e.at(folder.display()))?;
    let mut taken = Taken::measured(in_folder(folder)?);
    let file = files::page(options.html.as_deref(), &mut taken)?;
    let history = report::history(files, options.control.as_deref());
    let history = history.map_err(|e| e.context(folder.display()))?;
    let name = folder.display().to_string();
    let form = if options.quiet { pages::history_head } else { pages::history };
    let data = || output::json(&HistoryData::new(&history));
    let page = shown(&form(&history, &name), options);
    files::print(options.json.as_deref(), data, &page, &mut taken)?;
    Ok(file.map_or(Ok(()), |file| file.write(&report::html_history(&history, &name)))?)
}

/// Returns whether both sides are the same records.
fn is_same([old, new]: &[Vec<NamedRecords>; 2]) -> bool {
    old.iter().map(|file| &file.records).eq(new.iter().map(|file| &file.records))
}

fn shown(page: &Page, options: &CompareOptions) -> String {
    if options.markdown { page.markdown() } else { output::page(page) }
}

/// Judges two records by the limit of `--fail-above`. A time that is no longer measured fails too.
fn gate(compared: &Comparison, options: &GateOptions) -> Result<(), Failure> {
    let Some(limit) = Limit::new(options) else { return Ok(()) };
    let of = |gate| {
        report::gate_rows(compared, limit.share, gate).into_iter().map(move |row| (gate, row))
    };
    let rows: Vec<_> = [Gate::Fail, Gate::Undecided].into_iter().flat_map(of).collect();
    let of_durability = |verdict| matches!(verdict, Verdict::DurabilityDiffers | Verdict::Baseline);
    let unjudged = || {
        let may_do = if compared.changes().all(|(_, row)| of_durability(row.verdict)) {
            ", as durability differs: the same --durability for both records makes it the same"
        } else {
            "; more --runs or --time of both records may do"
        };
        format!("no row can be judged{may_do}")
    };
    let cannot = lost(compared).or_else(|| (!compared.is_judged()).then(unjudged));
    limit.judge(&rows, compared.gate(limit.share), cannot, "more --runs or --time of both records")
}

/// Judges two records by the counters of `--fail-on`.
fn gate_on_counters(compared: &Comparison, options: &GateOptions) -> Result<(), Failure> {
    let Some(counters) = Counters::new(options) else { return Ok(()) };
    let rows = report::counter_rows(compared, &counters.0);
    counters.judge(&rows, lost(compared))
}

/// Lists what is no longer measured; `None` if nothing is missing.
fn lost(compared: &Comparison) -> Option<String> {
    let lost: Vec<_> = compared.lost().collect();
    (!lost.is_empty())
        .then(|| format!("in the old record, and not in the new one: {}", lost.join("; ")))
}
