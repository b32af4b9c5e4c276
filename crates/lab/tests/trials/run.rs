//! A short run over a spy.

use lab::{Data, Recorder, Request, ResolvedTarget, Silent, Stop};
use model::{Batch, Blobs, Generated, Operation, Result, Rounds, Sample, record::Record};
use tempfile::TempDir;

use crate::spy::{Habits, RecordingEngine, Watching};

/// Keys, and operations of a pass.
pub(crate) const KEYS: u64 = 20;

/// The time of a run that has no number of rounds.
pub(crate) const SECONDS: f64 = 5.0;

/// What is done, how often, in batches of how many.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) operation: Operation,
    pub(crate) batch: Batch,
    /// Absent: as many as fit into [`SECONDS`].
    pub(crate) rounds: Option<u32>,
    pub(crate) keys: u64,
    pub(crate) over_time: bool,
    /// Operations of the steady pass; 0 for as many as an epoch has of keys that are drawn, in shares of no
    /// time.
    pub(crate) count: u64,
}

impl Job {
    /// One round, all in one batch.
    pub(crate) fn of(operation: Operation) -> Self {
        let (batch, rounds, over_time) = (Batch::All, Some(1), false);
        Self { operation, batch, rounds, keys: KEYS, count: KEYS, over_time }
    }
}

/// Runs `job`; the spy tells the rest.
pub(crate) fn over(spy: &'static RecordingEngine, job: Job) -> Result<Record> {
    // On a disk: what is in a file system in memory cannot be evicted.
    let scratch = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = Data::Generated(Generated {
        seed: 1,
        count: job.keys,
        size: 100,
        variance: 0,
        random_percent: 100,
    });
    let spied = ResolvedTarget::scratch("spy", Box::leak(Box::new(Watching(spy))) as &dyn Blobs);
    let seconds = if job.count > 0 { SECONDS } else { 0.01 };
    let rounds = Rounds { min: 1, max: job.rounds, precision: 0.0, ..Rounds::within(seconds) };
    let mut request = Request::reading(data, vec![spied], rounds, 1);
    request.scratch = Some(scratch.path().to_owned());
    request.change_blobs(|part| {
        part.work[0].operation = job.operation;
        part.count = Some(job.count).filter(|count| *count > 0);
        part.copies = part.count.is_some();
        part.batch = Some(job.batch);
        part.over_time = job.over_time;
    });
    let mut recorder = Recorder::new(None);
    lab::measure(&request, &mut recorder, &Silent, &Stop::new())?;
    Ok(recorder.record().unwrap().clone())
}

/// A spy for the rest of the test.
pub(crate) fn spy(habits: Habits) -> &'static RecordingEngine {
    Box::leak(Box::new(RecordingEngine::new(habits)))
}

/// The only sample of a run of one round.
pub(crate) fn sample(spy: &'static RecordingEngine, operation: Operation) -> Sample {
    sample_of(spy, Job::of(operation))
}

/// The same of such a job.
pub(crate) fn sample_of(spy: &'static RecordingEngine, job: Job) -> Sample {
    let record = over(spy, job).unwrap();
    assert_eq!(record.samples.len(), 1);
    record.samples[0].clone()
}
