//! The model `eio`: the program is run again and again, and in each run another flush fails. What it left is
//! then checked as after a restart.

use std::time::{Duration, Instant};

use crash::{Loss, Operation, Record, State};
use model::{BrokenState, CrashModel, CrashResult, CutState, Error, ErrorKind, Result};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    CrashRequest,
    checker::{Checker, Verdict},
    failed,
    recording::record_failure,
    states::{add, by_model},
};
use crate::{Progress, commits::READ_BACK, dataset::shuffle};

/// The most runs of the program.
const MOST_RUNS: usize = 50;

/// How long a run may take: so many times as long as the first one, in which no flush failed, and this in
/// addition. A thread that waits for one that failed may wait forever.
const LONGER: u32 = 10;
const ANYWAY: Duration = Duration::from_secs(5);
/// After so many runs that did not end, no other is made.
const MOST_OVERDUE: u64 = 3;

/// Fails one flush after the other, each in a run of its own, and checks what is left.
pub(super) fn check_failing(checker: &Checker<'_>, progress: &dyn Progress) -> Result<CrashResult> {
    let Checker { request, scratch, stop } = checker;
    let started = Instant::now();
    let (whole, ended) = record_failure(request, scratch, None, stop)?;
    ended?;
    let limit = (started.elapsed() * LONGER + ANYWAY).min(request.program_limit);
    let request = &CrashRequest { program_limit: limit, ..(*request).clone() };
    let flushes = flushes(checker, &whole)?;
    progress.stage("failing one flush after the other", Some(flushes.len() as u64));
    let mut result =
        CrashResult { models: by_model(&[CrashModel::Eio], &[]), ..super::counts(&whole) };
    for (count, before) in (1..).zip(flushes) {
        let (record, ended) = record_failure(request, scratch, Some(before), stop)?;
        let ended = match ended {
            Err(error) if error.kind() == ErrorKind::Overdue => Ended::Never,
            ended => Ended::Itself(ended.err()),
        };
        // Another run may make fewer flushes.
        if record.failed_flush().is_some() {
            let verdict = check(checker, &record)?;
            add_run(&mut result, &record, (before, request.seed), &verdict, &ended);
        }
        progress.advance_to(count);
        if result.models[0].overdue >= MOST_OVERDUE {
            break;
        }
    }
    Ok(result)
}

/// How the program ended after a flush failed.
enum Ended {
    /// By itself, with an error if it reported one.
    Itself(Option<Error>),
    /// It did not.
    Never,
}

/// Chooses the flushes that fail, each by the number of those before it.
fn flushes(checker: &Checker<'_>, record: &Record) -> Result<Vec<u64>> {
    let is_flush = |operation: &&Operation| matches!(operation, Operation::Flush { .. });
    let count = record.operations()[record.prepared()..].iter().filter(is_flush).count() as u64;
    if let Some(only) = &checker.request.only {
        let before = Some(only.cut).filter(|before| *before < count).ok_or_else(|| {
            Error::usage(format!("--cut {}: the program made {count} flushes of files", only.cut))
        });
        return before.map(|before| vec![before]);
    }
    let most = usize::try_from(checker.request.states).unwrap_or(MOST_RUNS).min(MOST_RUNS);
    let mut all: Vec<_> = (0..count).collect();
    shuffle(&mut all, &mut Xoshiro256PlusPlus::seed_from_u64(checker.request.seed));
    all.truncate(most);
    all.sort_unstable();
    Ok(all)
}

/// Checks what a run left, as a restart finds it.
fn check(checker: &Checker<'_>, record: &Record) -> Result<Verdict> {
    let (cut, loss) = (record.operations().len(), Loss::of_failed_flush(record));
    if let Some(only) = &checker.request.only {
        State::new(record, cut, &loss).write(&only.keep).map_err(failed(&only.keep))?;
    }
    checker.check_loss(record, cut, CrashModel::Eio, &loss)
}

fn add_run(
    result: &mut CrashResult,
    record: &Record,
    (before, seed): (u64, u64),
    verdict: &Verdict,
    ended: &Ended,
) {
    let (cut, model) = (record.operations().len(), CrashModel::Eio);
    let row = &mut result.models[0];
    add(row, verdict);
    match ended {
        Ended::Itself(Some(error)) => {
            row.reported += 1;
            row.read_back += u64::from(error.to_string().contains(READ_BACK));
        }
        Ended::Itself(None) => {}
        Ended::Never => row.overdue += 1,
    }
    result.states.push(CutState {
        cut: before,
        acknowledged: record.acknowledged(cut).count() as u64,
        model,
        seed,
        kept: verdict.holds,
        lost: verdict.details.lost,
    });
    let Some((number, _)) = record.failed_flush().filter(|_| !verdict.holds) else { return };
    if result.first.is_none() {
        result.first = Some(BrokenState {
            cut: before,
            model,
            seed,
            reason: verdict.reason.clone(),
            at: format!("at {}", record.describe(number)),
            lost: record.describe_loss(&Loss::of_failed_flush(record), cut),
            missing: None,
        });
    }
}
