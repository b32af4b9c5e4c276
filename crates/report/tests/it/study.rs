//! Published figures held against a record whose figures are known.

use std::collections::BTreeMap;

use checks::{Against, Here, StudyFigure, studies, study_figures};
use itertools::Itertools;
use model::{
    Cache, Durability, Operation, Residency, RowsWork, Work, Workload, backup, record::Record, rows,
};
use spec::{
    Options,
    study::{Claim, Figure, Over, StudyCommand},
};
use stats::Estimate;
use storemark_report::{
    StudyStep,
    pages::{self, Detail},
    study_claims,
};

use crate::{
    fixture::{OPERATIONS, record, sample, store, style, typical, workload},
    sweep::swept,
};

fn page(step: &StudyStep<'_>) -> String {
    pages::study_step(step, Detail::default()).terminal(&style(120))
}

pub(crate) fn claim(target: &str, figure: Figure, low: f64, high: Option<f64>) -> Claim {
    Claim {
        says: None,
        target: target.to_owned(),
        figure,
        over: None,
        work: None,
        processes: None,
        cache: None,
        at: BTreeMap::new(),
        low,
        high,
        rounded: None,
    }
}

pub(crate) fn step(claims: Vec<Claim>) -> StudyCommand {
    StudyCommand {
        title: "Reading".to_owned(),
        command: "run".to_owned(),
        options: Options::new(),
        quick: Options::new(),
        full: Options::new(),
        claims,
    }
}

/// Returns a step with what it measured.
fn measured(step: &StudyCommand, records: Vec<Record>) -> StudyStep<'_> {
    StudyStep { step, records, crashed: Vec::new(), gaps: Vec::new() }
}

fn row<'a>(rows: &'a [StudyFigure], target: &str, figure: Figure) -> &'a StudyFigure {
    rows.iter().find(|row| row.target == target && row.figure == figure).unwrap()
}

#[test]
fn every_ratio_is_shown_and_compared_with_what_was_published() {
    // The database takes 0.78 of the files' time of 4 µs.
    for (figure, low, high, expected) in [
        (Figure::TimeRatio, 0.2, Some(0.9), Against::Agrees),
        (Figure::TimeRatio, 0.2, Some(0.6), Against::Higher),
        (Figure::TimeRatio, 1.0, None, Against::Lower),
        (Figure::TimeRatio, 10.0, Some(f64::INFINITY), Against::Lower),
        (Figure::TimeRatio, 0.74, None, Against::Agrees),
        (Figure::Microseconds, 3.0, Some(3.3), Against::Agrees),
        (Figure::Microseconds, 1.0, None, Against::Higher),
    ] {
        let step = step(vec![claim("sqlite api=blob", figure, low, high)]);
        let rows = study_figures(&step, &[typical()]);
        let against = row(&rows, "sqlite api=blob", figure).against();
        assert_eq!(against, Some(expected), "{figure:?} {low} {high:?}");
        // What nobody published is there without a verdict.
        let pack = row(&rows, "pack", Figure::TimeRatio);
        assert_eq!((pack.published, pack.against()), (None, None));
        assert!(pack.here.is_some());
    }
}

/// Trials of 1 µs an operation more in each further cache state would hide an error: each figure here
/// has a value of its own.
#[test]
fn other_figures_than_ratios_are_compared_too() {
    let mut record = with_updates(typical());
    for sample in &mut record.samples {
        sample.cost.user_ns = if sample.target == 1 { 3_000_000 } else { 4_000_000 };
        sample.cost.system_ns = 0;
        sample.after = Some(Residency { pages: 400, resident: 4, ..Residency::default() });
    }
    let over = |target: Option<&str>, work: Option<&str>| {
        Some(Over { target: target.map(str::to_owned), work: work.map(str::to_owned) })
    };
    let of = |figure, work: &str, over| {
        let of = Claim {
            work: Some(work.to_owned()),
            over,
            ..claim("sqlite api=blob", figure, 1.0, None)
        };
        let rows = study_figures(&step(vec![of]), &[record.clone()]);
        let row = rows.into_iter().find(|row| row.published.is_some()).unwrap();
        match row.here.unwrap() {
            Here::Estimate(estimate) => ((estimate.point * 1e3).round(), row.place),
            Here::Exact(value) => ((value * 1e3).round(), row.place),
            Here::Even(even) => panic!("{even:?}"),
        }
    };
    let place = |text: &str| text.to_owned();
    let read = place("read, warm");
    assert_eq!(of(Figure::ProcessorRatio, "read", None), (750.0, read.clone()));
    assert_eq!(of(Figure::ResidentAfter, "read", None), (1_000.0, read));
    let updates = of(Figure::TimeRatio, "update", over(None, Some("read")));
    assert_eq!(updates, (1_500.0, place("update, warm, ÷ read")));
    let (ratio, place) = of(Figure::TimeRatio, "read", over(Some("pack"), None));
    assert_eq!(place, "read, warm, ÷ pack");
    let of_pack =
        row(&study_figures(&step(vec![]), &[typical()]), "pack", Figure::TimeRatio).here.clone();
    let Some(Here::Estimate(of_pack)) = of_pack else { panic!("{of_pack:?}") };
    assert!((ratio / 1e3 - 0.78 / of_pack.point).abs() < 2e-3, "{ratio}");
}

#[test]
fn an_interval_that_contains_anything_confirms_nothing() {
    let claimed = claim("sqlite", Figure::TimeRatio, 0.9, Some(1.1));
    let against = |low, high, n| {
        let step = step(vec![claimed.clone()]);
        let mut row = study_figures(&step, &[]).remove(0);
        row.here = Some(Here::Estimate(Estimate { point: 1.0, low, high, n }));
        row.against()
    };
    assert_eq!(against(0.95, 1.05, 9), Some(Against::Agrees));
    assert_eq!(against(0.75, 1.35, 9), Some(Against::Agrees));
    // Beside what was published, and near to it.
    assert_eq!(against(1.11, 1.14, 9), Some(Against::Agrees));
    assert_eq!(against(1.36, 1.4, 9), Some(Against::Higher));
    assert_eq!(against(0.7, 1.05, 9), Some(Against::TooWide));
    assert_eq!(against(0.95, 1.4, 9), Some(Against::TooWide));
    assert_eq!(against(0.0, f64::INFINITY, 1), Some(Against::TooWide));
    assert_eq!(against(1.2, 40.0, 3), Some(Against::Higher));
}

#[test]
fn what_was_published_and_not_measured_is_named() {
    let elsewhere = Claim {
        cache: Some(Cache::Cold),
        at: [("size".to_owned(), "1M".to_owned())].into(),
        ..claim("sqlite", Figure::TimeRatio, 0.5, None)
    };
    let step = step(vec![elsewhere]);
    let rows = study_figures(&step, &[typical()]);
    let missing = rows.last().unwrap();
    assert_eq!((missing.place.as_str(), missing.here.is_some()), ("size 1M, cold", false));
    let gaps = vec!["mariadb is not measured: not installed".to_owned()];
    let page = page(&StudyStep { gaps, ..measured(&step, vec![typical()]) });
    assert!(page.contains("not measured") && page.contains("! mariadb is not measured"), "{page}");
}

/// A record of all that a step claims something about, without the targets in `missing`. Target `i` takes
/// `i + 1` µs, so that each ratio shows what it is of.
fn record_of(step: &StudyCommand, missing: &str) -> Option<Record> {
    let overs = |claim: &Claim| claim.over.clone().and_then(|over| over.target);
    let claimed = step.claims.iter().flat_map(|claim| [Some(claim.target.clone()), overs(claim)]);
    let all = step.reference().into_iter().chain(claimed.flatten()).unique();
    let labels: Vec<_> = all.filter(|label| label != missing).collect();
    let labels: Vec<_> = labels.iter().map(String::as_str).collect();
    let mut record = record(labels.first().map(|_| labels.as_slice())?);
    let work = |name: &str, processes| {
        let work = [Operation::Read, Operation::Update].into_iter().map(|of| workload(of).work);
        let backup = backup::BackupStep::ALL.into_iter().map(Work::Backup);
        let rows = rows::RowOperation::ALL
            .into_iter()
            .map(|operation| Work::Rows(RowsWork { operation, own_databases: true }));
        let found = work.chain(backup).chain(rows).find(|work| work.to_string() == name);
        Workload { processes, ..Workload::alone(found?, OPERATIONS) }.into()
    };
    let named = step.claims.iter().flat_map(|claim| {
        let over = claim.over.clone().and_then(|over| over.work);
        [claim.work.clone(), over].map(|name| name.map(|name| (name, claim.processes)))
    });
    let named = named.flatten().unique();
    let works: Vec<Workload> =
        named.filter_map(|(name, processes)| work(&name, processes.unwrap_or(1))).collect();
    let plan = &mut record.header.plan;
    if !works.is_empty() {
        plan.workloads = works;
    }
    plan.caches = vec![Cache::Warm, Cache::DataCold, Cache::Cold];
    let cases: Vec<_> = plan.cases().collect();
    let place = |label: &str| 1 + all_labels(step).iter().position(|own| own == label).unwrap();
    for (case, round) in cases.into_iter().flat_map(|case| (0..6).map(move |round| (case, round))) {
        for (target, label) in labels.iter().enumerate() {
            let us = (place(label) * (case.workload + 1)) as u64;
            let mut trial = sample(round, target, 1_000 * us);
            (trial.workload, trial.cache) = (case.workload, case.cache);
            trial.before = Some(Residency { pages: 100, ..Residency::default() });
            trial.before.as_mut().unwrap().resident = 100 * u64::from(case.cache == Cache::Warm);
            trial.cost.user_ns = OPERATIONS * 1_000 * us;
            trial.cost.system_ns = 0;
            record.samples.push(trial);
        }
    }
    record.stores = (0..labels.len()).map(|at| store(at, Durability::None, &[])).collect();
    Some(record)
}

fn all_labels(step: &StudyCommand) -> Vec<String> {
    let overs = |claim: &Claim| claim.over.clone().and_then(|over| over.target);
    let claimed = step.claims.iter().flat_map(|claim| [Some(claim.target.clone()), overs(claim)]);
    step.reference().into_iter().chain(claimed.flatten()).unique().collect()
}

/// Whichever target of a step is missing, as an engine or a library that is not installed is: what was
/// published of it, or over it, is not measured, and no ratio is of a target to itself.
#[test]
fn what_a_step_could_not_measure_is_neither_confirmed_nor_refuted() {
    let (mut lost, mut kept) = (0, 0);
    let steps = studies::all_studies()
        .iter()
        .flat_map(|(name, of)| of.steps.iter().map(move |s| (name, s)));
    for (name, step) in steps.filter(|(_, step)| !step.cuts_power()) {
        let all = all_labels(step);
        for missing in all.iter().map(String::as_str).chain([""]) {
            let Some(record) = record_of(step, missing) else { continue };
            let plan = &record.header.plan;
            let has = |label: &str| plan.targets.iter().any(|target| target.label == label);
            for row in study_claims(&measured(step, vec![record.clone()])) {
                let about = format!("{name}: {}: without {missing:?}: {row:?}", step.title);
                let ratio = matches!(row.figure, Figure::TimeRatio | Figure::ProcessorRatio);
                let claims = step.claims.iter().filter(|claim| {
                    claim.target == row.target
                        && claim.figure == row.figure
                        && claim.range() == row.published.unwrap()
                });
                let over = |claim: &Claim| match claim.over.clone().unwrap_or_default() {
                    Over { target: Some(target), .. } => target,
                    Over { work: Some(_), .. } => claim.target.clone(),
                    _ => step.reference().unwrap(),
                };
                let divided = ratio || row.figure == Figure::SpaceRatio;
                let is_measurable = claims
                    .clone()
                    .any(|claim| has(&claim.target) && (!divided || has(&over(claim))));
                assert!(is_measurable || row.here.is_none(), "{about}");
                assert!(row.here.is_some() || row.against().is_none(), "{about}");
                let Some(Here::Estimate(here)) = row.here.filter(|_| ratio) else {
                    lost += 1;
                    continue;
                };
                // Of other work the ratio is that of the work, which is no 1 either.
                assert!((here.point - 1.0).abs() > 1e-6, "{about}");
                let place =
                    |label: &str| (1 + all.iter().position(|own| own == label).unwrap()) as f64;
                let expected = claims.clone().any(|claim| {
                    let works = claim.over.clone().is_some_and(|over| over.work.is_some());
                    works
                        || (here.point * place(&over(claim)) / place(&claim.target) - 1.0).abs()
                            < 1e-6
                });
                assert!(expected, "{about}");
                kept += 1;
            }
        }
    }
    assert!(lost > 100 && kept > 300, "{lost} {kept}");
}

#[test]
fn the_rounding_of_a_published_figure_is_part_of_it() {
    let against = |rounded| {
        let claimed = Claim { rounded, ..claim("sqlite", Figure::SpaceRatio, 1.7, None) };
        let step = step(vec![claimed]);
        let mut row = study_figures(&step, &[]).remove(0);
        row.here = Some(Here::Exact(1.67));
        row.against()
    };
    assert_eq!(against(None), Some(Against::Lower));
    assert_eq!(against(Some((1.65, 1.75))), Some(Against::Agrees));
    for (name, study) in studies::all_studies() {
        for claim in study.steps.iter().flat_map(|step| &step.claims) {
            let (low, high) = claim.range();
            let Some((least, most)) = claim.rounded else { continue };
            assert!(least < low && high < most, "{name}: {claim:?}");
        }
    }
}

#[test]
fn a_step_that_could_not_run_shows_what_was_published() {
    let step = step(vec![claim("sqlite", Figure::SpaceRatio, 0.834, None)]);
    let gaps = vec!["not measured: no root".to_owned()];
    let page = page(&StudyStep { gaps, ..measured(&step, Vec::new()) });
    assert!(page.contains("0.834") && page.contains("no root"), "{page}");
}

/// Updates beside the reads, in which the database is slower by half.
fn with_updates(mut run: Record) -> Record {
    run.header.plan.workloads.push(workload(Operation::Update));
    let updates = run.samples.iter().cloned().map(|mut sample| {
        sample.workload = 1;
        if sample.target > 0 {
            sample.wall_ns += sample.wall_ns / 2;
        }
        sample
    });
    let updates: Vec<_> = updates.collect();
    run.samples.extend(updates);
    run
}

#[test]
fn a_break_even_is_held_against_the_workload_and_state_that_it_is_claimed_of() {
    let runs: Vec<_> = swept().into_iter().map(with_updates).collect();
    let claimed = |work: Option<Operation>, cache| Claim {
        work: work.map(|work| work.to_string()),
        cache,
        // Where reads are even.
        ..claim("sqlite page_size=512", Figure::BreakEven, 3_900.0, Some(4_100.0))
    };
    let told = |claim: Claim| {
        let step = step(vec![claim]);
        let rows =
            study_figures(&step, &runs).into_iter().filter(|row| row.figure == Figure::BreakEven);
        rows.map(|row| (row.against(), row.place)).collect::<Vec<_>>()
    };
    let read = || (Some(Against::Agrees), "read, warm".to_owned());
    let update = || (Some(Against::Lower), "update, warm".to_owned());
    assert_eq!(told(claimed(Some(Operation::Read), None)), [read()]);
    assert_eq!(told(claimed(Some(Operation::Update), Some(Cache::Warm))), [update()]);
    assert_eq!(told(claimed(None, None)), [read(), update()]);
    assert_eq!(told(claimed(None, Some(Cache::Cold))), [(None, "cold".to_owned())]);
}

#[test]
fn a_baseline_that_never_overtakes_does_so_above_all_sizes_or_not_at_all() {
    // The database is ahead at 1,000 and at 16,000 bytes.
    let against = |low, high| {
        let step = step(vec![claim("sqlite page_size=4096", Figure::BreakEven, low, Some(high))]);
        row(&study_figures(&step, &swept()), "sqlite page_size=4096", Figure::BreakEven).against()
    };
    assert_eq!(against(3_900.0, 4_100.0), Some(Against::Higher));
    assert_eq!(against(8_000.0, 32_000.0), Some(Against::TooWide));
}

#[test]
fn a_study_ends_with_a_verdict_on_each_published_figure() {
    let claims = [
        claim("sqlite api=blob", Figure::TimeRatio, 0.7, Some(0.8)),
        claim("sqlite api=blob", Figure::Microseconds, 1.0, None),
    ];
    let step = step(claims.into());
    let claims = vec![(1, study_claims(&measured(&step, vec![typical()]))), (2, vec![])];
    let page = pages::study_end(&claims).terminal(&style(120));
    assert!(
        page.starts_with("Of 2 published figures here: 1 confirmed, 1 differs: higher\n"),
        "{page}"
    );
    assert!(page.contains("step 1: read, warm"), "{page}");
    assert!(!page.contains("pack"), "nothing was published of it: {page}");
    assert_eq!(pages::study_end(&[]).terminal(&style(120)), "");
}
