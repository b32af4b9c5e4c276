//! What is checked of every engine that stores values, whether it is part of storemark or a plugin. The
//! tests of the engines and `storemark conformance` run the same [`CHECKS`].

#![warn(missing_docs)]

mod batches;
mod case;
mod damage;
mod ease;
mod fault;
mod files;
mod interrupted;
mod lifecycle;
mod names;
mod order;
mod process;
mod random;
mod settings;
mod store_folder;
mod traced;
mod values;

use std::path::Path;

use model::{KeyKind, Store};

pub use case::{Case, Surroundings, settings_of};
pub use ease::{Ease, bytes};
pub use fault::{Checked, Fault};
pub use process::{Part, Start};
pub use store_folder::{Snapshot, StoreFolder};

/// A check, which is run over each [`Case`] of an engine.
pub struct Check {
    /// Its name, with `_` for each space: what it checks, in a sentence.
    pub name: &'static str,
    /// What it does.
    pub work: Work,
}

/// What a check works on.
#[derive(Clone, Copy)]
pub enum Work {
    /// An empty store.
    Store(fn(&Case, &dyn Store) -> Checked),
    /// A place where nothing is; for engines whose stores exist after they are closed.
    StoreFolder(fn(&Case, &StoreFolder) -> Checked),
    /// An engine, whether or not its stores exist after they are closed.
    Engine(fn(&Case) -> Checked),
    /// Another process as well; for such engines, in the cases of integers that are the settings of a
    /// durability class: names change nothing in it.
    Process(fn(&Case, Start<'_>) -> Checked),
}

macro_rules! checks {
    ($($kind:ident $module:ident: $($name:ident)*;)*) => {
        /// All checks.
        pub static CHECKS: &[Check] =
            &[$($(Check { name: stringify!($name), work: Work::$kind($module::$name) },)*)*];

        /// Calls the macro `checks!` of the caller with the names of all checks.
        #[macro_export]
        macro_rules! for_all_checks {
            () => {
                checks! { $($($name)*)* }
            };
        }
    };
}

checks! {
    Store values:
        a_value_is_put_got_and_deleted
        a_value_is_put_and_got_in_parts
        insert_update_and_upsert_answer_whether_they_wrote
        sizes_around_pages_and_large_ones_come_back_whole
        a_short_buffer_stays_as_it_was_and_learns_the_length
        a_length_is_that_of_the_value_also_within_a_batch
        integers_of_any_size_and_sign_are_keys
        a_key_of_the_other_kind_is_an_error;
    Store names:
        names_of_any_bytes_come_back;
    StoreFolder names:
        mode_and_time_come_back_and_can_be_replaced;
    Store order:
        an_empty_store_shows_nothing
        everything_is_shown_in_key_order
        a_scan_from_a_key_shows_what_follows_it
        chosen_keys_are_shown_in_the_order_asked_for
        a_visitor_stops_a_scan_from_a_key
        a_visitor_stops_a_scan_and_a_list
        a_visitors_error_comes_out;
    Store batches:
        a_batch_sees_its_own_writes_and_keeps_them
        an_empty_batch_is_fine
        a_batch_that_is_rolled_back_leaves_nothing
        a_reader_sees_what_a_writer_committed
        readers_and_a_writer_work_at_once
        two_writers_both_succeed
        a_writer_that_waits_is_counted;
    StoreFolder lifecycle:
        a_store_holds_what_it_held_before_it_was_closed
        a_store_finds_its_own_kind_of_keys
        a_store_that_is_dropped_is_there_after_all
        reclaiming_gives_space_back_and_keeps_what_is_left
        settling_changes_nothing_that_is_read
        opening_what_is_absent_fails_and_makes_nothing
        creating_over_what_is_there_fails_and_changes_nothing
        reading_leaves_the_files_as_they_were
        a_store_is_recognised_and_its_files_are_all_there_is;
    Engine settings:
        settings_asked_for_are_in_effect_and_all_are_reported
        a_size_of_twice_the_default_is_in_effect
        each_durability_class_that_is_offered_is_in_effect;
    StoreFolder damage:
        a_flipped_byte_of_a_value_is_found;
    Engine random:
        any_sequence_of_operations_equals_a_map;
    Process interrupted:
        a_killed_writer_leaves_whole_values;
    Process traced:
        an_update_of_a_class_makes_the_calls_that_its_sentence_names;
}

/// Returns the check called `name`; `None` if there is none.
pub fn check(name: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.name == name)
}

/// Runs a part of a check in this process; the writer writes until the process is killed.
///
/// # Errors
///
/// Fails if the engine does.
pub fn run_part(part: Part, case: &Case, path: &Path) -> Checked {
    match part {
        Part::Writer => interrupted::write(case, path),
        Part::Updater => traced::update(case, path),
    }
}

impl Check {
    /// Returns the name as a sentence.
    pub fn sentence(&self) -> String {
        self.name.replace('_', " ")
    }

    /// Reports whether the check is of `case`.
    pub fn is_of(&self, case: &Case) -> bool {
        match self.work {
            Work::Store(_) | Work::Engine(_) => true,
            Work::StoreFolder(_) => case.is_persistent(),
            Work::Process(_) => {
                let is_worth = case.keys == KeyKind::Integers && case.class().is_some();
                case.is_persistent() && is_worth
            }
        }
    }

    /// Runs the check over `case`; `start` starts another process.
    ///
    /// # Errors
    ///
    /// Fails with what the engine does that it should not.
    pub fn run(&self, case: &Case, start: Start<'_>) -> Checked {
        match self.work {
            Work::Store(check) => {
                let place = case.new_folder()?;
                let store = case.create(&place.path)?;
                check(case, &*store)?;
                Ok(store.close()?)
            }
            Work::StoreFolder(check) => check(case, &StoreFolder::new()?),
            Work::Engine(check) => check(case),
            Work::Process(check) => check(case, start),
        }
    }
}
