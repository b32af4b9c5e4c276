//! `storemark queue` on a made-up target: what a trial does, and that it tells what goes wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// The name the workspace calls it by.
extern crate storemark_lab as lab;

mod made_up;

use std::time::Duration;

use lab::{Outcome, QueueRequest, Recorder, Request, ResolvedTarget, Silent, Stop};
use model::{
    FindingKind, Measured, QueueMeasured, Result, Rounds, Sample, Tasks, record::Record,
    tasks::TaskStep,
};
use tempfile::TempDir;

use made_up::{Fault, MadeUp};

/// Two rounds of three workers with five tasks each.
fn request(engines: &[&'static MadeUp], folder: &TempDir) -> Request {
    let target = |(index, engine): (usize, &&'static MadeUp)| {
        ResolvedTarget::scratch(&format!("made up {index}"), *engine as &dyn Tasks)
    };
    let part = QueueRequest {
        targets: engines.iter().enumerate().map(target).collect(),
        workers: 3,
        tasks: 5,
        rewrites: 4,
        output: 33,
    };
    let rounds = Rounds::exactly(2, 60.0);
    let request = Request::new(part, rounds, 7);
    Request { scratch: Some(folder.path().to_owned()), ..request }
}

fn run(request: &Request, stop: &Stop) -> (Result<Outcome>, Record) {
    let mut recorder = Recorder::new(None);
    let outcome = lab::measure(request, &mut recorder, &Silent, stop);
    let record = recorder.record().cloned().unwrap();
    (outcome, record)
}

fn made(fault: Fault) -> &'static MadeUp {
    Box::leak(Box::new(MadeUp::new(fault)))
}

fn one(fault: Fault) -> (&'static MadeUp, Result<Outcome>, Record) {
    let folder = tempfile::tempdir().unwrap();
    let engine = made(fault);
    let (outcome, record) = run(&request(&[engine], &folder), &Stop::new());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    (engine, outcome, record)
}

#[test]
fn all_workers_see_all_tasks_through_in_every_pass() {
    let (engine, outcome, record) = one(Fault::None);
    assert!(outcome.unwrap().failed.is_empty());
    assert_eq!(record.samples.len(), 2);
    for sample in &record.samples {
        let Measured::Queue(QueueMeasured { latency, steps, .. }) = &sample.measured else {
            panic!("{sample:?}")
        };
        assert_eq!((sample.operations, latency.operations), (15, 15));
        assert_eq!(sample.first_pass().unwrap().operations, 15);
        let steps: Vec<_> = steps.iter().map(|(step, of)| (*step, of.operations)).collect();
        let expected = [
            (TaskStep::Create, 15),
            (TaskStep::Status, 15),
            (TaskStep::Rewrite, 60),
            (TaskStep::Delete, 15),
        ];
        assert_eq!(steps, expected);
        assert_eq!(sample.workers.len(), 3);
        // One wait is told for each step that was taken in the pass: 3 × 5 × 7.
        assert_eq!(sample.counters.get(model::LOCK_WAITS), Some(&105));
    }
    // A task that is read back, then two passes, each round; no id comes twice.
    assert_eq!(engine.ids().len(), 2 * (1 + 2 * 15));
    // Never were there more tasks than workers.
    assert!(engine.most() <= 3, "{}", engine.most());
}

#[test]
fn what_is_owed_and_what_the_steps_take_is_measured() {
    let (_, _, record) = one(Fault::Slow);
    let least = |ns: u64, least: Duration| assert!(Duration::from_nanos(ns) >= least, "{ns} ns");
    for sample in &record.samples {
        let Sample { settle_ns, wall_ns, measured, .. } = sample;
        let Measured::Queue(QueueMeasured { latency, steps, .. }) = measured else {
            panic!("{sample:?}")
        };
        least(*settle_ns, made_up::OWED);
        // Five tasks of each worker, one after the other.
        least(*wall_ns, made_up::OWED + made_up::DELETING * 5);
        least(steps[&TaskStep::Delete].p50_ns, made_up::DELETING * 9 / 10);
        least(latency.p50_ns, made_up::DELETING * 9 / 10);
        assert!(steps[&TaskStep::Delete].sum_ns <= latency.sum_ns);
    }
}

#[test]
fn a_task_that_is_left_fails_the_trial() {
    let (_, outcome, record) = one(Fault::KeepsOne);
    assert_eq!(outcome.unwrap().failed, ["made up 0"]);
    assert!(record.samples.is_empty());
    let why = record.findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::TrialFailed { why } => Some(why.as_str()),
        _ => None,
    });
    assert_eq!(why, Some("tasks still in the queue after all were deleted: 1"));
}

#[test]
fn a_change_that_does_not_show_fails_the_trial() {
    let (_, outcome, record) = one(Fault::ForgetsStatus);
    assert_eq!(outcome.unwrap().failed, ["made up 0"]);
    let why = format!("{:?}", record.findings);
    assert!(why.contains("after status a task is not as it was written"), "{why}");
}

#[test]
fn one_worker_that_fails_ends_the_trial_and_not_the_others_targets() {
    let folder = tempfile::tempdir().unwrap();
    let engines = [made(Fault::None), made(Fault::FailsLater)];
    let (outcome, record) = run(&request(&engines, &folder), &Stop::new());
    assert_eq!(outcome.unwrap().failed, ["made up 1"]);
    assert_eq!(record.samples.iter().filter(|sample| sample.target == 0).count(), 2);
    assert!(record.samples.iter().all(|sample| sample.target == 0));
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_run_that_is_stopped_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stop: &'static Stop = Box::leak(Box::new(Stop::new()));
    let engine = made(Fault::Stops(stop));
    let (outcome, record) = run(&request(&[engine], &folder), stop);
    assert_eq!(outcome.unwrap().ended, model::record::Ended::Interrupted);
    assert!(record.samples.is_empty());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
