//! A search for failures that nobody thought of: commands interrupted at any moment, backups and crash
//! tests killed, and stores with any damage. The gate runs a few cases; `make torture` a thousand of each, and the parsers
//! under libFuzzer.
//!
//! A case is drawn from its number alone: `STOREMARK_TORTURE_CASE=17` runs the case 17 again, `17-20`
//! four of them.
#![cfg(target_os = "linux")]

mod damaged;
mod interrupted;
mod killed;
mod killed_crash;
mod mutated;
mod parsers;
mod replaced;

use std::{
    env,
    ops::Range,
    process::{Child, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    running::{signal, within},
    world::Ran,
};

/// Longest time of a command, in seconds. None takes a tenth of it on a slow machine.
const PATIENCE: u64 = 300;

/// Numbers drawn from a case's number (`SplitMix64`).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to `end`, without that.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn of<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }
}

/// The numbers of the cases that were asked for, or the first `few`.
fn cases(few: u64) -> Range<u64> {
    let number = |text: &str| text.parse::<u64>().expect("STOREMARK_TORTURE…: a number");
    if let Ok(text) = env::var("STOREMARK_TORTURE_CASE") {
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        return number(first)..number(last) + 1;
    }
    0..env::var("STOREMARK_TORTURE").map_or(few, |text| number(&text))
}

/// Runs `few` cases, or as many as were asked for, and fails with all that failed.
fn search(name: &str, few: u64, case: impl Fn(u64, &mut Draw) -> Result<(), String> + Sync) {
    let cases = cases(few);
    let (next, failed) = (AtomicU64::new(cases.start), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= cases.end {
                        break;
                    }
                    if let Err(why) = case(n, &mut Draw(n)) {
                        failed.lock().unwrap().push((n, why));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("torture: {name}: {} cases, {} failed", cases.end - cases.start, failed.len());
    let again = |n| {
        format!(
            "STOREMARK_TORTURE_CASE={n} cargo test --features rocksdb -p storemark --test it {name}"
        )
    };
    let shown: Vec<_> =
        failed.iter().map(|(n, why)| format!("case {n}: {why}\n  again: {}", again(n))).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
}

/// A command in a process group of its own, so that nothing else gets its signals.
fn started(mut command: Command) -> Child {
    use std::os::unix::process::CommandExt;

    command.process_group(0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of a command. An error if it takes too long, panicked, or ended with neither an
/// exit code that is documented nor the signal `sent`; or failed with more than one line.
fn ended(mut child: Child, line: &str, sent: Option<&str>) -> Result<Ran, String> {
    use std::{io::Read, os::unix::process::ExitStatusExt};

    // Read meanwhile, because a full pipe would block it.
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reading = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = out.read_to_end(&mut text);
        text
    });
    let failing = thread::spawn(move || {
        let mut text = Vec::new();
        let _ = err.read_to_end(&mut text);
        text
    });
    if !within(PATIENCE, || child.try_wait().unwrap().is_some()) {
        signal(child.id(), "KILL");
        child.wait().unwrap();
        return Err(format!("{line}: did not end in {PATIENCE} s"));
    }
    let status = child.wait().unwrap();
    let [out, err] =
        [reading, failing].map(|text| String::from_utf8_lossy(&text.join().unwrap()).into_owned());
    let ran = Ran { code: status.code(), out, err };
    let by_signal = status.signal().is_some_and(|number| {
        [("INT", 2), ("KILL", 9), ("TERM", 15)]
            .iter()
            .any(|of| Some(of.0) == sent && of.1 == number)
    });
    let wrong = |why: &str| Err(format!("{line}: {why} ({status}): {}", ran.err.trim_end()));
    if ran.err.contains("panicked at") {
        return wrong("panicked");
    }
    match ran.code {
        Some(0 | 3) => Ok(ran),
        Some(1 | 2 | 130) if ran.err.trim_end().lines().last().is_some_and(is_error) => Ok(ran),
        Some(1 | 2 | 130) => wrong("failed without a line of its own"),
        None if by_signal => Ok(ran),
        _ => wrong("ended"),
    }
}

fn is_error(line: &str) -> bool {
    line.starts_with("storemark: ")
}

/// A short moment, evenly drawn over orders of magnitude from 1 ms on.
fn moment(draw: &mut Draw) -> Duration {
    const MS: [u64; 11] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];
    Duration::from_millis(*draw.of(&MS) + draw.next() % 5)
}
