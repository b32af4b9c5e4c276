//! A short run over a spy.

use lab::{Data, Recorder, Request, Requested, Silent, Stop, Work};
use model::{
    Batch, Cache, Generated, Operation, Order, Result, Rounds, Sample, Settings, record::Record,
};
use tempfile::TempDir;

use crate::spy::{Habits, Spy, Watching};

/// Keys, and operations of a pass.
pub(crate) const KEYS: u64 = 20;

/// What is done, how often, in batches of how many.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) operation: Operation,
    pub(crate) batch: Batch,
    pub(crate) rounds: u32,
    pub(crate) keys: u64,
}

impl Job {
    /// One round, all in one batch.
    pub(crate) fn of(operation: Operation) -> Self {
        Self { operation, batch: Batch::All, rounds: 1, keys: KEYS }
    }
}

/// Runs `job`; the spy tells the rest.
pub(crate) fn over(spy: &'static Spy, job: Job) -> Result<Record> {
    // On a disk: what is in a file system in memory cannot be evicted.
    let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let spied = Requested {
        label: "spy".to_owned(),
        engine: Box::leak(Box::new(Watching(spy))),
        location: None,
        address: None,
        settings: Settings::default(),
        site: None,
    };
    let request = Request {
        data: Data::Generated(Generated {
            seed: 1,
            count: job.keys,
            size: 100,
            variance: 0,
            random_percent: 100,
        }),
        targets: vec![spied],
        baseline: 0,
        work: vec![Work { operation: job.operation, order: Order::Permutation, rate: None }],
        caches: vec![Cache::Warm],
        count: Some(job.keys),
        max_key: None,
        start: None,
        batch: job.batch,
        threads: 1,
        processes: None,
        memory: None,
        durability: None,
        over_time: false,
        rounds: Rounds { min: 1, max: Some(job.rounds), precision: 0.03, seconds: 60.0 },
        seed: 1,
        in_place: false,
        integrity_check: false,
        scratch: Some(scratch.path().to_owned()),
        short_of_room: false,
        asked: None,
    };
    let mut recorder = Recorder::new(None);
    lab::run(&request, &mut recorder, &Silent, &Stop::new())?;
    Ok(recorder.record().unwrap().clone())
}

/// A spy for the rest of the test.
pub(crate) fn spy(habits: Habits) -> &'static Spy {
    Box::leak(Box::new(Spy::new(habits)))
}

/// The only sample of a run of one round.
pub(crate) fn sample(spy: &'static Spy, operation: Operation) -> Sample {
    let record = over(spy, Job::of(operation)).unwrap();
    assert_eq!(record.samples.len(), 1);
    record.samples[0].clone()
}
