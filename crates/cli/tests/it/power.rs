//! What a power cut leaves of stores, and of what storemark itself moves and writes.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::{servers::without, world::World};

const STOREMARK: &str = env!("CARGO_BIN_EXE_storemark");

/// The stores of `storemark crash`, as JSON, unless there is no FUSE here.
fn crashed(line: &str, code: i32) -> Option<Vec<Value>> {
    let world = World::new();
    let ran = world.run(&format!("crash {line} --seed 1 --commits 40 -q --json -"));
    assert_eq!(ran.code, Some(code), "{line}\n{}{}", ran.out, ran.err);
    assert_eq!(world.names("."), [""; 0], "something is left");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let stores = json["stores"].as_array().unwrap().clone();
    recorded(&stores[0]).then_some(stores)
}

/// Whether writes were recorded; without FUSE the test is left out.
fn recorded(result: &Value) -> bool {
    let why = result["unrecorded"].as_str();
    if let Some(why) = why {
        host::unchecked("fuse", why);
    }
    why.is_none()
}

/// Adds up a figure of all models but `strict`.
fn sum(store: &Value, figure: &str) -> u64 {
    let models = store["models"].as_array().unwrap().iter();
    let models = models.filter(|row| row["model"] != "strict");
    models.map(|row| row[figure].as_u64().unwrap()).sum()
}

#[test]
fn stores_that_flush_keep_what_they_acknowledged() {
    // Nothing flushes the name of a new store of LMDB or redb.
    let line = "sqlite:?journal=delete&sync=extra lmdb: redb: files: --durability durable --states 25 \
                --stores established";
    let Some(stores) = crashed(line, 0) else { return };
    assert_eq!(stores.len(), 4);
    for store in stores {
        assert_eq!(store["durability"], "durable");
        assert_eq!((sum(&store, "most_lost"), sum(&store, "torn")), (0, 0), "{store:#}");
        assert_eq!(sum(&store, "states"), sum(&store, "kept"), "{store:#}");
        assert!(sum(&store, "states") > 15 && store["acknowledged"] == 40, "{store:#}");
    }
}

#[test]
fn each_class_loses_what_it_does_not_promise() {
    let line = "sqlite:?journal=delete&sync=full sqlite:?journal=wal&sync=normal --states 60 \
                --stores established --models ordered";
    let Some(stores) = crashed(line, 0) else { return };
    let [journal, log] = stores.as_slice() else { panic!("{stores:#?}") };
    assert_eq!(
        (&journal["durability"], &log["durability"]),
        (&"consistent".into(), &"consistent".into())
    );
    assert_eq!(sum(journal, "most_lost"), 1, "the last commit, with the name of its journal");
    assert!(sum(log, "most_lost") > 5, "{log:#}");

    let line = "sqlite:?journal=wal&sync=off lmdb:?sync=off files:?write=inplace --stores established \
                --states 60 --models ordered";
    for store in crashed(line, 0).unwrap() {
        assert_eq!(store["durability"], "none");
        assert!(sum(&store, "torn") + sum(&store, "unopened") > 0, "{store:#}");
        let is_sqlite = store["target"].as_str().unwrap().starts_with("sqlite");
        // LMDB and files come with no tool that repairs them.
        let repaired = if is_sqlite { sum(&store, "unopened") } else { 0 };
        assert!(sum(&store, "repaired") <= repaired, "{store:#}");
    }
}

#[test]
fn what_is_lost_and_what_a_repair_saves_are_counted_and_shown() {
    let world = World::new();
    let line = "crash sqlite:?journal=wal&sync=off --stores established --states 80 --models ordered \
                --commits 40 --seed 1 -q --json lost.json --html lost.html";
    let ran = world.run(line);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let json = std::fs::read_to_string(world.path("lost.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let store = &json["stores"][0];
    if !recorded(store) {
        return;
    }
    assert!(sum(store, "repaired") > 0, "{store:#}");
    let repair = store["models"][0]["repair"].as_str().unwrap();
    let is_command = [".recover: ", ".dump: "].iter().any(|command| repair.contains(command));
    assert!(repair.starts_with("sqlite3 DATABASE .") && is_command, "{repair}");
    assert!(repair.contains(" commits saved") || repair.contains("does not open"), "{repair}");
    let page = std::fs::read_to_string(world.path("lost.html")).unwrap();
    for shown in [&ran.words(), &page] {
        assert!(shown.contains("What a repair saves, in the first state"), "{shown}");
        assert!(shown.contains("(established): sqlite3 DATABASE ."), "{shown}");
    }
    // The chart of what was lost over the moment of the cut.
    let states = store["states"].as_array().unwrap();
    let most = states.iter().map(|state| state["lost"].as_u64().unwrap()).max();
    assert_eq!((states.len() as u64, most), (sum(store, "states"), Some(sum(store, "most_lost"))));
    for part in ["data-chart=\"power-cuts-1\"", "\"kind\":\"points\"", "commits lost"] {
        assert!(page.contains(part), "{part}");
    }
    world.refuses([("crash sqlite: --states 1 --html -", "name a file")]);
}

/// Fewer states than usual, because each starts a server.
#[test]
fn a_server_is_started_on_each_state_and_keeps_what_it_acknowledged() {
    if without("postgres") {
        return;
    }
    let Some(stores) = crashed("postgres: --durability durable --states 8", 0) else { return };
    let [store] = stores.as_slice() else { panic!("{stores:#?}") };
    assert_eq!((&store["server"], &store["established"]), (&true.into(), &true.into()));
    assert_eq!((sum(store, "most_lost"), sum(store, "unopened")), (0, 0), "{store:#}");
    assert!(sum(store, "states") > 3 && store["acknowledged"] == 40, "{store:#}");
    let strict = store["models"].as_array().unwrap().iter().find(|row| row["model"] == "strict");
    assert!(strict.is_some_and(|row| row["states"].as_u64() > Some(0)), "{store:#}");
}

#[test]
fn a_server_without_a_log_loses_what_it_acknowledged() {
    if without("valkey") {
        return;
    }
    // About half of the states lose something, and which depends on when the server writes.
    let line = "valkey: --durability none --states 24 --models kill,ordered";
    let Some(stores) = crashed(line, 0) else { return };
    let [store] = stores.as_slice() else { panic!("{stores:#?}") };
    assert_eq!((&store["server"], &store["durability"]), (&true.into(), &"none".into()));
    assert!(sum(store, "most_lost") > 0 && sum(store, "unopened") == 0, "{store:#}");
}

/// Runs `program` (a script of a shell) under power cuts; each state has to satisfy the script `check`.
#[track_caller]
fn survives(world: &World, program: &str, check: &str) {
    world.write("program", program);
    world.write("check", format!("set -e; cd \"$1\"\n{check}\n"));
    let arguments = ["crash", "--states", "40", "--seed", "1", "-q", "--json", "-", "--check"];
    let folder = world.path(".");
    let mut command = world.command("");
    command.args(arguments).arg(format!("sh {}/check {{}}", folder.display()));
    command.args(["--", "sh"]).arg(world.path("program"));
    command.env("S", STOREMARK).env("W", &folder);
    let ran: crate::world::Ran = command.output().unwrap().into();
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let said = format!("{program}\n{}{}", ran.out, ran.err);
    assert_eq!(ran.code, Some(0), "{said}");
    if recorded(&json) {
        let models = json["models"].as_array().unwrap();
        let states: u64 = models.iter().map(|row| row["states"].as_u64().unwrap()).sum();
        assert!(states > 10, "{said}");
        assert_eq!(json["first_strict"], Value::Null, "{said}");
    }
}

#[test]
fn a_copy_that_has_its_name_is_whole() {
    let world = World::after([
        "init a.db --count 30 --size 20k --variance 15k --seed 1",
        "init b.db --count 20 --size 9k --seed 2",
    ]);
    let mut targets = vec!["sqlite:copy", "files:copy", "hybrid:copy?inline=10k", "pack:copy"];
    targets.extend(["lmdb:copy", "redb:copy", "fjall:copy", "tar:copy"]);
    for target in targets {
        // Names for archives; the first copy is replaced by the second.
        let program = format!(
            "set -e; $S copy $W/a.db '{target}' -q; echo ACK first; \
             $S copy $W/b.db '{target}' --force -q; echo ACK second"
        );
        let check = format!(
            "last=$(tail -n 1 $STOREMARK_ACKED)\n\
             [ -e copy ] || [ -z \"$last\" ]\n\
             [ -e copy ] || exit 0\n\
             [ \"$last\" = second ] || ! $S verify $W/a.db '{target}' -q || exit 0\n\
             $S verify $W/b.db '{target}' -q"
        );
        survives(&world, &program, &check);
    }
}

#[test]
fn an_imported_folder_is_whole() {
    let world = World::new();
    for name in 0..20 {
        world.write(&format!("folder/{}/{name}", name % 3), vec![name; 5000 * usize::from(name)]);
    }
    let program = "set -e; $S import $W/folder all.db -q; echo ACK done";
    let check = "[ -e all.db ] || { [ ! -s $STOREMARK_ACKED ]; exit; }\n\
                 $S verify $W/folder all.db -q";
    survives(&world, program, check);
}

#[test]
fn a_repository_has_each_backup_that_ended() {
    let world = World::new();
    for name in 0..20 {
        world.write(&format!("folder/{name}"), vec![name; 7000 * usize::from(name)]);
    }
    let program = "set -e; cp -r $W/folder $W/data\n\
                   $S backup $W/data --keep kept -q; echo ACK 1\n\
                   rm $W/data/3; echo more > $W/data/more\n\
                   $S backup $W/data --keep kept -q; echo ACK 2\n\
                   rm -r $W/data";
    let check = "count=$(wc -l < $STOREMARK_ACKED)\n\
                 [ $count -gt 0 ] || exit 0\n\
                 $S backup check kept > /dev/null\n\
                 [ $($S backup list kept | wc -l) -ge $count ]\n\
                 $S backup restore kept out > /dev/null\n\
                 [ $count = 2 ] || ! diff -r out $W/folder || exit 0\n\
                 [ -e out/more ]";
    survives(&world, program, check);
}

#[test]
fn a_record_that_has_its_name_is_whole() {
    let world = World::new();
    let program =
        "set -e; $S run memory: null: --count 50 --rounds 5 --json r.json -q; echo ACK done";
    let check = "[ -e r.json ] || { [ ! -s $STOREMARK_ACKED ]; exit; }\n\
                 $S report r.json > /dev/null";
    survives(&world, program, check);
}

#[test]
fn the_power_is_cut_only_under_stores_that_can_lose_it() {
    World::new().refuses([
        ("crash memory:", "keeps nothing on disk (accepted: "),
        ("crash tar:", "is written once"),
        ("crash pack:", "promises nothing"),
        ("crash mysql://root@localhost/test", "name only the engine"),
        ("crash valkey: --stores new", "is a server, whose installation is not flushed"),
        ("crash sqlite:some.db", "name only the engine and settings"),
        ("crash sqlite:?sync=none", "sync=none"),
        ("crash lmdb:?sync=off --durability durable", "sync=off gives none"),
        (
            "crash sqlite:?journal=delete&sync=full --durability durable",
            "journal=delete gives consistent",
        ),
        ("crash sqlite: --check true -- true", "cannot be used with"),
        ("crash --seed 1 --models strict --cut 3 --keep state", "name one target"),
    ]);
}
