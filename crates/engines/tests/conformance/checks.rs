//! The checks that a plugin goes through as well, over every engine; and what is not asked of a plugin.

use std::{env, path::Path, process::Command};

use conformance::{CHECKS, Case, Part, Start, Work};
use model::{Access, Facet, KeyKind, Settings, Store};
use storemark_engines::registry;

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

        #[test]
        fn each_check_is_a_test() {
            let tests = [$(stringify!($name)),*];
            assert!(CHECKS.iter().map(|check| check.name).eq(tests), "{tests:?}");
        }
    };
}

checks! {
    a_value_is_put_got_and_deleted
    a_value_is_put_and_got_in_parts
    insert_update_and_upsert_answer_whether_they_wrote
    sizes_around_pages_and_large_ones_come_back_whole
    a_short_buffer_stays_as_it_was_and_learns_the_length
    a_length_is_that_of_the_value_also_within_a_batch
    integers_of_any_size_and_sign_are_keys
    a_key_of_the_other_kind_is_an_error
    names_of_any_bytes_come_back
    mode_and_time_come_back_and_can_be_replaced
    an_empty_store_shows_nothing
    everything_is_shown_in_key_order
    a_scan_from_a_key_shows_what_follows_it
    a_visitor_stops_a_scan_from_a_key
    a_visitor_stops_a_scan_and_a_list
    a_visitors_error_comes_out
    a_batch_sees_its_own_writes_and_keeps_them
    an_empty_batch_is_fine
    a_batch_that_is_rolled_back_leaves_nothing
    a_reader_sees_what_a_writer_committed
    readers_and_a_writer_work_at_once
    two_writers_both_succeed
    a_writer_that_waits_is_counted
    a_store_holds_what_it_held_before_it_was_closed
    a_store_finds_its_own_kind_of_keys
    a_store_that_is_dropped_is_there_after_all
    reclaiming_gives_space_back_and_keeps_what_is_left
    settling_changes_nothing_that_is_read
    opening_what_is_absent_fails_and_makes_nothing
    creating_over_what_is_there_fails_and_changes_nothing
    reading_leaves_the_files_as_they_were
    a_store_is_recognised_and_its_files_are_all_there_is
    settings_asked_for_are_in_effect_and_all_are_reported
    a_size_of_twice_the_default_is_in_effect
    each_durability_class_that_is_offered_is_in_effect
    a_flipped_byte_of_a_value_is_found
    any_sequence_of_operations_equals_a_map
    a_killed_writer_leaves_whole_values
    an_update_of_a_class_makes_the_calls_that_its_sentence_names
}

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
    let engine = engines().find(|known| known.name() == engine).unwrap();
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
