//! The checks that a plugin goes through as well, over every engine; and what is not asked of a plugin.

use std::{env, path::Path, process::Command};

use conformance::{Case, Part, Start, Work};
use model::{Access, Blobs, Facet, KeyKind, Settings, Store};
use storemark_engines::{Skeleton, registry};

use crate::{
    case::{Ease, bytes, cases, checked, each, each_persistent, each_store},
    servers::engines,
};

/// Makes a test of each check.
macro_rules! checks {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                over_all_cases(stringify!($name));
            }
        )*
    };
}

conformance::for_all_checks!();

fn over_all_cases(name: &str) {
    let check = conformance::check(name).unwrap();
    match check.work {
        Work::Store(check) => each_store(check),
        Work::StoreFolder(check) => each_persistent(check),
        Work::Engine(check) => each(check),
        Work::Process(run) => each(|case| {
            if !check.is_of(case) {
                return Ok(());
            }
            match run(case, &start as Start<'_>) {
                // `make test` installs strace; a container may keep it from tracing.
                Err(fault) if fault.to_string() == "nobody may trace here" => Ok(()),
                done => done,
            }
        }),
    }
}

const PART: &str = "checks::part";
const JOB: &str = "STOREMARK_TEST_PART";

/// Starts this program again, to run a part of a check.
fn start(part: Part, case: &Case, path: &Path) -> Command {
    let (engine, settings, keys) = (case.engine.name(), &case.settings, case.keys);
    let job = format!("{} {engine} {keys} ?{settings} {}", part.word(), path.display());
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", PART, "--ignored", "--nocapture"]).env(JOB, job);
    command
}

/// Returns the case of a job for another process, and the path of its store.
pub(crate) fn job(words: &str) -> (Case, String) {
    let [engine, keys, settings, path] =
        words.splitn(4, ' ').collect::<Vec<_>>().try_into().expect("four words");
    let all = registry::all_blobs().chain([&Skeleton as &dyn Blobs]);
    let engine = all.into_iter().find(|known| known.name() == engine).unwrap();
    let pairs = settings[1..].split('&').filter_map(|pair| pair.split_once('='));
    let settings = Settings::check(engine.settings(Facet::Blobs), pairs).unwrap();
    let keys = KeyKind::ALL.into_iter().find(|known| known.as_str() == keys).unwrap();
    (Case::new(engine, keys, settings), path.to_owned())
}

#[test]
#[ignore = "runs in a process of its own, started by other tests"]
fn part() {
    let Ok(words) = env::var(JOB) else { return };
    let (part, words) = words.split_once(' ').unwrap();
    let (case, path) = job(words);
    conformance::run_part(Part::parse(part).unwrap(), &case, path.as_ref()).unwrap();
}

#[test]
fn nothing_and_a_hundred_megabytes_come_back_whole() {
    let pattern = bytes(1, 1_000_003);
    let value: Vec<u8> = pattern.iter().copied().cycle().take(100_000_000).collect();
    let mut buffer = vec![0; value.len()];
    let mut check = |case: &Case, store: &dyn Store| {
        let mut session = store.session().unwrap();
        buffer.fill(0xAA);
        assert_eq!(session.get(case.key(1).as_key(), &mut buffer).unwrap(), Some(value.len()));
        assert!(buffer == value, "{case}");
        assert_eq!(session.get(case.key(2).as_key(), &mut buffer).unwrap(), Some(0), "{case}");
    };
    for case in cases().iter().filter(|case| case.engine.capabilities().retains) {
        if !case.settings.is_empty() || case.keys == KeyKind::Names {
            continue;
        }
        let place = case.new_folder().unwrap();
        let store = case.create(&place.path).unwrap();
        store.session().unwrap().write(&case.key(1), &value);
        store.session().unwrap().write(&case.key(2), b"");
        check(case, &*store);
        store.close().unwrap();
        if case.is_persistent() {
            check(case, &*case.open(&place.path, Access::Read).unwrap());
        }
    }
}

#[test]
fn the_registry_recognises_the_stores_of_each_engine() {
    each_persistent(|case, place| {
        case.create_filled(&place.path, 5)?;
        let found = registry::recognise(&place.path).map(model::EngineFacts::name);
        // That one is in no registry.
        assert_eq!(found.unwrap_or("skeleton"), case.engine.name());
        Ok(())
    });
}

#[test]
fn nothing_is_retained_only_where_that_is_the_point() {
    for engine in engines().filter(|engine| !engine.capabilities().retains) {
        let case = Case::new(engine, KeyKind::Integers, checked(engine, &[]));
        let store = case.create("".as_ref()).unwrap();
        let mut session = store.session().unwrap();
        session.fill(&case, 3);
        assert_eq!(session.get(case.key(1).as_key(), &mut [1]).unwrap(), Some(0));
        assert_eq!(session.items(), []);
    }
}
