//! `plugin:`: stores in a shared object, measured and checked.

use std::{fs, path::Path, process::Command};

use crate::world::World;

/// The header, and the stores that are written against it.
pub(crate) fn source(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engines/plugin");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Compiles the skeleton in C into the shared object `name`, after these changes of its lines.
pub(crate) fn compile(world: &World, name: &str, changes: &[(&str, &str)]) {
    let mut made = 0;
    for file in ["storemark_store.h", "toy.h", "skeleton.c"] {
        let mut text = source(file);
        for (from, to) in changes {
            made += text.matches(from).count();
            text = text.replace(from, to);
        }
        world.write(&format!("{name}.d/{file}"), text);
    }
    assert_eq!(made, changes.len(), "{changes:?}");
    let compiled = Command::new("cc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        .args(["-fPIC", "-shared", "-pthread", "-o"])
        .arg(world.path(name))
        .arg(world.path(&format!("{name}.d/skeleton.c")))
        .output()
        .expect("a C compiler is there: it builds SQLite");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// A world with the skeleton, compiled as `toy.so`.
fn with_toy() -> World {
    let world = World::new();
    compile(&world, "toy.so", &[]);
    world
}

#[test]
fn the_skeletons_and_the_header_are_short() {
    for file in ["storemark_store.h", "skeleton.c", "skeleton.cpp", "skeleton.rs", "skeleton.go"] {
        assert!(source(file).lines().count() < 150, "{file}");
    }
}

#[test]
fn a_plugin_is_measured_next_to_an_engine() {
    let world = with_toy();
    // A busy disk may take seconds for a flush: with more time a trial may, too.
    let work = "--read --update --keys 200 --size 1000 --rounds 2 --time 2m --json r.json";
    let ran =
        world.ok(&format!("run plugin:./toy.so?sync=off files: memory: {work} --html r.html -v"));
    assert!(!ran.out.contains("compiled with"), "it reports no options: {}", ran.out);
    let record = world.record("r.json");
    let plan = &record.header.plan;
    let labels: Vec<_> = plan.targets.iter().map(|target| &*target.label).collect();
    assert_eq!(labels, ["plugin lib=./toy.so sync=off", "files", "memory"]);
    let effect = &record.stores[0].in_effect;
    assert_eq!((effect.get("sync"), effect.get("lib")), (Some("off"), Some("./toy.so")));
    let libraries = &record.header.environment.libraries;
    assert!(libraries.iter().any(|one| one.to_string() == "toy lib=./toy.so 1"), "{libraries:?}");
    for (target, label) in labels.iter().enumerate() {
        let samples = record.samples.iter().filter(|sample| sample.target == target);
        assert!(samples.count() >= 4, "{label}");
    }
}

#[test]
fn files_of_the_user_are_put_into_a_plugin_and_read_back() {
    let world = with_toy();
    for name in ["a.jpg", "b/c.jpg", "b/grüße.jpg"] {
        world.write(&format!("own/{name}"), name.repeat(1000));
    }
    world.ok("run plugin:./toy.so files: --data own --read --rounds 1 --json r.json");
    let record = world.record("r.json");
    assert_eq!(record.header.plan.targets.len(), 2);
    assert!(record.samples.iter().any(|sample| sample.target == 0));
}

/// Two builds are compared with each other, and one with itself.
#[test]
fn two_plugins_are_compared_and_the_first_with_itself() {
    let world = with_toy();
    compile(&world, "head.so", &[(".library_version = \"1\"", ".library_version = \"2\"")]);
    let work = "--read --keys 100 --rounds 1 --json r.json";
    world.ok(&format!("run plugin:./toy.so plugin:./head.so {work}"));
    let plan = world.record("r.json").header.plan;
    assert_eq!((plan.targets.len(), plan.same_build(2)), (3, Some(0)));
    let libraries = world.record("r.json").header.environment.libraries;
    let versions: Vec<_> = libraries.iter().map(|library| &*library.version).collect();
    assert!(versions.contains(&"1") && versions.contains(&"2"), "{versions:?}");
}

/// A file of the toy with these names and values.
fn toy_file(items: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"toystore".to_vec();
    for (name, value) in items {
        let lengths = [name.len(), value.len()].map(|length| u32::try_from(length).unwrap());
        let bytes = [name.as_bytes(), value].concat();
        let step = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(16_777_619);
        let sum = bytes.iter().fold(lengths[0] ^ lengths[1], step);
        for number in [lengths[0], lengths[1], 0, sum] {
            file.extend(number.to_ne_bytes());
        }
        file.extend(bytes);
    }
    file
}

#[test]
fn a_store_of_the_user_is_read_through_the_plugin_and_left_as_it_was() {
    let world = with_toy();
    let item = |n: u8| (["one", "two/three", "four"][usize::from(n)], vec![n; 5000]);
    let before = toy_file(&[item(0), item(1), item(2)]);
    world.write("own.toy", &before);
    let targets = "plugin:./toy.so?store=own.toy files:";
    world.ok(&format!("run {targets} --read --update --rounds 1 --json r.json"));
    assert_eq!(fs::read(world.path("own.toy")).unwrap(), before);
    let record = world.record("r.json");
    assert_eq!(record.header.plan.targets.len(), 2);
    let refused = world.refused("run plugin:./toy.so?store=absent.toy --read");
    assert!(refused.contains("absent.toy"), "{refused}");
}

/// One has the classes none and durable, the other one durable alone: none has consistent, the default.
#[test]
fn targets_are_brought_to_a_class_that_all_of_them_have() {
    let world = with_toy();
    world.ok("run plugin:./toy.so files: --update --keys 50 --rounds 2 --json r.json");
    let stores = world.record("r.json").stores;
    let durable = stores.iter().all(|store| store.in_effect.is("sync", "full"));
    assert!(durable, "a weaker class would not keep what the default promises: {stores:?}");
    let none = "        { STOREMARK_NONE, \"sync=off\", \"pwrite(2) of each change, no flush: a power cut loses \
                what is not written yet\" },\n";
    compile(&world, "firm.so", &[(none, "")]);
    world.ok("run plugin:./toy.so plugin:./firm.so --update --keys 50 --rounds 1 --json r.json");
    for store in world.record("r.json").stores {
        assert_eq!(store.in_effect.get("sync"), Some("full"));
    }
}

/// The other target is updated, and the reason is among the first findings.
#[test]
fn a_plugin_that_cannot_update_is_only_read() {
    let world = World::new();
    let put =
        "    int found, is_alone = alone(session), removes = how == REMOVE, done = STOREMARK_NO;";
    let why = "if (how == STOREMARK_UPDATE) return words = \"no updates\", STOREMARK_UNSUPPORTED;";
    compile(&world, "reads.so", &[(put, &format!("    {why}\n{put}"))]);
    let work = "--read --update --keys 100 --rounds 1 --json r.json";
    let ran = world.run(&format!("run plugin:./reads.so files: {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("hook put: no updates"), "{}", ran.out);
    let samples = world.record("r.json").samples;
    let of_case = |target, workload| {
        samples.iter().filter(|one| (one.target, one.workload) == (target, workload)).count()
    };
    assert!(of_case(0, 0) > 0 && of_case(1, 0) > 0 && of_case(1, 1) > 0, "{}", ran.out);
    assert_eq!(of_case(0, 1), 0);
}

/// It takes 10 ms to put a value, where an engine takes some microseconds.
#[test]
fn a_plugin_that_is_slow_to_fill_has_a_sample() {
    let world = World::new();
    let put =
        "    int found, is_alone = alone(session), removes = how == REMOVE, done = STOREMARK_NO;";
    let slow = format!("{put}\n    nanosleep(&(struct timespec){{ 0, 10000000 }}, NULL);");
    let include = "#include \"toy.h\"";
    compile(
        &world,
        "slow.so",
        &[(put, &slow), (include, &format!("{include}\n#include <time.h>"))],
    );
    let work = "--read --keys 3000 --size 100 --json r.json";
    let ran = world.ok(&format!("run plugin:./slow.so files: {work}"));
    let record = world.record("r.json");
    let is_sampled = |finding: &model::Finding| {
        finding.kind.to_string().contains("of 3,000 values, a sample stratified by size")
    };
    assert!(record.findings.iter().any(is_sampled), "{}{}", ran.out, ran.err);
}

/// Numbers arrive in digits and texts as they are; both are read back.
#[test]
fn numbers_and_texts_reach_a_plugin_and_wrong_ones_are_refused() {
    let world = World::new();
    let include = "#include \"toy.h\"";
    let names = "static const char *const names[] = { \"level\", \"start\", \"label\" };";
    let lock = "toy toy; pthread_mutex_t lock; };";
    let opened = "    pthread_mutex_init(&new->lock, NULL);";
    let keep = "    for (size_t i = 0; i < count; i++)\n        for (int n = 0; n < 3; n++)\n            \
                if (strcmp(settings[i].name, names[n]) == 0) strncat(new->own[n], settings[i].value, 63);";
    let setting = "    return strcmp(name, \"sync\") != 0 ? NULL";
    let read = "    for (int n = 0; n < 3; n++)\n        \
                if (strcmp(name, names[n]) == 0) return store->own[n][0] ? store->own[n] : NULL;";
    let declared = "{ \"sync\", \"full|off\", \"whether each commit is flushed\" },";
    let more = "{ \"level\", \"1..9\", \"\" }, { \"start\", \"NUMBER\", \"\" }, { \"label\", \"TEXT\", \"\" },";
    compile(
        &world,
        "own.so",
        &[
            (include, &format!("{include}\n{names}")),
            (lock, "toy toy; pthread_mutex_t lock; char own[3][64]; };"),
            (opened, &format!("{opened}\n{keep}")),
            (setting, &format!("{read}\n{setting}")),
            (declared, &format!("{declared} {more}")),
        ],
    );
    let target = "plugin:./own.so?level=9&start=-2k&label=A%26b";
    world.ok(&format!("run {target} --read --keys 50 --rounds 2 --json r.json"));
    let effect = &world.record("r.json").stores[0].in_effect;
    let own = ["level", "start", "label"].map(|name| effect.get(name));
    assert_eq!(own, [Some("9"), Some("-2000"), Some("A&b")]);
    world.refuses([
        ("run plugin:./own.so?level=10", "level=10: accepted: 1 to 9"),
        ("run plugin:./own.so?level=high", "level=high: \"high\" is not a number"),
        ("run plugin:./own.so?start=99999999999999999999", "does not fit in 64 bits"),
        ("run plugin:./own.so?start=1.5", "start=1.5: \"1.5\" ends in \".5\""),
        ("run plugin:./own.so?lable=x", "no setting \"lable\": did you mean label?"),
        ("run plugin:./own.so?stroe=x", "no setting \"stroe\": did you mean store?"),
        ("run plugin:./own.so?lib=./own.so", "names two shared objects; leave out lib="),
    ]);
}

/// The settings `lib` and `store` are storemark's.
#[test]
fn a_plugin_is_asked_for_the_settings_that_it_declares() {
    let world = World::new();
    let known = "strcmp(name, \"sync\") != 0 ? NULL : ";
    compile(&world, "sure.so", &[(known, "(void)name, ")]);
    world.ok("run plugin:./sure.so --read --keys 50 --rounds 2 --json r.json");
    let effect = &world.record("r.json").stores[0].in_effect;
    let names: Vec<_> = effect.0.keys().map(|name| &**name).collect();
    assert_eq!(names, ["lib", "sync"]);
}

#[test]
fn a_plugin_that_lacks_a_function_is_refused_before_it_is_used() {
    let world = World::new();
    let include = "#include \"toy.h\"";
    let declared = format!("{include}\nint not_linked(void);");
    let get = format!("    not_linked();\n{GET}");
    compile(&world, "lacks.so", &[(include, &declared), (GET, &get)]);
    for command in ["run", "conformance"] {
        let refused = world.refused(&format!("{command} plugin:./lacks.so"));
        assert!(refused.contains("undefined symbol: not_linked"), "{refused}");
    }
}

#[test]
fn writes_are_no_commit_together_where_there_are_no_batches() {
    let world = World::new();
    let hooks = ".begin = begin, .commit = commit,\n        .roll_back = roll_back,";
    let unused = "static const storemark_plugin plugin = {";
    let used = format!("(void)roll_back;\n    {unused}");
    compile(&world, "single.so", &[(hooks, ""), (unused, &used)]);
    let run = "run plugin:./single.so --keys 50 --rounds 2";
    let refused = world.refused(&format!("{run} --update --batch 10"));
    assert!(refused.contains("has no batches, each update is a commit of its own"), "{refused}");
    for work in ["--read --batch 10", "--update", "--update --batch 1"] {
        world.ok(&format!("{run} {work}"));
    }
}

/// How the hook begins that reads a value.
const GET: &str = "    int found, is_alone = alone(session);\n    const toy *toy = &session->store->toy;\n    size_t at";

/// Its target ends; the others are measured to the end.
#[test]
fn a_plugin_that_crashes_ends_its_target_only() {
    let world = World::new();
    // The keys are read a few times before anything is measured.
    let crash = format!(
        "    static int gets;\n    static volatile size_t nowhere = 8;\n    \
         if (++gets > 700) *(int *)nowhere = 0;\n{GET}"
    );
    compile(&world, "frail.so", &[(GET, &crash)]);
    let work = "--read --update --keys 100 --rounds 4 --json r.json";
    let ran = world.run(&format!("run plugin:./frail.so files: {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("plugin lib=./frail.so not measured to the end"), "{}", ran.err);
    let record = world.record("r.json");
    let why = "frail.so: the plugin gave up in its hook get: it touched memory that it does not have (SIGSEGV)";
    let mut findings = record.findings.iter().map(|finding| finding.kind.to_string());
    assert!(findings.any(|said| said.contains(why)), "{:?}", record.findings);
    let files = record.header.plan.targets.iter().position(|one| one.engine == "files").unwrap();
    let samples = record.samples.iter().filter(|sample| sample.target == files);
    assert!(samples.count() >= 4, "{}", ran.err);
}

/// So does one that does not find a value, whether that is seen before the rounds or in one.
#[test]
fn a_plugin_that_loses_values_ends_its_target_only() {
    let world = World::new();
    for (name, when) in [("early.so", "++gets % 40 == 0"), ("late.so", "++gets > 700")] {
        let loses = format!("    static int gets;\n    if ({when}) return STOREMARK_NO;\n{GET}");
        compile(&world, name, &[(GET, &loses)]);
    }
    let work = "--read --keys 100 --rounds 4 --json r.json";
    let ran = world.run(&format!("run files: plugin:./early.so plugin:./late.so {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let record = world.record("r.json");
    let said: Vec<_> = record.findings.iter().map(|finding| finding.kind.to_string()).collect();
    for why in ["is listed but cannot be read", "keys asked for are missing"] {
        assert!(said.iter().any(|said| said.contains(why)), "{said:?}");
    }
    assert_eq!(record.samples.iter().filter(|sample| sample.target == 0).count(), 4);
}

/// So does one that loses what is written to it.
#[test]
fn a_plugin_that_loses_updates_ends_its_target_only() {
    let world = World::new();
    let change = "        done = result(toy_change(";
    let loses = "        done = how == STOREMARK_UPDATE ? STOREMARK_OK : result(toy_change(";
    compile(&world, "forgets.so", &[(change, loses)]);
    let work = "--update --keys 100 --rounds 4 --json r.json";
    let ran = world.run(&format!("run files: plugin:./forgets.so {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let record = world.record("r.json");
    let said: Vec<_> = record.findings.iter().map(|finding| finding.kind.to_string()).collect();
    let why = "does not hold what was written to it";
    assert!(said.iter().any(|said| said.contains(why)), "{said:?}");
    assert!(record.samples.iter().filter(|sample| sample.target == 0).count() >= 4);
}

/// One that never returns has half of the time, and the others have the rest.
#[test]
fn a_plugin_that_hangs_while_it_is_filled_ends_its_target_only() {
    let world = World::new();
    let put = "    int found, is_alone = alone(session), removes = how == REMOVE";
    let hangs = format!("    static int puts;\n    while (++puts > 10) pause();\n{put}");
    let include = "#include \"toy.h\"";
    let with_pause = format!("{include}\nint pause(void);");
    compile(&world, "stuck.so", &[(put, &hangs), (include, &with_pause)]);
    let work = "--read --keys 100 --time 12s --json r.json";
    let ran = world.run(&format!("run files: plugin:./stuck.so {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let record = world.record("r.json");
    let said: Vec<_> = record.findings.iter().map(|finding| finding.kind.to_string()).collect();
    let why = "not measured: making it ready takes more than";
    assert!(said.iter().any(|said| said.starts_with(why)), "{said:?}");
    // How many rounds are left depends on the machine.
    assert!(record.samples.iter().any(|sample| sample.target == 0));
}

/// Each process reads some values before it hangs, so that making it ready succeeds.
#[test]
fn a_plugin_that_hangs_in_a_trial_ends_its_target_only() {
    let world = World::new();
    let include = "#include \"toy.h\"";
    let with_pause = format!("{include}\nint pause(void);");
    let hangs = format!("    static int gets;\n    while (++gets > 700) pause();\n{GET}");
    compile(&world, "stuck.so", &[(GET, &hangs), (include, &with_pause)]);
    let work = "--read --keys 100 --rounds 2 --json r.json";
    let ran = world.run(&format!("run files: plugin:./stuck.so {work}"));
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let record = world.record("r.json");
    let said: Vec<_> = record.findings.iter().map(|finding| finding.kind.to_string()).collect();
    assert!(said.iter().any(|said| said.contains("has not answered for 6.0 s")), "{said:?}");
    let files = record.samples.iter().filter(|sample| sample.target == 0);
    assert_eq!(files.count(), 2, "{}", ran.out);
}

#[test]
fn what_a_plugin_prints_disturbs_nothing() {
    let world = World::new();
    let opened = "    pthread_mutex_init(&new->lock, NULL);";
    let loud = format!("{opened}\n    if (write(1, \"hello\\n\", 6) < 0) abort();");
    compile(&world, "loud.so", &[(opened, &loud)]);
    let ran = world.ok("run plugin:./loud.so --read --keys 50 --rounds 2");
    assert!(!ran.out.contains("hello"), "{}", ran.out);
}

#[test]
fn what_is_no_plugin_or_declares_what_cannot_be_is_refused_in_one_line() {
    let world = with_toy();
    world.write("text.so", "no object");
    fs::create_dir(world.path("folder.so")).unwrap();
    for (name, from, to) in [
        (
            "other.so",
            "*storemark_store_plugin(void) {",
            "*another(void);\nconst storemark_plugin *another(void) {",
        ),
        ("old.so", ".version = STOREMARK_STORE_VERSION", ".version = 7"),
        ("half.so", ".commit = commit,\n", "\n"),
        ("none.so", ".get = get, ", ""),
        ("taken.so", "{ \"sync\", \"full|off\",", "{ \"store\", \"full|off\","),
        ("class.so", "\"sync=full\",", "\"sync=all\","),
        ("classless.so", ".durability = classes, ", ""),
        (
            "exits.so",
            "    static const storemark_setting settings[]",
            "    _exit(0);\n    static const storemark_setting settings[]",
        ),
        (
            "dies.so",
            "    static const storemark_setting settings[]",
            "    abort();\n    static const storemark_setting settings[]",
        ),
    ] {
        let source = source("skeleton.c");
        assert!(source.contains(from), "{name}");
        let unused = "-Wno-unused-function";
        let text = source.replace(from, to);
        world.write(&format!("{name}.d/skeleton.c"), text);
        for file in ["storemark_store.h", "toy.h"] {
            world.write(&format!("{name}.d/{file}"), self::source(file));
        }
        let compiled = Command::new("cc")
            .args(["-std=c11", unused, "-fPIC", "-shared", "-pthread", "-o"])
            .arg(world.path(name))
            .arg(world.path(&format!("{name}.d/skeleton.c")))
            .status();
        assert!(compiled.unwrap().success(), "{name}");
    }
    world.refuses([
        ("run plugin:", "names no shared object, as plugin:./libmystore.so does"),
        ("run plugin:./absent.so", "no such shared object"),
        ("run plugin:./toy.si", "did you mean toy.so?"),
        ("run plugin:./text.so", "cannot be loaded as a shared object"),
        ("run plugin:./folder.so", "it is no file"),
        ("run plugin:./other.so", "it has no function storemark_store_plugin()"),
        ("run plugin:./old.so", "was made with version 7 of storemark_store.h"),
        ("run plugin:./half.so", "lacks the hook begin, commit or roll_back"),
        ("run plugin:./none.so", "lacks the hook get"),
        ("run plugin:./taken.so", "the setting \"store\" is not accepted"),
        ("run plugin:./class.so", "its durability durable"),
        ("run plugin:./exits.so", "ended its process while it was loaded"),
        ("run plugin:./dies.so", "the plugin gave up while it was loaded"),
        ("run plugin:./toy.so?snyc=off --read", "did you mean sync?"),
        ("run plugin:./toy.so?sync=of --read", "sync=of"),
        (
            "run plugin:./toy.so files: --update --keys 9 --durability consistent",
            "plugin lib=./toy.so: cannot give durability consistent (it gives: none, durable)",
        ),
        (
            "run plugin:./classless.so files: --update --keys 9 --durability durable",
            "plugin lib=./classless.so: cannot give durability durable (it declares no class)",
        ),
        ("run plugin:./toy.so --processes 2 --read", "leave out --processes"),
        ("age plugin:./toy.so", "a target of `storemark run` only"),
        ("copy plugin:./toy.so?store=toy.so files:copy", "a target of `storemark run` only"),
    ]);
}
