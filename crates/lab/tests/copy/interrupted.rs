//! Copies that the user interrupts, and what resuming makes of it.

use std::{fs, path::Path, sync::Mutex};

use lab::{CopyJob, Progress, Stop};
use model::{ErrorKind, Key};
use tempfile::TempDir;

use crate::common::*;

/// Items of a source that takes many parcels: some 2 kB each.
const COUNT: i64 = 6000;

/// Stops as soon as so many items are done, or when a stage begins; remembers what was said.
struct Impatient<'a> {
    stop: &'a Stop,
    after: u64,
    stage: &'a str,
    said: Mutex<Vec<String>>,
}

impl<'a> Impatient<'a> {
    fn new(stop: &'a Stop, after: u64, stage: &'a str) -> Self {
        Self { stop, after, stage, said: Mutex::default() }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().join("\n")
    }
}

impl Progress for Impatient<'_> {
    fn stage(&self, what: &str, _: Option<u64>) {
        if what == self.stage {
            self.stop.set();
        }
    }

    fn advance_to(&self, steps: u64) {
        if steps >= self.after {
            self.stop.set();
        }
    }

    fn say(&self, what: &str) {
        self.said.lock().unwrap().push(what.to_owned());
    }
}

fn interrupt(job: &CopyJob, after: u64, stage: &str) -> (ErrorKind, String) {
    let stop = Stop::new();
    complaint(lab::copy(job, &Impatient::new(&stop, after, stage), &stop))
}

/// Resumes and returns what was said meanwhile.
fn resume_and_listen(from: &str, to: &str) -> (lab::Copied, String) {
    let stop = Stop::new();
    let listener = Impatient::new(&stop, u64::MAX, "");
    let job = CopyJob { resume: true, ..job(from, to) };
    (lab::copy(&job, &listener, &stop).unwrap(), listener.said())
}

/// A pack of integers, and where a copy in a store of `engine` goes.
fn made(engine: &str) -> (TempDir, String, String) {
    let (folder, source) = source(COUNT);
    let to = at(engine, folder.path(), "copy");
    (folder, source, to)
}

fn assert_alone(folder: &Path, name: &str) {
    assert_eq!(entries(folder), [name, "source"]);
}

#[test]
fn a_copy_into_a_table_with_a_name_goes_on_too() {
    let (folder, source, to) = made("sqlite");
    let to = format!("{to}?table=photos");
    let (kind, line) = interrupt(&job(&source, &to), 3000, "");
    assert_eq!(kind, ErrorKind::Interrupted, "{line}");
    assert!(line.contains("--resume continues with"), "{line}");
    let (copied, said) = resume_and_listen(&source, &to);
    assert!(copied.resumed > 0 && said.is_empty(), "{} {said}", copied.resumed);
    assert_equal(&source, &to);
    assert_alone(folder.path(), "copy");
}

#[test]
fn an_interrupted_copy_goes_on_where_it_was() {
    for engine in ["files", "pack", "sqlite"] {
        let (folder, source, to) = made(engine);
        let mut before = 0;
        for after in [1, 3000] {
            let job = CopyJob { resume: true, ..job(&source, &to) };
            let (kind, line) = interrupt(&job, after, "");
            assert_eq!(kind, ErrorKind::Interrupted);
            assert!(line.contains("--resume continues with"), "{line}");
            assert!(line.ends_with("copy.storemark-partial"), "{line}");
            assert_eq!(entries(folder.path()), ["copy.storemark-partial", "source"]);
        }
        let stop_at_flush = CopyJob { resume: true, ..job(&source, &to) };
        for _ in 0..2 {
            let (kind, _) = interrupt(&stop_at_flush, u64::MAX, "flushing to disk");
            assert_eq!(kind, ErrorKind::Interrupted);
        }
        let copied = resume(&source, &to).unwrap();
        before += copied.resumed;
        assert_eq!((copied.count, before), (COUNT.unsigned_abs(), COUNT.unsigned_abs()));
        assert_equal(&source, &to);
        assert_alone(folder.path(), "copy");
    }
}

#[test]
fn what_was_written_before_the_interruption_is_kept() {
    for engine in ["files", "pack", "sqlite"] {
        let (_folder, source, to) = made(engine);
        interrupt(&job(&source, &to), 2000, "");
        let resumed = resume(&source, &to).unwrap().resumed;
        assert!((2000..6000).contains(&resumed), "{engine}: {resumed}");
        assert_equal(&source, &to);
    }
}

#[test]
fn without_resume_a_copy_starts_again() {
    let (folder, source, to) = made("sqlite");
    interrupt(&job(&source, &to), 2000, "");
    assert_eq!(copy(&source, &to).unwrap().resumed, 0);
    assert_equal(&source, &to);
    assert_alone(folder.path(), "copy");
}

#[test]
fn resuming_mends_what_changed_in_between() {
    for engine in ["files", "pack", "sqlite"] {
        let (folder, source, to) = made(engine);
        interrupt(&job(&source, &to), 2000, "");
        let partial = at(engine, &partial(folder.path(), "copy"), "store");
        put(&partial, Key::Int(7), b"torn");
        delete(&partial, Key::Int(8));
        put(&partial, Key::Int(COUNT + 1), b"not the source's");
        delete(&source, Key::Int(9));
        let (copied, said) = resume_and_listen(&source, &to);
        assert!(copied.resumed > 1900, "{said}");
        assert_equal(&source, &to);
        assert_alone(folder.path(), "copy");
    }
}

#[test]
fn names_resume_with_their_modes_and_times() {
    for engine in ["files", "pack", "sqlite"] {
        let folder = tempfile::tempdir().unwrap();
        let source = at("files", folder.path(), "source");
        names(&source);
        let to = at(engine, folder.path(), "copy");
        interrupt(&job(&source, &to), u64::MAX, "flushing to disk");
        let count = NAMES.len() as u64;
        let partial = partial(folder.path(), "copy").join("store");
        let mut expected = count;
        if engine == "files" {
            // As a copy leaves it that is killed between the bytes of a file and its time.
            fs::File::open(partial.join("a b"))
                .unwrap()
                .set_modified(std::time::SystemTime::now())
                .unwrap();
            expected -= 1;
        }
        assert_eq!(resume(&source, &to).unwrap().resumed, expected, "{engine}");
        assert_equal(&source, &to);
        for (name, meta) in metas(&source) {
            assert_eq!(metas(&to)[&name].seconds, meta.seconds);
            assert_eq!(metas(&to)[&name].mode, meta.mode);
        }
    }
}

#[test]
fn a_damaged_partial_copy_is_reported_and_not_used() {
    for engine in ["pack", "sqlite"] {
        let (folder, source, to) = made(engine);
        interrupt(&job(&source, &to), 2000, "");
        let store = partial(folder.path(), "copy").join("store");
        let bytes = fs::read(&store).unwrap();
        fs::write(&store, &bytes[..bytes.len() / 2]).unwrap();
        let (copied, said) = resume_and_listen(&source, &to);
        assert_eq!(copied.resumed, 0);
        assert!(said.starts_with("cannot resume ") && said.contains("starting again: "), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_equal(&source, &to);
        assert_alone(folder.path(), "copy");
    }
}

#[test]
fn a_partial_of_another_engine_or_kind_is_not_used() {
    let (folder, source, other) = made("sqlite");
    interrupt(&job(&source, &other), 2000, "");
    let to = at("pack", folder.path(), "copy");
    let (copied, said) = resume_and_listen(&source, &to);
    assert_eq!(copied.resumed, 0, "{said}");
    assert_equal(&source, &to);
    let named = at("files", folder.path(), "named");
    names(&named);
    interrupt(&job(&source, &at("sqlite", folder.path(), "other")), 2000, "");
    let (_, said) = resume_and_listen(&named, &at("sqlite", folder.path(), "other"));
    assert!(said.contains("its keys are integers, the source's names"), "{said}");
}

#[test]
fn a_forced_copy_that_is_interrupted_leaves_the_old_store() {
    let (folder, source) = source(COUNT);
    for engine in ["files", "sqlite"] {
        let to = at(engine, folder.path(), engine);
        let twin = at("pack", folder.path(), &format!("{engine}-twin"));
        integers(&to, 3);
        integers(&twin, 3);
        interrupt(&CopyJob { force: true, ..job(&source, &to) }, 2000, "");
        assert_equal(&to, &twin);
        run(&CopyJob { force: true, resume: true, ..job(&source, &to) }).unwrap();
        assert_equal(&source, &to);
    }
}

#[test]
fn a_name_that_is_taken_by_others_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let [source, to] = ["source", "copy"].map(|name| at("pack", folder.path(), name));
    integers(&source, 5);
    let own = partial(folder.path(), "copy");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("letter"), "mine").unwrap();
    let (kind, line) = complaint(copy(&source, &to));
    assert_eq!(kind, ErrorKind::Exists);
    assert!(line.contains("was not created by storemark"), "{line}");
    assert_eq!(entries(&own), ["letter"]);
}

/// Starts another copy to the same place in the middle of the first.
struct Second<'a>(&'a Mutex<String>, &'a str, &'a str);
impl Progress for Second<'_> {
    fn stage(&self, what: &str, _: Option<u64>) {
        if what == "copying" {
            *self.0.lock().unwrap() = complaint(copy(self.1, self.2)).1;
        }
    }
    fn advance_to(&self, _: u64) {}
    fn say(&self, _: &str) {}
}

#[test]
fn two_copies_to_one_place_do_not_mix() {
    let (_folder, source, to) = made("pack");
    let refused = Mutex::new(String::new());
    lab::copy(&job(&source, &to), &Second(&refused, &source, &to), &Stop::new()).unwrap();
    let refused = refused.into_inner().unwrap();
    assert!(refused.contains("another copy to the same place is running"), "{refused}");
    assert_equal(&source, &to);
}
