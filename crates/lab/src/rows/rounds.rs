//! The rounds: every target in every group of processes once a round, in fresh random order.

use std::{
    collections::HashSet,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use model::{
    Cache, DatasetSpec, DatasetSummary, Doubt, ErrorKind, Finding, KeyKind, Operation, Plan,
    Result, Rounds, Sample,
    record::{Ended, FORMAT, Header, Line},
    units::show_duration,
};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    request::{Group, RowTarget, RowsRequest},
    running::Running,
    trial::{Trial, Tried},
};
use crate::{
    Outcome, Progress, Recorder, Stop,
    dataset::shuffle,
    host, precise,
    seed::{Use, derive},
    validity,
};

/// Runs what was asked for. What was measured until an error stands in `recorder`; a target whose
/// trial fails is left out from there on, and the others go on. The caller writes the last line.
pub fn rows(
    mut request: RowsRequest,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let began = Instant::now();
    let class = request.durability;
    let targets = std::mem::take(&mut request.targets);
    request.targets = targets.into_iter().map(|t| t.with_class(class)).collect::<Result<_>>()?;
    let running = Running::new(host::Scratch::new_in(&request.scratch)?);
    recorder.begin(header(&request, &running))?;
    recorder.doubt(missing(&request))?;
    let mut rounds = RowRounds {
        plan: plan(&request),
        request: &request,
        running,
        failed: HashSet::new(),
        known: HashSet::new(),
        began,
        progress,
        stop,
    };
    let start = Instant::now();
    let ended = match rounds.run(recorder) {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Ended::Interrupted),
        ended => ended,
    };
    let measuring = start.elapsed();
    let failed = rounds.failed_labels();
    let closed = rounds.running.close();
    if let Some(record) = recorder.record() {
        let doubts = validity::rows(record);
        recorder.doubt(doubts)?;
    }
    let ended = ended?;
    closed.map(|()| Outcome { ended, measuring, failed, integrity: Vec::new() })
}

fn plan(request: &RowsRequest) -> Plan {
    /// Two integers of eight bytes.
    const ROW: u64 = 16;
    let rows = request.rows;
    let summary = DatasetSummary {
        keys: KeyKind::Integers,
        count: rows,
        bytes: rows * ROW,
        smallest: ROW,
        largest: ROW,
        deflated: None,
    };
    Plan {
        seed: request.seed,
        dataset: DatasetSpec::Rows { rows },
        summary,
        available: rows,
        targets: request.targets.iter().map(RowTarget::planned).collect(),
        baseline: request.baseline,
        workloads: request.workloads(),
        caches: vec![Cache::Warm],
        durability: request.durability,
        memory: None,
        rounds: request.rounds,
    }
}

fn header(request: &RowsRequest, running: &Running) -> Header {
    let mut environment = host::environment(&[running.folder()]);
    for library in request.targets.iter().filter_map(|target| target.engine.library()) {
        if !environment.libraries.contains(&library) {
            environment.libraries.push(library);
        }
    }
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Header { format: FORMAT, started, environment, plan: plan(request), asked: None }
}

fn missing(request: &RowsRequest) -> Vec<Finding> {
    let finding = |(label, why): &(String, String)| {
        Finding::target(Doubt::NotUsable { why: why.clone() }, label)
    };
    request.missing.iter().map(finding).collect()
}

struct RowRounds<'a> {
    request: &'a RowsRequest,
    plan: Plan,
    running: Running,
    /// Target and group whose trial failed.
    failed: HashSet<(usize, usize)>,
    /// Targets whose facts are in the record.
    known: HashSet<usize>,
    began: Instant,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}

impl RowRounds<'_> {
    fn run(&mut self, recorder: &mut Recorder) -> Result<Ended> {
        let budget = Duration::from_secs_f64(self.plan.rounds.seconds);
        let steps = u64::try_from(budget.as_millis()).unwrap_or(u64::MAX);
        let mut longest = Duration::ZERO;
        for round in 0.. {
            let start = Instant::now();
            self.progress.stage(&format!("round {}", round + 1), Some(steps));
            self.round(round, recorder)?;
            if self.shuffled(round).is_empty() {
                return Ok(Ended::Failed("a trial failed of every target".to_owned()));
            }
            longest = longest.max(start.elapsed());
            if round == 0 {
                self.foretell(longest);
            }
            let elapsed = self.began.elapsed();
            if let Some(ended) =
                precise::ended(&self.plan.rounds, round + 1, longest, elapsed, recorder.record())
            {
                return Ok(ended);
            }
        }
        Ok(Ended::Rounds)
    }

    /// Says it when the least number of rounds will take longer than the time.
    fn foretell(&self, round: Duration) {
        let Rounds { min, max, seconds, .. } = self.plan.rounds;
        if max.is_none() && (round * min).as_secs_f64() > seconds {
            self.progress.say(&format!(
                "one round takes about {}, and {min} are run at least; fewer --rows, targets or \
                 styles limit it",
                show_duration(round)
            ));
        }
    }

    fn round(&mut self, round: u32, recorder: &mut Recorder) -> Result<()> {
        for (position, (target, group)) in (0..).zip(self.shuffled(round)) {
            self.stop.check()?;
            let elapsed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.progress.done(elapsed);
            match self.trial(target, self.request.groups[group]) {
                Ok(tried) => self.note(recorder, tried, |sample| Sample {
                    round,
                    position,
                    target,
                    workload: Operation::OF_ROWS.len() * group + sample.workload,
                    ..sample
                })?,
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) => {
                    self.failed.insert((target, group));
                    let doubt = Doubt::TrialFailed { why: error.to_string() };
                    let label = &self.request.targets[target].label;
                    let first = Operation::OF_ROWS.len() * group;
                    let finding = Finding::target(doubt, label).in_workload(first).in_round(round);
                    recorder.doubt([finding])?;
                }
            }
        }
        Ok(())
    }

    fn trial(&mut self, target: usize, group: Group) -> Result<Tried> {
        let request = self.request;
        let target = &request.targets[target];
        let folder = self.running.folder();
        let stop = self.stop;
        let store = self.running.store(target)?;
        let tried = Trial { request, target, group, store, folder: &folder, stop }.run();
        if tried.is_err() {
            self.running.discard(target);
        }
        tried
    }

    /// Notes what a trial gave; `placed` tells its place.
    fn note(
        &mut self,
        recorder: &mut Recorder,
        tried: Tried,
        placed: impl Fn(Sample) -> Sample,
    ) -> Result<()> {
        for (index, sample) in tried.samples.into_iter().enumerate() {
            let sample = placed(Sample { workload: index, ..sample });
            if self.known.insert(sample.target) {
                let facts = model::StoreFacts { target: sample.target, ..tried.facts.clone() };
                recorder.push(Line::Store(facts))?;
            }
            let header = recorder.record().map(|record| &record.header);
            let doubts = header.map_or_else(Vec::new, |header| validity::sample(header, &sample));
            recorder.push(Line::Sample(Box::new(sample)))?;
            recorder.doubt(doubts)?;
        }
        Ok(())
    }

    /// Indices of targets and groups, in fresh random order; what failed once is left out.
    fn shuffled(&self, round: u32) -> Vec<(usize, usize)> {
        let groups = || self.request.groups.iter().enumerate();
        let mut trials: Vec<_> = (self.request.targets.iter().enumerate())
            .flat_map(|(index, target)| {
                let fitting = groups().filter(|(_, group)| target.fits(**group));
                fitting.map(move |(group, _)| (index, group))
            })
            .filter(|trial| !self.failed.contains(trial))
            .collect();
        let seed = derive(self.request.seed, Use::Trials, round.into());
        shuffle(&mut trials, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        trials
    }

    fn failed_labels(&self) -> Vec<String> {
        let failed: HashSet<usize> = self.failed.iter().map(|(target, _)| *target).collect();
        let targets = self.request.targets.iter().enumerate();
        targets.filter(|(i, _)| failed.contains(i)).map(|(_, t)| t.label.clone()).collect()
    }
}
