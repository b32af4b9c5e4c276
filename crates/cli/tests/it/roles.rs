//! `storemark run --roles` from outside.

use std::collections::BTreeMap;

use model::{BUSY_ERRORS, LOCK_WAIT_NS, Owner, RoleWork, Sample, record::Record};

use crate::{
    running::{children, signal, within},
    world::World,
};

const STOREMARK: &str = env!("CARGO_BIN_EXE_storemark");

const SHORT: &str = "--keys 200 --size 1k --pass 200ms --rounds 2 --seed 7 -q --json r.jsonl";

/// The samples of a role on a target.
fn samples(record: &Record, target: usize, role: usize, together: bool) -> Vec<&Sample> {
    let is_it = |work: RoleWork| (work.role, work.together) == (role, together);
    let of = |sample: &&Sample| {
        let work = record.header.plan.workloads[sample.workload].work.role().unwrap();
        sample.target == target && is_it(work)
    };
    record.samples.iter().filter(of).collect()
}

#[test]
fn each_role_is_measured_alone_and_together_on_every_engine() {
    let world = World::new();
    let targets =
        "sqlite:?journal=wal sqlite:?journal=delete lmdb: redb: files: fjall: memory: null:";
    let roles = "readers=2,writers=1:update=80:insert=10:delete=10:batch=3,looks=1:stat@200/s";
    let ran = world.ok(&format!("run {targets} --roles {roles} {SHORT} --html r.html"));
    let record = world.record("r.jsonl");
    let (together, alone) = (true, false);
    for target in 0..8 {
        for role in 0..3 {
            for kind in [together, alone] {
                let own = samples(&record, target, role, kind);
                assert_eq!(own.len(), 2, "target {target}, role {role}");
                assert!(own.iter().all(|sample| sample.operations > 0), "{target} {role} {own:?}");
            }
        }
        let looks: u64 = samples(&record, target, 2, alone).iter().map(|s| s.operations).sum();
        assert!((20..=82).contains(&looks), "200 a second for 0.4 s: {looks}");
    }
    let scheduled = samples(&record, 0, 2, alone);
    assert!(scheduled.iter().all(|sample| sample.wall_ns >= 200_000_000), "{scheduled:?}");
    let words = ran.words();
    for shown in [
        "2 readers (read)",
        "10 % insert",
        "looks take this multiple",
        "÷ alone",
        "passes of 200 ms",
    ] {
        assert!(words.contains(shown), "{shown}\n{}", ran.out);
    }
    assert_eq!(world.ok("report r.jsonl").out, ran.out);
    let left: Vec<_> = world.tree().into_keys().collect();
    assert_eq!(left, ["r.html", "r.jsonl"].map(|name| world.path(name)));
}

#[test]
fn a_store_is_found_whole_after_roles_that_insert_and_delete() {
    let world = World::new();
    // Reads of a key that were not there would end the run.
    let roles = "readers=1:read=50:scan=50,churn=2:insert=50:delete=50,rewrite=1:rmw:batch=5";
    world.ok(&format!("run sqlite:?journal=wal lmdb: redb: files: --roles {roles} {SHORT}"));
    let record = world.record("r.jsonl");
    assert_eq!(record.samples.len(), 4 * 2 * 6);
}

#[test]
fn waits_add_up_and_refusals_are_counted() {
    let world = World::new();
    let targets = "sqlite:?journal=delete&busy=0,5s";
    world.ok(&format!("run {targets} --roles readers=1,writers=2:batch=20 {SHORT}"));
    let record = world.record("r.jsonl");
    let sum = |target, name: &str| -> i64 {
        let own = samples(&record, target, 1, true);
        own.iter().map(|sample| sample.counters[name]).sum()
    };
    assert!(sum(0, BUSY_ERRORS) > 0, "two writers, and none may wait");
    assert_eq!(sum(0, LOCK_WAIT_NS), 0, "no session may wait");
    assert_eq!(sum(1, BUSY_ERRORS), 0, "each session waits for the other");
    assert!(sum(1, LOCK_WAIT_NS) > 0);
    for sample in &record.samples {
        let sessions = record.header.plan.workloads[sample.workload].workers();
        let waited = sample.counters[LOCK_WAIT_NS].unsigned_abs();
        assert!(waited <= sample.wall_ns * u64::from(sessions), "{waited} of {}", sample.wall_ns);
    }
}

#[test]
fn a_held_snapshot_keeps_the_log_growing_and_the_report_says_so() {
    let world = World::new();
    let line = "run sqlite:?journal=wal&sync=off lmdb: --keys 500 --size 10k --rounds 1 --seed 7 -v \
                --roles readers=1:held=10s,writers=1:batch=20 --pass 4s --json r.jsonl";
    let ran = world.ok(line);
    let record = world.record("r.jsonl");
    let log = |together: bool| {
        let own = samples(&record, 0, usize::from(!together), together);
        own[0].role().unwrap().growth.iter().map(|size| size.log_bytes).max().unwrap()
    };
    assert!(log(true) > 2 * log(false), "{} with a snapshot held, {}", log(true), log(false));
    if log(true) >= 32 << 20 {
        assert!(ran.words().contains("because readers held a snapshot, which"), "{}", ran.out);
    }
    let sizes = &samples(&record, 1, 0, true)[0].role().unwrap().growth;
    let largest = sizes.iter().map(|size| size.bytes).max().unwrap();
    if largest >= sizes[0].bytes * 2 + (32 << 20) {
        assert!(ran.words().contains("held a snapshot, for which old versions"), "{}", ran.out);
    }
}

#[test]
fn sessions_are_processes_and_a_killed_one_ends_its_target_only() {
    let world = World::new();
    let line = "run sqlite:?journal=wal lmdb: --roles readers=1,writers=1 --processes 1 --keys 200 \
                --size 1k --pass 500ms --rounds 3 --seed 7 --json r.jsonl";
    let child = world.under_way(line, "r.jsonl", crate::running::SAMPLE, 1);
    let parent = child.id();
    let workers = || -> BTreeMap<u32, String> {
        let line = |id| std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let own = children(parent).into_iter().map(|(id, _)| (id, line(id)));
        own.filter(|(_, line)| line.contains("worker")).collect()
    };
    assert!(within(20, || workers().len() == 2), "{:?}", workers());
    signal(*workers().keys().next().unwrap(), "KILL");
    let ran = crate::world::Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("not measured to the end; what was measured is shown"), "{}", ran.err);
    assert!(ran.words().contains("readers"), "{}", ran.out);
    let record = world.record("r.jsonl");
    let rounds = |target| samples(&record, target, 0, true).len();
    assert_eq!(rounds(0).max(rounds(1)), 3, "the other target goes on");
    assert!(workers().is_empty());
}

/// A tmpfs of 5 MB has room for the values, and for less than the log that is moved into the store by
/// itself.
#[test]
fn a_full_disk_ends_its_target_only() {
    let world = World::new();
    std::fs::create_dir(world.path("full")).unwrap();
    let line = "run sqlite:?journal=wal memory: --roles readers=1,writers=1:insert:batch=5 --keys 200 \
                --size 10k --pass 3s --rounds 1 --seed 7 --scratch full --json r.jsonl";
    let root = "$(test $(id -u) = 0 || echo -r)";
    let run = format!("mount -t tmpfs -o size=5m none full && exec {STOREMARK} {line}");
    let mut shell = std::process::Command::new("sh");
    let shell = shell.args(["-c", &format!("exec unshare {root} -m sh -c '{run}'")]);
    let ran = crate::world::Ran::from(shell.current_dir(world.path(".")).output().unwrap());
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.words().contains("database or disk is full"), "{}", ran.out);
    let said = "sqlite journal=wal not measured to the end; what was measured is shown";
    assert!(ran.err.contains(said), "{}", ran.err);
    let record = world.record("r.jsonl");
    assert_eq!(samples(&record, 1, 0, true).len(), 1, "the other target goes on");
}

#[test]
fn what_an_engine_cannot_do_is_refused_by_its_name() {
    let world = World::new();
    world.refuses([
        ("run files: --roles readers=1:held=1s,writers=1", "files: has no snapshot that readers"),
        ("run lmdb: --roles writers=1:deferred", "leave out deferred in writers"),
        ("run redb: --roles readers=1,writers=1 --processes 1", "redb lets one process write"),
        ("run fjall: --roles readers=2 --processes 1", "fjall: admits one process"),
        ("run sqlite: --roles readers", "accepted is NAME=SESSIONS"),
        ("run sqlite: --roles a=1", "only readers and writers have an operation by default"),
        ("run sqlite: --roles readers=1 --mix read=100", "--roles cannot be used with --mix"),
        ("run sqlite: --pass 1s", "--pass needs --roles"),
        ("run sqlite: --roles readers=1 --processes 4", "a process for each session"),
    ]);
}

#[test]
fn maintenance_runs_meanwhile_on_each_engine_that_has_it() {
    let world = World::new();
    for (target, kinds) in [
        ("sqlite:?journal=wal", "checkpoint,vacuum,analyze,backup,integrity-check,copy"),
        ("lmdb:", "backup,copy"),
        ("fjall:", "compact"),
        ("redb:", "compact"),
        ("files:", "copy"),
    ] {
        let line = format!("run {target} --roles readers=1 {SHORT} --meanwhile {kinds}");
        let ran = world.ok(&line);
        let record = world.record("r.jsonl");
        let count = kinds.split(',').count();
        assert_eq!(record.samples.len(), 2 * (1 + count), "{target}");
        for kind in kinds.split(',') {
            assert!(ran.words().contains(&format!("readers during {kind}")), "{}", ran.out);
        }
        let measured = record.samples.iter().filter_map(|s| s.role()?.maintenance.as_ref());
        let measured: Vec<_> = measured.collect();
        assert_eq!(measured.len(), 2 * count, "{target}");
        assert!(measured.iter().all(|of| of.alone_ns.is_some()), "{target}: {measured:?}");
        let finished = measured.iter().filter(|of| of.runs_ns.len() == 1).count();
        assert!(finished > 0, "{target}: {measured:?}");
        assert_eq!(world.ok("report r.jsonl").out, ran.out);
        assert!(
            world
                .ok(&format!("engines {}", target.split(':').next().unwrap()))
                .out
                .contains("copy")
                || kinds == "compact"
        );
    }
    world.refuses([
        ("run memory: --roles readers=1 --meanwhile compact", "it can do nothing"),
        ("run lmdb: --roles readers=1 --meanwhile vacuum", "it can do backup, copy"),
        ("run lmdb: --roles readers=1 --meanwhile backup=twice", "backup=always"),
        ("run lmdb: --meanwhile backup", "--meanwhile needs --roles"),
    ]);
}

#[test]
fn a_dry_run_shows_the_passes() {
    let ran =
        World::new().ok("run sqlite: lmdb: --roles readers=2,writers=1@1k/s --time 30s --dry-run");
    for shown in ["2 readers (read)", "1 writers (update, 1,000/s)", "3 of 700 ms for each target"]
    {
        assert!(ran.words().contains(shown), "{shown}\n{}", ran.out);
    }
}

#[test]
fn a_round_that_does_not_fit_is_said_before_and_a_run_without_one_ends_with_2() {
    let roles = "--roles reports=1:scan:held=2s,writers=1 --keys 100 --size 1k --time 3s";
    let ran = World::new().run(&format!("run sqlite: {roles}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let said = "one round takes about 12.0 s: fewer than the 5 that a verdict needs fit into 3.0 s";
    assert!(ran.err.contains(said), "{}", ran.err);
    assert!(ran.err.contains("the time was over before it was done"), "{}", ran.err);
}

#[test]
fn servers_are_maintained_meanwhile() {
    for (server, kinds) in [
        ("postgres", "checkpoint,vacuum,analyze,backup"),
        ("mariadb", "vacuum,analyze,backup"),
        ("valkey", "compact,backup"),
    ] {
        if crate::servers::without(server) {
            continue;
        }
        let world = World::new();
        let line = format!("run {server}: --roles readers=1,writers=1 {SHORT} --meanwhile {kinds}");
        world.ok(&format!("{line} --scratch /tmp"));
        let record = world.record("r.jsonl");
        let measured = record.samples.iter().filter_map(|s| s.role()?.maintenance.as_ref());
        assert_eq!(
            measured.filter(|of| of.alone_ns.is_some()).count(),
            2 * kinds.split(',').count()
        );
    }
}

#[test]
fn keys_are_drawn_by_the_law_that_was_asked_for() {
    let world = World::new();
    let roles = "readers=1,writers=1:batch=5 --distribution hotspot=10/90";
    let ran = world.ok(&format!("run sqlite: lmdb: --roles {roles} --processes 1 {SHORT}"));
    assert!(ran.words().contains("keys hotspot (90 % on 10 % of the keys)"), "{}", ran.out);
    assert_eq!(world.record("r.jsonl").samples.len(), 2 * 2 * 4);
}

/// A commit needs the lock that a reader's snapshot keeps with a rollback journal, whereas the writes
/// before it do not.
#[test]
fn operations_of_a_transaction_that_was_undone_are_not_done() {
    let world = World::new();
    let roles = "readers=1:held=10s,writers=1:batch=5";
    let line = "--keys 200 --size 1k --pass 500ms --rounds 4 --seed 7 -q --json r.jsonl";
    world.ok(&format!("run sqlite:?journal=delete&busy=0 --roles {roles} {line}"));
    let record = world.record("r.jsonl");
    let figures =
        |sample: &&Sample| (sample.operations, sample.counters[BUSY_ERRORS].unsigned_abs());
    let together = |role| samples(&record, 0, role, true).iter().map(figures).collect::<Vec<_>>();
    // In a round whose reader came late, the writers committed meanwhile.
    let mut writers = together(1).into_iter();
    let is_undone = |(operations, refused): (u64, u64)| refused > 0 && operations < refused;
    assert!(writers.any(is_undone), "{:?} beside {:?}", together(1), together(0));
    let alone = samples(&record, 0, 1, false)[0];
    assert!(alone.operations > 0 && alone.counters[BUSY_ERRORS] == 0);
}

/// With a rollback journal a commit waits for readers, and the writes before it are undone if it may not.
#[test]
fn keys_of_a_transaction_that_was_undone_are_not_there() {
    let world = World::new();
    let roles = "readers=2:batch=50,writers=1:insert=50:delete=50:batch=5";
    world.ok(&format!("run sqlite:?journal=delete&busy=0 --roles {roles} {SHORT}"));
    let record = world.record("r.jsonl");
    let writers = samples(&record, 0, 1, true);
    let refused: i64 = writers.iter().map(|sample| sample.counters[BUSY_ERRORS]).sum();
    assert!(writers.len() == 2 && refused > 0, "{writers:?}");
}

#[test]
fn roles_work_in_copies_of_the_users_own_stores() {
    let world = World::new();
    world.ok("init own.db --count 200 --size 1k");
    world.ok("export own.db own");
    let table = "CREATE TABLE photos(id INTEGER PRIMARY KEY, data BLOB, made TEXT DEFAULT 'now'); \
                 INSERT INTO photos(id, data) WITH n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n \
                 LIMIT 200) SELECT k, randomblob(900) FROM n";
    world.sqlite3(&["app.db", table]);
    let before = world.tree();
    let roles = "readers=2,writers=1:update=50:insert=30:delete=20";
    let ran = world.ok(&format!(
        "run own.db own lmdb: --roles {roles} --pass 200ms --rounds 2 -q -v --json r.jsonl"
    ));
    assert!(ran.words().contains("roles work in copies only"), "{}", ran.out);
    let record = world.record("r.jsonl");
    let owners: Vec<_> = record.header.plan.targets.iter().map(|target| target.owner).collect();
    assert_eq!(owners, [Owner::Copy, Owner::Copy, Owner::Scratch]);
    assert!((0..3).all(|target| !samples(&record, target, 1, true).is_empty()));
    let options = "--pass 200ms --rounds 2 -q --json t.jsonl";
    world.ok(&format!("run app.db --roles readers=1,writers=1:update=80:insert=20 {options}"));
    let mut after = world.tree();
    after.retain(|path, _| !path.ends_with("r.jsonl") && !path.ends_with("t.jsonl"));
    assert_eq!(after, before, "the user's own stores are as they were, and nothing is left");
    let said = world.run("run own.db app.db --roles readers=1,writers=1 --rounds 2").words();
    assert!(said.contains("app.db") && said.contains("storemark verify"), "{said}");
}
