//! What a run takes, said before it begins.

use std::{fmt::Write, time::Duration};

use lab::{Needs, Outline, Request, Room, Stop, outline};
use model::{
    Batch, Error, Result, Workload,
    units::{show_count, show_duration, show_size},
};

/// A sweep that takes longer is begun only if the user insists.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// The plan as people read it. Nothing is made or measured for it.
pub(super) fn show(requests: &[Request], stop: &Stop) -> Result<String> {
    let outlines = outlines(requests, stop)?;
    let (first, outline) = (&requests[0], &outlines[0]);
    let mut text = String::from("targets\n");
    // Writing to a string does not fail.
    for (place, target) in first.targets.iter().enumerate() {
        let baseline = if place == first.baseline { ", the baseline" } else { "" };
        let _ = writeln!(text, "  {}{baseline}", target.label);
    }
    text.push_str("workloads\n");
    let caches: Vec<_> = first.caches.iter().map(ToString::to_string).collect();
    for workload in &outline.workloads {
        let _ = writeln!(text, "  {}; {}", told_of_workload(workload), caches.join(", "));
    }
    text.push_str(if outlines.len() > 1 { "runs, one after the other\n" } else { "data\n" });
    for (number, (request, outline)) in requests.iter().zip(&outlines).enumerate() {
        let _ = writeln!(text, "  {}", told_of_run(request, outline, is_again(requests, number)));
    }
    let _ = writeln!(text, "rounds\n  {}", told_of_rounds(first, requests.len()));
    for room in rooms(&outlines) {
        let _ = writeln!(text, "disk\n  {}", told_of_room(&room));
    }
    let _ = writeln!(
        text,
        "time\n  about {} in all, with 10 µs for a read, 50 for a write and 200 for a cold read: \
         engines are up to ten times faster or slower, and nothing was tried out",
        show_duration(time(requests, &outlines))
    );
    Ok(text)
}

/// Refuses a sweep that takes a day or more room than there is, unless the user insists.
pub(super) fn is_bearable(requests: &[Request], insists: bool, stop: &Stop) -> Result<()> {
    if insists {
        return Ok(());
    }
    let outlines = outlines(requests, stop)?;
    let time = time(requests, &outlines);
    let long = (time > LONGEST).then(|| format!("takes about {}", show_duration(time)));
    let rooms = rooms(&outlines);
    let large = rooms.iter().filter(|room| room.free.is_some_and(|free| free < room.needed));
    let large = large.map(|room| format!("needs {}", told_of_room(room)));
    let too_much: Vec<_> = long.into_iter().chain(large).collect();
    if too_much.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "this sweep of {} runs {}; --yes goes on, --dry-run shows it, fewer values or smaller \
         --bytes, --count and --rounds take less",
        requests.len(),
        too_much.join(" and ")
    )))
}

/// What varies in `request`: `size=4k threads=2`.
pub(super) fn varied(request: &Request) -> Option<String> {
    let point = request.asked.as_ref()?.point.as_ref()?;
    let varied = point.varied.iter().map(|(name, value)| format!("{name}={value}"));
    Some(varied.collect::<Vec<_>>().join(" "))
}

fn outlines(requests: &[Request], stop: &Stop) -> Result<Vec<Outline>> {
    requests.iter().map(|request| outline(request, stop)).collect()
}

/// The least number of rounds of each run, or all the time that is given if that is more.
fn time(requests: &[Request], outlines: &[Outline]) -> Duration {
    let runs = requests.iter().zip(outlines).enumerate();
    let least = runs.fold(Duration::ZERO, |sum, (number, (request, outline))| {
        sum.saturating_add(outline.time(request.rounds.min, is_again(requests, number)))
    });
    let limited = requests.iter().any(|request| request.rounds.max.is_none());
    let budget = Duration::try_from_secs_f64(requests[0].rounds.seconds).unwrap_or(Duration::MAX);
    if limited { least.max(budget) } else { least }
}

/// The most that any of the runs takes in each folder: each leaves the room to the next.
fn rooms(outlines: &[Outline]) -> Vec<Room> {
    let mut rooms: Vec<Room> = Vec::new();
    for room in outlines.iter().flat_map(|outline| &outline.disk) {
        match rooms.iter_mut().find(|other| other.folder == room.folder) {
            Some(other) => other.needed = other.needed.max(room.needed),
            None => rooms.push(room.clone()),
        }
    }
    rooms
}

fn told_of_workload(workload: &Workload) -> String {
    let Workload { operation, order, count, batch, .. } = workload;
    let batch = match batch {
        Batch::All => "all in one batch".to_owned(),
        Batch::Of(n) => format!("{} a batch", show_count(*n)),
    };
    let count = show_count(*count);
    let workers = match workload.workers() {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    format!("{operation}: {count} operations or more, {order}, {batch}, {workers}")
}

/// Whether a run needs the same data and stores as the one before it.
fn is_again(requests: &[Request], number: usize) -> bool {
    let needs = |number: usize| Needs::of(&requests[number]);
    number > 0 && needs(number).is_some_and(|needed| needs(number - 1) == Some(needed))
}

fn told_of_run(request: &Request, outline: &Outline, again: bool) -> String {
    let varied = varied(request).map_or_else(String::new, |varied| format!("{varied}: "));
    let disk: u64 = outline.disk.iter().map(|room| room.needed).fold(0, u64::saturating_add);
    format!(
        "{varied}{} keys ({}), {} trials a round, {} of disk, about {} for {} rounds{}",
        show_count(outline.data.count),
        show_size(outline.data.bytes),
        outline.trials,
        show_size(disk),
        show_duration(outline.time(request.rounds.min, again)),
        request.rounds.min,
        if again { ", on the data and stores of the run before" } else { "" }
    )
}

fn told_of_rounds(request: &Request, runs: usize) -> String {
    let each = if runs > 1 { " of each run" } else { "" };
    match request.rounds.max {
        Some(rounds) => format!("{rounds}{each}, however long they take"),
        None => format!(
            "at least {}{each}, until every interval is within ±{} % or {} are spent in all",
            request.rounds.min,
            (request.rounds.precision * 100.0).round(),
            show_duration(
                Duration::try_from_secs_f64(request.rounds.seconds).unwrap_or(Duration::MAX)
            )
        ),
    }
}

fn told_of_room(room: &Room) -> String {
    let free = room.free.map_or_else(String::new, |free| format!("; {} are free", show_size(free)));
    format!("about {} in {}{free}", show_size(room.needed), room.folder.display())
}
