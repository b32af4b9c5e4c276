//! Every engine of tasks through the same checks: each step changes what it should and nothing
//! else, many workers work at the same time, and nothing is left.

use std::thread;

use model::{
    Durability, Facet, Settings, Tasks,
    tasks::{Queue, StoredTask, Task, TaskStep},
};
use storemark_engines::registry;

struct Case {
    engine: &'static dyn Tasks,
    settings: Settings,
}

/// Every engine with each word of the settings that say how its workers write.
fn cases() -> Vec<Case> {
    registry::all_tasks().flat_map(of).collect()
}

fn of(engine: &'static dyn Tasks) -> Vec<Case> {
    let words = |name| crate::case::words(&engine.settings(Facet::Tasks), name);
    let mut cases = Vec::new();
    if let Some(lib) = crate::case::loaded(&engine.settings(Facet::Tasks)) {
        let settings = Settings::check(engine.settings(Facet::Tasks), [("lib", lib)]).unwrap();
        cases.push(Case { engine, settings });
    }
    for connection in words("connection") {
        for journal in words("journal") {
            for write in words("write") {
                let asked = [("connection", connection), ("journal", journal), ("write", write)];
                let asked = asked.into_iter().filter_map(|(name, value)| Some((name, value?)));
                let settings = Settings::check(engine.settings(Facet::Tasks), asked).unwrap();
                cases.push(Case { engine, settings });
            }
        }
    }
    cases
}

impl Case {
    fn name(&self) -> String {
        format!("{}:?{}", self.engine.name(), self.settings)
    }

    /// Lets `use_it` have a queue, which must then be empty, and removes it.
    fn with(&self, use_it: impl FnOnce(&dyn Queue)) {
        let folder = tempfile::tempdir().unwrap();
        let queue = self.engine.create(&folder.path().join("queue"), &self.settings);
        let queue = queue.unwrap_or_else(|e| panic!("{}: {e}", self.name()));
        use_it(&*queue);
        queue.flush_writes().unwrap();
        assert_eq!(queue.count().unwrap(), 0, "{}", self.name());
        queue.remove().unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{}", self.name());
    }
}

fn task<'a>(id: &'a str, status: &'a str, output: &'a str) -> Task<'a> {
    Task { id, status, command: "sort", arguments: &["\"quoted\"", "Ünï"], output }
}

#[expect(clippy::unnecessary_wraps, reason = "as it is found")]
fn stored(status: &str, output: &str) -> Option<StoredTask> {
    Some(StoredTask { status: status.to_owned(), output: output.to_owned() })
}

const ONE: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "f123456789abcdef0123456789abcdef";

#[test]
fn each_step_changes_its_part_of_one_task() {
    // Longer than a first guess at what a task takes.
    let long = "y".repeat(20_000);
    for case in cases() {
        case.with(|queue| {
            let mut worker = queue.worker().unwrap();
            let mut take = |step, task: Task<'_>| {
                worker.take(step, &task).unwrap_or_else(|e| panic!("{}: {e}", case.name()));
                (worker.find(ONE).unwrap(), worker.find(OTHER).unwrap())
            };
            let none = || None::<StoredTask>;
            assert_eq!(take(TaskStep::Create, task(ONE, "a", "")), (stored("a", ""), none()));
            let both = (stored("a", ""), stored("a", ""));
            assert_eq!(take(TaskStep::Create, task(OTHER, "a", "")), both, "{}", case.name());
            let changed = (stored("b", ""), stored("a", ""));
            assert_eq!(take(TaskStep::Status, task(ONE, "b", "")), changed, "{}", case.name());
            let written = (stored("b", "x"), stored("a", ""));
            assert_eq!(take(TaskStep::Rewrite, task(ONE, "b", "x")), written, "{}", case.name());
            let rewritten = (stored("b", &long), stored("a", ""));
            assert_eq!(
                take(TaskStep::Rewrite, task(ONE, "b", &long)),
                rewritten,
                "{}",
                case.name()
            );
            assert_eq!(queue.count().unwrap(), 2, "{}", case.name());
            let deleted = (none(), stored("a", ""));
            assert_eq!(take(TaskStep::Delete, task(ONE, "b", &long)), deleted, "{}", case.name());
            assert_eq!(take(TaskStep::Delete, task(OTHER, "a", "")), (none(), none()));
        });
    }
}

#[test]
fn a_step_that_cannot_be_taken_is_refused() {
    for case in cases() {
        case.with(|queue| {
            let mut worker = queue.worker().unwrap();
            for step in [TaskStep::Status, TaskStep::Rewrite, TaskStep::Delete] {
                assert!(worker.take(step, &task(ONE, "a", "")).is_err(), "{} {step}", case.name());
            }
            worker.take(TaskStep::Create, &task(ONE, "a", "")).unwrap();
            assert!(worker.take(TaskStep::Create, &task(ONE, "b", "")).is_err(), "{}", case.name());
            assert_eq!(worker.find(ONE).unwrap(), stored("a", ""), "{}", case.name());
            worker.take(TaskStep::Delete, &task(ONE, "a", "")).unwrap();
        });
    }
}

/// Without flushing: who waits for whom is the same, and it takes no time.
#[test]
fn workers_work_at_the_same_time() {
    for mut case in cases() {
        if case.engine.settings(Facet::Tasks).iter().any(|setting| setting.name == "connection") {
            case.settings.set("sync", "off");
        }
        case.with(|queue| {
            thread::scope(|scope| {
                for number in 0..8 {
                    scope.spawn(move || {
                        let mut worker = queue.worker().unwrap();
                        for id in 0..10 {
                            let id = format!("{number:016x}{id:016x}");
                            for step in TaskStep::ALL {
                                worker.take(step, &task(&id, "a", "x")).unwrap();
                            }
                        }
                    });
                }
            });
        });
    }
}

#[test]
fn a_task_that_is_left_keeps_its_queue_from_being_empty() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let queue = case.engine.create(&folder.path().join("queue"), &case.settings).unwrap();
        queue.worker().unwrap().take(TaskStep::Create, &task(ONE, "a", "")).unwrap();
        assert_eq!(queue.count().unwrap(), 1, "{}", case.name());
    }
}

#[test]
fn settings_are_read_back_and_a_class_offered_is_kept() {
    for case in cases() {
        case.with(|queue| {
            let (in_effect, _) = queue.in_effect().unwrap();
            for (name, value) in &case.settings.0 {
                assert_eq!(in_effect.get(name), Some(value.as_str()), "{}", case.name());
            }
        });
        for class in Durability::ALL {
            let Ok(settings) = case.engine.class_settings(Facet::Tasks, class) else { continue };
            let case = Case { settings: case.settings.clone().overlaid(&settings), ..case };
            case.with(|queue| assert_eq!(queue.in_effect().unwrap().1, class, "{}", case.name()));
        }
    }
}
