//! The page of claims is what the studies hold.

use std::{collections::BTreeSet, env, fmt::Write, fs};

use checks::studies;
use spec::study::{Claim, Figure, Study};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/claims.md");

/// Set, this test writes what is between these.
const BLESS: &str = "STOREMARK_BLESS";
const BEGIN: &str = "<!-- claims -->\n";
const END: &str = "<!-- end of claims -->\n";

/// A line of the page: what was published, and what measures it.
struct Row {
    says: String,
    figure: String,
    /// A command, or why there is none.
    by: String,
    is_measured: bool,
}

impl Row {
    fn new(says: impl Into<String>, figure: impl Into<String>, by: impl Into<String>) -> Self {
        Self { says: says.into(), figure: figure.into(), by: by.into(), is_measured: true }
    }
}

/// How a step is run.
fn command(name: &str, step: usize) -> String {
    format!("`storemark study {name} --step {}`", step + 1)
}

fn published(claim: &Claim) -> String {
    let (low, high) = claim.range();
    let unit = match claim.figure {
        Figure::TimeRatio => "× the time",
        Figure::ProcessorRatio => "× the processor time",
        Figure::Microseconds => "µs",
        Figure::MbPerSecond => "MB/s",
        Figure::ResidentBefore | Figure::ResidentAfter => "% of the pages",
        Figure::Bytes | Figure::BreakEven => "bytes",
        Figure::SpaceRatio => "× the space",
        Figure::LostCommits => "commit lost",
        Figure::BrokenStates => "states that break the promise",
        Figure::DamagedStates => "damaged state",
    };
    if high.is_infinite() {
        format!("{low} {unit} or more")
    } else if low.total_cmp(&high).is_eq() {
        format!("{low} {unit}")
    } else if low == 0.0 {
        format!("up to {high} {unit}")
    } else {
        format!("{low} to {high} {unit}")
    }
}

/// Which figure of which target.
fn what(claim: &Claim) -> String {
    let at = claim.at.iter().map(|(name, value)| format!("{name} {value}"));
    let over = claim.over.clone().unwrap_or_default();
    let over = [over.target, over.work].into_iter().flatten().map(|part| format!("over {part}"));
    let processes = claim.processes.map(|n| format!("processes {n}"));
    let cache = claim.cache.map(|cache| cache.to_string());
    let parts = [Some(claim.target.clone()), claim.work.clone(), processes, cache];
    parts.into_iter().flatten().chain(at).chain(over).collect::<Vec<_>>().join(", ")
}

fn claims(name: &str, study: &Study) -> Vec<Row> {
    let of_step = |(number, step): (usize, &spec::study::StudyCommand)| {
        let row = move |claim: &Claim| {
            let figure = format!("{}: {}", what(claim), published(claim));
            Row::new(claim.says.as_deref().unwrap_or(""), figure, command(name, number))
        };
        step.claims.iter().map(row).collect::<Vec<_>>()
    };
    study.steps.iter().enumerate().flat_map(of_step).collect()
}

/// The step of `study` that measures what is in its tables.
fn step_of(
    study: &Study,
    command: &str,
    wanted: impl Fn(&spec::study::StudyCommand) -> bool,
) -> usize {
    let mut steps = study.steps.iter();
    let found = steps.position(|step| step.command == command && wanted(step));
    found.unwrap_or_else(|| panic!("{}: no step for a table", study.title))
}

fn rows(name: &str, study: &Study) -> Vec<Row> {
    let Some(tables) = &study.rows else { return vec![] };
    let of = |row: &spec::study::RowFigures| {
        let figures = [
            row.insert.map(|s| format!("insert {s} s")),
            row.sum.map(|s| format!("sum {s} s")),
            row.update.map(|s| format!("update {s} s")),
            row.size.map(|size| format!("size {:.2} MB", size * 1.048_576)),
        ];
        let figures: Vec<_> = figures.into_iter().flatten().collect();
        let says = format!("{}, {}, processes {}", row.name, row.style, row.processes);
        let full = step_of(study, "rows", |step| !step.options.contains_key("targets"));
        let by = match row.processes {
            1 => command(name, full),
            _ => format!("{} (with --full all of them)", command(name, full + 2)),
        };
        Row::new(says, figures.join(", "), by)
    };
    // What the server refuses is in the list of what is not measured.
    let is_refused = |row: &&spec::study::RowFigures| {
        row.style.as_str() == "delayed" && ["innodb", "csv"].iter().any(|e| row.target.contains(e))
    };
    tables.figures.iter().filter(|row| !is_refused(row)).map(of).collect()
}

fn tasks(name: &str, study: &Study) -> Vec<Row> {
    let Some(tables) = &study.tasks else { return vec![] };
    let of = |row: &&spec::study::TaskFigures| {
        let runs: Vec<_> = row.runs.iter().map(|seconds| format!("{seconds:.2}")).collect();
        let on = row.on.as_str();
        let step = step_of(study, "queue", |step| step.options.contains_key("on"));
        let says = format!("{}, {}, on {on}", row.table, row.name);
        Row::new(says, format!("{} s", runs.join(", ")), command(name, step))
    };
    // The others are claims of steps.
    tables
        .figures
        .iter()
        .filter(|row| row.what == "tasks")
        .collect::<Vec<_>>()
        .iter()
        .map(of)
        .collect()
}

fn unmeasured(study: &Study) -> Vec<Row> {
    let row = |one: &spec::study::Unmeasured| Row {
        is_measured: false,
        ..Row::new(&*one.says, &*one.published, format!("not measured: {}", one.why))
    };
    study.unmeasured.iter().map(row).collect()
}

fn all(name: &str, study: &Study) -> Vec<Row> {
    [claims(name, study), rows(name, study), tasks(name, study), unmeasured(study)]
        .into_iter()
        .flatten()
        .collect()
}

fn generated() -> String {
    let studies: Vec<_> = studies::all_studies()
        .iter()
        .map(|(name, study)| (*name, study, all(name, study)))
        .collect();
    let of = |measured: bool| {
        let rows = studies.iter().flat_map(|(_, _, rows)| rows);
        rows.filter(|row| row.is_measured == measured).count()
    };
    let mut page = format!(
        "\n{} published figures, or rows of figures, are measured; {} cannot be measured here.\n",
        of(true),
        of(false)
    );
    for (name, study, rows) in &studies {
        write!(page, "\n## {name}\n\n“{}”: {}\n\n", study.title, study.source).unwrap();
        if rows.is_empty() {
            page.push_str("No figure was published for what it measures.\n");
            continue;
        }
        page.push_str("| published | figure | measured by |\n| --- | --- | --- |\n");
        for Row { says, figure, by, .. } in rows {
            writeln!(page, "| {says} | {figure} | {by} |").unwrap();
        }
    }
    page.push('\n');
    page
}

#[test]
fn the_page_is_what_the_studies_hold() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    if env::var_os(BLESS).is_some() {
        fs::write(PAGE, format!("{before}{BEGIN}{}{END}{after}", generated())).unwrap();
        return;
    }
    assert!(table == generated(), "{BLESS}=1 cargo test -p storemark-report rewrites {PAGE}");
}

#[test]
fn every_command_on_the_page_is_a_step_and_every_claim_can_be_told_from_the_others() {
    let page = fs::read_to_string(PAGE).unwrap();
    let commands: BTreeSet<_> =
        page.split("`storemark study ").skip(1).filter_map(|rest| rest.split_once('`')).collect();
    let commands: BTreeSet<_> = commands.into_iter().map(|(command, _)| command).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let Some((name, step)) = command.split_once(" --step ") else { continue };
        let steps = studies::find(name).unwrap().steps.len();
        assert!((1..=steps).contains(&step.parse().unwrap()), "{command}");
    }
    for (name, study) in studies::all_studies() {
        for step in &study.steps {
            let all: BTreeSet<_> = step
                .claims
                .iter()
                .map(|claim| format!("{} {:?}", what(claim), claim.figure))
                .collect();
            assert_eq!(
                all.len(),
                step.claims.len(),
                "{name}: {}: a claim is there twice",
                step.title
            );
            for claim in &step.claims {
                let (low, high) = claim.range();
                assert!(low <= high, "{name}: {}", what(claim));
                assert!(
                    claim.says.as_ref().is_some_and(|says| !says.is_empty()),
                    "{}",
                    what(claim)
                );
            }
        }
    }
}
