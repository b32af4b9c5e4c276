//! Without FUSE: the program is run again and again and killed at random moments. The system lives, so
//! that nothing is lost.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use model::{BrokenState, CrashModel, CrashResult, CutState, Result};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    CrashRequest,
    checker::{Checker, remove},
    failed, process,
    program::{self, ACKNOWLEDGEMENTS},
    states::{add, by_model},
};
use crate::{Progress, Stop, host::Scratch};

/// The most runs of the program.
const MOST_RUNS: u64 = 200;

/// Where a run of the program writes.
struct Run {
    folder: PathBuf,
    acknowledgements: PathBuf,
    output: PathBuf,
    errors: PathBuf,
}

impl Run {
    fn new(scratch: &Scratch, folder: PathBuf) -> Self {
        let file = |name: &str| scratch.path().join(name);
        Self {
            folder,
            acknowledgements: file("program.ack"),
            output: file("program.stdout"),
            errors: file("program.stderr"),
        }
    }

    /// Runs the program for at most `limit`, and returns whether it ended by itself.
    fn run(
        &self,
        request: &CrashRequest,
        scratch: &Scratch,
        stop: &Stop,
        limit: Duration,
    ) -> Result<bool> {
        remove(&self.folder);
        fs::create_dir(&self.folder).map_err(failed(&self.folder))?;
        fs::write(&self.acknowledgements, "").map_err(failed(&self.acknowledgements))?;
        if let Some(prepared) = &request.prepared {
            program::copy_into(prepared, &self.folder)?;
        }
        let mut command = program::command(request, &self.folder, &self.output, &self.errors)?;
        command.env(ACKNOWLEDGEMENTS, &self.acknowledgements);
        fs::write(&self.output, "").map_err(failed(&self.output))?;
        let status = process::run(&mut command, limit, scratch, stop);
        stop.check()?;
        if matches!(status, Ok(None)) && limit < request.program_limit {
            return Ok(false);
        }
        program::end(request, status, &self.errors, limit)?;
        Ok(true)
    }

    /// Returns the acknowledgements of a run that ended by itself or was killed.
    fn acknowledged(&self, has_ended: bool) -> Vec<String> {
        let whole = |path: &Path| {
            let bytes = fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            // A line whose end is missing was not written yet.
            text.split_inclusive('\n')
                .filter_map(|line| line.strip_suffix('\n').map(str::to_owned))
                .collect::<Vec<_>>()
        };
        let mut all = whole(&self.acknowledgements);
        let printed = whole(&self.output);
        all.extend(printed.iter().filter_map(|line| line.strip_prefix("ACK ")).map(str::to_owned));
        if all.is_empty() && has_ended {
            all.push("exit 0".to_owned());
        }
        all
    }
}

/// Kills the program at random moments of the time that it takes, and checks what it leaves.
pub(super) fn check_killed(
    checker: &Checker<'_>,
    why: String,
    progress: &dyn Progress,
) -> Result<CrashResult> {
    let Checker { request, scratch, stop } = checker;
    let whole = Run::new(scratch, scratch.path().join("program"));
    let started = Instant::now();
    whole.run(request, scratch, stop, request.program_limit)?;
    let duration = started.elapsed();
    let runs = request.states.min(MOST_RUNS);
    progress.stage("killing the program at random moments", Some(runs));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(request.seed);
    let files = checker.files(0);
    let run = Run::new(scratch, files.state.clone());
    let mut models = by_model(&[CrashModel::Kill], &[]);
    let mut result = CrashResult { unrecorded: Some(why), ..CrashResult::default() };
    for number in 0..runs {
        let part = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let has_ended = run.run(request, scratch, stop, duration.mul_f64(part))?;
        let acknowledged = run.acknowledged(has_ended);
        let lines = acknowledged.iter().map(String::as_str);
        let verdict = checker.verdict(CrashModel::Kill, lines, &files)?;
        result.acknowledged = result.acknowledged.max(acknowledged.len() as u64);
        add(&mut models[0], &verdict);
        result.states.push(CutState {
            cut: number,
            acknowledged: acknowledged.len() as u64,
            model: CrashModel::Kill,
            seed: request.seed,
            kept: verdict.holds,
            lost: verdict.details.lost,
        });
        if !verdict.holds && result.first.is_none() {
            result.first = Some(BrokenState {
                cut: number,
                model: CrashModel::Kill,
                seed: request.seed,
                reason: verdict.reason,
                at: format!("killed after {:.0} % of its time", part * 100.0),
                lost: Vec::new(),
                missing: None,
            });
        }
        progress.advance_to(number + 1);
    }
    remove(&run.folder);
    result.models = models;
    Ok(result)
}
