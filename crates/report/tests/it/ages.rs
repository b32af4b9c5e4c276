//! The page of stores that aged.

use checks::{Verdict, age_groups, age_spaces, figures};
use model::{
    AgeData, AgeMeasured, AgeWork, Arrangement, Cache, Experiment, FileBytes, Fragments, Measured,
    Operation, Residency, Sample, Work, Workload, record::Record,
};
use storemark_report::{
    Style,
    pages::{self, Detail},
};

use crate::fixture::{generated, page, record, sample, style, summary, workload};

/// Files, and a database that is twice as fast when new and as fast at age 2, where its objects lie
/// in four pieces.
fn aged() -> Record {
    let mut record = record(&["files", "sqlite"]);
    let plan = &mut record.header.plan;
    plan.experiment = Experiment::Age(AgeData { data: generated(), summary: summary() });
    let of = |operation, age| Workload {
        work: Work::Age(AgeWork { operation, age }),
        ..workload(operation)
    };
    plan.workloads = vec![
        of(Operation::Insert, 0),
        of(Operation::Read, 0),
        of(Operation::Update, 2),
        of(Operation::Read, 2),
    ];
    plan.caches = vec![Cache::DataCold, Cache::Warm];
    for round in 0..6 {
        for (target, times) in
            [[8000, 4000, 9000, 4000], [4000, 2000, 6000, 4000]].iter().enumerate()
        {
            for (workload, us) in times.iter().enumerate() {
                record.samples.push(trial(round, target, workload, us + u64::from(round)));
            }
        }
    }
    record
}

fn trial(round: u32, target: usize, workload: usize, ns: u64) -> Sample {
    let mut plain = Sample { workload, ..sample(round, target, ns) };
    let passes = plain.passes_mut().unwrap().clone();
    if workload % 2 == 1 {
        let before = Some(Residency { pages: 100, ..Residency::default() });
        let measured = Measured::Age(AgeMeasured { passes, files: None, fragments: None });
        return Sample { cache: Cache::DataCold, before, measured, ..plain };
    }
    let runs = if workload == 0 { 1000 } else { 4000 };
    let pages = Arrangement::Pages { pages: 100, free: 25, runs: Some(runs) };
    let fragments = Fragments {
        objects: 1000,
        bytes: 10_000_000,
        files: if target == 0 { 1000 } else { 1 },
        extents: (target == 1).then_some(3),
        arrangement: Some(if target == 0 { Arrangement::FileEach } else { pages }),
    };
    let files = FileBytes { apparent: 12_500_000, allocated: 12_000_000 };
    plain.measured =
        Measured::Age(AgeMeasured { passes, files: Some(files), fragments: Some(fragments) });
    plain
}

#[test]
fn reads_and_writes_stand_by_age_and_are_compared_with_the_least() {
    let record = aged();
    let groups = age_groups(&record, &figures(&record));
    assert_eq!(groups.iter().map(|group| group.writes).collect::<Vec<_>>(), [false, true]);
    let told: Vec<_> = groups[0].rows.iter().map(|row| (row.age, row.figures.target)).collect();
    assert_eq!(told, [(0, 0), (0, 1), (2, 0), (2, 1)]);
    let over: Vec<_> = groups[0].rows.iter().map(|row| row.over_least.map(|e| e.point)).collect();
    assert_eq!(over[..2], [None, None]);
    assert!((over[2].unwrap() - 1.0).abs() < 0.01 && (over[3].unwrap() - 2.0).abs() < 0.01);
    let judged: Vec<_> = groups[0].rows.iter().map(|row| row.figures.verdict).collect();
    assert_eq!(judged[..2], [Verdict::Baseline, Verdict::Faster]);
    // Filling and replacing are other work.
    assert!(groups[1].rows.iter().all(|row| row.over_least.is_none()));
}

#[test]
fn pieces_that_nobody_tells_of_are_no_zero() {
    let spaces = age_spaces(&aged());
    assert_eq!(spaces.len(), 4);
    assert_eq!((spaces[0].extents, spaces[0].per_object, spaces[0].free), (None, None, None));
    assert_eq!((spaces[3].extents, spaces[3].per_object), (Some(3.0), Some(4.0)));
    assert_eq!((spaces[3].length_per_byte, spaces[3].free), (Some(1.25), Some(0.25)));
}

#[test]
fn the_page_fits_and_tells_all() {
    for width in [60, 80, 120] {
        for explain in [false, true] {
            let style = Style { bars: explain, ..style(width) };
            let detail = Detail { all: true, explain, ..Detail::default() };
            let page = pages::records(&[aged()], detail).terminal(&style);
            assert!(page.lines().all(|line| line.chars().count() <= width.into()), "{page}");
            let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
            for shown in ["bytes of replaced", "data-cold", "faster", "4.00", "–"] {
                assert!(words.contains(shown), "{shown}\n{page}");
            }
        }
    }
}

#[test]
fn a_record_without_trials_is_shown() {
    let mut record = aged();
    record.samples.clear();
    let detail = Detail { all: true, explain: true, ..Detail::default() };
    assert!(page(&record, 80, detail).contains("cut off"));
}
