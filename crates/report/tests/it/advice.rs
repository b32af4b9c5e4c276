//! The answer of a search: what to take, what it costs, who comes next, and how to get there.

use checks::{Advice, Candidate, LeftOut, Sharing, SharingSetting, SharingWay, Threshold};
use model::{
    BUSY_ERRORS, Durability, Experiment, Finding, FindingKind, Measured, Operation, RoleMeasured,
    Roles, RolesData, Sample, Workload, record::Record,
};
use stats::{BreakEven, Crossing};
use storemark_report::pages;

use crate::fixture::{record, sample, store, style, workload};

/// Reads and updates of each label in so many nanoseconds, over twelve rounds.
fn measured(targets: &[(&str, u64, u64)]) -> Record {
    let labels: Vec<_> = targets.iter().map(|target| target.0).collect();
    let mut record = record(&labels);
    record.header.plan.workloads.push(workload(Operation::Update));
    record.header.plan.durability = Some(Durability::Consistent);
    for (target, (_, read, update)) in targets.iter().enumerate() {
        record.stores.push(store(target, Durability::Consistent, &[]));
        for round in 0..12 {
            let wobble = [999, 1001][(round as usize + target) % 2];
            record.samples.push(sample(round, target, read * wobble / 1000));
            let updated = sample(round, target, update * wobble / 1000);
            record.samples.push(Sample { workload: 1, ..updated });
        }
    }
    record
}

fn candidate(label: &str) -> Candidate {
    let (engine, settings) = label.split_once(' ').unwrap_or((label, ""));
    let settings = settings.replace(' ', "&");
    let settings = if settings.is_empty() { settings } else { format!("?{settings}") };
    let extension = if engine == "files" { "dir" } else { "db" };
    Candidate {
        label: label.to_owned(),
        target: format!("{engine}:{settings}"),
        trades: format!("what {engine} trades"),
        durability: format!("what {engine} keeps"),
        power_cut: (engine != "files").then(|| format!("storemark crash {engine}:")),
        extension: Some(extension.to_owned()),
    }
}

/// The search of a folder in which the first target is what is there now.
fn search(targets: &[(&str, u64, u64)]) -> Advice {
    let record = measured(targets);
    Advice {
        reads: 0.95,
        time: std::time::Duration::from_secs(180),
        source: Some("my thumbs".to_owned()),
        now: targets[0].0.to_owned(),
        candidates: targets.iter().map(|target| candidate(target.0)).collect(),
        left_out: Vec::new(),
        thresholds: Vec::new(),
        race: record.clone(),
        finals: record,
        cold: None,
        life: None,
        sharing: None,
    }
}

fn printed(advice: &Advice, explain: Option<&str>) -> String {
    let page = pages::advice(advice, explain).terminal(&style(100));
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn says(advice: &Advice, part: &str) {
    let printed = printed(advice, None);
    assert!(printed.contains(part), "{part}\n{printed}");
}

#[test]
fn what_is_faster_is_taken_and_the_commands_get_there() {
    let advice = search(&[
        ("files now", 4_000, 100_000),
        ("sqlite api=blob mmap=1GiB", 2_000, 50_000),
        ("lmdb", 1_900, 90_000),
    ]);
    // 8.8 against 4.4 µs.
    says(
        &advice,
        "Take SQLite (api=blob mmap=1GiB). Against what is there now (plain files): 2.0× faster (2.0 \
         to 2.0×). Weighed by 95 % reads and 5 % updates; ",
    );
    says(&advice, "Target: 'sqlite:?api=blob&mmap=1GiB' In exchange: nothing of what the table");
    // What the class asks for is part of it.
    let mut asked = advice.clone();
    let target = &mut asked.finals.header.plan.targets[1];
    target.of_class = vec!["sync".to_owned()];
    target.settings.set("sync", "normal");
    says(&asked, "Target: 'sqlite:?api=blob&mmap=1GiB&sync=normal' In exchange");
    says(
        &advice,
        "Durability consistent: what sqlite keeps. Cut its power, by simulation: storemark crash sqlite: Next",
    );
    says(&advice, "the last 3 of 3 candidates were compared on all 1,000 values");
    // 0.1 s = 40 (1 - s).
    says(&advice, "Next: lmdb, 1.43 (1.43 to 1.43) of the cost; it would win above 99.7 % reads.");
    says(&advice, "Move: storemark copy 'my thumbs' 'sqlite:my thumbs.db?api=blob&mmap=1GiB'");
    says(&advice, "Check: storemark verify 'my thumbs' 'sqlite:my thumbs.db'");
    says(
        &advice,
        "Not covered: a cold start (more --time), data larger than memory (--cold), growth",
    );
}

#[test]
fn what_is_there_now_is_kept_if_nothing_is_better_by_more_than_matters() {
    let slower = search(&[("files now", 4_000, 10_000), ("sqlite", 5_000, 10_000)]);
    let kept =
        "Keep what is there now (plain files): nothing that was measured is more than 3 % faster";
    says(&slower, kept);
    assert!(!printed(&slower, None).contains("Move:"));
    let level = search(&[("files now", 4_000, 10_000), ("sqlite", 3_950, 10_000)]);
    says(&level, kept);
}

/// Figures that show nothing are no reason to keep what is there, nor to move.
#[test]
fn what_is_not_shown_is_no_advice_and_has_a_longer_time() {
    let targets = [("files now", 4_000, 10_000), ("sqlite", 3_000, 8_000), ("lmdb", 900, 900)];
    for (rounds, count) in [(1, 3), (2, 3), (4, 3), (12, 2)] {
        let mut advice = search(&targets[..count]);
        // With rounds enough, what is open is wide.
        for sample in advice.finals.samples.iter_mut().filter(|sample| sample.target == 1) {
            sample.wall_ns = sample.wall_ns * [30, 300][(sample.round % 2) as usize] / 100;
        }
        advice.finals.samples.retain(|sample| sample.round < rounds);
        let printed = printed(&advice, None);
        assert!(printed.starts_with("No answer yet: "), "{rounds} rounds: {printed}");
        let time = printed.split_once("Try --time ").unwrap().1.split_once('.').unwrap().0;
        let time = model::units::parse_duration(time).unwrap();
        assert!(time > advice.time, "{rounds} rounds: {printed}");
        for part in ["Keep ", "Move: ", "Target: ", "Next: ", "∞"] {
            assert!(!printed.contains(part), "{rounds} rounds: {part}: {printed}");
        }
    }
}

#[test]
fn rounds_of_one_workload_are_not_taken_for_those_of_all() {
    let mut advice = search(&[("files now", 4_000, 10_000), ("sqlite", 3_000, 8_000)]);
    says(&advice, "(10.0 MB) in 12 rounds.");
    advice.finals.samples.retain(|sample| sample.workload == 0 || sample.round < 2);
    says(&advice, "No answer yet: 2 of the 5 rounds that it needs fit");
    says(&advice, " in 2 to 12 rounds.");
}

/// A store that loses commits when its process is killed is named, with that, but not taken.
#[test]
fn what_promises_less_is_not_taken_and_what_it_loses_is_said() {
    let all = [("files now", 9_000, 90_000), ("sqlite", 2_000, 20_000), ("redb", 1_000, 10_000)];
    let mut advice = search(&all);
    advice.finals.header.plan.targets[2].lost_if_killed = true;
    says(&advice, "Take SQLite. Against what is there now (plain files): 4.5× faster");
    says(
        &advice,
        "redb is 2.0× faster still (2.0 to 2.0×), if you can give up: the latest commits if its program \
         is killed.",
    );
    // Reads alone lose nothing.
    advice.reads = 1.0;
    says(&advice, "Take redb. Against what is there now (plain files): 9.0× faster");
    // What is there now loses them as well.
    advice.reads = 0.95;
    advice.finals.header.plan.targets[0].lost_if_killed = true;
    says(&advice, "Take redb. Against what is there now (plain files): 9.0× faster");
}

#[test]
fn a_simpler_store_that_may_be_level_is_named_next() {
    let mut open = search(&[("files now", 9_000, 0), ("sqlite", 4_400, 0), ("lmdb", 4_000, 0)]);
    open.reads = 1.0;
    for sample in open.finals.samples.iter_mut().filter(|sample| sample.target > 0) {
        let is_more = (sample.round >> (sample.target - 1)).is_multiple_of(2);
        sample.wall_ns = sample.wall_ns * if is_more { 112 } else { 88 } / 100;
    }
    says(&open, "Take lmdb. Against what is there now (plain files): 2.");
    says(&open, "of the cost, a difference that is not shown; ");
}

#[test]
fn what_it_costs_is_named() {
    let mut advice = search(&[("files now", 4_000, 10_000), ("sqlite", 1_000, 13_000)]);
    for sample in &mut advice.finals.samples {
        // What a process has as a whole says nothing of a store that it updates.
        let bytes = [1_000_000, 40_000_000][sample.target];
        let is_read = sample.workload == 0;
        sample.memory_bytes = Some(if is_read { bytes } else { 9_000_000_000 });
        sample.passes_mut().unwrap().slice = is_read.then_some(10);
    }
    says(&advice, "In exchange: 1.30× the time of an update, 39 MB more memory; what sqlite");
    says(&advice, "Next: what is there now (plain files), 2.7");
}

fn disk_is_full(label: &str) -> Finding {
    let why = "its disk is full".to_owned();
    Finding::target(FindingKind::NotUsable { why }, label)
}

#[test]
fn what_was_left_out_and_what_failed_are_named_with_the_reason() {
    let mut advice = search(&[("files now", 4_000, 10_000), ("sqlite", 1_000, 9_000)]);
    let served = |name: &str| LeftOut { name: name.to_owned(), why: "a server".to_owned() };
    advice.left_out = vec![served("mariadb"), served("postgres")];
    advice.candidates.push(candidate("redb"));
    advice.race.findings.push(disk_is_full("redb"));
    says(&advice, "Left out: mariadb, postgres (a server); redb: (its disk is full).");
    let explained = printed(&advice, Some("storemark run files: sqlite:"));
    for part in ["failed: its disk is full", "compared to the end: 1", "redb:: what redb trades"] {
        assert!(explained.contains(part), "{part}\n{explained}");
    }
    assert!(explained.ends_with("As one run: storemark run files: sqlite:"), "{explained}");
    // What is there now failed: there is an answer without it.
    advice.now = "pack now".to_owned();
    let why = "it cannot give durability consistent".to_owned();
    advice.left_out.push(LeftOut { name: advice.now.clone(), why });
    says(&advice, "What is there now could not be measured: it cannot give durability consistent.");
}

#[test]
fn one_that_is_compared_with_nothing_is_not_recommended() {
    let mut advice = search(&[("files now", 4_000, 10_000)]);
    let nothing = "No answer yet: fewer than two candidates have two rounds";
    assert!(!printed(&advice, None).contains(nothing));
    advice.candidates.push(candidate("sqlite"));
    says(&advice, nothing);
    says(&advice, "Left out: sqlite: (there was no time for it)");
    assert!(!printed(&advice, None).contains("Keep "));
    says(&advice, "Try --time ");
    advice.finals.findings.push(disk_is_full("sqlite"));
    assert!(!printed(&advice, None).contains("Try --time "), "more time mends no full disk");
}

#[test]
fn who_left_after_the_sample_is_shown_with_its_cost() {
    let all = [("files now", 4_000, 10_000), ("sqlite", 1_000, 9_000), ("lmdb", 2_000, 18_000)];
    let mut advice = search(&all);
    advice.finals = measured(&all[..2]);
    let explained = printed(&advice, Some(""));
    assert!(explained.contains("lmdb: behind on the sample: 2.000 (1.998–2.002)"), "{explained}");
    assert!(explained.contains("the last 2 of 3 candidates"), "{explained}");
    assert!(!explained.contains("As one run:"), "{explained}");
}

#[test]
fn a_threshold_has_its_interval() {
    let mut advice = search(&[("files now", 4_000, 10_000), ("sqlite", 1_000, 9_000)]);
    let crossing = Crossing { size: 53_000.0, low: Some(48_000.0), high: None, upwards: true };
    let found = BreakEven { crossings: vec![crossing], begins_below: true, refuted: false };
    let [engine, setting] = ["hybrid", "inline"].map(str::to_owned);
    let threshold = Threshold { engine, setting, sizes: [1_000, 200_000], found };
    advice.thresholds = vec![threshold.clone()];
    says(
        &advice,
        "Threshold: hybrid reads values up to 53.0 kB (48.0 kB to 200 kB) faster inline, larger",
    );
    // In the other direction there is no size from which on files are faster.
    let mut turned = threshold;
    turned.found.crossings[0].upwards = false;
    turned.found.begins_below = false;
    advice.thresholds = vec![turned];
    says(
        &advice,
        "hybrid reads values of all sizes from 1.00 kB to 200 kB faster from a place of their own.",
    );
}

#[test]
fn without_data_of_the_user_there_is_nothing_to_move() {
    let mut advice = search(&[("files now", 4_000, 10_000), ("sqlite", 1_000, 9_000)]);
    advice.source = None;
    says(&advice, "With your own data: storemark advise DIR");
    advice.finals.samples.clear();
    says(
        &advice,
        "No answer yet: fewer than two candidates have two rounds of all their work after 3 min 0 s. Try --time 9m.",
    );
}

/// Readers alone, writers alone, readers and writers together, in so many nanoseconds, and the
/// operations that were refused, of each label over twelve rounds.
fn measured_roles(targets: &[(&str, [u64; 4], i64)]) -> Record {
    let labels: Vec<_> = targets.iter().map(|target| target.0).collect();
    let mut record = record(&labels);
    let plan = &mut record.header.plan;
    let blobs = plan.experiment.blobs().unwrap();
    let Roles(roles) = "readers=4,writers=2".parse().unwrap();
    let data = RolesData {
        dataset: blobs.dataset.clone(),
        summary: blobs.summary,
        roles,
        distribution: None,
        pass_ns: 1_000_000,
        meanwhile: Vec::new(),
        processes: false,
    };
    plan.workloads = data.work().map(|work| Workload::alone(work, 0)).collect();
    plan.durability = Some(Durability::Consistent);
    plan.experiment = Experiment::Roles(data);
    for (target, (_, times, refused)) in targets.iter().enumerate() {
        record.stores.push(store(target, Durability::Consistent, &[]));
        for round in 0..12 {
            for (workload, ns) in times.iter().enumerate() {
                let wobble = [999, 1001][(round as usize + target + workload) % 2];
                let mut of = sample(round, target, ns * wobble / 1000);
                let worked_ns = of.operations * ns * wobble / 1000;
                of.measured = Measured::Roles(RoleMeasured { worked_ns, ..Default::default() });
                of.counters.insert(BUSY_ERRORS.to_owned(), *refused);
                record.samples.push(Sample { workload, ..of });
            }
        }
    }
    record
}

/// A search by roles in which the settings of SQLite were measured.
fn search_by_roles() -> Advice {
    let files = ("files now", [4_000, 90_000, 9_000, 900_000], 0);
    let sqlite = [2_000, 40_000, 2_040, 44_000];
    let finals = measured_roles(&[files, ("sqlite", sqlite, 0)]);
    let settings = measured_roles(&[
        ("sqlite", sqlite, 0),
        ("sqlite journal=delete", [5_000, 80_000, 205_000, 800_000], 0),
        ("sqlite busy=0", [2_000, 40_000, 2_000, 10_000], 5),
        ("sqlite autocheckpoint=100", sqlite, 0),
    ]);
    let batched = measured_roles(&[("sqlite", [2_000, 4_000, 2_040, 4_400], 0)]);
    let setting = |names: [&str; 2], place: (usize, usize), trades: &str| SharingSetting {
        store: "sqlite".to_owned(),
        ways: [(names[0], 0, 0), (names[1], place.0, place.1)]
            .map(|(name, record, target)| SharingWay { name: name.to_owned(), record, target }),
        trades: trades.to_owned(),
    };
    let settings_measured = vec![
        setting(["journal=wal", "journal=delete"], (0, 1), "waits"),
        setting(["busy=60s", "busy=0"], (0, 2), "refusals"),
        setting(["autocheckpoint=1000", "autocheckpoint=100"], (0, 3), "more commits"),
        setting(["each by itself", "20 together"], (1, 0), "all are lost"),
        setting(["with", "without"], (2, 0), "never measured"),
    ];
    let records = vec![Some(settings), Some(batched), None];
    Advice {
        candidates: vec![candidate("files now"), candidate("sqlite")],
        sharing: Some(Sharing { records, settings: settings_measured }),
        race: finals.clone(),
        finals,
        ..search(&[("files now", 4_000, 4_000)])
    }
}

#[test]
fn with_roles_the_answer_says_what_each_setting_buys() {
    let advice = search_by_roles();
    // 0.95 × 9 + 0.05 × 900 against 0.95 × 2.04 + 0.05 × 44 µs: what was measured alone does not count.
    says(&advice, "Take SQLite. Against what is there now (plain files): 13× faster (13 to 13×).");
    says(&advice, "compared with 4 readers (read), 2 writers (update) at the same time, on 1,000");
    says(&advice, "Not covered: a cold start, growth and backups (storemark life), readers and");
    says(
        &advice,
        "journal=wal instead of journal=delete: a read takes 2.0 µs instead of 205 µs, 1.02× its time \
         alone instead of 41×; an update takes 44 µs instead of 800 µs, 1.10× its time alone instead \
         of 10×.",
    );
    // What is refused is no gain.
    says(&advice, "busy=60s instead of busy=0: a read takes 2.0 µs instead of 2.0 µs, ");
    says(&advice, "0 refused instead of 60.");
    // The other way is better, and gives something up.
    says(&advice, "20 together instead of each by itself: a read takes 2.0 µs instead of 2.0 µs, ");
    says(&advice, "In exchange: all are lost.");
    says(&advice, "No difference is shown by: autocheckpoint=1000 or autocheckpoint=100.");
    let all = printed(&advice, Some(""));
    assert!(!all.contains("never measured") && !all.contains("more commits"), "{all}");
    assert_eq!(all.matches("as it is").count(), 1, "{all}");
}
