//! Lists of values: a run each, in one record.

use model::{
    BlobsData, DatasetSpec, Durability, Experiment, Generated, StoreFacts, record::Header,
};
use spec::Options;

use crate::{running::signal, world::World};

const SWEEP: &str = "run files: sqlite: --read --size 1k,4k --keys 20 --rounds 2 --seed 7";

fn headers(world: &World, name: &str) -> Vec<Header> {
    world.records(name).into_iter().map(|record| record.header).collect()
}

fn stores(world: &World, name: &str) -> Vec<StoreFacts> {
    world.records(name).into_iter().flat_map(|record| record.stores).collect()
}

/// Whether each store was filled for its run, in the order of the record.
fn filled(world: &World, name: &str) -> Vec<bool> {
    stores(world, name).iter().map(|store| store.fill_ns.is_some()).collect()
}

fn data(header: &Header) -> Generated {
    match &header.plan.experiment {
        Experiment::Blobs(BlobsData { dataset: DatasetSpec::Generated(data), .. }) => *data,
        other => panic!("{other:?}"),
    }
}

fn options(header: &Header) -> Options {
    header.spec.clone().unwrap().options
}

#[test]
fn a_list_is_a_run_for_each_value_in_one_record() {
    let world = World::new();
    let out = world.ok(&format!("{SWEEP} --json run.json")).out;
    for said in ["a sweep of 2 runs: size 1k, 4k", "size=4k", "break-even, read, warm", "seed 7"] {
        assert!(out.contains(said), "{said}\n{out}");
    }
    let headers = headers(&world, "run.json");
    let sizes: Vec<_> = headers.iter().map(|header| data(header).size).collect();
    assert_eq!(sizes, [1000, 4000]);
    assert_eq!(headers[1].point.as_ref().unwrap().number, 1);
    assert_eq!(options(&headers[1])["size"], serde_json::json!(["1k", "4k"]));
    assert_eq!(world.ok("report run.json").out, out);
    let all = world.ok("report run.json --verbose").out;
    assert!(all.contains("20 keys of 4,000 bytes") && all.contains("break-even"), "{all}");
}

#[test]
fn a_record_of_a_sweep_is_the_sweep_again() {
    let world = World::new();
    world.ok(&format!("{SWEEP} --json run.json --save-plan plan.toml"));
    world.ok("run run.json --json again.json");
    world.ok("run plan.toml --size 2k --json one.json");
    let asked = |name: &str| options(&headers(&world, name)[0]);
    assert_eq!(asked("again.json"), asked("run.json"));
    assert_eq!(headers(&world, "again.json").len(), 2);
    assert_eq!(headers(&world, "one.json").len(), 1);
    assert!(headers(&world, "one.json")[0].point.is_none());
}

#[test]
fn lists_are_crossed_or_zipped() {
    let world = World::new();
    let line = "run null: --keys 5 --rounds 1 --size 10,20 --threads 1,2 --json run.json";
    world.ok(line);
    assert_eq!(headers(&world, "run.json").len(), 4);
    world.ok(&format!("{line} --zip"));
    let zipped = headers(&world, "run.json");
    let told: Vec<_> =
        zipped.iter().map(|header| (data(header).size, header.plan.workloads[0].threads)).collect();
    assert_eq!(told, [(10, 1), (20, 2)]);
    let said = world.refused("run null: --size 10,20,30 --threads 1,2 --zip");
    assert!(said.contains("--size 3, --threads 2"), "{said}");
    assert!(world.refused("run null: --size 10,1z").contains("which is no unit"));
}

#[test]
fn settings_that_are_lists_are_targets_of_the_same_rounds() {
    let world = World::new();
    let labels = |line: &str| {
        world.ok(&format!("{line} --read --keys 5 --size 100 --rounds 1 --json run.json"));
        let headers = headers(&world, "run.json");
        assert_eq!(headers.len(), 1, "{line}");
        let targets = headers[0].plan.targets.iter();
        targets.map(|target| target.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        labels("run files: sqlite:?page_size=512,4096&mmap=0,1MiB"),
        [
            "files",
            "sqlite page_size=512 mmap=0",
            "sqlite page_size=512 mmap=1MiB",
            "sqlite page_size=4096 mmap=0",
            "sqlite page_size=4096 mmap=1MiB"
        ]
    );
    assert_eq!(
        labels("run files: sqlite: sqlite:?mmap=5 --mmap 0,1MiB"),
        ["files", "sqlite mmap=0", "sqlite mmap=1048576", "sqlite mmap=5"]
    );
    assert_eq!(labels("run sqlite:?page_size=512,4096&mmap=0,1MiB --zip").len(), 2);
    assert!(world.refused("run sqlite:?page_size=512,1000").contains("power of two"));
    assert!(world.refused("run sqlite: --cache-size 10,-10").contains("one list"));
    assert_eq!(
        labels("run files: sqlite: --set mmap=0,1MiB --set sqlite:sync=off,full"),
        [
            "files",
            "sqlite mmap=0 sync=off",
            "sqlite mmap=0 sync=full",
            "sqlite mmap=1MiB sync=off",
            "sqlite mmap=1MiB sync=full"
        ]
    );
    assert!(world.refused("run files: --set mmpa=1").contains("did you mean mmap?"));
    assert!(world.refused("run files: --set mmap").contains("NAME=VALUE"));
}

#[test]
fn the_matrix_of_page_sizes_stands_beneath() {
    let world = World::new();
    let line = "run files: sqlite: --page-size 512,4096 --read --size 1k,4k --keys 20 --rounds 2";
    let out = world.ok(line).out;
    assert!(out.contains("files, time ÷ sqlite's, read, warm, by page size"), "{out}");
}

#[test]
fn as_many_keys_as_fit_into_so_many_bytes() {
    let world = World::after(["run null: --bytes 10k --size 1k,3k --rounds 1 --json run.json"]);
    let counts: Vec<_> =
        headers(&world, "run.json").iter().map(|header| data(header).count).collect();
    assert_eq!(counts, [10, 3]);
    world.refused("run null: --bytes 10k --keys 3");
}

#[test]
fn what_takes_a_day_or_more_room_than_there_is_is_refused() {
    let world = World::new();
    let long = "run memory: --keys 10 --size 10,20 --count 100g --rounds 100";
    let said = world.refused(long);
    assert!(said.contains("--yes runs it anyway") && said.contains("2 runs takes about"), "{said}");
    let large = "run files: --bytes 9000000g --size 4g,2g --rounds 1";
    let said = world.refused(large);
    assert!(said.contains("are free") && said.contains("--yes runs it anyway"), "{said}");
    // What it takes can be looked at.
    assert!(world.ok(&format!("{large} --dry-run")).out.contains("size=2g"));
}

/// Each run has its own scratch stores; with `--count` so large the second never ends by itself.
#[test]
#[cfg(unix)]
fn what_was_measured_before_an_interruption_is_kept_and_shown() {
    let world = World::new();
    let line =
        "run memory: --read --keys 50 --size 100 --count 10,900m --rounds 50 --json run.json --yes";
    let child = world.under_way(line, "run.json", r#"{"line":"end""#, 1);
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(130), "{out}");
    assert!(out.contains("count=10"), "{out}");
}

#[test]
fn what_was_measured_before_a_failure_is_kept_and_shown() {
    let world = World::new();
    // The second cannot be made: a blob is larger than any may be.
    let ran = world.run("run memory: --keys 2 --size 100,8g --rounds 1 --json run.json --yes");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(
        ran.out.contains("size=100") && ran.err.contains("at most 4 GiB"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert_eq!(headers(&world, "run.json").len(), 1);
}

#[test]
fn runs_that_only_read_the_same_data_share_their_stores() {
    let world = World::new();
    let line = "run files: sqlite: --read --keys 30 --size 1k --rounds 2 --seed 7";
    world.ok(&format!("{line} --threads 1,2,3 --json run.json --integrity-check"));
    assert_eq!(filled(&world, "run.json"), [true, true, false, false, false, false]);
    let facts = |number: usize| {
        let facts = stores(&world, "run.json")[number].clone();
        StoreFacts { fill_ns: None, check_ns: Default::default(), ..facts }
    };
    assert_eq!(facts(2), facts(0), "it is the same store");
    assert_eq!(facts(3), facts(1));
    for sample in world.records("run.json").iter().flat_map(|record| &record.samples) {
        assert!(sample.before.unwrap().pages > 0, "its state is looked at: {sample:?}");
    }
    world.ok(&format!("{line} --threads 2 --json alone.json"));
    let plan = |name: &str, number: usize| headers(&world, name)[number].plan.clone();
    let (shared, alone) = (plan("run.json", 1), plan("alone.json", 0));
    assert_eq!((shared.experiment, shared.targets), (alone.experiment, alone.targets));
    assert_eq!(world.tree().len(), 2, "both records and nothing else");
}

#[test]
fn each_size_has_stores_of_its_own_and_those_of_one_size_follow_each_other() {
    let world = World::new();
    let line = "run files: --read --keys 30 --batch 1,10 --size 1k,2k --rounds 1";
    let planned = world.ok(&format!("{line} --dry-run")).out;
    assert_eq!(planned.matches("on the data and stores of the run before").count(), 2, "{planned}");
    world.ok(&format!("{line} --json run.json"));
    assert_eq!(filled(&world, "run.json"), [true, false, true, false]);
    let varied: Vec<_> = headers(&world, "run.json")
        .iter()
        .map(|header| header.point.clone().unwrap())
        .map(|p| (p.number, p.varied["size"].clone(), p.varied["batch"].clone()))
        .collect();
    let told = [("1k", "1"), ("1k", "10"), ("2k", "1"), ("2k", "10")];
    let told = (0..).zip(told).map(|(n, (size, batch))| (n, size.to_owned(), batch.to_owned()));
    assert_eq!(varied, told.collect::<Vec<_>>());
}

#[test]
fn a_store_that_was_written_to_is_made_anew() {
    let world = World::new();
    let line = "run files: --keys 30 --size 1k --rounds 1 --batch 1,10 --json run.json";
    world.ok(&format!("{line} --update"));
    assert_eq!(filled(&world, "run.json"), [true, true]);
    // The one that is read stays; the one that is written to is made once reads were measured.
    world.ok(&format!("{line} --read --update"));
    assert_eq!(filled(&world, "run.json"), [true, false]);
    assert_eq!(headers(&world, "run.json").len(), 2);
}

#[test]
fn other_settings_need_other_stores() {
    let world = World::new();
    let line = "run sqlite: files: --read --keys 30 --size 1k --rounds 1 --json run.json";
    world.ok(&format!("{line} --durability none,durable --threads 1,2"));
    assert_eq!(filled(&world, "run.json"), [true, true, false, false, true, true, false, false]);
    let classes: Vec<_> = stores(&world, "run.json").iter().map(|s| s.durability).collect();
    assert_eq!(classes, [[Durability::None; 4], [Durability::Durable; 4]].concat());
}

/// The second run never ends by itself.
#[test]
#[cfg(unix)]
fn nothing_is_left_of_shared_stores_after_an_interruption() {
    let world = World::new();
    let line =
        "run files: sqlite: --read --keys 40 --count 10,900m --rounds 5 --json run.json --yes";
    let mut child = world.under_way(line, "run.json", r#"{"line":"header""#, 2);
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(world.tree().len(), 1, "{:?}", world.tree().keys());
}
