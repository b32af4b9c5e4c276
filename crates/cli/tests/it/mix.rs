//! Mixes of operations: all of them on all kinds of stores, brought back afterwards, and told.

use std::{collections::BTreeMap, fs};

use model::{Action, Operation};

use crate::world::World;

const ALL: &str = "read=30,update=20,insert=10,delete=10,scan=10,rmw=10,stat=10";

#[test]
fn every_engine_does_every_operation_in_each_order() {
    let world = World::new();
    let engines =
        "files: files:?layout=tree sqlite: sqlite:?api=blob lmdb: redb: fjall: pack: memory: null:";
    for law in ["uniform", "zipfian=0.8", "latest", "hotspot=10/90"] {
        let line = format!(
            "run {engines} --mix {ALL} --distribution {law} --keys 200 --size 300 --count 600 --rounds 2 --json r.json"
        );
        world.ok(&line);
        let record = world.record("r.json");
        assert_eq!(record.samples.len(), 2 * 10);
        let mut of_first: Option<BTreeMap<Action, bool>> = None;
        for sample in &record.samples {
            assert_eq!(sample.operations, 600);
            let kinds: BTreeMap<_, _> = sample
                .latency()
                .unwrap()
                .actions
                .iter()
                .map(|(kind, text)| (*kind, !text.is_empty()))
                .collect();
            assert_eq!(kinds.len(), 7, "{law}");
            assert_eq!(*of_first.get_or_insert_with(|| kinds.clone()), kinds);
        }
        fs::remove_file(world.path("r.json")).unwrap();
    }
}

#[test]
fn batches_threads_and_names_are_brought_back_too() {
    let world = World::new();
    for n in 0..150 {
        world.write(&format!("mine/{}/{n}.txt", n % 3), vec![7; n]);
    }
    let before = world.tree();
    for line in [
        format!("run files: sqlite: lmdb: memory: --data mine --mix {ALL} --count 400 --rounds 2"),
        format!(
            "run files: sqlite:?journal=wal --data mine --mix {ALL} --threads 3 --count 400 --rounds 1"
        ),
        format!(
            "run lmdb: redb: fjall: --mix {ALL} --keys 100 --size 50 --batch 30 --count 300 --rounds 1"
        ),
        "run sqlite: memory: --keys 60 --size 50 --mix insert=100 --count 200 --rounds 2"
            .to_owned(),
        "run sqlite: pack: --keys 100 --size 50 --mix read=50,delete=50 --count 80 --rounds 2"
            .to_owned(),
    ] {
        world.ok(&line);
        assert_eq!(world.tree(), before, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn processes_share_a_mix() {
    let world = World::new();
    world.ok(&format!(
        "run sqlite:?journal=wal files: --processes 2 --threads 2 --mix {ALL} --keys 120 --size 100 --count 240 --rounds 2 --json r.json"
    ));
    for sample in &world.record("r.json").samples {
        assert_eq!(sample.workers.iter().map(|worker| worker.operations).sum::<u64>(), 240);
    }
}

#[test]
fn a_store_of_the_users_own_is_left_alone() {
    let world = World::after(["init a.db --count 50 --size 100", "export a.db a.dir"]);
    let before = world.tree();
    world.ok("run a.db a.dir --mix insert=40,delete=40,update=20 --count 60 --rounds 2");
    assert_eq!(world.tree(), before);
}

#[test]
fn presets_are_those_of_the_paper() {
    let world = World::new();
    let out = world
        .ok("run files: sqlite: --ycsb a,b,c,d,e,f --keys 100 --count 200 --rounds 1 --json r.json -v")
        .out;
    for says in [
        "100 keys of 1,000 bytes",
        "YCSB A (50 % read, 50 % update), warm: 200 operations, zipfian 0.99, 1 operation a commit",
        "YCSB B (95 % read, 5 % update)",
        "YCSB C (100 % read)",
        "YCSB D (95 % read, 5 % insert), warm: 200 operations, latest 0.99",
        "YCSB E (5 % insert, 95 % scan)",
        "YCSB F (50 % read, 50 % rmw)",
        "p99.99",
    ] {
        assert!(out.contains(says), "{says}: {out}");
    }
    let plan = world.record("r.json").header.plan;
    assert_eq!(plan.workloads.len(), 6);
    assert!(
        matches!(plan.workloads[4].work.operation(), Some(Operation::Mix(mix)) if mix.share(Action::Scan) == 95)
    );
    let again = world.ok("report r.json").out;
    assert!(again.contains("YCSB E"), "{again}");
}

#[test]
fn a_distribution_goes_with_plain_reads() {
    let world = World::new();
    let out = world.ok("run memory: --read --distribution hotspot --keys 50 --rounds 1").out;
    assert!(
        out.contains("read, warm: ") && out.contains("hotspot (80 % on 20 % of the keys)"),
        "{out}"
    );
}

#[test]
fn latencies_are_exported_as_listings() {
    let world = World::new();
    world.ok("run memory: --mix read=60,update=40 --keys 50 --count 300 --rounds 2 --export-hdr out --json r.json");
    for (kind, count) in [("all", 600), ("read", 0), ("update", 0)] {
        let path = format!("out/1-warm-1-memory-{kind}.hdr");
        let text = fs::read_to_string(world.path(&path)).unwrap();
        let mut lines = text.lines();
        let head: Vec<_> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!(head, ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]);
        let rows: Vec<Vec<f64>> = lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
            .collect();
        let ascend = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a <= b);
        assert!(rows.windows(2).all(|pair| ascend(&pair[0], &pair[1])), "{text}");
        let last = rows.last().unwrap();
        assert!(last.len() == 3 && last[1] >= 1.0, "{text}");
        let told = format!("Total count    = {:12}]", last[2]);
        assert!(text.contains(&told), "{text}");
        assert!(count == 0 || (last[2] - f64::from(count)).abs() < 0.5, "{text}");
    }
    world.ok("report r.json --export-hdr again");
    let read =
        |folder: &str| fs::read(world.path(&format!("{folder}/1-warm-1-memory-all.hdr"))).unwrap();
    assert_eq!(read("out"), read("again"));
}

#[test]
fn rates_are_kept_as_a_schedule_and_are_a_workload_each() {
    let world = World::new();
    let line = "run memory: files: --read --rate 500,2k/s --keys 50 --count 100 --rounds 2";
    let out = world.ok(&format!("{line} --threads 2 --json r.json -v")).out;
    assert!(out.contains("read at 500/s, warm: 100 operations"), "{out}");
    assert!(out.contains("read at 2,000/s") && out.contains("operations started late"), "{out}");
    let record = world.record("r.json");
    assert_eq!(record.samples.len(), 8);
    for sample in &record.samples {
        let paced = sample.paced().unwrap();
        let asked = [500.0_f64, 2000.0][sample.workload];
        assert_eq!(paced.asked.total_cmp(&asked), std::cmp::Ordering::Equal);
        assert!(paced.reached > 0.0);
        assert!(paced.lag_p50_ns <= paced.lag_p99_ns && !paced.lag.is_empty());
        assert_eq!((sample.operations, sample.latency().unwrap().operations), (100, 100));
        // Each worker begins its last operation on time: none begins early.
        let shortest = 49.0 * 2.0 / paced.asked;
        assert!(sample.wall_ns as f64 / 1e9 >= shortest, "{} {shortest}", sample.wall_ns);
    }
    world.ok("run sqlite: --ycsb a,e --rate 300 --keys 60 --count 60 --rounds 1 --export-hdr out");
    assert!(world.path("out/2-warm-1-sqlite-scan.hdr").exists());
}

#[test]
fn a_target_that_does_not_keep_up_is_told() {
    let world = World::new();
    let ran = world.ok("run files: --read --rate 1G/s --keys 50 --count 500 --rounds 1 -v");
    let (out, words) = (&ran.out, ran.words());
    assert!(words.contains("(saturated): of 1,000,000,000 operations a second it did"), "{out}");
    let row = out.lines().find(|line| line.starts_with("files")).unwrap();
    assert!(row.contains("saturated: "), "{out}");
}

#[test]
fn made_up_values_compress_as_far_as_asked() {
    let world = World::new();
    let out = world.ok("run memory: --keys 200 --size 4k --compressible 0.5 --rounds 1").out;
    let told = out.split_once("a sample deflates to ").unwrap().1;
    let share: f64 = told.split_whitespace().next().unwrap().parse().unwrap();
    assert!((0.45..0.55).contains(&share), "{out}");
    assert!(!world.ok("run memory: --keys 200 --rounds 1").out.contains("deflates"));
}

#[test]
fn slips_are_told_in_one_line() {
    let world = World::new();
    for (line, says) in [
        ("--mix read=95", "adds up to 95, not to 100"),
        ("--mix read=95,update=95", "adds up to 190"),
        ("--mix read=50,updat=50", "did you mean update?"),
        ("--mix read", "operation=percent"),
        ("--mix read=100 --distribution zipfan", "did you mean zipfian?"),
        ("--mix read=100 --distribution hotspot=120/80", "20 % of the keys"),
        ("--mix read=100 --read", "cannot be used with"),
        ("--mix read=100 --asc", "cannot be used with"),
        ("--ycsb g", "a, b, c, d, e, f"),
        ("--ycsb a --read", "cannot be used with"),
        ("--ycsb a --mix read=100", "cannot be used with"),
        ("--ycsb a --distribution uniform", "cannot be used with"),
        ("--rate 0", "more than 0"),
        ("--rate 0/s", "more than 0"),
        ("--rate fast", "is not a rate"),
        ("--rate 10,,20", "is not a rate"),
        ("--rate -5", "is not a rate"),
        ("--compressible 0", "0.01 to 1"),
        ("--compressible 1.5", "0.01 to 1"),
        ("--mix read=10,delete=90 --keys 10 --count 100", "more than half of the 10 keys"),
    ] {
        let said = world.refused(&format!("run memory: {line}"));
        assert!(said.contains(says), "{line}: {said}");
    }
}
