//! Short passes before the rounds: how long a pass takes, and what the tool itself costs.

use std::time::{Duration, Instant};

use model::{
    Action, Batch, BlobWork, Cache, DatasetSummary, Error, Idle, Operation, Result, Session,
    Workload,
    units::{duration_of, option_duration, show_duration, whole},
};

use super::{Blobs, Job, TrialInput, epoch, stores::fails_alone};
use crate::{
    Stop,
    budget::{
        Budget, TrialCost, TrialCosts, fastest_of_size, fastest_operation,
        shares::{APART, OPERATIONS},
        stretched,
    },
    dataset::{Cursor, Dataset, Pool},
    experiment::{Experiment, values::first_operations},
    store::cache_state,
    workload::{self, NoClock, Walk, WorkerPass, drawn},
};

/// The largest number of operations of a calibrating pass: reads, and writes of small batches,
/// which take longer.
const READS: u64 = 1000;
const WRITES: u64 = 100;
/// The largest number of operations of a calibrating pass if a target sends requests to a service,
/// which take longer still and may cost money.
pub(super) const REQUESTS: u64 = 20;

/// The lengths of passes in seconds.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    /// A shorter one is made longer by going over the keys again.
    pub(super) shortest: f64,
    /// The length above which a pass is not made longer, and touches no more keys.
    longest: f64,
    /// One on schedule.
    pub(super) scheduled: f64,
}

impl Lengths {
    pub(super) fn new(job: Job<'_>) -> Self {
        if job.part.over_time {
            // Some twenty slices.
            Self { shortest: 2.0, longest: 10.0, scheduled: 2.0 }
        } else if job.part.hosts.is_some() {
            // What counts of shorter ones, the time in which all work, is too little.
            Self { shortest: 0.5, longest: 2.0, scheduled: 2.0 }
        } else if job.sends_requests() {
            // More rounds show more than the same keys again, and each request may cost money.
            Self { shortest: 0.0, longest: 0.5, scheduled: 1.0 }
        } else {
            // Shorter ones say more about the scheduler than about the store.
            Self { shortest: 0.05, longest: 0.5, scheduled: 1.0 }
        }
    }
}

/// The seconds that a pass on schedule may last for a target that does not keep up.
const LONGEST_SCHEDULE: f64 = 10.0;

/// The smallest number of operations of a pass, so that its time is that of the store.
pub(super) const FEWEST: u64 = 200;

/// No value has more than one in so many bytes of a part.
const LARGE: u64 = 4;

/// The smallest number of parts of keys that were drawn: their differences show what drawing keys
/// adds.
const FEWEST_PARTS: u64 = 10;

impl Blobs<'_> {
    /// Finds out how many operations the passes of a workload have, whose rounds have this `budget`.
    /// Returns how long a round will take, and the targets that fail, or a few rounds of which do not
    /// fit into the time.
    pub(super) fn calibrate(
        &mut self,
        index: usize,
        budget: Budget,
    ) -> Result<(Duration, Vec<(usize, Error)>)> {
        let work = self.job.part.work[index];
        let keys = self.stores.dataset.entries().len() as u64;
        let tried = self.tried(work, keys)?;
        let (mut costs, mut failed) = (Vec::new(), Vec::new());
        while costs.len() < self.stores.targets.len() {
            let target = costs.len();
            let has_store = self.stores.targets[target].has_store(work.operation);
            let try_it = || {
                let own = &self.stores.targets[target];
                self.costs(target, &tried).map_err(|error| own.blame(error))
            };
            match has_store.then(try_it).transpose() {
                Ok(own) => costs.push(own),
                Err(error) if self.lost_host().is_some() => return Err(error),
                Err(error) if !self.is_own_failure(target, &error) => {
                    return Err(error.at(&self.stores.targets[target].planned.label));
                }
                Err(error) => {
                    failed.push((target, error));
                    costs.push(None);
                    self.recover()?;
                }
            }
        }
        let time = if self.job.touches_all() { f64::INFINITY } else { budget.remaining() };
        let share = time / self.least_rounds();
        while let Some((target, error)) = self.too_slow(work, &costs, share) {
            costs[target] = None;
            failed.push((target, error));
        }
        self.workloads[index] = self.settled(work, keys, &costs, share);
        self.alone[index] = self.settled_alone(index, keys, &costs, share);
        let seconds = |(target, own): (usize, &TrialCosts)| {
            let workload = self.own_workload(index, target);
            let store = self.stores.targets[target].store(work.operation);
            let first = first_operations(&workload, keys, store.sends_requests());
            own.iter().map(|cost| cost.seconds(&workload, keys, first)).sum::<f64>()
        };
        let own = costs.iter().enumerate();
        let round = own.filter_map(|(target, own)| Some(seconds((target, own.as_ref()?)))).sum();
        Ok((duration_of(round), failed))
    }

    /// Reports whether others can be measured without a target that failed by `error`.
    pub(super) fn is_own_failure(&self, target: usize, error: &Error) -> bool {
        fails_alone(error, self.stores.targets[target].has_program())
    }

    /// Returns the rounds that must fit into the time, with one more for what takes longer than it
    /// seemed.
    pub(super) fn least_rounds(&self) -> f64 {
        f64::from(self.job.request.rounds.min_total()) + 1.0
    }

    /// Returns a target whose trials take too long, whatever the number of operations, to fit into
    /// rounds of `share` seconds; never the baseline, nor one of the last two.
    fn too_slow(
        &self,
        work: BlobWork,
        costs: &[Option<TrialCosts>],
        share: f64,
    ) -> Option<(usize, Error)> {
        let in_turns = !self.costs_in_turns(work, costs).is_empty();
        let apart = |target: usize| {
            let alone = !in_turns || !self.stores.targets[target].can_take_turns();
            let own = costs[target].as_ref().filter(|_| alone)?;
            Some(own.iter().map(|cost| cost.apart).sum::<f64>())
        };
        let all: f64 = (0..costs.len()).filter_map(apart).sum();
        let most = share * APART;
        if all <= most || costs.iter().flatten().count() <= 2 {
            return None;
        }
        let others = (0..costs.len()).filter(|target| *target != self.stores.baseline);
        let apart = others.filter_map(|target| Some((target, apart(target)?)));
        let (target, own) = apart.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let request = self.job.request;
        let rounds = request.rounds.min_total();
        // What is added is shared with other cases.
        let more = duration_of((all - most) / APART * self.least_rounds() * 2.5);
        // A run that is a step of another command has a share of its time.
        let enough = match request.spec {
            Some(_) => format!("--time {}", option_duration(request.time()?.saturating_add(more))),
            None => format!("more {}", request.limit_options[0]),
        };
        let why = format!(
            "a trial takes {} besides its operations, so that {rounds} rounds do not fit into the \
             time; {enough} measures it",
            show_duration(duration_of(own)),
        );
        Some((target, Error::failed(why)))
    }

    /// Returns the workload with its number of operations: those of an epoch, of a schedule, or of
    /// a pass. Each round touches all keys if that fits, several times if it takes no time, or else
    /// a part of them.
    fn settled(
        &self,
        work: BlobWork,
        keys: u64,
        costs: &[Option<TrialCosts>],
        share: f64,
    ) -> Workload {
        let part = self.job.part;
        let tried: Vec<&TrialCosts> = costs.iter().flatten().collect();
        let judged: Vec<f64> = tried.iter().map(|own| fastest_operation(own)).collect();
        let in_turns = self.costs_in_turns(work, costs);
        let earlier = part.repeated(&self.job.workload(work, 0, keys), keys);
        let (settled, slice) = match work.rate {
            _ if !in_turns.is_empty() => {
                epoch::lengths(keys, &in_turns, stretched(&tried), self.epoch_seconds(share))
            }
            Some(rate) => (on_schedule(rate, &judged, Lengths::new(self.job).scheduled), None),
            None => (self.operations(keys, &tried, share), None),
        };
        let asked = part.count.or(earlier.map(|workload| workload.count));
        let most = most(work.operation, keys);
        // All keys are touched where their number is asked for.
        let settled = if self.job.touches_all() { settled.max(keys) } else { settled };
        let mut count = asked.unwrap_or(settled).min(most);
        let is_drawn = self.stores.drawn(self.job.part).is_some();
        let may_part = self.job.draws_keys() && work.rate.is_none();
        let fewest = match slice {
            _ if is_drawn => FEWEST_PARTS,
            // The first pass of an epoch over all keys takes as long as reading them once more.
            Some(_) if asked.is_none() => 2,
            _ => 1,
        };
        let in_parts = may_part && (is_drawn || count < keys.saturating_mul(fewest));
        let parts = in_parts.then(|| (keys / (count + count / epoch::FIRST_PART)).max(fewest));
        let summary = self.stores.dataset.summary();
        let mean = summary.bytes as f64 / summary.count.max(1) as f64;
        let seconds = tried.iter().map(|own| fastest_of_size(own, mean)).sum();
        // Of keys that were drawn, what differs among many parts shows what drawing adds.
        let few =
            |parts| if is_drawn { parts } else { even_parts(parts, &summary, seconds, share) };
        let parts = parts.map(few);
        let parts = earlier.and_then(|of| of.parts).or(parts);
        let parts = parts.filter(|parts| *parts > 1 || is_drawn);
        if in_parts && asked.is_none() {
            let part = parts.map(|parts| keys / parts);
            count = part.map_or(keys, |part| part - part / epoch::FIRST_PART);
        }
        let slice = slice.map(|own| earlier.and_then(|of| of.slice).unwrap_or(own).min(count));
        Workload { slice, parts, ..self.job.workload(work, count, keys) }
    }

    /// Returns the operations of a target that takes no turns, if others do: an epoch of fast
    /// stores has so many that a server would work for minutes. `None` if they are as many as the
    /// workload has.
    fn settled_alone(
        &self,
        index: usize,
        keys: u64,
        costs: &[Option<TrialCosts>],
        share: f64,
    ) -> Option<u64> {
        let asked = self.job.part.count.is_some();
        let alone = self.stores.targets.iter().zip(costs);
        let alone = alone.filter(|(target, _)| !target.can_take_turns());
        let tried: Vec<&TrialCosts> = alone.filter_map(|(_, costs)| costs.as_ref()).collect();
        if asked || tried.is_empty() || self.workloads[index].slice.is_none() {
            return None;
        }
        let settled = self.operations(keys, &tried, share);
        Some(if self.job.touches_all() { settled.max(keys) } else { settled })
    }

    pub(super) fn own_workload(&self, index: usize, target: usize) -> Workload {
        let workload = self.workloads[index];
        let alone = self.alone[index].filter(|_| !self.stores.targets[target].can_take_turns());
        let count = alone.map_or(workload.count, |alone| alone.min(workload.count));
        Workload { count, ..workload }
    }

    /// Returns the operations of a pass that all targets make in the same way, so that some rounds fit, each of `share`
    /// seconds.
    fn operations(&self, keys: u64, tried: &[&TrialCosts], share: f64) -> u64 {
        let judged: Vec<f64> = tried.iter().map(|own| fastest_operation(own)).collect();
        let lengths = Lengths::new(self.job);
        let all = keys.saturating_mul(repeats(keys as f64, &judged, &lengths));
        if self.job.touches_all() {
            return all;
        }
        let slowest = judged.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let costs = || tried.iter().flat_map(|own| own.iter());
        let apart: f64 = costs().map(|cost| cost.apart).sum();
        let each: f64 = costs().map(|cost| cost.operation).sum();
        let fits = (share - apart).max(0.0) * OPERATIONS / each;
        let most = whole((lengths.longest / slowest).min(fits));
        if all <= most { all } else { most.max(FEWEST).min(all) }
    }

    /// Returns the costs of an operation of the targets that take turns at `work`; empty if a store
    /// cannot be open as often as it is compared.
    fn costs_in_turns(&self, work: BlobWork, costs: &[Option<TrialCosts>]) -> Vec<f64> {
        let takes = self.job.takes_turns(work) && self.caches.contains(&Cache::Warm);
        let own = self.stores.targets.iter().zip(costs);
        let own = own.filter(|(target, _)| target.can_take_turns());
        let own = own.filter_map(|(_, costs)| Some(fastest_operation(costs.as_ref()?)));
        if takes && self.can_open_all() { own.collect() } else { Vec::new() }
    }

    /// Returns a short workload that does the same, as fast as it can. Fails if the requested
    /// operations delete too many keys.
    fn tried(&self, work: BlobWork, keys: u64) -> Result<Workload> {
        let most = most(work.operation, keys);
        if let Some(count) = self.job.part.count.filter(|count| *count > most) {
            return Err(Error::usage(format!(
                "--count {count} of this mix deletes more than half of the {keys} keys: with so \
                 many it takes {most} at most"
            )));
        }
        let closed = BlobWork { rate: None, ..work };
        let tried = if self.job.sends_requests() { REQUESTS } else { READS };
        let workload = self.job.workload(closed, tried.min(keys).min(most), keys);
        // A whole batch: what is too large for a store is to fail now.
        let writes = match workload.batch {
            Batch::Of(operations) => operations.clamp(WRITES, READS),
            Batch::All => READS,
        };
        let count =
            if work.operation.writes() { workload.count.min(writes) } else { workload.count };
        Ok(Workload { count, ..workload })
    }

    /// Tries a workload in each cache state that the target can be in.
    fn costs(&self, target: usize, workload: &Workload) -> Result<TrialCosts> {
        let has_files = self.stores.targets[target].has_files();
        let states = self.caches.iter().copied();
        let mut states: Vec<_> = states.filter(|cache| !cache.is_cold() || has_files).collect();
        if states.is_empty() {
            states.push(Cache::Warm);
        }
        states.into_iter().map(|cache| self.cost(target, workload, cache)).collect()
    }

    fn cost(&self, target: usize, workload: &Workload, cache: Cache) -> Result<TrialCost> {
        let ops = drawn(workload, &self.stores.dataset, 0)?;
        // The rounds look at what was written. Requests to a service may cost money.
        let read_back = !self.job.sends_requests();
        let work = workload.work.blobs().expect("a workload of values");
        let own = &self.stores.targets[target];
        let ready = own.store(work.operation);
        // Not every epoch examines pages, so that it is no part of what one takes.
        let in_turns = self.job.takes_turns(work) && own.can_take_turns();
        let examines = cache != Cache::Warm || !in_turns;
        let input = TrialInput { cache, examines, salt: 0, seed: 0, first_round: false, read_back };
        if cache == Cache::Warm {
            // A warm store is filled once, not in each trial.
            cache_state::reach(ready, cache, self.job.stop)?;
        }
        let start = Instant::now();
        let (sample, _) = self.trial(target, *workload, ops, input)?;
        Ok(TrialCost::from_sample(&sample, start.elapsed()))
    }
}

/// Returns the operations of a pass on schedule: those of so many `seconds`, but no more than the slowest target
/// does in ten, should it not keep up.
fn on_schedule(rate: f64, costs: &[f64], seconds: f64) -> u64 {
    let slowest = costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    whole((rate * seconds).min(LONGEST_SCHEDULE / slowest).max(1.0))
}

/// Returns the largest number of operations of a pass: a mix that deletes more than it inserts
/// leaves half of the keys.
pub(super) fn most(operation: Operation, keys: u64) -> u64 {
    let Operation::Mix(mix) = operation else { return u64::MAX };
    match mix.share(Action::Delete).saturating_sub(mix.share(Action::Insert)) {
        0 => u64::MAX,
        lost => (keys / 2 * 100 / u64::from(lost)).max(1),
    }
}

fn repeats(keys: f64, costs: &[f64], lengths: &Lengths) -> u64 {
    let fastest = costs.iter().copied().fold(f64::INFINITY, f64::min) * keys;
    let slowest = costs.iter().copied().fold(0.0, f64::max) * keys;
    let wanted = (lengths.shortest / fastest).ceil();
    whole(wanted.min((lengths.longest / slowest).floor()).max(1.0))
}

/// Measures the loop itself in nanoseconds per operation: a read pass over a session that does
/// nothing.
pub(crate) fn own_loop(dataset: &Dataset, pool: &Pool, stop: &Stop) -> Result<f64> {
    const PASSES: usize = 5;
    const COUNT: u64 = 1 << 18;
    let (batch, writes, count, salt) = (Batch::All, false, COUNT, 0);
    let pass = WorkerPass { pool, batch, writes, count, salt, stop };
    let mut fastest = f64::INFINITY;
    for _ in 0..PASSES {
        let cursor = Cursor::new(dataset.entries(), 0);
        let walk = Walk { dataset, cursor, action: Action::Read };
        // Hidden from the compiler, which would see that it does nothing.
        let mut idle: Box<dyn Session> = std::hint::black_box(Box::new(Idle));
        let start = Instant::now();
        workload::run(&pass, walk, &mut *idle, &mut [], &mut NoClock)?;
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / COUNT as f64);
    }
    Ok(fastest)
}

/// Returns how many parts keys are read in, `parts` at most: so few that no value takes much of one and
/// decides alone which rounds are long, as far as a part fits into `share` seconds, each operation of which
/// takes `seconds` on all targets together.
fn even_parts(parts: u64, summary: &DatasetSummary, seconds: f64, share: f64) -> u64 {
    let DatasetSummary { count, bytes, largest, .. } = *summary;
    let even = (bytes / largest.saturating_mul(LARGE).max(1)).max(1);
    let takes = count as f64 / even as f64 * seconds;
    if takes < share * OPERATIONS { parts.min(even) } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_value_makes_parts_larger_where_they_fit() {
        let summary = |largest| DatasetSummary {
            keys: model::KeyKind::Integers,
            count: 1000,
            bytes: 4_000_000,
            smallest: 1,
            largest,
            half_in: None,
            deflated: None,
        };
        let parts = |largest, seconds, share| even_parts(10, &summary(largest), seconds, share);
        assert_eq!(parts(4_000, 1e-6, 1.0), 10, "no value is large");
        assert_eq!(parts(250_000, 1e-6, 1.0), 4);
        assert_eq!(parts(2_000_000, 1e-6, 1.0), 1, "half of all bytes");
        assert_eq!(parts(2_000_000, 1e-3, 1.0), 10, "all keys take a second");
        assert_eq!(parts(2_000_000, 1e-3, f64::INFINITY), 1);
    }

    #[test]
    fn short_passes_go_over_the_keys_again_unless_a_target_is_slow() {
        let lengths = Lengths { shortest: 0.05, longest: 1.0, scheduled: 1.0 };
        let repeats = |keys, costs: &[f64]| repeats(keys, costs, &lengths);
        assert_eq!(repeats(100_000.0, &[2e-6, 4e-6]), 1);
        assert_eq!(repeats(1000.0, &[1e-6, 2e-6]), 50);
        assert_eq!(repeats(1000.0, &[1e-8, 100e-6]), 10);
        assert_eq!(repeats(1e6, &[1e-6, 1e-3]), 1);
    }
}
