//! The page of rows: measured figures, published ones beside them.

use checks::{RowFigures, Verdict, row_groups};
use model::{
    Batch, Durability, Experiment, FileBytes, Measured, RowsData, RowsMeasured, RowsWork, Sample,
    Work, Workload, record::Record, rows::RowOperation,
};

use crate::fixture::{self, cells, record, store};

const ROWS: u64 = 200_000;

/// SQLite and a server in two styles, by one process and by two on one database: 0.4 s of SQLite
/// for text and 0.1 s for bulk, ten times and twice as long of the server.
fn rows() -> Record {
    let labels =
        ["sqlite text", "sqlite bulk", "mariadb engine=innodb text", "mariadb engine=innodb bulk"];
    let mut record = record(&labels);
    let plan = &mut record.header.plan;
    plan.experiment = Experiment::Rows(RowsData { rows: ROWS });
    plan.workloads = vec![];
    for (processes, own_databases) in [(1, true), (2, false)] {
        plan.workloads.extend(RowOperation::ALL.map(|operation| {
            let (work, count) =
                (Work::Rows(RowsWork { operation, own_databases }), ROWS * u64::from(processes));
            Workload { batch: Batch::Of(100_000), processes, ..Workload::alone(work, count) }
        }));
    }
    let sqlite = [("store", "file"), ("journal", "delete"), ("sync", "full"), ("null", "yes")];
    let innodb = [("engine", "innodb"), ("null", "yes"), ("via", "tcp")];
    for (target, label) in labels.iter().enumerate() {
        let style = label.rsplit(' ').next().unwrap();
        let mut settings = if target < 2 { sqlite.to_vec() } else { innodb.to_vec() };
        settings.push(("style", style));
        record.stores.push(store(target, Durability::Consistent, &settings));
        let planned = &mut record.header.plan.targets[target].settings;
        planned.set("style", style);
        if target >= 2 {
            planned.set("engine", "innodb");
        }
    }
    for round in 0..6 {
        for (target, seconds) in [0.4, 0.1, 4.0, 0.2].into_iter().enumerate() {
            for workload in 0..6 {
                record.samples.push(trial(round, target, workload, seconds));
            }
        }
    }
    record
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds")]
fn trial(round: u32, target: usize, workload: usize, seconds: f64) -> Sample {
    let processes = if workload < 3 { 1 } else { 2 };
    let slower = 1.0 + 0.01 * f64::from(round);
    let files = Some(FileBytes { apparent: 2_960_000, allocated: 3_000_000 });
    let mut sample = Sample {
        round,
        target,
        workload,
        operations: ROWS * processes,
        wall_ns: (seconds * slower * 1e9) as u64,
        measured: Measured::Rows(RowsMeasured { files }),
        ..Sample::default()
    };
    if processes > 1 {
        sample.counters.insert(model::LOCK_WAITS.to_owned(), 3);
    }
    sample
}

fn page(record: &Record) -> String {
    fixture::whole_page(record, 150)
}

#[test]
fn published_figures_stand_beside_measured_ones() {
    let page = page(&rows());
    assert!(page.contains("200,000 rows of two integers by each process, 100,000 a transaction"));
    assert!(page.contains("September 13, 2012 (MySQL 5.6.5, SQLite 3.7.7, PHP 5.4.5"), "{page}");
    let text = "sqlite text 0.410 3.17 0.410 0.160 0.410 0.960 2.96 3.02";
    assert_eq!(cells(&page, "sqlite text", 0), text);
    // Nothing was published of another style.
    assert_eq!(cells(&page, "sqlite bulk", 0), "sqlite bulk 0.102 – 0.102 – 0.102 – 2.96 –");
    assert_eq!(
        cells(&page, "mariadb engine=innodb text", 0),
        "mariadb engine=innodb text 4.10 27.7 4.10 0.310 4.10 5.65 2.96 7.89"
    );
}

#[test]
fn ratios_have_their_interval_and_the_published_one_beside() {
    let page = page(&rows());
    // 27.72 / 3.17, 0.31 / 0.16, 5.65 / 0.96.
    assert_eq!(
        cells(&page, "mariadb engine=innodb text", 1),
        "mariadb engine=innodb text 10.00 (10.00–10.00) 8.74 10.00 (10.00–10.00) 1.94 \
         10.00 (10.00–10.00) 5.89"
    );
    assert_eq!(cells(&page, "sqlite text", 1), "sqlite text 1 – 1 – 1 –");
}

#[test]
fn each_style_is_compared_with_the_same_style() {
    let page = page(&rows());
    let (_, styles) = page.split_once("inserting ÷ that of sqlite in the same style").unwrap();
    assert_eq!(
        cells(styles, "mariadb engine=innodb", 0),
        "mariadb engine=innodb 8.74 10.00 (10.00–10.00) – – 2.000 (2.000–2.000)"
    );
}

fn has_published(row: &RowFigures) -> bool {
    row.cells.iter().any(|cell| cell.published_seconds.is_some())
}

#[test]
fn what_was_not_published_is_not_compared() {
    let mut record = rows();
    let groups = row_groups(&record);
    assert_eq!(groups.len(), 2);
    assert!(has_published(&groups[0].targets[0]));
    assert!(!groups[1].targets.iter().any(has_published), "on one database");
    assert_eq!(groups[0].targets[2].cells[0].verdict, Verdict::Slower);
    record.stores[0].in_effect.set("sync", "off");
    assert!(!has_published(&row_groups(&record)[0].targets[0]), "another setting");
    let mut record = rows();
    record.header.plan.experiment = Experiment::Rows(RowsData { rows: 1000 });
    assert!(!has_published(&row_groups(&record)[0].targets[0]), "another number of rows");
    assert!(!page(&record).contains("2012"));
}

#[test]
fn a_tenth_of_the_rows_has_published_ratios_and_no_published_times() {
    let mut record = rows();
    record.header.plan.experiment = Experiment::Rows(RowsData { rows: 20_000 });
    let groups = row_groups(&record);
    assert!(!has_published(&groups[0].targets[0]));
    let ratio = groups[0].targets.iter().find_map(|row| row.cells[0].published_ratio);
    assert_eq!(
        ratio,
        row_groups(&rows())[0].targets.iter().find_map(|r| r.cells[0].published_ratio)
    );
    assert!(ratio.is_some() && groups[0].targets.iter().all(|row| row.published_mib.is_none()));
    assert!(page(&record).contains("2012"));
}

#[test]
fn waiting_is_told_where_there_was_some() {
    let page = page(&rows());
    let (one, two) = page.split_once("2 processes on one database").unwrap();
    assert!(!one.contains("lock waits"), "{page}");
    // Three of each operation, over six rounds.
    assert!(two.contains("sqlite text, in all rounds: lock waits 54"), "{page}");
    let mut rare = rows();
    rare.samples.iter_mut().for_each(|sample| sample.counters.clear());
    let last = rare.samples.last_mut().unwrap();
    last.counters.insert(model::BUSY_RETRIES.to_owned(), 1);
    assert!(
        self::page(&rare).contains(", in all rounds: busy retries 1\n"),
        "{}",
        self::page(&rare)
    );
}

#[test]
fn a_target_that_was_not_measured_has_no_row() {
    let mut record = rows();
    record.samples.retain(|sample| sample.target != 2);
    record.stores.retain(|facts| facts.target != 2);
    let page = page(&record);
    assert_eq!(cells(&page, "mariadb engine=innodb text", 0), "");
    record.samples.clear();
    record.stores.clear();
    assert!(self::page(&record).contains("200,000 rows"));
}
