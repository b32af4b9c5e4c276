//! A tiny experiment, as docs/adding-an-experiment.md describes one: the schedule runs it, and its
//! samples are in the record, though nothing outside of it knows it.

use std::time::Duration;

use host::Stop;
use model::{
    Cache, Durability, Environment, Error, Io, Owner, PlannedTarget, QueueData, QueueMeasured,
    Result, Rounds, Sample, Settings, Work, Workload,
    record::{Ended, Record},
};

use super::{CaseRounds, Times, ending, measure};
use crate::{
    Recorder, Silent,
    budget::Budget,
    experiment::{
        Experiment, Output, Prepared, Trial,
        request::{ExperimentPart, Preparation, Request},
    },
};

#[derive(Clone)]
struct TinyRequest {
    labels: Vec<String>,
}

impl TinyRequest {
    fn of<const N: usize>(labels: [&str; N], rounds: Rounds) -> Request {
        let labels = labels.map(str::to_owned).into();
        let request = Request::new(Self { labels }, rounds, 1);
        Request { durability: Some(Durability::None), ..request }
    }
}

impl ExperimentPart for TinyRequest {
    fn prepare<'a>(&'a self, preparation: Preparation<'a>) -> Result<Prepared<'a>> {
        let Preparation { request, .. } = preparation;
        let target = |label: &String| PlannedTarget {
            label: label.clone(),
            engine: "tiny".to_owned(),
            title: String::new(),
            extension: None,
            location: String::new(),
            settings: Settings::default(),
            of_class: Vec::new(),
            owner: Owner::Scratch,
            on: None,
            reference: false,
            lost_if_killed: false,
            one_process: false,
        };
        let data = QueueData { tasks: 1, rewrites: 0, output: 0 };
        let workloads = vec![Workload::alone(Work::Queue, 1)];
        let targets = self.labels.iter().map(target).collect();
        let plan = request.plan(data, targets, workloads, vec![Cache::Warm]);
        Ok(Prepared::new(Tiny, plan, Environment::default(), "nothing"))
    }

    fn labels(&mut self) -> Vec<&mut String> {
        self.labels.iter_mut().collect()
    }
}

struct Tiny;

impl Experiment for Tiny {
    /// Measures the first target; every other one fails.
    fn run(&mut self, trial: &Trial, output: &mut Output<'_>) -> Result<()> {
        if trial.target() > 0 {
            return Err(Error::failed("no second target works"));
        }
        let measured = QueueMeasured {
            first: None,
            latency: model::Latency::default(),
            steps: std::collections::BTreeMap::new(),
            files: model::FileBytes::default(),
        };
        let sample = Sample { operations: 1, wall_ns: 1_000, ..Sample::default() };
        output.sample(Sample { measured: measured.into(), ..sample }, None)
    }
}

#[test]
fn a_tiny_experiment_needs_nothing_but_its_request_and_its_trials() {
    let rounds = Rounds::exactly(3, 60.0);
    let request = TinyRequest::of(["one"], rounds);
    let mut recorder = Recorder::new(None);
    let outcome = measure(&request, &mut recorder, &Silent, &Stop::new()).unwrap();
    assert!(matches!(outcome.ended, Ended::Rounds), "{:?}", outcome.ended);
    let samples = |record: &Record| record.samples.iter().map(|s| s.round).collect::<Vec<_>>();
    assert_eq!(recorder.record().map(samples), Some(vec![0, 1, 2]));
}

#[test]
fn rounds_that_were_not_warm_are_made_up_for() {
    let request = TinyRequest::of(["one"], Rounds::exactly(5, 60.0));
    let mut recorder = Recorder::new(None);
    measure(&request, &mut recorder, &Silent, &Stop::new()).unwrap();
    let mut record = recorder.record().unwrap().clone();
    let trial = Trial::for_target(0, 0..1, Some(Cache::Warm));
    let (all, share) = (Budget::new(None), Budget::new(Some(Duration::ZERO)));
    let ended = |record: &Record, done| {
        let times = Times { longest: Duration::from_secs(1), share, all, others_wait: true };
        ending::ended(&Rounds::within(60.0), done, &times, Some(record), &trial)
    };
    assert_eq!(ended(&record, 5), Some(Ended::Time), "its share is over");
    let fetched = Io { device_read_bytes: Some(1 << 30), ..Io::default() };
    record.samples[2] = Sample { bytes: 1, io: Some(fetched), ..record.samples[2].clone() };
    assert_eq!(ended(&record, 5), None);
    assert_eq!(ended(&record, 10), Some(Ended::Time), "as many again are enough");
}

#[test]
fn what_nothing_is_left_to_compare_with_has_no_further_rounds() {
    let rounds = Rounds { min: 3, ..Rounds::within(3.0) };
    let request = TinyRequest::of(["one", "two"], rounds);
    let mut recorder = Recorder::new(None);
    let outcome = measure(&request, &mut recorder, &Silent, &Stop::new()).unwrap();
    assert_eq!(outcome.failed, ["two"]);
    assert_eq!(recorder.record().unwrap().samples.len(), 1);
}

#[test]
fn the_first_round_that_also_fills_stores_says_nothing_about_the_third() {
    let second = Duration::from_secs(1);
    let mut case = CaseRounds { trials: Vec::new(), next: 0, longest: Duration::ZERO, open: true };
    let took = [20, 3, 2, 4].map(|seconds| {
        case.next += 1;
        case.note_round(second * seconds)
    });
    assert_eq!(took, [second * 20, second * 3, second * 3, second * 4]);
}
