//! `storemark conformance`: a plugin with a fault does not pass.

use std::{fs, process::Command};

use crate::{
    plugins::{compile, source},
    world::World,
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

#[test]
fn the_skeleton_passes_all_checks() {
    let world = World::new();
    compile(&world, "toy.so", &[]);
    let ran = world.ok("conformance plugin:./toy.so");
    let count = ::conformance::CHECKS.len();
    // Where nobody may trace, a check says that it was not made.
    let untraced = ran.out.contains("nobody may trace here");
    let passed = count - usize::from(untraced);
    assert!(ran.out.ends_with(&format!("{passed} of {count} checks passed\n")), "{}", ran.out);
}

#[test]
fn the_skeletons_in_other_languages_pass_all_checks() {
    let world = World::new();
    world.write("storemark_store.h", source("storemark_store.h"));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let c = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread"];
    let rust = ["--edition=2021", "--crate-type=cdylib", "-O", "-Dwarnings"];
    for (name, compiler, options) in
        [("skeleton.cpp", "c++", &c[..]), ("skeleton.rs", &*rustc, &rust[..])]
    {
        let text = source(name);
        assert!(text.lines().count() < 150, "{name}");
        world.write(name, text);
        let mut command = Command::new(compiler);
        command.args(options).args(["-o", "libskeleton.so", name]).current_dir(world.path(""));
        let compiled = command.output().expect("compilers of C++ and Rust are here");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let ran = world.run("conformance plugin:./libskeleton.so");
        assert!(ran.code == Some(0) && !ran.out.contains("fails"), "{name}: {}", ran.out);
    }
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

/// The next check goes on in another process.
#[test]
fn a_check_in_which_the_plugin_crashes_fails_and_the_others_are_made() {
    let scan = "    int found = 0, is_alone = alone(session);";
    let crash = format!("{scan}\n    if (session->store->toy.count == 0) abort();");
    let checks =
        "an_empty_store_shows_nothing,everything_is_shown_in_key_order,an_empty_batch_is_fine";
    let said = failed(&[(scan, &crash)], &format!("--only {checks}"));
    let why = "the plugin gave up: it ended the process (SIGABRT) (and in 5 other cases)";
    assert!(said.contains("fails: an empty store shows nothing\n") && said.contains(why), "{said}");
    assert!(said.ends_with("2 of 3 checks passed\n"), "{said}");
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
        ("conformance plugin:./toy.so --only an_empty_store", "an_empty_store_shows_nothing?"),
        ("conformance tar:", "is written once"),
        ("conformance null:", "has no stores of its own"),
        ("conformance nothing:", "no engine"),
    ]);
}
