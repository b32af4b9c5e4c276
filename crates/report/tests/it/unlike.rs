//! What differs between environments and between plans.

use model::{
    BlobsData, Cache, DatasetSpec, Durability, Environment, Experiment, Flush, Library,
    MemoryLimit, Operation, Plan,
};
use storemark_report::{environment_differences, plan_differences};

use crate::fixture::{typical, workload};

fn environments(change: impl FnOnce(&mut Environment)) -> Vec<String> {
    let one = typical().header.environment;
    let mut other = one.clone();
    change(&mut other);
    environment_differences(&[&one, &other]).iter().map(ToString::to_string).collect()
}

fn plans(change: impl FnOnce(&mut Plan)) -> Vec<String> {
    let one = typical().header.plan;
    let mut other = one.clone();
    change(&mut other);
    plan_differences(&[&one, &other]).iter().map(ToString::to_string).collect()
}

#[test]
fn equal_ones_do_not_differ() {
    assert_eq!(environments(|_| {}), [""; 0]);
    assert_eq!(plans(|_| {}), [""; 0]);
    assert!(environment_differences(&[]).is_empty() && plan_differences(&[]).is_empty());
}

#[test]
fn machines_and_systems_are_told_apart() {
    let said = environments(|e| {
        e.kernel = None;
        e.cpu.count = 8;
        e.cpu.governor = Some("powersave".to_owned());
        e.virtualised = None;
        e.memory.total_bytes = Some(16_400_000_000);
        e.filesystems[0].kind = "xfs".to_owned();
        e.filesystems[0].rotational = Some(true);
        e.debug_build = true;
    });
    assert_eq!(
        said,
        [
            "build of storemark: release against debug",
            "kernel: 6.18.5 against –",
            "processors: 2 against 8",
            "frequency governor: – against powersave",
            "memory: 8.20 GB against 16.4 GB",
            "virtual machine: kvm against none seen",
            "file system: ext4 against xfs",
            "disk: /dev/vda against /dev/vda, rotating",
        ]
    );
}

#[test]
fn engines_differ_in_their_versions_and_options() {
    let said = environments(|e| {
        e.libraries[0].version = "3.50.0".to_owned();
        e.libraries[0].options = vec!["THREADSAFE=1".to_owned(), "DEBUG".to_owned()];
        e.libraries.push(Library::new("LMDB", "0.9.33"));
    });
    assert_eq!(
        said,
        [
            "sqlite: 3.51.1 against 3.50.0",
            "sqlite compiled with: – against DEBUG",
            "LMDB: – against 0.9.33",
        ]
    );
}

#[test]
fn what_is_measured_anew_differs_when_it_is_twice_as_long() {
    let flush = |ns| Some(Flush { p50_ns: ns, ..Flush::default() });
    let said = |ns| {
        let mut one = typical().header.environment;
        one.filesystems[0].flush = flush(1_000_000);
        let mut other = one.clone();
        other.filesystems[0].flush = flush(ns);
        environment_differences(&[&one, &other]).len()
    };
    assert_eq!((said(1_900_000), said(2_000_000), said(400_000)), (0, 1, 1));
}

#[test]
fn what_changes_from_run_to_run_is_the_same_environment() {
    let said = environments(|e| {
        e.memory.available_bytes = Some(1);
        e.loop_ns *= 1.5;
        e.clock_ns += 10;
        e.filesystems[0].mount = "/elsewhere".to_owned();
    });
    assert_eq!(said, [""; 0]);
    let mut one = typical().header.environment;
    one.filesystems[0].device = "/dev/loop0".to_owned();
    let mut other = one.clone();
    other.filesystems[0].device = "/dev/loop12".to_owned();
    assert!(environment_differences(&[&one, &other]).is_empty());
}

#[test]
fn plans_differ_in_what_is_done() {
    let said = plans(|plan| {
        plan.targets.remove(2);
        plan.targets[0].settings.0.insert("layout".to_owned(), "tree".to_owned());
        plan.workloads.push(workload(Operation::Update));
        plan.caches = vec![Cache::Warm, Cache::Cold];
        let Experiment::Blobs(BlobsData { dataset, .. }) = &mut plan.experiment else {
            panic!("blobs")
        };
        *dataset = DatasetSpec::Targets;
        plan.baseline = 1;
        plan.durability = Some(Durability::Durable);
        plan.memory = Some(MemoryLimit { bytes: 64_000_000, ..MemoryLimit::default() });
    });
    assert_eq!(
        said,
        [
            "targets: files; pack against files (layout=tree)",
            "workloads: – against update, random permutation, all operations a commit",
            "cache states: – against cold",
            "baseline: files against sqlite api=blob",
            "data: 1,000 generated blobs of 10,000 ± 2,000 bytes against what the targets hold, \
             1,000 (10.0 MB)",
            "durability: each target's own against durable for all targets; use the same \
             --durability for all records",
            "memory: not limited against 64.0 MB for caches alone",
        ]
    );
}

#[test]
fn the_order_of_targets_counts() {
    let said = plans(|plan| plan.targets.swap(1, 2));
    assert_eq!(
        said,
        ["targets: files; sqlite api=blob; pack against files; pack; sqlite api=blob"]
    );
}

#[test]
fn how_long_and_how_often_does_not_count() {
    let said = plans(|plan| {
        plan.seed = 7;
        plan.rounds.seconds = 1.0;
        plan.rounds.precision = 0.5;
        plan.workloads[0].count = 77;
        plan.targets[1].location = "/elsewhere".to_owned();
    });
    assert_eq!(said, [""; 0]);
}

#[test]
fn several_are_told_in_their_order() {
    let one = typical().header.plan;
    let mut other = one.clone();
    other.caches = vec![Cache::Cold];
    let said = plan_differences(&[&one, &other, &one]);
    assert_eq!(said[0].values, ["warm", "cold", "warm"]);
}
