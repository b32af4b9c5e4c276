//! Runs the program in a folder that is recorded.

use std::{
    io::Write,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use crash::{Record, Recorder};
use model::{Error, Result};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    CrashRequest, failed, process,
    program::{ACKNOWLEDGEMENTS, command, copy_into, end},
};
use crate::{Progress, Stop, host::Scratch};

/// The longest time between two moments at which mappings are written back.
const LONGEST_PAUSE_MS: u64 = 40;

pub(super) enum Recorded {
    /// The program's operations.
    Folder(Record),
    /// Nothing, because there is no FUSE here.
    Nothing { why: String },
}

/// Runs the program and returns what it did.
pub(super) fn record(
    request: &CrashRequest,
    scratch: &Scratch,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Recorded> {
    let recorder = match mount(request, scratch) {
        Ok(recorder) => recorder,
        Err(why) => return Ok(Recorded::Nothing { why }),
    };
    let (record, output, ended) = run_recorded(recorder, request, scratch, None, stop)?;
    ended?;
    for line in &output {
        progress.detail(line);
    }
    Ok(Recorded::Folder(record))
}

/// Runs the program and has one flush of a file fail, the one after `before` others, if that is given.
/// Returns what it did, and how it ended.
pub(super) fn record_failure(
    request: &CrashRequest,
    scratch: &Scratch,
    before: Option<u64>,
    stop: &Stop,
) -> Result<(Record, Result<()>)> {
    let no_fuse = |why| {
        Error::unsupported(format!("{why}, and nothing else fails a flush")).at("--models eio")
    };
    let recorder = mount(request, scratch).map_err(no_fuse)?;
    let (record, _, ended) = run_recorded(recorder, request, scratch, before, stop)?;
    // The next run has a folder of the same name.
    Recorder::clear(scratch.path()).map_err(failed(scratch.path()))?;
    Ok((record, ended))
}

/// Mounts the recorded folder, or returns why it cannot be.
fn mount(request: &CrashRequest, scratch: &Scratch) -> Result<Recorder, String> {
    let owner = request.owner.map(|owner| (owner.user, owner.group));
    let mounted = Recorder::mount(scratch.path(), owner);
    mounted.map_err(|why| format!("FUSE cannot be used here ({why})"))
}

/// Returns what the program did, the lines of its output that acknowledge nothing, and how it ended.
fn run_recorded(
    recorder: Recorder,
    request: &CrashRequest,
    scratch: &Scratch,
    before: Option<u64>,
    stop: &Stop,
) -> Result<(Record, Vec<String>, Result<()>)> {
    if let Some(prepared) = &request.prepared {
        copy_into(prepared, recorder.folder())?;
    }
    recorder.set_prepared();
    if let Some(before) = before {
        recorder.fail_flush(before);
    }
    let ended = run(request, &recorder, scratch, stop);
    stop.check()?;
    if ended.is_ok() && !recorder.has_acknowledged() {
        recorder.acknowledge("exit 0");
    }
    match recorder.finish() {
        Ok((record, output)) => Ok((record, output, ended)),
        Err(cause) => Err(ended.err().unwrap_or_else(|| failed(scratch.path())(cause))),
    }
}

fn run(request: &CrashRequest, recorder: &Recorder, scratch: &Scratch, stop: &Stop) -> Result<()> {
    let folder = recorder.folder();
    let errors = scratch.path().join("program.stderr");
    let mut command = command(request, folder, &recorder.output(), &errors)?;
    command.env(ACKNOWLEDGEMENTS, recorder.acknowledgements());
    let started = Instant::now();
    let watch = |has_ended: &AtomicBool| write_back(folder, request.seed, has_ended);
    let work = || process::run(&mut command, request.program_limit, scratch, stop);
    let (status, _) = crate::meanwhile(watch, work);
    stop.check()?;
    end(request, status, &errors, started.elapsed())
}

/// Makes the kernel write back mappings at random moments until the program has ended. Another process asks
/// for it: if this one were killed meanwhile, it would wait for itself.
fn write_back(folder: &Path, seed: u64, has_ended: &AtomicBool) {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WRITE_BACK, "sh"]).arg(folder).process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a shell, only what the program flushes is seen of its mappings.
    let Ok(mut shell) = shell.spawn() else { return };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    while !has_ended.load(Relaxed) {
        thread::sleep(Duration::from_millis(1 + random.next_u64() % LONGEST_PAUSE_MS));
        let _ = shell.stdin.as_mut().map(|pipe| pipe.write_all(b"\n"));
    }
    drop(shell.stdin.take());
    let _ = shell.wait();
}

const WRITE_BACK: &str = r#"while read -r _; do sync -f -- "$1"; done"#;
