//! `storemark conformance`: a plugin with a fault does not pass.

use std::{fs, path::Path, process::Command};

use crate::{
    plugins::compile,
    world::{Ran, World},
};

/// What `conformance` prints of the skeleton after these changes, which it fails.
fn failed(changes: &[(&str, &str)], options: &str) -> String {
    let world = World::new();
    compile(&world, "toy.so", changes);
    let ran = world.run(&format!("conformance plugin:./toy.so {options}"));
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("plugin:./toy.so (toy 1)\n"), "{}", ran.out);
    assert_eq!(world.names("."), ["toy.so", "toy.so.d"], "what was made is removed");
    ran.out
}

/// Writes the skeleton in `language` by the command of the program, changes its source, and compiles it by the
/// command that this prints, with more warnings.
fn written_and_compiled(world: &World, language: &str, changes: &[(&str, &str)]) {
    let steps = world.ok(&format!("conformance --skeleton {language} own")).out;
    let compile = steps.lines().find(|line| line.contains("-o libskeleton.so")).unwrap();
    let (program, words) = compile.trim().split_once(' ').unwrap();
    let source =
        world.path("own").join(words.split(' ').find(|w| w.starts_with("skeleton.")).unwrap());
    for (from, to) in changes {
        let text = fs::read_to_string(&source).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        fs::write(&source, text.replace(from, to)).unwrap();
    }
    let strict = match language {
        "c" | "cpp" => &["-Wall", "-Wextra", "-Werror"][..],
        "rust" => &["-Dwarnings"],
        _ => &[],
    };
    // Go keeps what it has compiled, and may fetch nothing.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    let mut command = Command::new(program);
    command.args(words.split(' ')).args(strict).env("GOCACHE", cache).env("GOPROXY", "off");
    let compiled = command.current_dir(world.path("own")).output();
    let compiled =
        compiled.unwrap_or_else(|error| panic!("{program}, which the gate installs: {error}"));
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// A skeleton passes all checks and is measured.
fn is_a_whole_plugin(language: &str) {
    let world = World::new();
    written_and_compiled(&world, language, &[]);
    let ran = world.run("conformance plugin:own/libskeleton.so");
    assert!(ran.code == Some(0) && !ran.out.contains("fails"), "{}{}", ran.out, ran.err);
    // A check says that it was not made where nobody may trace, or of calls that are not traced.
    let checks = format!(" of {} checks passed\n", ::conformance::CHECKS.len());
    assert!(ran.out.ends_with(&checks), "{}", ran.out);
    let work = "--read --update --keys 100 --size 1000 --rounds 2 --json r.json";
    world.ok(&format!("run plugin:own/libskeleton.so files: {work}"));
    let samples = world.record("r.json").samples;
    let own = samples.iter().filter(|sample| sample.target == 0);
    assert!(own.clone().count() >= 4, "{language}");
    // Go calls the kernel by itself.
    let writes = own.filter(|sample| sample.workload == 1);
    let counted = writes.map(|sample| sample.cost.flushes.is_some()).collect::<Vec<_>>();
    assert_eq!(counted, vec![cfg!(target_os = "linux") && language != "go"; counted.len()]);
}

#[test]
fn the_skeleton_in_c_is_a_whole_plugin() {
    is_a_whole_plugin("c");
}

#[test]
fn the_skeleton_in_cpp_is_a_whole_plugin() {
    is_a_whole_plugin("cpp");
}

#[test]
fn the_skeleton_in_rust_is_a_whole_plugin() {
    is_a_whole_plugin("rust");
}

#[test]
fn the_skeleton_in_go_is_a_whole_plugin() {
    is_a_whole_plugin("go");
}

/// Go ends the process by itself, and has handlers of its own for signals.
#[test]
fn a_panic_of_go_ends_its_target_only() {
    let world = World::new();
    let get = "\t\tvalue, exists := toy.values[text(key, size)]\n";
    let nil = format!("\t\tif gets++; gets > 700 {{\n\t\t\ttoy = nil\n\t\t}}\n{get}");
    let main = "func main() {}";
    let count = format!("{main}\n\nvar gets int");
    written_and_compiled(&world, "go", &[(get, &nil), (main, &count)]);
    let ran = world
        .run("run plugin:own/libskeleton.so files: --read --keys 100 --rounds 4 --json r.json");
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let why = "plugin lib=own/libskeleton.so not measured to the end";
    assert!(ran.err.contains(why), "{}", ran.err);
    let record = world.record("r.json");
    let files = record.header.plan.targets.iter().position(|one| one.engine == "files").unwrap();
    let samples = record.samples.iter().filter(|sample| sample.target == files);
    assert!(samples.count() >= 4, "{}", ran.err);
}

#[test]
fn a_skeleton_overwrites_nothing() {
    let world = World::new();
    world.write("own/toy.h", "mine");
    world.refuses([
        ("conformance --skeleton c own", "own/toy.h: exists already"),
        (
            "conformance --skeleton pascal other",
            "no language \"pascal\" (accepted: c, cpp, go, rust)",
        ),
        ("conformance --skeleton c", "2 values"),
        ("conformance --skeleton c own --header", "cannot be used with"),
    ]);
    assert_eq!(world.names("own"), ["toy.h"]);
}

#[test]
fn checks_and_cases_are_listed_and_chosen() {
    let world = World::new();
    compile(&world, "toy.so", &[]);
    let checks = world.ok("conformance --list --only scan").out;
    assert!(checks.starts_with("Checks:\n  a scan from a key shows what follows it\n"), "{checks}");
    let all = world.ok("conformance plugin:./toy.so --list --only empty").out;
    let cases = "Cases of plugin:./toy.so:\n  no settings, integers\n  no settings, names\n  sync=full, integers\n";
    assert!(all.contains(cases), "{all}");
    let told = |options: &str| {
        let ran = world.ok(&format!("conformance plugin:./toy.so --only an_empty -v {options}"));
        let of_cases = ran.err.lines().filter_map(|line| line.strip_prefix("storemark: "));
        of_cases.filter(|line| line.contains(": passed")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told("").len(), 2 * 6);
    assert_eq!(
        told("--case sync=full --case integers")[..2],
        [
            "no settings, integers: an empty store shows nothing: passed",
            "no settings, integers: an empty batch is fine: passed"
        ]
    );
    assert_eq!(told("--case sync=full").len(), 2 * 2);
    let mut whole = world.command("conformance plugin:./toy.so --only an_empty -v");
    let ran: Ran = whole.args(["--case", "sync=full, integers"]).output().unwrap().into();
    assert_eq!(ran.err.matches(": passed").count(), 2, "{}", ran.err);
}

#[test]
fn what_a_plugin_prints_is_shown_with_a_failure_only() {
    let world = World::new();
    let opened = "    pthread_mutex_init(&new->lock, NULL);";
    let loud = format!("{opened}\n    puts(\"opened\");\n    fputs(\"and more\\n\", stderr);");
    let include = "#include \"toy.h\"";
    let with_stdio = format!("{include}\n#include <stdio.h>");
    compile(&world, "loud.so", &[(opened, &loud), (include, &with_stdio)]);
    let ran = world.ok("conformance plugin:./loud.so --only an_empty");
    assert!(!(ran.out + &ran.err).contains("opened"), "nothing failed");
    let scan = "    int found = 0, is_alone = alone(session);";
    let fail = "    if (session->store->toy.count == 0) return words = \"no scan\", -1;";
    let failing = format!("{fail}\n{scan}");
    compile(&world, "fails.so", &[(opened, &loud), (include, &with_stdio), (scan, &failing)]);
    let ran = world.run("conformance plugin:./fails.so --only an_empty");
    let said = "fails: an empty store shows nothing\n  no settings, integers: a scan: an operation \
                failed: hook scan: no scan (and in 5 other cases)\n";
    assert!(ran.out.contains(said), "{}", ran.out);
    assert!(ran.out.contains("  | opened\n") && ran.out.contains("  | and more\n"), "{}", ran.out);
}

#[test]
#[cfg(target_os = "linux")]
fn a_hook_that_does_not_return_is_named() {
    let begin = "    pthread_mutex_lock(&session->store->lock);\n    session->in_batch = 1;";
    let twice = format!("    pthread_mutex_lock(&session->store->lock);\n{begin}");
    let said = failed(
        &[(begin, &twice)],
        "--only an_empty_batch_is_fine --case sync=full --time-limit 2s",
    );
    let late = "sync=full, integers: is not done after 2.0 s: ";
    let why = "toy.so: the plugin gave up in its hook begin: it took too long (SIGXCPU)";
    assert!(said.contains(late) && said.contains(why), "{said}");
}

/// A pointer to no bytes is none that a runtime such as that of Go takes for a bad one.
#[test]
fn pointers_to_nothing_are_good_ones() {
    let put =
        "    int found, is_alone = alone(session), removes = how == REMOVE, done = STOREMARK_NO;";
    let get = "    int found, is_alone = alone(session);\n    const toy *toy = &session->store->toy;\n    size_t at";
    let is_bad = |pointer: &str| format!("    if ((uintptr_t){pointer} < 4096) abort();\n");
    let (put_checked, get_checked) =
        (is_bad("value") + &is_bad("key") + put, is_bad("into") + &is_bad("key") + get);
    let world = World::new();
    compile(&world, "toy.so", &[(put, &put_checked), (get, &get_checked)]);
    world.ok("conformance plugin:./toy.so --only value,length,buffer --case names");
}

/// A setting that is not read, and one that is.
#[test]
fn a_size_is_tried_with_twice_the_default() {
    let settings = "{ \"sync\", \"full|off\", \"whether each commit is flushed\" },";
    let more = format!("{settings} {{ \"cache\", \"SIZE\", \"bytes of the cache\" }},");
    let setting = "    return strcmp(name, \"sync\") != 0 ? NULL";
    let deaf = format!("    if (strcmp(name, \"cache\") == 0) return \"4096\";\n{setting}");
    let said = failed(&[(settings, &more), (setting, &deaf)], "--only twice --case integers");
    let why = "with cache=8192: the setting cache in effect is 4096, expected: 8192";
    assert!(said.contains(why), "{said}");
}

#[test]
fn a_launcher_starts_the_processes_of_the_checks() {
    let world = World::new();
    let launcher = world.path("launcher");
    world.write("launcher", "echo \"$2\" >> \"$0.log\"; exec \"$@\"");
    let mut command = world.command("conformance redb: --only an_empty_batch_is_fine");
    let ran =
        command.env("STOREMARK_LAUNCHER", format!("sh {}", launcher.display())).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let started = fs::read_to_string(world.path("launcher.log")).unwrap();
    assert!(started.lines().any(|command| command == "check-engine"), "{started}");
}

#[test]
fn a_delete_that_is_lost_is_found() {
    let write = "    if (pwrite(t->file, new, bytes, t->end) != (ssize_t)bytes)";
    let lost = format!("    if (removed) return toy_take(t, new), 0;\n{write}");
    let said = failed(&[(write, &lost)], "");
    let check = "fails: a store holds what it held before it was closed\n  no settings, integers: key 4, \
                 which was deleted before the store was closed, is 100 bytes (";
    assert!(said.contains(check) && said.contains("and in 5 other cases"), "{said}");
    assert!(said.contains("fails: any sequence of operations equals a map"), "{said}");
}

#[test]
fn a_delete_that_is_seldom_lost_is_found() {
    let include = "#include \"toy.h\"";
    let counted = format!("{include}\nstatic int deletes;");
    let change = "        done = result(toy_change(";
    let lost = "        done = removes && ++deletes % 30 == 0 ? STOREMARK_OK : result(toy_change(";
    let said = failed(&[(include, &counted), (change, lost)], "--only any_sequence");
    assert!(said.contains(" operations, the last of which is "), "{said}");
}

/// A session keeps the last value that it has read.
#[test]
fn a_read_that_is_stale_is_found() {
    let session = "storemark_store *store; int in_batch; };";
    let get = "    int found, is_alone = alone(session);\n    const toy *toy = &session->store->toy;\n    size_t at";
    let put = "    int found, is_alone = alone(session), removes";
    let kept = "storemark_store *store; int in_batch; toy_item *last; };";
    let stale = format!(
        "    toy_item *last = session->last;\n    \
         if (last && last->key == key_length && memcmp(last->bytes, key, key_length) == 0) {{\n    \
         *length = last->value;\n    \
         if (last->value <= room) memcpy(into, last->bytes + last->key, last->value);\n    \
         return STOREMARK_OK;\n    }}\n{get}"
    );
    let found = "    if (item) *length = item->value;";
    let keep = format!(
        "    size_t size = item ? sizeof *item + item->key + item->value : 0;\n    \
         session->last = item ? memcpy(toy_memory(malloc(size)), item, size) : NULL;\n{found}"
    );
    let own = format!("    session->last = NULL;\n{put}");
    let changes = [(session, kept), (get, &*stale), (found, &*keep), (put, &*own)];
    let said = failed(&changes, "");
    assert!(said.contains("fails: a reader sees what a writer committed\n"), "{said}");
    assert!(said.contains("key 1, which another session has put, is 500 bytes ("), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_flush_that_is_missing_is_found() {
    let flush = "fdatasync(t->file) != 0";
    let world = World::new();
    compile(&world, "toy.so", &[(flush, "t->file < 0")]);
    let ran = world.run("conformance plugin:./toy.so");
    if ran.out.contains("nobody may trace here") {
        return;
    }
    let check = "fails: an update of a class makes the calls that its sentence names\n  sync=full, integers: an \
                 update of class durable made these calls before it was acknowledged: pwrite; expected, as its \
                 sentence names them: fdatasync, pwrite\n";
    assert!(ran.code == Some(3) && ran.out.contains(check), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("fails: ").count(), 1, "{}", ran.out);
}

/// A class may be given in several ways, each with a sentence.
#[test]
#[cfg(target_os = "linux")]
fn a_flush_that_is_missing_in_the_second_way_of_its_class_is_found() {
    let none = "{ STOREMARK_NONE, \"sync=off\",";
    let durable = "{ STOREMARK_DURABLE, \"sync=off\",";
    let world = World::new();
    compile(&world, "toy.so", &[(none, durable)]);
    let ran = world.run("conformance plugin:./toy.so --only makes_the_calls");
    if ran.out.contains("nobody may trace here") {
        return;
    }
    let check = "sync=off, integers: an update of class durable made these calls before it was acknowledged: pwrite;";
    assert!(ran.code == Some(3) && ran.out.contains(check), "{}{}", ran.out, ran.err);
}

#[test]
fn a_size_that_is_returned_with_a_unit_is_found() {
    let known = "strcmp(name, \"sync\") != 0 ? NULL : ";
    let sized = format!("strcmp(name, \"cache\") == 0 ? \"100M\" : {known}");
    let declared = "settings[] = {";
    let with_cache = format!("{declared} {{ \"cache\", \"SIZE\", \"\" }},");
    let said = failed(&[(known, &sized), (declared, &with_cache)], "--only settings_asked_for");
    assert!(said.contains("the setting cache in effect is \"100M\", no number of bytes"), "{said}");
}

/// The next check goes on in another process.
#[test]
fn a_check_in_which_the_plugin_crashes_fails_and_the_others_are_made() {
    let scan = "    int found = 0, is_alone = alone(session);";
    let crash = format!("{scan}\n    if (session->store->toy.count == 0) abort();");
    let checks =
        "an_empty_store_shows_nothing,everything_is_shown_in_key_order,an_empty_batch_is_fine";
    let said = failed(&[(scan, &crash)], &format!("--only {checks}"));
    let why = "the plugin gave up in its hook scan: it ended the process (SIGABRT) (and in 5 other cases)";
    assert!(said.contains("fails: an empty store shows nothing\n") && said.contains(why), "{said}");
    assert!(said.ends_with("2 of 3 checks passed\n"), "{said}");
}

/// What was printed may say nothing of the crash.
#[test]
#[cfg(target_os = "linux")]
fn the_signal_of_a_crash_is_named_after_what_was_printed() {
    let scan = "    int found = 0, is_alone = alone(session);";
    let crash = format!("{scan}\n    fputs(\"all is well\\n\", stderr), raise(SIGSEGV);");
    let include = "#include \"toy.h\"";
    let headers = format!("{include}\n#include <signal.h>\n#include <stdio.h>");
    let said =
        failed(&[(include, &headers), (scan, &crash)], "--only an_empty_store_shows_nothing");
    let why = "hook scan: all is well; it touched memory that it does not have (SIGSEGV)";
    assert!(said.contains(why), "{said}");
}

/// An exit is no crash, and says nothing.
#[test]
fn a_check_in_which_the_plugin_exits_fails() {
    let scan = "    int found = 0, is_alone = alone(session);";
    let exit = format!("{scan}\n    if (session->store->toy.count == 0) _exit(7);");
    let said = failed(&[(scan, &exit)], "--only an_empty_store_shows_nothing");
    assert!(said.contains("its process ended (exit status: 7)"), "{said}");
}

#[test]
fn engines_of_storemark_are_checked_too() {
    let world = World::new();
    let only = "--only a_value_is_put_got_and_deleted,everything_is_shown_in_key_order";
    for engine in ["files:", "memory:", "pack:"] {
        let ran = world.ok(&format!("conformance {engine} {only}"));
        assert!(ran.out.ends_with("2 of 2 checks passed\n"), "{engine}: {}", ran.out);
    }
}

#[test]
fn the_header_is_printed_as_it_is() {
    let printed = World::new().ok("conformance --header").out;
    assert!(
        printed.contains("#define STOREMARK_STORE_VERSION 1") && printed.lines().count() <= 150
    );
}

#[test]
fn what_cannot_be_checked_is_refused() {
    let world = World::new();
    compile(&world, "toy.so", &[]);
    world.refuses([
        ("conformance", "<TARGET>"),
        ("conformance plugin:./absent.so", "no such shared object"),
        ("conformance plugin:./toy.so?store=toy.so", "leave out the store"),
        ("conformance plugin:./toy.so?sync=of", "sync=of"),
        (
            "conformance plugin:./toy.so --only an_emty_store_shows_nothing",
            "an_empty_store_shows_nothing?",
        ),
        ("conformance plugin:./toy.so --case syn=full", "no case \"syn=full\""),
        ("conformance tar:", "is written once"),
        ("conformance null:", "has no stores of its own"),
        ("conformance nothing:", "no engine"),
    ]);
}
