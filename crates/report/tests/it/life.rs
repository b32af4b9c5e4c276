//! The page of the life of stores.

use checks::{figures, life_figures, life_spaces};
use model::{
    BackupBytes, Batch, Cache, DatasetSpec, Experiment, FileBytes, LifeData, LifeMeasured,
    Measured, Residency, Sample, Work, Workload, life::LifeStep, record::Record,
};
use storemark_report::{
    Style,
    pages::{self, Detail},
};

use crate::fixture::{generated, page, record, sample, style, summary};

/// Megabytes after each step: of files, and of a database that is only smaller once it is reclaimed.
const SIZES: [[u64; 8]; 2] = [[10, 10, 10, 10, 10, 5, 0, 0], [11, 11, 11, 12, 22, 22, 11, 11]];

fn lived() -> Record {
    let mut record = record(&["files", "sqlite"]);
    let plan = &mut record.header.plan;
    let dataset = DatasetSpec::Generated(generated());
    plan.experiment = Experiment::Life(LifeData { dataset, summary: summary(), days: 30 });
    let workload =
        |step| Workload { batch: Batch::Of(1), ..Workload::alone(Work::Life(step), 1000) };
    plan.workloads = LifeStep::ALL.map(workload).into();
    plan.caches = vec![Cache::DataCold, Cache::Warm];
    for round in 0..6 {
        for (target, sizes) in SIZES.iter().enumerate() {
            for (step, mb) in LifeStep::ALL.iter().zip(sizes) {
                // Files are gone with their values.
                if target == 1 || *step != LifeStep::Reclaim {
                    record.samples.push(trial(round, target, *step, *mb));
                }
            }
        }
    }
    record
}

fn trial(round: u32, target: usize, step: LifeStep, mb: u64) -> Sample {
    let files = Some(FileBytes { apparent: mb * 1_000_000, allocated: mb * 1_000_000 });
    let bytes = BackupBytes { files: mb * 100_000, blocks: 80_000 };
    let backup = (step == LifeStep::Day).then_some(bytes);
    let ns = 1000 * (target as u64 + 1) + u64::from(round);
    let cold = step == LifeStep::Open;
    Sample {
        workload: step as usize,
        cache: if cold { Cache::DataCold } else { Cache::Warm },
        before: cold.then(|| Residency { pages: 100, ..Residency::default() }),
        measured: Measured::Life(LifeMeasured { files, backup }),
        ..sample(round, target, ns)
    }
}

#[test]
fn each_step_is_shown_in_the_state_that_it_started_in() {
    let record = lived();
    let rows = life_figures(&record, &figures(&record));
    assert_eq!(rows.len(), 2 * 8 - 1);
    for row in &rows {
        let cold = row.step == LifeStep::Open;
        assert_eq!(row.figures.case.cache, if cold { Cache::DataCold } else { Cache::Warm });
    }
    assert!(rows.windows(2).all(|two| two[0].step <= two[1].step));
}

#[test]
fn space_is_that_of_the_closed_store_and_shares_are_of_the_grown_one() {
    let [files, sqlite] = life_spaces(&lived()).try_into().unwrap();
    assert_eq!((files.filled, files.growth), (10e6, Some(1.0)));
    assert_eq!((files.half_back, files.reclaimed, files.emptied), (Some(0.5), None, Some(0.0)));
    assert_eq!(
        (sqlite.growth, sqlite.half_back, sqlite.reclaimed),
        (Some(2.0), Some(0.0), Some(0.5))
    );
    assert_eq!((sqlite.backup_files, sqlite.backup_blocks), (Some(1.2e6), Some(80_000.0)));
}

#[test]
fn days_that_were_not_reached_grew_nothing() {
    let mut record = lived();
    record.samples.retain(|sample| sample.workload <= LifeStep::Day as usize);
    let [files, _] = life_spaces(&record).try_into().unwrap();
    assert_eq!((files.filled, files.growth, files.half_back), (10e6, None, None));
    // A run of one day has no others.
    record.header.plan.workloads.retain(|workload| workload.work != LifeStep::Month.into());
    let [files, _] = life_spaces(&record).try_into().unwrap();
    assert_eq!(files.growth, Some(1.0));
}

#[test]
fn the_page_fits_and_tells_all() {
    for width in [60, 80, 120] {
        for explain in [false, true] {
            let style = Style { bars: explain, ..style(width) };
            let detail = Detail { all: true, explain, ..Detail::default() };
            let page = pages::records(&[lived()], detail).terminal(&style);
            assert!(page.lines().all(|line| line.chars().count() <= width.into()), "{page}");
            for shown in ["delete half", "data-cold", "slower", "30 days", "2.00", "–"] {
                assert!(page.contains(shown), "{shown}\n{page}");
            }
        }
    }
}

#[test]
fn a_record_without_trials_is_shown() {
    let mut record = lived();
    record.samples.clear();
    let detail = Detail { all: true, explain: true, ..Detail::default() };
    assert!(page(&record, 80, detail).contains("cut off"));
}
