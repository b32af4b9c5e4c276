//! The details below the charts: the method, the machine, the plan and every trial.

use std::borrow::Cow;

use checks::{cases, stores};
use itertools::Itertools;
use maud::{Markup, html};
use model::{
    Case, Latency, Library, Owner, PlannedTarget, Sample, Settings,
    record::GivenOptions,
    units::{show_count, show_size},
};

use super::table;
use crate::{
    Unlike,
    charts::{Part, Run},
    compare::{unlike::ASPECTS, unlike::EnvironmentAspect},
    environment_differences,
    experiment::experiment_report,
    table::{Cell, Column, Table},
    tables, words,
};

pub(super) fn method() -> Markup {
    html! {
        section {
            h2 { "Method" }
            p {
                "A round measures every target once, in balanced order, until there is a verdict on it. \
                 Each workload in each cache state has rounds of its own, unless one trial measures \
                 several. A target is compared with the baseline within each round, so that what \
                 disturbs a round disturbs both. Figures are geometric means over the rounds."
            }
            p {
                "An interval is the range that contains the true figure in at least 95 of 100 runs like this \
                 one. It comes from how much the rounds differ. That of a ratio decides its verdict: it \
                 allows for the other ratios of its table, and for rounds that end when it is shown."
            }
            p {
                "Latencies are of the operations that the times are of: of short ones a few are timed and \
                 represent the others, and all that take far longer are counted. A trial that was not in its cache state gives \
                 no figure. Findings say what may be wrong with a figure."
            }
        }
    }
}

fn unlike(part: &Part<'_>) -> Vec<Unlike> {
    let all: Vec<_> = part.sides.iter().map(|side| &side.records[0].header.environment).collect();
    environment_differences(&all)
}

/// Lists the aspects in which the machines differ.
pub(super) fn unlike_environments(part: &Part<'_>) -> Markup {
    let words = unlike(part).into_iter().map(|unlike| unlike.what).join(", ");
    html! {
        @if !words.is_empty() {
            p { "The environments differ in: " (words) "." }
        }
    }
}

/// Shows the machine and the software, with machines next to each other.
pub(super) fn environment(part: &Part<'_>) -> Markup {
    let differ = unlike(part);
    html! {
        section {
            h2 { "Environment" }
            @if part.sides.len() > 1 {
                @if differ.is_empty() {
                    p { "The environments do not differ." }
                } @else {
                    p { "The environments differ, so a difference between the machines may not be due to the \
                         stores:" }
                    ul { @for unlike in &differ { li { (unlike) } } }
                }
            }
            details { summary { "The machine and its software" } (table::markup(&environments(part))) }
        }
    }
}

/// Describes a library: its version, source and compile options.
fn library(library: &Library) -> String {
    let Library { source, options, program, .. } = library;
    let program = program.as_ref().map(|program| format!("of storemark {program}"));
    let built = (!options.is_empty()).then(|| format!("compiled with {}", options.join(" ")));
    let parts = [Some(library.to_string()), source.clone(), program, built];
    parts.into_iter().flatten().join(", ")
}

/// The aspects that are not compared, because they may differ each time.
const MORE: [EnvironmentAspect<String>; 6] = [
    ("machine", |e| e.machine.clone().unwrap_or_default()),
    ("mounted at", |e| e.filesystems.iter().map(|fs| &*fs.mount).join("; ")),
    ("memory free at the start", |e| e.memory.available_bytes.map(show_size).unwrap_or_default()),
    ("libraries", |e| e.libraries.iter().map(library).join("; ")),
    ("two reads of the clock", |e| format!("{} ns", e.clock_ns)),
    ("storemark’s own loop", |e| format!("{:.1} ns per operation", e.loop_ns)),
];

/// Returns the table of the environments, a column for each machine.
fn environments(part: &Part<'_>) -> Table {
    let aspects: Vec<EnvironmentAspect<String>> = ASPECTS.into_iter().chain(MORE).collect();
    let mut table = Table::for_rows("Where it was measured", &aspects)
        .with(Column::text(""), |(name, _)| *name);
    for side in &part.sides {
        let head = Column { head: Cow::Owned(side.name.clone()), ..Column::text("") };
        table = table.with(head, |(_, of)| {
            Some(of(&side.records[0].header.environment)).filter(|value| !value.is_empty())
        });
    }
    let mut table = table.into_table();
    if part.sides.iter().any(|side| side.file.is_some()) {
        let files = part.sides.iter().map(|side| Cell::from(side.file.clone()));
        table.rows.insert(0, [Cell::from("record")].into_iter().chain(files).collect());
    }
    table
}

/// Shows what each host did, if clients ran on several.
pub(super) fn hosts(part: &Part<'_>) -> Markup {
    let of_run = |run: Run<'_>| {
        cases(run.figures)
            .filter_map(move |rows| tables::hosts(run.record, rows))
            .collect::<Vec<_>>()
    };
    let all = part.runs().flat_map(of_run).map(|table| table::titled(&table, "Hosts"));
    section("Hosts", all)
}

/// Shows tables below a heading; nothing if there are none.
fn section(heading: &str, tables: impl Iterator<Item = Markup>) -> Markup {
    let mut tables = tables.peekable();
    html! {
        @if tables.peek().is_some() {
            section {
                h2 { (heading) }
                @for table in tables { (table) }
            }
        }
    }
}

/// Shows the verdicts on a percentile of the latencies, if they were asked for.
pub(super) fn judged(part: &Part<'_>) -> Markup {
    let of_run = |run: Run<'_>| {
        let all = cases(run.figures).filter_map(move |rows| tables::judged(run.record, rows));
        all.map(|table| Table { title: run.on(&*table.title), ..table }).collect::<Vec<_>>()
    };
    let all = part.runs().flat_map(of_run).map(|table| table::markup(&table));
    section("Verdicts on a percentile of the latencies", all)
}

/// Shows data, targets, workloads, cache states and the limits of the run.
pub(super) fn plan(part: &Part<'_>) -> Markup {
    html! {
        section {
            h2 { "Plan" }
            details {
                summary { "What was asked for, and the settings in effect" }
                (table::markup(&measured(part)))
                (table::markup(&targets(part)))
            }
        }
    }
}

fn measured(part: &Part<'_>) -> Table {
    let (plan, record) = (part.plan(), part.first().record);
    let data = if part.is_sweep() {
        tables::sweep_title(part.sides[0].records)
    } else {
        experiment_report(plan).data(plan)
    };
    let row = |name: &str, value: String| (name.to_owned(), value);
    let mut rows = vec![row("data", data)];
    rows.extend(plan.cases().map(|case| row("workload", words::case_title(record, case))));
    rows.extend(plan.durability.map(|class| row("durability asked for", class.to_string())));
    rows.extend(plan.memory.map(|memory| {
        let limit = memory.limit_bytes.map_or_else(|| "no limit".to_owned(), show_size);
        row("memory of each target", format!("{limit}, cache {}", show_size(memory.cache_bytes)))
    }));
    let options = record.header.spec.iter().flat_map(GivenOptions::texts);
    rows.extend(options.map(|(name, values)| (format!("--{name}"), values)));
    rows.extend(part.sides.iter().map(|side| (side.on("rounds"), words::ended(side.records))));
    Table::for_rows("What was measured", &rows)
        .with(Column::text(""), |(name, _)| name.clone())
        .with(Column::text(""), |(_, value)| value.clone())
        .into_table()
}

fn targets(part: &Part<'_>) -> Table {
    let stores = stores(part.first().record);
    let targets: Vec<_> = part.plan().targets.iter().zip(stores).collect();
    Table::for_rows("Targets", &targets)
        .with(Column::text("target"), |(target, _)| &*target.label)
        .with(Column::text("engine"), |(target, _)| &*target.engine)
        .with(Column::text("store"), |(target, _)| describe_store(target))
        .with(Column::text("settings asked for"), |(target, _)| settings(&target.settings))
        .with(Column::text("settings in effect"), |(_, store)| settings(&store.in_effect))
        .into_table()
}

fn describe_store(target: &PlannedTarget) -> String {
    let owner = match target.owner {
        Owner::Scratch => "scratch",
        Owner::User => "the user’s own, read only",
        Owner::Copy => "a copy of the user’s",
        Owner::InPlace => "the user’s own, in place",
    };
    let on = target.on.as_ref().map(|on| format!("on {on}")).unwrap_or_default();
    [owner, &target.location, &on].iter().filter(|words| !words.is_empty()).join(", ")
}

/// Formats settings; `None` if there are none.
fn settings(settings: &Settings) -> Option<String> {
    let all = settings.0.iter().map(|(name, value)| format!("{name}={value}")).join(" ");
    (!all.is_empty()).then_some(all)
}

/// Requests to services that charge for them, if there were any.
pub(super) fn requests(part: &Part<'_>) -> Markup {
    let table = |run: Run<'_>| {
        let mut table = tables::requests(run.record, &checks::requests(run.record))?;
        table.title = run.on(run.varied());
        Some(table)
    };
    let tables = part.runs().filter_map(table).map(|table| table::markup(&table));
    section("Requests to object stores", tables)
}

/// The largest number of trials in a page: browsers are slow with more.
const MOST_TRIALS: usize = 5_000;

type RunSample<'a> = (Run<'a>, &'a Sample);

/// Shows every trial, or how to get them if there are too many for a page.
pub(super) fn trials(part: &Part<'_>) -> Markup {
    let trials: Vec<RunSample<'_>> = part
        .runs()
        .flat_map(|run| run.record.samples.iter().map(move |sample| (run, sample)))
        .collect();
    let count = show_count(trials.len() as u64);
    html! {
        section {
            h2 { "Trials" }
            @if trials.len() > MOST_TRIALS {
                p {
                    "The " (count) " trials are too many for a page; "
                    code { "storemark report RECORD --csv" }
                    " writes a line for each."
                }
            } @else {
                details {
                    summary { "All " (count) " trials, in the order in which they ran" }
                    (table::markup(&trial_table(&trials)))
                }
            }
        }
    }
}

fn trial_table(trials: &[RunSample<'_>]) -> Table {
    let latency = |of: fn(&Latency) -> u64| {
        move |(_, sample): &RunSample<'_>| Some(of(sample.latency()?) as f64 / 1e3)
    };
    let each = |sample: &Sample, ns: u64| ns as f64 / 1e3 / sample.operations as f64;
    let yes = |is: bool| if is { "yes" } else { "no" };
    Table::for_rows("Trials", trials)
        .with(Column::text("target"), |(run, sample)| run.label(sample.target))
        .with(Column::text("in"), |(run, sample)| {
            let case = Case { workload: sample.workload, cache: sample.cache };
            run.on(run.case_and_values(case))
        })
        .with(Column::number("round", ""), |(_, sample)| u64::from(sample.round) + 1)
        .with(Column::number("operations", ""), |(_, sample)| sample.operations)
        .with(Column::number("time", "µs/op"), |(_, sample)| sample.ns_per_operation() / 1e3)
        .with(Column::number("p50", "µs"), latency(|latency| latency.p50_ns))
        .with(Column::number("p99", "µs"), latency(|latency| latency.p99_ns))
        .with(Column::number("max", "µs"), latency(|latency| latency.max_ns))
        .with(Column::number("user", "µs"), |(_, sample)| each(sample, sample.cost.user_ns))
        .with(Column::number("kernel", "µs"), |(_, sample)| each(sample, sample.cost.system_ns))
        .with(Column::number("opened in", "ms"), |(_, sample)| sample.open_ns as f64 / 1e6)
        .with(Column::text("in its state"), |(run, sample)| yes(run.record.in_state(sample)))
        .into_table()
}
