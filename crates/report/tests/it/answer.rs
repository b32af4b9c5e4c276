//! The answer: who is ahead, by how much, and what it leaves open.

use checks::{all_findings, figures};
use model::{
    DatasetSpec, Finding, FindingKind, Operation, Owner, StudyPart,
    record::{End, Ended, Record},
};
use storemark_report::{Answer, answer, pages::Detail};

use crate::fixture::{
    self, dataset, doubtful, page, passes, record, sample, settings, typical, workload,
};

fn of(record: &Record) -> Answer {
    let runs = std::slice::from_ref(record);
    let figures = [figures(record)];
    answer(runs, &figures, &all_findings(runs, &figures))
}

/// The recommendation and the lines of the cases.
fn says(record: &Record) -> String {
    let Answer { says, cases, .. } = of(record);
    says.into_iter().chain(cases).collect::<Vec<_>>().join("\n")
}

fn more(record: &Record) -> String {
    of(record).more.join("\n")
}

/// Ten rounds in which each target reads, and if there are so many figures updates, in so many nanoseconds.
fn compared(targets: &[(&str, &[u64])]) -> Record {
    let labels: Vec<_> = targets.iter().map(|target| target.0).collect();
    let mut record = record(&labels);
    if targets[0].1.len() > 1 {
        record.header.plan.workloads.push(workload(Operation::Update));
    }
    for (target, (_, work)) in targets.iter().enumerate() {
        record.stores.push(fixture::store(target, model::Durability::Consistent, &[]));
        for round in 0..10 {
            for (workload, ns) in work.iter().enumerate() {
                let own = sample(round, target, ns * (1000 + u64::from(round % 2)) / 1000);
                record.samples.push(model::Sample { workload, ..own });
            }
        }
    }
    record
}

#[test]
fn the_store_to_take_is_named_with_its_gains_and_each_case_has_a_line() {
    assert_eq!(
        says(&typical()),
        "Take SQLite, opened with api=blob. Against plain files: read 1.28× faster.\n\
         read, warm: SQLite 3.2 µs, 1.28× faster than plain files (1.28 to 1.28×)"
    );
    let both = compared(&[("files", &[4_000, 90_000]), ("sqlite", &[2_000, 30_000])]);
    assert_eq!(
        says(&both),
        "Take SQLite. Against plain files: read 2.0× faster, update 3.0× faster.\n\
         Weighed by 95 % reads and 5 % updates; storemark advise --reads N weighs others.\n\
         read, warm: SQLite 2.0 µs, 2.0× faster than plain files (2.0 to 2.0×)\n\
         update, warm: SQLite 30 µs, 3.0× faster than plain files (3.0 to 3.0×)"
    );
    // What programs open it with is what was measured, and less space is a gain.
    let mut opened = both.clone();
    let target = &mut opened.header.plan.targets[1];
    target.of_class = vec!["journal".to_owned(), "sync".to_owned()];
    target.settings = settings(&[("journal", "wal"), ("sync", "normal")]);
    let said = "Take SQLite, opened with journal=wal, sync=normal. Against plain files: read 2.0×";
    assert!(says(&opened).starts_with(said), "{}", says(&opened));
}

/// A workload in which one store alone was measured, or the baseline was not, takes no part.
#[test]
fn what_was_compared_is_answered_without_the_rest() {
    let both = compared(&[("files", &[4_000, 90_000]), ("sqlite", &[2_000, 30_000])]);
    for alone in [0, 1] {
        let mut record = both.clone();
        record.samples.retain(|sample| sample.workload == 0 || sample.target == alone);
        let said = says(&record);
        let expected =
            "Take SQLite. Against plain files: read 2.0× faster.\nNot measured yet: update.\n";
        assert!(said.starts_with(expected), "{said}");
    }
}

/// `run` takes what `advise` takes of the same record.
#[test]
fn a_faster_store_that_promises_less_is_named_with_what_it_loses() {
    let mut record = compared(&[
        ("files", &[9_000, 90_000]),
        ("sqlite", &[2_000, 20_000]),
        ("redb", &[1_000, 10_000]),
    ]);
    record.header.plan.targets[2].lost_if_killed = true;
    let said = says(&record);
    assert!(
        said.starts_with("Take SQLite. Against plain files: read 4.5× faster, update"),
        "{said}"
    );
    let still = "redb is 2.0× faster still (2.0 to 2.0×), if you can give up: the latest commits if its \
                 program is killed.";
    assert!(said.contains(still), "{said}");
    let choice = checks::Costs::new(&record, 0.95).choice(Some(0), |_| true).unwrap();
    assert_eq!((choice.chosen, choice.faster), (1, Some(2)));
    record.header.plan.targets[1].one_process = true;
    let said = says(&record);
    assert!(said.contains("It gives up: access by several processes at once."), "{said}");
}

/// Other settings of the baseline's engine win nothing where other engines are compared.
#[test]
fn no_variant_of_the_baseline_is_its_winner() {
    let variant = "files write=overwrite";
    let mut all: Vec<(&str, &[u64])> =
        vec![("files", &[4_000, 90_000]), (variant, &[3_900, 5_000]), ("sqlite", &[2_000, 30_000])];
    let said = says(&compared(&all));
    assert!(said.starts_with("Take SQLite. Against plain files: read 2.0× faster, "), "{said}");
    assert!(said.contains("\nupdate, warm: SQLite 30 µs"), "{said}");
    // A faster one is named next to it.
    all[1].1 = &[1_000, 5_000];
    let said = says(&compared(&all));
    let faster = "Faster with other settings: plain files, opened with write=overwrite; 2.8× faster than SQLite (";
    assert!(said.starts_with("Take SQLite. ") && said.contains(faster), "{said}");
    // If only settings are compared, the best of them is the answer.
    let said = says(&compared(&all[..2]));
    assert!(said.starts_with("Take plain files, opened with write=overwrite. "), "{said}");
}

/// The baseline stays if that is shown; what is not shown is no answer.
#[test]
fn what_stays_is_shown_to_be_best() {
    let said = says(&compared(&[("files", &[2_000, 9_000]), ("sqlite", &[4_000, 30_000])]));
    let kept = "Keep plain files: nothing that was measured is more than 3 % faster.";
    assert!(said.starts_with(kept), "{said}");
    assert!(said.contains("read, warm: plain files 2.0 µs; next: SQLite, 2.0× slower"), "{said}");
    let mut open = compared(&[("files", &[2_000, 9_000]), ("sqlite", &[1_500, 8_000])]);
    for sample in open.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.wall_ns = sample.wall_ns * [30, 300][(sample.round % 2) as usize] / 100;
    }
    let said = says(&open);
    let unsure = "No answer yet: no difference is shown.\nFastest so far: SQLite, ";
    assert!(said.starts_with(unsure), "{said}");
    assert!(said.contains("read, warm: no difference shown; SQLite"), "{said}");
    open.samples.retain(|sample| sample.round < 3);
    let said = says(&open);
    assert!(said.starts_with("No answer yet: 3 of the 5 rounds that it needs ran."), "{said}");
    assert_eq!(of(&open).cases, Vec::<String>::new(), "that was said");
}

/// The interval that decides is that of the verdicts, of reads and updates together as well: it allows for
/// rounds that follow each other, and for all the looks of a run.
#[test]
fn what_only_seems_to_be_faster_is_not_to_be_taken() {
    for work in [&[4_000][..], &[4_000, 4_000]] {
        let mut record = compared(&[("files", work), ("sqlite", work)]);
        for sample in record.samples.iter_mut().filter(|sample| sample.target == 1) {
            sample.wall_ns = sample.wall_ns * [82, 100][(sample.round % 2) as usize] / 100;
        }
        let case = record.header.plan.cases().next().unwrap();
        let [own, base] = [1, 0].map(|target| checks::Series::new(&record, case, target));
        assert!(own.ratio_to(base).unwrap().high < 1.0, "by its ten rounds alone");
        let said = says(&record);
        let open = "No answer yet: no difference is shown.\nFastest so far: SQLite, 1.10× faster than \
                    plain files (0.8";
        assert!(said.starts_with(open), "{said}");
    }
}

#[test]
fn a_limit_of_the_machine_is_shown_and_never_wins() {
    let mut record = record(&["files", "sqlite", "pack"]);
    for round in 0..10 {
        for (target, ns) in [4_000, 3_000, 1_000].into_iter().enumerate() {
            record.samples.push(sample(round, target, ns + u64::from(round)));
        }
    }
    assert!(
        says(&record).starts_with("Take pack. Against plain files: read 4.0×"),
        "{}",
        says(&record)
    );
    record.header.plan.targets[2].reference = true;
    assert!(
        says(&record).starts_with("Take SQLite. Against plain files: read 1.33× faster"),
        "{}",
        says(&record)
    );
    let shown = page(&record, 100, Detail::default());
    assert!(fixture::cells(&shown, "pack", 0).ends_with("limit of this machine"), "{shown}");
    record.header.plan.baseline = 2;
    let closest =
        "read, warm: SQLite 3.0 µs, 3.0× slower than pack, a limit of this machine (3.0 to 3.0×)";
    assert_eq!(says(&record), closest);
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
    let faster = "read, warm: SQLite 1.004 µs, 1.50× faster than pack, a reference (";
    assert!(says(&record).starts_with(faster), "{}", says(&record));
}

#[test]
fn what_is_open_says_what_would_settle_it() {
    let mut record = record(&["files", "sqlite"]);
    for round in 0..10 {
        record.samples.push(sample(round, 0, 4_000));
        record.samples.push(sample(round, 1, [3_500, 4_600][round as usize % 2]));
    }
    record.end = Some(End { reason: Ended::Time, seconds: 60.0, requests: None });
    assert!(says(&record).starts_with("No answer yet: "), "{}", says(&record));
    let settles = |record: &Record, how: &str| {
        let more = more(record);
        assert!(more.contains(&format!("To settle what is inconclusive: {how}")), "{more}");
    };
    settles(&record, "--time");
    record.header.plan.study = Some(StudyPart { name: "page-cache".to_owned(), step: 2 });
    settles(&record, "storemark study page-cache --step 2 --time");
    record.header.plan.rounds.fail_above = Some(0.5);
    assert!(!more(&record).contains("To settle"), "a gate that has decided: {}", more(&record));
    record.header.plan.rounds.fail_above = Some(0.01);
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
    assert!(says(&record).contains("2 of the 5 rounds"), "{}", says(&record));
}

#[test]
fn a_store_whose_rivals_were_left_out_is_compared_with_nothing() {
    let mut record = record(&["files"]);
    record.samples.extend((0..10).map(|round| sample(round, 0, 4_000)));
    assert_eq!(says(&record), "read, warm: plain files 4.0 µs", "no other was asked for");
    let kind = FindingKind::NotUsable { why: "it takes too long".to_owned() };
    record.findings.push(Finding::target(kind, "redb"));
    let said = "No answer yet: nothing was measured that plain files can be compared with.";
    assert!(says(&record).starts_with(said), "{}", says(&record));
}

#[test]
fn a_case_without_its_baseline_is_no_case_of_one_store() {
    let mut record = record(&["files", "sqlite", "lmdb"]);
    record.samples.extend((0..10).map(|round| sample(round, 1, 4_000)));
    let unnamed = "read, warm: no store can be named, ";
    assert_eq!(says(&record), format!("{unnamed}the baseline was not measured"));
    record.header.plan.baseline = 1;
    assert_eq!(says(&record), format!("{unnamed}only one was measured"));
}

/// A gate that fails by one target may still be open on another.
#[test]
fn a_gate_that_is_open_on_a_target_says_what_would_settle_it() {
    let mut record = record(&["files", "sqlite", "lmdb"]);
    for round in 0..10 {
        record.samples.push(sample(round, 0, 4_000));
        record.samples.push(sample(round, 1, [3_500, 4_600][round as usize % 2]));
        record.samples.push(sample(round, 2, 40_000 + u64::from(round)));
    }
    record.end = Some(End { reason: Ended::Time, seconds: 60.0, requests: None });
    record.header.plan.rounds.fail_above = Some(0.01);
    assert!(more(&record).contains("To settle what is inconclusive"), "{}", more(&record));
    record.header.plan.rounds.fail_above = Some(0.5);
    assert!(!more(&record).contains("To settle"), "{}", more(&record));
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
    record.header.plan.targets[1].settings =
        settings(&[("api", "blob"), ("journal", "off"), ("mmap", "1073741824")]);
    record.header.plan.targets[1].of_class = vec!["journal".to_owned()];
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
    assert!(
        says(&record).starts_with("Take SQLite. Against plain files: read 4.0× faster"),
        "{}",
        says(&record)
    );
    assert!(!more(&record).contains("settle"), "{}", more(&record));
}

#[test]
fn what_it_leaves_out_and_what_weakens_it_follow() {
    let shown = more(&doubtful());
    assert!(
        shown.contains(
            "Not covered: a cold start (--cache warm,data-cold); updates (--update); reads"
        ),
        "{shown}"
    );
    let mut on_windows = doubtful();
    on_windows.header.environment.os = "windows".to_owned();
    assert!(more(&on_windows).contains("a cold start, which Windows cannot show; updates"));
    let weakened = of(&doubtful()).weakened;
    assert!(weakened[0].starts_with("no figure counts: "), "{weakened:?}");
    let mut record = typical();
    record.findings = vec![Finding::run(FindingKind::Steal { share: 0.05 })];
    assert_eq!(of(&record).weakened.len(), 1);
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
    let weakened = of(&record).weakened;
    let first = "sqlite (update): the figures are for another setting: mmap=1 was asked for";
    assert!(weakened[0].starts_with(first), "{weakened:?}");
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
    assert!(advised(blobs).contains("or a smaller --sample"));
    let rows = advised(model::Experiment::Rows(model::RowsData { rows: 10 }));
    assert!(rows.contains("larger than the free memory") && !rows.contains("--sample"), "{rows}");
}
