//! Two records, compared.

use checks::{Gate, Verdict};
use model::{
    BlobsData, Cache, DatasetSpec, Durability, Experiment, Finding, FindingKind, Operation, Owner,
    record::{Point, Record},
};
use storemark_report::{
    Comparison, Style, comparison, gate_rows,
    pages::{self, Detail},
};

use crate::fixture::{dataset, doubtful, record, sample, style, typical, workload};

/// Files and a pack over ten rounds that spread by 1 %, with times multiplied by `times`.
fn run(times: [f64; 2]) -> Record {
    let mut record = record(&["files", "pack"]);
    for round in 0..10 {
        for (target, times) in times.into_iter().enumerate() {
            let wobble = [0.99, 1.0, 1.01][(round as usize * (target + 1)) % 3];
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "4 µs")]
            let ns = (4000.0 * wobble * times) as u64;
            record.samples.push(sample(round, target, ns));
        }
    }
    record
}

/// Compares two folders of records, of which each run is one.
fn compared(old: &Record, new: &Record) -> Comparison {
    let [old, new] = [old, new].map(|record| several(record.clone()));
    compared_alone(&old, &new)
}

fn compared_alone(old: &Record, new: &Record) -> Comparison {
    comparison(std::slice::from_ref(old), std::slice::from_ref(new), None).unwrap()
}

/// The same record as several, one for each run, or for each round of a single run.
fn several(record: Record) -> Record {
    let record = if record.header.plan.rounds.runs == 1 { in_runs(record) } else { record };
    Record { records: record.header.plan.rounds.runs, ..record }
}

/// The same record, of so many runs: each round is a run.
fn in_runs(mut record: Record) -> Record {
    record.header.plan.rounds.runs = 10;
    record.samples.iter_mut().for_each(|sample| sample.run = sample.round);
    record
}

fn verdicts(compared: &Comparison) -> Vec<Verdict> {
    compared.changes().map(|(_, row)| row.verdict).collect()
}

/// How many changes pass, fail, and neither.
fn gated(compared: &Comparison, share: f64) -> [usize; 3] {
    [Gate::Pass, Gate::Fail, Gate::Undecided].map(|gate| gate_rows(compared, share, gate).len())
}

fn refused(old: &Record, new: &Record) -> String {
    comparison(std::slice::from_ref(old), std::slice::from_ref(new), None).unwrap_err().to_string()
}

fn page(compared: &Comparison, width: u16, bars: bool) -> String {
    let page = pages::comparison(compared, ["old.json", "new.json"], Detail::default());
    page.terminal(&Style { bars, ..style(width) })
}

#[test]
fn a_tenth_more_is_worse_and_fails_a_gate_of_five_percent() {
    let found = compared(&run([1.0, 1.0]), &run([1.0, 1.1]));
    assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::Slower]);
    let [row] = &gate_rows(&found, 0.05, Gate::Fail)[..] else { panic!("{found:?}") };
    assert!(row.starts_with("read, warm: pack: time new ÷ old 1.10 (1.09–1.11), sees"), "{row}");
    assert_eq!(
        [0.05, 0.1, 0.15].map(|share| gated(&found, share)),
        [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    );
    let page = page(&found, 100, false);
    assert!(page.starts_with("new.json against old.json\nOf 1 row: 1 worse"), "{page}");
    let row = page.lines().find(|line| line.starts_with("pack")).unwrap();
    assert!(row.ends_with("worse: 1.10× slower"), "{row}");
    assert!(page.lines().any(|line| line.starts_with("files") && line.ends_with("control")));
}

#[test]
fn equal_runs_are_the_same_and_pass() {
    let found = compared(&run([1.0, 1.0]), &run([1.001, 1.001]));
    assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::Same]);
    assert_eq!(gated(&found, 0.05), [1, 0, 0]);
    assert!(found.only.iter().all(Vec::is_empty));
    assert!(found.environments.is_empty() && found.plans.is_empty());
}

/// Its intervals may be wider than a gate.
#[test]
fn a_record_is_the_same_as_itself_and_passes() {
    let wide = run([1.0, 1.0]);
    let found = compared(&wide, &wide);
    assert_eq!(
        page(&found, 80, false),
        "new.json against old.json\nThe two are the same record.\n"
    );
    assert_eq!((found.gate(0.0001), gated(&found, 0.0001)), (Gate::Pass, [0, 0, 0]));
    assert!(found.is_judged());
}

#[test]
fn what_the_machine_does_to_all_cancels() {
    let found = compared(&run([1.0, 1.0]), &run([1.4, 1.4]));
    assert_eq!(verdicts(&found)[1], Verdict::Same);
    let alone = |mut record: Record| {
        record.header.plan.targets.pop();
        record.samples.retain(|sample| sample.target == 0);
        record
    };
    let found = compared(&alone(run([1.0, 1.0])), &alone(run([1.4, 1.4])));
    assert_eq!((verdicts(&found), &found.control), (vec![Verdict::Slower], &None));
}

#[test]
fn another_control_is_named() {
    let [old, new] = [run([1.0, 1.0]), run([1.2, 1.0])].map(|record| [record]);
    let found = comparison(&old, &new, Some("pack")).unwrap();
    assert_eq!(verdicts(&found), [Verdict::Slower, Verdict::Baseline]);
    assert!(page(&found, 100, false).contains("those of the control, pack, in the same rounds\n"));
    let refused = comparison(&old, &new, Some("memory")).unwrap_err().to_string();
    assert_eq!(refused, "--control \"memory\": not in both records (accepted: files, pack)");
}

/// A control that is always warm says nothing of cold trials.
#[test]
fn where_the_control_has_no_times_the_others_are_compared_alone() {
    let cold = |mut record: Record| {
        record.header.plan.caches.push(Cache::Cold);
        let mut more: Vec<_> = record.samples.iter().filter(|s| s.target == 1).cloned().collect();
        for sample in &mut more {
            sample.cache = Cache::Cold;
        }
        record.samples.extend(more);
        record
    };
    let found = compared(&cold(run([1.0, 1.0])), &cold(run([2.0, 2.0])));
    let controlled: Vec<_> = found.cases.iter().map(|case| case.controlled).collect();
    assert_eq!(controlled, [true, false]);
    assert!(page(&found, 200, false).contains("; not in read, cold, where it has none"));
}

/// Spread that is as wide as the change: its interval contains 1.05.
#[test]
fn a_gate_is_undecided_when_the_interval_contains_the_limit() {
    let mut new = run([1.0, 1.1]);
    for sample in new.samples.iter_mut().filter(|sample| sample.target == 1) {
        sample.wall_ns = sample.wall_ns * [80, 100, 125][sample.round as usize % 3] / 100;
    }
    let found = compared(&run([1.0, 1.0]), &new);
    assert_eq!((gated(&found, 0.05), gated(&found, 1.0)), ([0, 0, 1], [1, 0, 0]));
}

/// Two records of one program may differ by as much, and more if each is of a single run.
#[test]
fn a_single_record_cannot_tell_what_several_show() {
    let (old, new) = (run([1.0, 1.0]), run([1.0, 1.03]));
    let single = compared_alone(&old, &new);
    let runs = compared_alone(&in_runs(old.clone()), &in_runs(new.clone()));
    let several = compared(&old, &new);
    let all = [&single, &runs, &several];
    let last = all.map(|found| found.changes().nth(1).unwrap().1.clone());
    assert_eq!(
        last.each_ref().map(|row| row.verdict),
        [Verdict::Inconclusive, Verdict::Inconclusive, Verdict::Slower]
    );
    let width = last.each_ref().map(|row| row.time.unwrap().half_width());
    assert!(width.is_sorted_by(|wide, narrow| wide > narrow) && width[1] > 0.037, "{width:?}");
    let seen = last.each_ref().map(|row| row.detectable.unwrap());
    assert!(seen.is_sorted_by(|more, less| more > less) && seen[1] > 0.037, "{seen:?}");
    assert_eq!(
        last.map(|row| (row.single_run, row.single_record)),
        [(true, true), (false, true), (false, false)]
    );
    let says = "one record a side does not show smaller changes: two records of one program, minutes apart, differ by 1.3";
    let [single, _, several] = all.map(|found| page(found, 200, false));
    assert!(single.contains(says) && !several.contains("one record a side"), "{single}");
}

#[test]
fn runs_are_compared_by_their_means() {
    let three = |mut record: Record| {
        record.header.plan.rounds.runs = 3;
        record.samples.iter_mut().for_each(|sample| sample.run = sample.round % 3);
        record
    };
    let found = compared(&three(run([1.0, 1.0])), &three(run([1.0, 1.3])));
    let (_, row) = found.changes().nth(1).unwrap();
    assert_eq!((row.time.unwrap().n, row.verdict), (3, Verdict::Slower));
}

#[test]
fn targets_pair_by_what_they_are_and_not_by_their_place() {
    let (old, mut new) = (run([1.0, 2.0]), run([2.0, 1.0]));
    new.header.plan.targets.swap(0, 1);
    new.header.plan.targets[0].location = "/elsewhere".to_owned();
    let found = compared(&old, &new);
    assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::Same], "{found:?}");
}

#[test]
fn stores_of_the_user_pair_by_path_then_by_name_then_by_kind() {
    let own = |places: [&str; 2], times| {
        let mut record = run(times);
        for (target, place) in record.header.plan.targets.iter_mut().zip(places) {
            target.engine = "sqlite".to_owned();
            (target.label, target.location) = (place.to_owned(), place.to_owned());
            target.owner = Owner::User;
        }
        record
    };
    let old = own(["x/a.db", "x/b.db"], [1.0, 2.0]);
    for places in
        [["x/b.db", "x/a.db"], ["x/b.db", "y/a.db"], ["y/b.db", "y/a.db"], ["x/b.db", "c"]]
    {
        let found = compared(&old, &own(places, [2.0, 1.0]));
        assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::Same], "{places:?}");
        assert_eq!(found.plans.is_empty(), places[1] == "x/a.db", "{:?}", found.plans);
    }
}

#[test]
fn settings_of_the_durability_class_make_no_other_target() {
    let (old, mut new) = (run([1.0, 1.0]), run([1.0, 1.0]));
    new.header.plan.durability = Some(Durability::None);
    new.header.plan.targets[0].settings.set("sync", "none");
    assert_eq!(compared(&old, &new).changes().count(), 1);
    new.header.plan.targets[0].of_class.push("sync".to_owned());
    let found = compared(&old, &new);
    assert_eq!(found.changes().count(), 2);
    let says =
        "durability: each target's own against none for all targets; use the same --durability";
    assert!(found.plans[0].to_string().starts_with(says), "{}", found.plans[0]);
}

#[test]
fn what_only_one_record_has_is_named() {
    let (mut old, mut new) = (run([1.0, 1.0]), run([1.0, 1.0]));
    old.header.plan.targets[1].label = "pack io=mmap".to_owned();
    new.header.plan.workloads.push(workload(Operation::Update));
    new.header.plan.caches.push(Cache::Cold);
    let found = compared(&old, &new);
    let page = page(&found, 200, false);
    assert!(page.contains("! only in the old record: pack io=mmap\n"), "{page}");
    assert!(page.contains("! only in the new record: pack\n"), "{page}");
    assert!(page.contains("! only in the new record: update, random permutation"), "{page}");
    assert!(page.contains("commit, cold\n"), "{page}");
    assert_eq!(found.changes().count(), 1);
}

#[test]
fn records_that_have_nothing_in_common_are_refused() {
    let (old, mut new) = (run([1.0, 1.0]), run([1.0, 1.0]));
    new.header.plan.workloads = vec![workload(Operation::Update)];
    let said = refused(&old, &new);
    assert!(said.contains("nothing in common: read, random") && said.contains("against update"));
    let begun = record(&["files", "pack"]);
    assert!(refused(&begun, &begun).ends_with("neither record has a trial"));
    new = run([1.0, 1.0]);
    *dataset(&mut new) = DatasetSpec::Targets;
    let said = refused(&old, &new);
    assert!(
        said.starts_with("the records are of different plans: data: 1,000 generated"),
        "{said}"
    );
}

#[test]
fn the_users_own_data_may_grow() {
    let (mut old, mut new) = (run([1.0, 1.0]), run([1.0, 1.0]));
    for record in [&mut old, &mut new] {
        *dataset(record) = DatasetSpec::Directory { path: "mine".to_owned() };
    }
    let Experiment::Blobs(BlobsData { available, summary, .. }) = &mut new.header.plan.experiment
    else {
        panic!("blobs");
    };
    *available += 1;
    summary.count += 1;
    let found = compared(&old, &new);
    let differ: Vec<_> = found.plans.iter().map(ToString::to_string).collect();
    assert!(differ[0].starts_with("data: "), "{differ:?}");
    assert_eq!(differ[1], "keys touched: 1,000 of 1,000 against 1,001 of 1,001");
}

#[test]
fn writes_under_another_durability_class_are_not_judged() {
    let [mut old, mut new] = [1.0, 2.0].map(|times| run([times, times]));
    for (record, class) in [(&mut old, Durability::None), (&mut new, Durability::Durable)] {
        record.header.plan.workloads = vec![workload(Operation::Update)];
        record.stores =
            vec![crate::fixture::store(0, class, &[]), crate::fixture::store(1, class, &[])];
    }
    new.header.plan.workloads[0].count = 77;
    let found = compared(&old, &new);
    assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::DurabilityDiffers]);
    assert!(!found.is_judged());
    assert_eq!(gated(&found, 0.05), [0, 0, 1]);
    assert_eq!(found.plans[0].to_string(), "operations a pass (update): 1,000 against 77");
}

#[test]
fn few_rounds_are_not_judged() {
    let (mut old, new) = (run([1.0, 1.0]), run([2.0, 2.0]));
    old.samples.retain(|sample| sample.round < 4);
    let found = compared(&old, &new);
    assert_eq!(verdicts(&found), [Verdict::Baseline, Verdict::TooFewRounds]);
    assert_eq!(gated(&found, 0.05), [0, 0, 1]);
}

#[test]
fn what_may_lie_behind_a_change_stands_with_it() {
    let mut new = doubtful();
    new.header.environment.kernel = Some("6.12.1".to_owned());
    let mut old = typical();
    old.findings.push(Finding::run(FindingKind::Steal { share: 0.05 }));
    let page = page(&compared(&old, &new), 200, false);
    assert!(page.contains("! environments differ: kernel: 6.18.5 against 6.12.1\n"), "{page}");
    assert!(
        page.contains("! wrong: new: no figure counts: storemark was built without optimisation"),
        "{page}"
    );
    assert!(page.contains("! both: times are too long: the hypervisor took up to 5.0 %"), "{page}");
    assert!(page.contains("findings more (-v shows all)"), "{page}");
}

#[test]
fn runs_of_a_sweep_pair_by_what_varies() {
    let swept = |sizes: [&str; 2], times: [f64; 2]| -> Vec<Record> {
        let point = |(number, size): (usize, &str)| {
            let mut record = run([1.0, times[number]]);
            let varied = [("size".to_owned(), size.to_owned())].into();
            let point = Some(Point { number, of: 2, varied });
            record.header.point = point;
            record
        };
        sizes.into_iter().enumerate().map(point).collect()
    };
    let (old, new) = (swept(["1k", "4k"], [1.0, 2.0]), swept(["4k", "16k"], [2.2, 1.0]));
    let [old, new] = [old, new].map(|runs| runs.into_iter().map(several).collect::<Vec<_>>());
    let found = comparison(&old, &new, None).unwrap();
    let [row] = &gate_rows(&found, 0.05, Gate::Fail)[..] else { panic!("{found:?}") };
    assert!(row.starts_with("size=4k, read, warm: pack: "), "{row}");
    assert_eq!(found.only, [vec!["size=1k".to_owned()], vec!["size=16k".to_owned()]]);
}

#[test]
fn a_page_fits_and_has_bars_where_there_is_room() {
    let found = compared(&run([1.0, 1.0]), &run([1.0, 1.1]));
    for width in [60, 80, 120] {
        for bars in [true, false] {
            let page = page(&found, width, bars);
            for line in page.lines() {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= usize::from(width), "{width}: {line}");
            }
            assert_eq!(page.contains('█'), bars && width >= 80, "{page}");
            assert!(page.contains("1.10 (1.09–1.11)") && page.contains("worse:"), "{page}");
        }
    }
}

#[test]
fn markdown_shows_names_and_runs_nothing() {
    let [mut old, mut new] = [run([1.0, 1.0]), run([1.0, 1.1])];
    for record in [&mut old, &mut new] {
        record.header.plan.targets[1].label = "a|b<img src=x>`".to_owned();
    }
    let text =
        pages::comparison(&compared(&old, &new), ["old.json", "<b>.json"], Detail::default());
    let text = text.markdown();
    assert!(text.starts_with("### &lt;b&gt;.json against old.json\n\nOf 1 row: 1 worse"));
    let row = text.lines().find(|line| line.contains("worse: 1.10× slower")).unwrap();
    assert!(row.starts_with("| a\\|b&lt;img src=x&gt;\\` | 4.00 (3.97–4.02) |"), "{row}");
    let columns = row.replace("\\|", "").matches('|').count();
    assert_eq!(columns, 6, "{row}");
}

/// What two records of one program differ by is in the interval of a percentile, too.
#[test]
fn a_percentile_of_single_records_is_no_surer_than_records_are() {
    let (old, mut new) = (typical(), typical());
    new.samples.iter_mut().for_each(|sample| sample.wall_ns += 1);
    for (_, change) in compared_alone(&old, &new).changes() {
        let p99 = change.p99.unwrap();
        assert!(p99.low < 1.0 && p99.high > 1.0 && p99.half_width() > 0.025, "{p99:?}");
    }
}
