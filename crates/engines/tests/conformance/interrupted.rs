//! A writer that is killed leaves whole values, where the durability class says so.

use std::{
    env, fs,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use model::{Access, Durability, KeyKind, Mode};

use crate::{
    case::{Case, Ease, Place, bytes, checked},
    servers::engines,
};

const KEYS: i64 = 8;
const WRITER: &str = "interrupted::writer";

fn case(name: &str, class: Durability) -> Option<Case> {
    let engine = engines().find(|engine| engine.name() == name).unwrap();
    let settings = checked(engine, engine.durability_settings(class)?.settings);
    let persistent = engine.capabilities().persistent;
    persistent.then_some(Case { engine, keys: KeyKind::Integers, settings })
}

/// The process that is killed. Makes a store and overwrites all keys with ever new values until
/// then; nobody else has it open meanwhile.
#[test]
#[ignore = "runs in a process of its own, started by the test below"]
fn writer() {
    let Ok(job) = env::var("STOREMARK_TEST_WRITER") else { return };
    let [engine, class, path] =
        job.splitn(3, ' ').collect::<Vec<_>>().try_into().expect("three words");
    let case = case(engine, class.parse().unwrap()).unwrap();
    let store = case.create(path.as_ref()).unwrap();
    for key in 0..KEYS {
        store.session().unwrap().write(&case.key(key), &value(0));
    }
    store.close().unwrap();
    let store = case.open(path.as_ref(), Access::Write).unwrap();
    let mut session = store.session().unwrap();
    for n in 0.. {
        session.begin(Mode::Write).unwrap();
        for key in 0..KEYS {
            session.write(&case.key(key), &value(n));
        }
        session.commit().unwrap();
        fs::write(format!("{path}.count"), n.to_string()).unwrap();
    }
}

/// Up to 100 kB that tell by themselves whether they are whole.
fn value(n: i64) -> Vec<u8> {
    let mut value = n.to_le_bytes().to_vec();
    value.extend(bytes(n, usize::try_from(n % 11).unwrap() * 9_000));
    value
}

fn whole(found: &[u8]) -> bool {
    found.first_chunk().is_some_and(|n| found == value(i64::from_le_bytes(*n)))
}

fn start(case: &Case, class: Durability, place: &Place) -> Child {
    let job = format!("{} {class} {}", case.engine.name(), place.path.display());
    Command::new(env::current_exe().unwrap())
        .args(["--exact", WRITER, "--ignored"])
        .env("STOREMARK_TEST_WRITER", job)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until the writer has committed a few batches, then a little longer, then kills it.
fn kill_at_work(mut child: Child, place: &Place, after: Duration) {
    let count = place.dir.path().join("store.count");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !fs::read_to_string(&count).is_ok_and(|n| n.parse::<u32>().is_ok_and(|n| n > 2)) {
        assert!(Instant::now() < deadline, "the writer writes nothing");
        sleep(Duration::from_millis(2));
    }
    sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_writer_leaves_whole_values() {
    for engine in engines() {
        for class in [Durability::Consistent, Durability::Durable] {
            let Some(case) = case(engine.name(), class) else { continue };
            for milliseconds in [0, 3, 11] {
                let place = Place::new();
                let child = start(&case, class, &place);
                kill_at_work(child, &place, Duration::from_millis(milliseconds));
                let store = case.open(&place.path, Access::Write).unwrap();
                let items = store.session().unwrap().items();
                assert_eq!(items.len(), usize::try_from(KEYS).unwrap(), "{case}");
                assert!(items.iter().all(|(_, found)| whole(found)), "{case}: a torn value");
            }
        }
    }
}
