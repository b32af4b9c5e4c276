//! strace sees the flush of a durable update before it is acknowledged, and none where the class
//! asks for none.

use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

use model::{Access, Blobs, Durability, Facet, Key, KeyKind, Mode, OpenOptions, Put};
use storemark_engines::registry;

const UPDATER: &str = "durability::traced::updater";
/// Variable of the process that is traced: engine, class and folder.
const JOB: &str = "STOREMARK_TEST_UPDATER";
const BEGIN: &str = "the update begins";
const END: &str = "the update is acknowledged";
/// Calls that flush a file to its device.
const FLUSHES: [&str; 5] = ["fsync", "fdatasync", "msync", "sync_file_range", "syncfs"];

/// The process that is traced: one update after another has warmed up what is only done once.
#[test]
#[ignore = "runs in a process of its own, started by the test below"]
fn updater() {
    let Ok(job) = env::var(JOB) else { return };
    let [engine, class, path] =
        job.splitn(3, ' ').collect::<Vec<_>>().try_into().expect("three words");
    let engine = registry::blobs(engine).unwrap();
    let options = options(engine, class.parse().unwrap());
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

/// Calls that flushed during each update of `engine`, by any of its processes and threads;
/// `None` where nobody may trace.
fn flushes(engine: &dyn Blobs, class: Durability) -> Option<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711))
        .unwrap();
    let trace = folder.path().join("trace");
    let job = format!("{} {class} {}", engine.name(), folder.path().join("store").display());
    let calls = format!("trace=write,{}", FLUSHES.join(","));
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

/// Splits a trace at the marks of the updater. Only what flushes a file below `folder` counts.
fn of_updates(trace: &str, folder: &Path) -> Vec<Vec<String>> {
    let folder = folder.to_str().unwrap();
    let mut updates: Vec<Vec<String>> = Vec::new();
    let (mut within, mut waiting) = (false, Vec::new());
    for line in trace.lines() {
        let (process, call) = line.trim_start().split_once(' ').unwrap_or_default();
        let call = call.trim_start();
        if call.starts_with("write(") && call.contains(BEGIN) {
            updates.push(Vec::new());
            within = true;
        } else if call.starts_with("write(") && call.contains(END) {
            within = false;
        }
        // A call during which another process did something is on two lines.
        let named = FLUSHES.iter().find(|name| call.starts_with(&format!("{name}(")));
        if named.is_some() && call.contains(folder) && call.contains("<unfinished") {
            waiting.push(process);
        }
        let resumed = FLUSHES.iter().any(|name| call.starts_with(&format!("<... {name} resumed")));
        let ended =
            (resumed && waiting.contains(&process)) || (named.is_some() && call.contains(folder));
        if ended && call.contains("= 0") && within {
            updates.last_mut().unwrap().push(call.to_owned());
        }
        if resumed {
            waiting.retain(|waits| *waits != process);
        }
    }
    updates
}

#[test]
fn a_durable_update_is_flushed_before_it_is_acknowledged_and_another_need_not_be() {
    for engine in registry::all_blobs().filter(|e| e.capabilities().persistent) {
        for class in [Durability::None, Durability::Durable] {
            if engine.durability_settings(class).is_none() {
                continue;
            }
            let Some(updates) = flushes(engine, class) else { return };
            assert_eq!(updates.len(), 4, "{} {class}: {updates:?}", engine.name());
            for calls in updates {
                let flushed = !calls.is_empty();
                let durable = class == Durability::Durable;
                assert_eq!(flushed, durable, "{} {class}: {calls:?}", engine.name());
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
    assert_eq!(updates, [["<... fdatasync resumed>) = 0"]]);
}
