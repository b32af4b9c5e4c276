//! Published figures held against a record whose figures are known.

use std::collections::BTreeMap;

use model::{
    Cache, Operation, Residency,
    record::Record,
    spec::Options,
    study::{Claim, Figure, Over, Step},
};
use stats::Estimate;
use storemark_report::{
    Against, Here, StudyFigure, StudyStep,
    pages::{self, Detail},
    study_claims, study_figures,
};

use crate::{
    fixture::{style, typical, workload},
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
    }
}

pub(crate) fn step(claims: Vec<Claim>) -> Step {
    Step {
        title: "Reading".to_owned(),
        command: "run".to_owned(),
        options: Options::new(),
        quick: Options::new(),
        full: Options::new(),
        claims,
    }
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
    let page = page(&StudyStep { step: &step, records: vec![typical()], gaps });
    assert!(page.contains("not measured") && page.contains("! mariadb is not measured"), "{page}");
}

#[test]
fn a_step_that_could_not_run_shows_what_was_published() {
    let step = step(vec![claim("sqlite", Figure::SpaceRatio, 0.834, None)]);
    let gaps = vec!["not measured: no root".to_owned()];
    let page = page(&StudyStep { step: &step, records: Vec::new(), gaps });
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
    let claims = vec![(1, study_claims(&step, &[typical()])), (2, vec![])];
    let page = pages::study_end(&claims).terminal(&style(120));
    assert!(
        page.starts_with("Of 2 published figures here: 1 confirmed, 1 differs: higher\n"),
        "{page}"
    );
    assert!(page.contains("step 1: read, warm"), "{page}");
    assert!(!page.contains("pack"), "nothing was published of it: {page}");
    assert_eq!(pages::study_end(&[]).terminal(&style(120)), "");
}
