//! strace sees the calls that `docs/durability.md` names: the flush of a durable update before it is
//! acknowledged, and none where the class asks for none.

use std::{
    collections::BTreeSet,
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use model::{
    Access, Blobs, Durability, DurabilitySettings, Facet, Key, KeyKind, Mode, OpenOptions, Put,
};
use storemark_engines::registry;

use crate::servers::left_out;

const UPDATER: &str = "durability::traced::updater";
/// Variable of the process that is traced: engine, class, where values are if the engine has a choice,
/// and folder.
const JOB: &str = "STOREMARK_TEST_UPDATER";
const BEGIN: &str = "the update begins";
const END: &str = "the update is acknowledged";
/// Calls that flush a file to its device.
const FLUSHES: [&str; 5] = ["fsync", "fdatasync", "msync", "sync_file_range", "syncfs"];
/// Calls that write to a file or name it, and the manual page of each.
const WRITES: [(&str, &str); 5] = [
    ("write", "write"),
    ("pwrite64", "pwrite"),
    ("rename", "rename"),
    ("renameat", "rename"),
    ("renameat2", "rename"),
];

/// The process that is traced: one update after another has warmed up what is only done once.
#[test]
#[ignore = "runs in a process of its own, started by the test below"]
fn updater() {
    let Ok(job) = env::var(JOB) else { return };
    let [engine, class, inline, path] =
        job.splitn(4, ' ').collect::<Vec<_>>().try_into().expect("four words");
    let engine = registry::blobs(engine).unwrap();
    let mut options = options(engine, class.parse().unwrap());
    if inline == "files" {
        // Less than the values below have.
        options.settings.set("inline", 50);
    }
    let store = engine.create(path.as_ref(), &options).unwrap();
    let mut session = store.session().unwrap();
    // In a batch, and as one of its own.
    let mut update = |value: u8| {
        let batch = value.is_multiple_of(2);
        if batch {
            session.begin(Mode::Write).unwrap();
        }
        assert!(session.put(Key::Int(1), &[value; 100], &Put::default()).unwrap());
        if batch {
            session.commit().unwrap();
        }
    };
    // Until the store has its files: MariaDB flushes one that grows, whatever the class, so that
    // values are small as well.
    (0..20).for_each(&mut update);
    for round in 0..4_u8 {
        eprintln!("{BEGIN}");
        update(100 + round);
        eprintln!("{END}");
    }
    drop(session);
    store.close().unwrap();
}

fn options(engine: &dyn Blobs, class: Durability) -> OpenOptions {
    let settings = engine.class_settings(Facet::Blobs, class).unwrap();
    OpenOptions { settings, access: Access::Write, keys: KeyKind::Integers }
}

/// The calls by which files were written and flushed during each update of `engine`, by any of its
/// processes and threads; `None` where nobody may trace.
fn calls(engine: &dyn Blobs, class: Durability, inline: &str) -> Option<Vec<BTreeSet<String>>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711))
        .unwrap();
    let trace = folder.path().join("trace");
    let store = folder.path().join("store");
    let job = format!("{} {class} {inline} {}", engine.name(), store.display());
    let writes = WRITES.map(|(call, _)| call).join(",");
    let calls = format!("trace={writes},{}", FLUSHES.join(","));
    let output = Command::new("strace")
        .args(["-f", "-qq", "-y", "-e", &calls, "-e", "signal=none", "-o"])
        .arg(&trace)
        .arg(env::current_exe().unwrap())
        .args(["--exact", UPDATER, "--ignored", "--nocapture"])
        .env(JOB, job)
        .stdout(Stdio::null())
        .output()
        .expect("strace is installed by `make test`");
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") && said.contains("not permitted") {
        eprintln!("nobody may trace here: {said}");
        return None;
    }
    assert!(output.status.success(), "{} {class}: {said}", engine.name());
    Some(of_updates(&fs::read_to_string(trace).unwrap(), folder.path()))
}

/// Splits a trace at the marks of the updater. Only what was done to a file below `folder` counts.
fn of_updates(trace: &str, folder: &Path) -> Vec<BTreeSet<String>> {
    let folder = folder.to_str().unwrap();
    let mut updates: Vec<BTreeSet<String>> = Vec::new();
    let (mut within, mut waiting) = (false, Vec::new());
    for line in trace.lines() {
        let (process, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if call.starts_with("write(") && call.contains(BEGIN) {
            updates.push(BTreeSet::new());
            within = true;
        } else if call.starts_with("write(") && call.contains(END) {
            within = false;
        }
        // A call during which another process did something is on two lines.
        let resumed = call.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed"));
        let ours = match resumed {
            Some(_) => waiting.contains(&process),
            None => call.contains(folder),
        };
        waiting.retain(|waits| *waits != process);
        if ours && call.contains("<unfinished") {
            waiting.push(process);
        } else if ours && within && !call.contains("= -1") {
            let name = resumed.map_or_else(|| call.split('(').next(), |(name, _)| Some(name));
            let name = name.unwrap_or_default();
            let page = WRITES.iter().find(|(call, _)| *call == name).map_or(name, |(_, page)| page);
            updates.last_mut().unwrap().insert(page.to_owned());
        }
    }
    updates
}

/// The calls that a sentence names, as `fsync(2)`.
fn named(how: &str) -> BTreeSet<String> {
    let words = how.split("(2)").map(|before| before.rsplit(' ').next().unwrap_or_default());
    let known = |word: &&str| FLUSHES.contains(word) || WRITES.iter().any(|(_, page)| page == word);
    words.filter(known).map(str::to_owned).collect()
}

fn flushes(calls: &BTreeSet<String>) -> BTreeSet<String> {
    calls.iter().filter(|call| FLUSHES.contains(&&***call)).cloned().collect()
}

/// `whole`: an update makes all calls that the sentence names.
fn check(engine: &dyn Blobs, kept: &DurabilitySettings, whole: bool, updates: &[BTreeSet<String>]) {
    let DurabilitySettings { class, how, .. } = kept;
    let named = named(how);
    assert_eq!(updates.len(), 4, "{} {class}: {updates:?}", engine.name());
    for calls in updates {
        let flushes = flushes(calls);
        let said = format!("{} {class}: made {calls:?}, but docs say: {how}", engine.name());
        assert!(flushes.is_subset(&named), "{said}");
        match class {
            Durability::None => assert!(flushes.is_empty(), "{said}"),
            Durability::Consistent => {}
            Durability::Durable => {
                assert!(!flushes.is_empty(), "{said}");
                assert!(!whole || named.is_subset(calls), "{said}");
            }
        }
    }
}

#[test]
fn an_update_of_each_class_makes_the_calls_that_the_page_names() {
    let changes = |engine: &&'static dyn Blobs| {
        let can = engine.capabilities();
        can.persistent && !can.written_once && !left_out().contains(&engine.name())
    };
    for engine in registry::all_blobs().filter(changes) {
        for kept in engine.declaration().durability {
            let has_files = engine.settings(Facet::Blobs).iter().any(|s| s.name == "inline");
            let places: &[_] = if has_files { &["rows", "files"] } else { &["rows"] };
            for place in places {
                let Some(updates) = calls(engine, kept.class, place) else { return };
                check(engine, kept, *place == "files" || !has_files, &updates);
            }
        }
    }
}

#[test]
fn a_trace_is_split_at_the_marks() {
    let trace = "\
10 fsync(3</a/store>) = 0
10 write(2</dev/pts/0>, \"the update begins\\n\", 18) = 18
11 fdatasync(4</a/store> <unfinished ...>
10 fsync(5</b/other>) = 0
11 <... fdatasync resumed>) = 0
12 fsync(6</a/store>) = -1 EIO (Input/output error)
10 write(2</dev/pts/0>, \"the update is acknowledged\\n\", 27) = 27
10 fsync(3</a/store>) = 0
";
    let updates = of_updates(trace, "/a".as_ref());
    assert_eq!(updates, [BTreeSet::from(["fdatasync".to_owned()])]);
}

#[test]
fn a_sentence_names_its_calls() {
    let names = |how| Vec::from_iter(named(how));
    assert_eq!(names("write(2) and fdatasync(2) of the log"), ["fdatasync", "write"]);
    assert_eq!(names("MDB_NOSYNC: nothing"), [""; 0]);
}
