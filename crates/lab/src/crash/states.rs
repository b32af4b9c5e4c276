//! Chooses cuts and losses, and checks the states that they leave, several at once.

use std::{
    collections::HashSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use crash::{Loss, Operation, Record, State};
use model::{CrashModel, Error, ModelResult, Result};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::checker::{CheckFiles, Checker, Verdict};
use crate::{Progress, dataset::shuffle, join};

pub(super) struct Checked {
    /// The number of the attempt that made it.
    pub(super) number: u64,
    pub(super) cut: usize,
    pub(super) model: CrashModel,
    pub(super) seed: u64,
    pub(super) verdict: Verdict,
}

/// How often each model is tried, in turn: what loses more in more ways more often.
const TURNS: [CrashModel; 10] = [
    CrashModel::Ordered,
    CrashModel::Strict,
    CrashModel::Torn4096,
    CrashModel::Ordered,
    CrashModel::Torn512,
    CrashModel::Kill,
    CrashModel::Ordered,
    CrashModel::Strict,
    CrashModel::Torn512,
    CrashModel::Ordered,
];

/// How many attempts are made for each state: many cuts of a short program leave the same one.
const ATTEMPTS: u64 = 5;

/// Checks as many different states as were asked for, or as many as there are.
pub(super) fn check_states(
    checker: &Checker<'_>,
    record: &Record,
    progress: &dyn Progress,
) -> Result<Vec<Checked>> {
    let request = checker.request;
    if let Some(only) = &request.only {
        return Ok(vec![check_one(checker, record, only)?]);
    }
    progress.stage("checking states", Some(request.states));
    let search = Search::new(checker, record);
    let found = thread::scope(|scope| {
        let worker = |worker| {
            scope.spawn({
                let search = &search;
                move || search.work(worker, progress)
            })
        };
        let workers: Vec<_> = (0..request.jobs.max(1)).map(worker).collect();
        workers.into_iter().map(join).collect::<Result<Vec<_>>>()
    })?;
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    found.sort_by_key(|state| state.number);
    Ok(found)
}

/// Makes and checks the one state that was asked for, and keeps it.
fn check_one(checker: &Checker<'_>, record: &Record, only: &super::OneState) -> Result<Checked> {
    let last = record.operations().len();
    let cut = usize::try_from(only.cut).ok().filter(|cut| *cut <= last);
    let cut = cut.ok_or_else(|| {
        let cut = only.cut;
        Error::usage(format!("--cut {cut}: the program made {last} operations this time"))
    })?;
    let loss = Loss::choose(record, cut, only.model, only.seed);
    let state = State::new(record, cut, &loss);
    state.write(&only.keep).map_err(super::failed(&only.keep))?;
    // The command may change what it checks; what is kept stays as the power cut left it.
    let verdict = checker.check(record, cut, only.model, &state, &checker.files(0))?;
    Ok(Checked { number: 0, cut, model: only.model, seed: only.seed, verdict })
}

/// A search for states, shared by the threads.
struct Search<'a> {
    checker: &'a Checker<'a>,
    record: &'a Record,
    turns: Vec<CrashModel>,
    /// Cuts at which something was just promised or made certain.
    chosen: Vec<usize>,
    next: AtomicU64,
    checked: AtomicU64,
    seen: Mutex<HashSet<(CrashModel, u64, usize)>>,
}

impl<'a> Search<'a> {
    fn new(checker: &'a Checker<'a>, record: &'a Record) -> Self {
        let models = &checker.request.models;
        let mut chosen = chosen_cuts(record);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(checker.request.seed);
        shuffle(&mut chosen, &mut random);
        Self {
            checker,
            record,
            turns: TURNS.into_iter().filter(|model| models.contains(model)).collect(),
            chosen,
            next: AtomicU64::new(0),
            checked: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    /// Checks states until there are enough or no more are found.
    fn work(&self, worker: usize, progress: &dyn Progress) -> Result<Vec<Checked>> {
        let files = self.checker.files(worker);
        let states = self.checker.request.states;
        let mut found = Vec::new();
        while self.checked.load(Relaxed) < states && !self.turns.is_empty() {
            self.checker.stop.check()?;
            let number = self.next.fetch_add(1, Relaxed);
            if number >= states.saturating_mul(ATTEMPTS) {
                break;
            }
            if let Some(checked) = self.attempt(number, &files)? {
                found.push(checked);
                progress.advance_to(self.checked.load(Relaxed).min(states));
            }
        }
        Ok(found)
    }

    /// Makes and checks the state of an attempt, unless an earlier one made the same.
    fn attempt(&self, number: u64, files: &CheckFiles) -> Result<Option<Checked>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.checker.request.seed ^ number);
        // Every second cut is one of the chosen, and meets another model in each turn of them.
        let half = number / 2;
        let turn = half + half / self.chosen.len() as u64;
        let model = self.turns[below(turn, self.turns.len())];
        let cut = self.cut(number, &mut random);
        let seed = random.next_u64() >> 32;
        let loss = Loss::choose(self.record, cut, model, seed);
        let state = State::new(self.record, cut, &loss);
        let key = (model, state.fingerprint(), self.record.acknowledged(cut).count());
        let is_new = self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
        if !is_new || self.checked.fetch_add(1, Relaxed) >= self.checker.request.states {
            return Ok(None);
        }
        let verdict = self.checker.check(self.record, cut, model, &state, files)?;
        Ok(Some(Checked { number, cut, model, seed, verdict }))
    }

    /// Returns a cut: in turn one of the chosen and any.
    fn cut(&self, number: u64, random: &mut Xoshiro256PlusPlus) -> usize {
        if number.is_multiple_of(2) {
            return self.chosen[below(number / 2, self.chosen.len())];
        }
        let first = self.record.prepared();
        let cuts = self.record.operations().len() - first + 1;
        first + below(random.next_u64(), cuts)
    }
}

/// Returns the remainder of a number: below `limit`, which is not 0.
#[allow(clippy::cast_possible_truncation, reason = "it is below a usize")]
fn below(number: u64, limit: usize) -> usize {
    (number % limit as u64) as usize
}

/// Returns the cuts before and after each acknowledgement, and after each flush and each rename.
fn chosen_cuts(record: &Record) -> Vec<usize> {
    let first = record.prepared();
    let operations = record.operations().iter().enumerate().skip(first);
    let around = operations.flat_map(|(number, operation)| match operation {
        Operation::Acknowledge { .. } => vec![number, number + 1],
        Operation::Rename { .. } => vec![number + 1],
        operation if operation.is_flush() => vec![number + 1],
        _ => vec![],
    });
    let mut cuts: Vec<_> = around.chain([first, record.operations().len()]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Sums up the states of each model.
pub(super) fn by_model(models: &[CrashModel], checked: &[Checked]) -> Vec<ModelResult> {
    let wanted = CrashModel::ALL.into_iter().filter(|model| models.contains(model));
    wanted
        .map(|model| {
            let states = checked.iter().filter(|state| state.model == model);
            states.fold(ModelResult::new(model), |mut sum, state| {
                add(&mut sum, &state.verdict);
                sum
            })
        })
        .collect()
}

pub(super) fn add(sum: &mut ModelResult, verdict: &Verdict) {
    let details = &verdict.details;
    sum.states += 1;
    sum.kept += u64::from(verdict.holds);
    sum.unopened += u64::from(details.opened == Some(false));
    sum.repaired += u64::from(details.repaired.is_some());
    sum.repair = sum.repair.take().or_else(|| details.repaired.clone());
    sum.states_with_loss += u64::from(details.lost > 0);
    sum.most_lost = sum.most_lost.max(details.lost);
    let share = details.lost as f64 / details.acked.max(1) as f64;
    sum.most_lost_share = sum.most_lost_share.max(share);
    sum.wrong += u64::from(details.wrong > 0);
    sum.torn += u64::from(details.torn > 0);
    sum.returned += u64::from(details.returned > 0);
    sum.overdue += u64::from(verdict.is_overdue);
}
