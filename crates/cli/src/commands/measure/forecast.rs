//! The forecast of a run, printed before it starts.

use std::{fmt::Write, time::Duration};

use lab::{Forecast, Needs, Request, Room, Stop};
use model::{
    Batch, Error, Result, Workload,
    units::{duration_of, show_count, show_duration, show_size},
};

use super::requests_ceiling::RequestTotals;

/// A sweep that takes longer is started only if the user insists.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Describes the plan. Nothing is created or measured for it.
pub(super) fn show(
    requests: &[Request],
    sent: Option<&RequestTotals>,
    stop: &Stop,
) -> Result<String> {
    let forecasts = forecasts(requests, stop)?;
    let (first, forecast) = (&requests[0], &forecasts[0]);
    let blobs = first.blobs();
    let mut text = String::from("targets\n");
    // Writing to a string does not fail.
    for (place, target) in blobs.iter().flat_map(|blobs| &blobs.targets).enumerate() {
        let baseline = if place == first.baseline { ", the baseline" } else { "" };
        let _ = writeln!(text, "  {}{baseline}", target.label);
    }
    text.push_str("workloads\n");
    let caches = blobs.iter().flat_map(|blobs| &blobs.caches).map(ToString::to_string);
    let caches = caches.collect::<Vec<_>>().join(", ");
    for workload in &forecast.workloads {
        let _ = writeln!(text, "  {}; {caches}", describe_workload(workload));
    }
    if let Some(class) = first.durability {
        let _ = writeln!(text, "durability\n  {class}");
    }
    text.push_str(if forecasts.len() > 1 { "runs, one after the other\n" } else { "data\n" });
    for (number, (request, forecast)) in requests.iter().zip(&forecasts).enumerate() {
        let _ = writeln!(text, "  {}", describe_run(request, forecast, is_again(requests, number)));
    }
    let _ = writeln!(text, "rounds\n  {}", describe_rounds(first, requests.len()));
    for room in rooms(&forecasts) {
        let _ = writeln!(text, "disk\n  {}", describe_room(&room));
    }
    if let Some(sent) = sent.and_then(RequestTotals::text) {
        let _ = writeln!(text, "requests\n  {sent}");
    }
    let _ = writeln!(
        text,
        "time\n  about {} in all, with 10 µs for a read, 50 for a write and 200 for a cold read: \
         engines are up to ten times faster or slower, and nothing was tried",
        show_duration(time(requests, &forecasts))
    );
    Ok(text)
}

/// Refuses a sweep that takes a day, or more space than is free.
pub(super) fn refuse_unbearable(requests: &[Request], stop: &Stop) -> Result<()> {
    let forecasts = forecasts(requests, stop)?;
    let time = time(requests, &forecasts);
    let long = (time > LONGEST).then(|| format!("takes about {}", show_duration(time)));
    let rooms = rooms(&forecasts);
    let large = rooms.iter().filter(|room| room.free.is_some_and(|free| free < room.needed));
    let large = large.map(|room| format!("needs {}", describe_room(room)));
    let too_much: Vec<_> = long.into_iter().chain(large).collect();
    if too_much.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "this sweep of {} runs {}; --yes runs it anyway, --dry-run shows it, fewer values or smaller \
         --bytes, --count and --rounds take less",
        requests.len(),
        too_much.join(" and ")
    )))
}

/// Returns what varies in `request`: `size=4k threads=2`.
pub(super) fn varied(request: &Request) -> Option<String> {
    let varied =
        request.point.as_ref()?.varied.iter().map(|(name, value)| format!("{name}={value}"));
    Some(varied.collect::<Vec<_>>().join(" "))
}

fn forecasts(requests: &[Request], stop: &Stop) -> Result<Vec<Forecast>> {
    requests.iter().map(|request| lab::forecast(request, stop)).collect()
}

/// Returns the time of the smallest number of rounds of each run, or the time that is given if that
/// is more.
fn time(requests: &[Request], forecasts: &[Forecast]) -> Duration {
    let runs = requests.iter().zip(forecasts).enumerate();
    let least = runs.fold(Duration::ZERO, |sum, (number, (request, forecast))| {
        sum.saturating_add(forecast.time(request.rounds.min_total(), is_again(requests, number)))
    });
    let limited = requests.iter().any(|request| request.rounds.max.is_none());
    if limited { least.max(budget(&requests[0])) } else { least }
}

fn budget(request: &Request) -> Duration {
    duration_of(request.rounds.seconds)
}

/// Returns the most space that any run takes in each folder: each run leaves the space to the next.
fn rooms(forecasts: &[Forecast]) -> Vec<Room> {
    let mut rooms: Vec<Room> = Vec::new();
    for room in forecasts.iter().flat_map(|forecast| &forecast.disk) {
        match rooms.iter_mut().find(|other| other.folder == room.folder) {
            Some(other) => other.needed = other.needed.max(room.needed),
            None => rooms.push(room.clone()),
        }
    }
    rooms
}

fn describe_workload(workload: &Workload) -> String {
    let Workload { work, count, batch, .. } = workload;
    let order = work.order().map_or_else(String::new, |order| format!(", {order}"));
    let batch = match batch {
        Batch::All => "all in one batch".to_owned(),
        Batch::Of(n) => format!("{} a batch", show_count(*n)),
    };
    let count = show_count(*count);
    let workers = match workload.workers() {
        1 => "1 worker".to_owned(),
        n => format!("{n} workers"),
    };
    format!("{work}: {count} operations or more{order}, {batch}, {workers}")
}

/// Reports whether a run needs the same data and stores as the one before it.
fn is_again(requests: &[Request], number: usize) -> bool {
    let needs = |number: usize| Needs::new(&requests[number]);
    number > 0 && needs(number).is_some_and(|needed| needs(number - 1) == Some(needed))
}

fn describe_run(request: &Request, forecast: &Forecast, again: bool) -> String {
    let varied = varied(request).map_or_else(String::new, |varied| format!("{varied}: "));
    let disk: u64 = forecast.disk.iter().map(|room| room.needed).fold(0, u64::saturating_add);
    let rounds = request.rounds.min_total();
    format!(
        "{varied}{} keys ({}), {} trials a round, {} of disk, about {} for {rounds} rounds{}",
        show_count(forecast.data.count),
        show_size(forecast.data.bytes),
        forecast.trials,
        show_size(disk),
        show_duration(forecast.time(rounds, again)),
        if again { ", on the data and stores of the run before" } else { "" }
    )
}

fn describe_rounds(request: &Request, points: usize) -> String {
    let each = match (points, request.rounds.runs) {
        (1, 1) => String::new(),
        (_, 1) => " of each run".to_owned(),
        (_, runs) => format!(" of each run, {} runs", points as u64 * u64::from(runs)),
    };
    match request.rounds.max {
        Some(rounds) => format!("{rounds}{each}, however long they take"),
        None => format!(
            "at least {}{each}, until every ratio has a verdict (a single target: its time is within \
             ±{} %) or {} are spent in all",
            request.rounds.min,
            (request.rounds.precision * 100.0).round(),
            show_duration(budget(request))
        ),
    }
}

fn describe_room(room: &Room) -> String {
    let free = room.free.map_or_else(String::new, |free| format!("; {} are free", show_size(free)));
    format!("about {} in {}{free}", show_size(room.needed), room.folder.display())
}
