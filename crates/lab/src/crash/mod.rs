//! Cuts the power under a program, by simulation: records what it writes and flushes, makes the states
//! that a disk may be left in, and has a command check each.

mod checker;
mod failing;
mod killed;
mod process;
mod program;
mod recording;
mod shrink;
mod states;

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{Account, BrokenState, CrashModel, CrashResult, CutState, Error, Result};

use self::{
    checker::Checker,
    recording::{Recorded, record},
    states::{Checked, check_states},
};
use crate::{
    Progress, Stop,
    host::{self, Scratch},
};

/// The request of a crash test.
#[derive(Clone, Debug)]
pub struct CrashRequest {
    /// The program that writes, with its arguments; `{}` in them is the recorded folder, which is its
    /// current folder.
    pub program: Vec<OsString>,
    /// More variables of the program's environment.
    pub program_env: Vec<(OsString, OsString)>,
    /// The command that checks a state, with its arguments; `{}` in them is the state's folder.
    pub check: Vec<OsString>,
    /// More variables of the command's environment.
    pub check_env: Vec<(OsString, OsString)>,
    /// A folder whose content is in the recorded folder before the program starts, and on the disk.
    pub prepared: Option<PathBuf>,
    /// The owner of the recorded folder, if it is not this user.
    pub owner: Option<Account>,
    /// The models.
    pub models: Vec<CrashModel>,
    /// How many states are checked, all models together.
    pub states: u64,
    /// The seed of the cuts and of what is lost.
    pub seed: u64,
    /// The one state that is made and checked, instead of all.
    pub only: Option<OneState>,
    /// The folder in which a scratch folder is created.
    pub scratch: PathBuf,
    /// The longest time of a check.
    pub check_limit: Duration,
    /// The longest time of the program.
    pub program_limit: Duration,
    /// How many checks run at once.
    pub jobs: usize,
}

/// One state, as a broken one is named.
#[derive(Clone, Debug)]
pub struct OneState {
    /// The number of operations before the cut.
    pub cut: u64,
    /// The model.
    pub model: CrashModel,
    /// The seed of what is lost.
    pub seed: u64,
    /// The folder that the state becomes; it must not exist.
    pub keep: PathBuf,
}

/// Runs the program in a recorded folder, makes states that a power cut may leave of it, and has each
/// checked. Without FUSE only the states that a killed program leaves are checked. If the only model is
/// `eio`, the program is run again for each flush that fails.
///
/// # Errors
///
/// Fails if the program cannot be started or ends with an error, a state cannot be made, or the
/// user stops it.
pub fn crash(request: &CrashRequest, progress: &dyn Progress, stop: &Stop) -> Result<CrashResult> {
    // The program and the command have current folders of their own.
    let parent = request.scratch.canonicalize().unwrap_or_else(|_| request.scratch.clone());
    let scratch = Scratch::new_in(&parent)?;
    let started = Instant::now();
    progress.stage("recording what the program writes", None);
    if request.models == [CrashModel::Eio] {
        let checker = Checker { request, scratch: &scratch, stop };
        let mut result = failing::check_failing(&checker, progress)?;
        result.check_seconds = started.elapsed().as_secs_f64();
        result.peak_bytes = host::peak_bytes().unwrap_or(0);
        return Ok(result);
    }
    let outcome = record(request, &scratch, progress, stop)?;
    let record_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    let checker = Checker { request, scratch: &scratch, stop };
    let mut result = match &outcome {
        Recorded::Folder(record) => {
            let states = check_states(&checker, record, progress)?;
            summary(&checker, record, &states, progress)?
        }
        Recorded::Nothing { why } => killed::check_killed(&checker, why.clone(), progress)?,
    };
    result.record_seconds = record_seconds;
    result.check_seconds = started.elapsed().as_secs_f64();
    result.peak_bytes = host::peak_bytes().unwrap_or(0);
    Ok(result)
}

/// Sums up the states, and shrinks what is lost in the first broken ones to what breaks them.
fn summary(
    checker: &Checker<'_>,
    record: &crash::Record,
    states: &[Checked],
    progress: &dyn Progress,
) -> Result<CrashResult> {
    let models = states::by_model(&checker.request.models, states);
    let first_of = |is_counted: fn(CrashModel) -> bool| {
        let broken = states.iter().filter(|state| is_counted(state.model) && !state.verdict.holds);
        broken.min_by_key(|state| (state.model, state.cut, state.number))
    };
    let broken = |state: Option<&Checked>| {
        state.map(|state| broken_state(checker, record, state, progress)).transpose()
    };
    let first = broken(first_of(|model| model != CrashModel::Strict))?;
    let first_strict = broken(first_of(|model| model == CrashModel::Strict))?;
    Ok(CrashResult {
        models,
        states: states.iter().map(|state| cut_state(record, state)).collect(),
        first,
        first_strict,
        ..counts(record)
    })
}

/// Returns what a record has, whatever is checked.
fn counts(record: &crash::Record) -> CrashResult {
    let operations = record.operations();
    CrashResult {
        operations: operations.len() as u64,
        bytes: record.bytes(),
        flushes: operations.iter().filter(|operation| operation.is_flush()).count() as u64,
        acknowledged: record.acknowledged(operations.len()).count() as u64,
        ..CrashResult::default()
    }
}

fn cut_state(record: &crash::Record, state: &Checked) -> CutState {
    CutState {
        cut: state.cut as u64,
        acknowledged: record.acknowledged(state.cut).count() as u64,
        model: state.model,
        seed: state.seed,
        kept: state.verdict.holds,
        lost: state.verdict.details.lost,
    }
}

fn broken_state(
    checker: &Checker<'_>,
    record: &crash::Record,
    state: &Checked,
    progress: &dyn Progress,
) -> Result<BrokenState> {
    progress.stage("looking for the flush that is missing", None);
    let loss = shrink::shrink(checker, record, state)?;
    let is_torn = matches!(state.model, CrashModel::Torn512 | CrashModel::Torn4096)
        && loss.metadata.is_empty();
    Ok(BrokenState {
        cut: state.cut as u64,
        model: state.model,
        seed: state.seed,
        reason: state.verdict.reason.clone(),
        at: record.describe_cut(state.cut),
        lost: record.describe_loss(&loss, state.cut),
        // No flush keeps a write from being torn.
        missing: record.missing_flush(&loss, state.cut).filter(|_| !is_torn),
    })
}

/// Replaces each `{}` of an argument by a path.
fn with_folder(argument: &OsStr, folder: &Path) -> OsString {
    let mut rest = argument.as_bytes();
    let mut replaced = Vec::new();
    while let Some(at) = rest.windows(2).position(|part| part == b"{}") {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(folder.as_os_str().as_bytes());
        rest = &rest[at + 2..];
    }
    replaced.extend_from_slice(rest);
    OsString::from_vec(replaced)
}

/// Converts a failed system call on `path`.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |cause| Error::io(path.display(), cause)
}
