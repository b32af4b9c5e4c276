//! The answer: who is ahead, by how much, and what it leaves open.

use model::{
    DatasetSpec, Finding, FindingKind, Operation, Owner, StudyPart,
    record::{End, Ended, Record},
    spec::{self, RunSpec},
};
use storemark_report::{Answer, all_findings, answer, figures, pages::Detail};

use crate::fixture::{
    self, dataset, doubtful, page, passes, record, sample, settings, typical, workload,
};

fn of(record: &Record) -> Answer {
    let runs = std::slice::from_ref(record);
    let figures = [figures(record)];
    answer(runs, &figures, &all_findings(runs, &figures))
}

fn says(record: &Record) -> String {
    of(record).says.join(" ")
}

fn more(record: &Record) -> String {
    of(record).more.join("\n")
}

#[test]
fn the_fastest_store_is_named_with_its_ratio_and_interval() {
    assert_eq!(
        says(&typical()),
        "On this machine SQLite (blob API) reads these blobs 1.28× faster than plain files (1.28 to \
         1.28×)."
    );
    let mut both = typical();
    both.header.plan.workloads.push(workload(Operation::Update));
    let updates =
        both.samples.clone().into_iter().map(|sample| model::Sample { workload: 1, ..sample });
    both.samples.extend(updates.collect::<Vec<_>>());
    both.stores.iter_mut().for_each(|store| store.durability = model::Durability::None);
    assert!(
        says(&both).ends_with("and updates them 1.28× faster (1.28 to 1.28×)."),
        "{}",
        says(&both)
    );
}

#[test]
fn a_limit_of_the_machine_is_shown_and_never_wins() {
    let mut record = record(&["files", "sqlite", "pack"]);
    for round in 0..10 {
        for (target, ns) in [4_000, 3_000, 1_000].into_iter().enumerate() {
            record.samples.push(sample(round, target, ns + u64::from(round)));
        }
    }
    assert!(says(&record).contains("pack reads these blobs"), "{}", says(&record));
    record.header.plan.targets[2].reference = true;
    assert!(says(&record).contains("SQLite reads these blobs 1.33× faster"), "{}", says(&record));
    let shown = page(&record, 100, Detail::default());
    assert!(fixture::cells(&shown, "pack", 0).ends_with("limit of this machine"), "{shown}");
    record.header.plan.baseline = 2;
    let closest = "SQLite comes closest to the limit of this machine (pack): it takes 3.0× as long in “read, \
                   warm” (3.0 to 3.0×).";
    assert!(says(&record).ends_with(closest), "{}", says(&record));
}

#[test]
fn what_a_store_is_faster_than_is_no_limit() {
    let mut record = record(&["files", "sqlite", "pack"]);
    for round in 0..10 {
        for (target, ns) in [4_000, 1_000, 1_500].into_iter().enumerate() {
            record.samples.push(sample(round, target, ns + u64::from(round)));
        }
    }
    record.header.plan.targets[2].reference = true;
    let shown = page(&record, 100, Detail::default());
    assert!(fixture::cells(&shown, "pack", 0).ends_with(" reference"), "{shown}");
    record.header.plan.baseline = 2;
    assert!(says(&record).contains("SQLite is fastest next to the reference pack: it takes 0.67×"));
}

#[test]
fn what_is_open_says_what_would_settle_it() {
    let mut record = record(&["files", "sqlite"]);
    for round in 0..10 {
        record.samples.push(sample(round, 0, 4_000));
        record.samples.push(sample(round, 1, [3_500, 4_600][round as usize % 2]));
    }
    record.end = Some(End { reason: Ended::Time, seconds: 60.0 });
    assert!(says(&record).starts_with("On this machine it is open whether SQLite is faster"));
    let settles = |record: &Record, how: &str| {
        let more = more(record);
        assert!(more.contains(&format!("To settle what is inconclusive: {how}")), "{more}");
    };
    settles(&record, "--time");
    record.header.plan.study = Some(StudyPart { name: "page-cache".to_owned(), step: 2 });
    settles(&record, "storemark study page-cache --step 2 --time");
    assert!(
        !more(&record).contains("Not covered"),
        "a study has no such options: {}",
        more(&record)
    );
    let fitted = FindingKind::Sampled { count: 256, all: 3_000, seconds: Some(300.0) };
    record.findings.push(Finding::run(fitted));
    // As the finding says: more time than that gives no other advice.
    settles(&record, "storemark study page-cache --step 2 --time 5m, which measures all values.");
    record.findings.clear();
    record.header.plan.rounds.max = Some(10);
    settles(&record, "storemark study page-cache --step 2 --rounds");
    record.samples.retain(|sample| sample.round < 2);
    assert!(says(&record).contains("too few rounds"), "{}", says(&record));
}

#[test]
fn own_data_has_the_command_that_moves_it() {
    let mut record = typical();
    assert!(more(&record).contains("storemark run --data DIR"), "{}", more(&record));
    *dataset(&mut record) = DatasetSpec::Directory { path: "my thumbs".to_owned() };
    record.header.plan.targets[1].label = "sqlite api=blob page_size=8192".to_owned();
    let moved = "Move, and open it with these settings: storemark copy 'my thumbs' \
                 'sqlite:my thumbs.db?api=blob&page_size=8192'";
    assert!(more(&record).contains(moved), "{}", more(&record));
    let mut options = spec::Options::new();
    options.insert("mmap".to_owned(), "1GiB".into());
    record.header.spec = Some(RunSpec::from_options("run", &options).unwrap());
    record.header.plan.targets[1].settings =
        settings(&[("api", "blob"), ("journal", "off"), ("mmap", "1073741824")]);
    let moved = "'sqlite:my thumbs.db?api=blob&page_size=8192&mmap=1073741824'";
    assert!(more(&record).contains(moved), "{}", more(&record));
    record.header.plan.targets[1].owner = Owner::User;
    assert!(!more(&record).contains("Move"), "the data is there");
}

#[test]
fn copies_that_differ_are_not_settled_by_time() {
    let mut record = record(&["files", "sqlite"]);
    for round in 0..20 {
        record.samples.push(sample(round, 0, 4_000 + u64::from(round)));
        record.samples.push(sample(round, 1, [3_400, 4_700][round as usize % 2]));
    }
    for sample in &mut record.samples {
        let copy = sample.round % 2;
        passes(sample).copy = Some(copy);
    }
    let more = more(&record);
    assert!(more.contains("More time does not settle SQLite: copies of a store differ"), "{more}");
    assert!(!more.contains("To settle"), "{more}");
}

#[test]
fn what_cannot_be_ahead_is_left_open() {
    let mut record = record(&["files", "sqlite", "lmdb"]);
    for round in 0..10 {
        record.samples.push(sample(round, 0, 4_000 + u64::from(round)));
        record.samples.push(sample(round, 1, 1_000 + u64::from(round)));
        record.samples.push(sample(round, 2, [3_500, 4_600][round as usize % 2]));
    }
    assert!(says(&record).contains("SQLite reads these blobs 4.0× faster"), "{}", says(&record));
    assert!(!more(&record).contains("settle"), "{}", more(&record));
}

#[test]
fn what_it_leaves_out_and_what_weakens_it_follow() {
    let shown = more(&doubtful());
    assert!(
        shown.contains("Not covered: a cold start (--cache warm,data-cold) and updates"),
        "{shown}"
    );
    assert!(shown.contains("Do not rely on it: no figure counts"), "{shown}");
    let mut record = typical();
    record.findings = vec![Finding::run(FindingKind::Steal { share: 0.05 })];
    assert!(more(&record).contains("What weakens it: times are too long."), "{}", more(&record));
}

#[test]
fn what_is_wrong_about_one_target_in_one_case_names_both() {
    let mut record = typical();
    record.header.plan.workloads.push(workload(Operation::Update));
    let wrong = FindingKind::SettingNotInEffect {
        name: "mmap".to_owned(),
        asked: "1".to_owned(),
        effect: "0".to_owned(),
    };
    record.findings = vec![
        Finding { workload: Some(1), ..Finding::target(wrong, "sqlite") },
        Finding::run(FindingKind::Steal { share: 0.05 }),
    ];
    let shown = more(&record);
    let says = "Do not rely on sqlite (update): the figures are for another setting. What weakens \
                it: times are too long.";
    assert!(shown.contains(says), "{shown}");
}

#[test]
fn a_page_is_short_unless_all_is_asked_for() {
    let brief = page(&typical(), 80, Detail::default());
    assert!(brief.lines().count() <= 24, "{brief}");
    for left_out in ["p99", "space", "settings"] {
        let body = brief.rsplit_once("details:").unwrap().0;
        assert!(!body.contains(left_out), "{left_out}: {brief}");
    }
    assert!(brief.contains("sqlite api=blob"), "names are whole: {brief}");
}

#[test]
fn advice_names_only_options_that_the_command_has() {
    let advised = |experiment| {
        let mut record = typical();
        record.header.plan.experiment = experiment;
        record.findings =
            vec![Finding::run(FindingKind::MemorySmall { bytes: 2_000_000, available: 1_000_000 })];
        page(&record, 200, Detail { all: true, ..Detail::default() })
    };
    let blobs = typical().header.plan.experiment;
    assert!(advised(blobs).contains("use a smaller --count"));
    let rows = advised(model::Experiment::Rows { rows: 10 });
    assert!(rows.contains("larger than the free memory") && !rows.contains("--count"), "{rows}");
}
