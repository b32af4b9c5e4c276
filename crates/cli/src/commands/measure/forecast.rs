//! The forecast of a run, printed before it starts.

use std::{collections::BTreeSet, fmt::Write, time::Duration};

use lab::{Forecast, Request, RolesRequest, Room, RunForecast, Stop};
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
    let first = &requests[0];
    if let Some(roles) = first.roles() {
        first.check(stop)?;
        return Ok(show_roles(first, roles));
    }
    let Forecast { runs, time, disk } = lab::forecast(requests, stop)?;
    let limit = first.rounds.max.is_none().then(|| duration_of(first.rounds.seconds));
    // All of the data does not fit into the time, which the run keeps.
    let limit = limit.filter(|limit| time > *limit);
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
    for workload in runs.iter().take(1).flat_map(|run| &run.workloads) {
        let _ = writeln!(text, "  {}; {caches}", describe_workload(workload, limit.is_none()));
    }
    if let Some(class) = first.durability {
        let _ = writeln!(text, "durability\n  {class}");
    }
    text.push_str(if runs.len() > 1 { "runs, one after the other\n" } else { "data\n" });
    for (request, run) in requests.iter().zip(&runs) {
        let _ = writeln!(text, "  {}", describe_run(request, run));
    }
    let _ = writeln!(text, "rounds\n  {}", describe_rounds(requests));
    for room in &disk {
        let _ = writeln!(text, "disk\n  {}", describe_room(room));
    }
    if let Some(sent) = sent.and_then(RequestTotals::text) {
        let _ = writeln!(text, "requests\n  {sent}");
    }
    let _ = writeln!(text, "time\n  {}", describe_time(time, limit));
    Ok(text)
}

/// Describes the time of all runs, and what is left out to keep to `limit`; `None` if all fits.
fn describe_time(time: Duration, limit: Option<Duration>) -> String {
    let [read, write, cold] = Forecast::ASSUMED.map(|seconds| seconds * 1e6);
    let assumed = format!(
        "with {read:.0} µs for a read, {write:.0} for a write and {cold:.0} for a cold read: engines are up \
         to ten times faster or slower, and nothing was tried"
    );
    let all = show_duration(time);
    match limit.map(show_duration) {
        None => format!("about {all} in all, {assumed}"),
        Some(limit) => format!(
            "{limit} in all; all of the data and of the operations take about {all}, so that fewer are measured, \
             or a target is left out ({assumed})"
        ),
    }
}

/// Describes the plan of roles.
fn show_roles(request: &Request, roles: &RolesRequest) -> String {
    let lines = |all: Vec<String>| all.join("\n  ");
    let targets = lines(roles.targets.iter().map(|target| target.label.clone()).collect());
    let shown = lines(roles.roles.iter().map(ToString::to_string).collect());
    let class = request.durability;
    let class = class.map_or_else(String::new, |class| format!("durability\n  {class}\n"));
    let (passes, length) = (roles.passes(), roles.pass_length(request));
    let targets_count = u32::try_from(roles.targets.len()).unwrap_or(u32::MAX);
    let round = length.saturating_mul(passes).saturating_mul(targets_count);
    format!(
        "targets\n  {targets}\nroles\n  {shown}\n{class}rounds\n  {}\npasses\n  {passes} of {} for each target, \
         {} in a round\n",
        describe_rounds(std::slice::from_ref(request)),
        show_duration(length),
        show_duration(round)
    )
}

/// Refuses a sweep that takes a day, or more space than is free.
pub(super) fn refuse_unbearable(requests: &[Request], stop: &Stop) -> Result<()> {
    if requests.iter().any(|request| request.roles().is_some()) {
        return Ok(());
    }
    let Forecast { time, disk, .. } = lab::forecast(requests, stop)?;
    let long = (time > LONGEST).then(|| format!("takes about {}", show_duration(time)));
    let large = disk.iter().filter(|room| room.free.is_some_and(|free| free < room.needed));
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

fn describe_workload(workload: &Workload, fits: bool) -> String {
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
    let more = if fits { "more" } else { "fewer" };
    format!("{work}: {count} operations or {more}{order}, {batch}, {workers}")
}

fn describe_run(request: &Request, run: &RunForecast) -> String {
    let varied = varied(request).map_or_else(String::new, |varied| format!("{varied}: "));
    let disk: u64 = run.disk.iter().map(|room| room.needed).fold(0, u64::saturating_add);
    let rounds = request.rounds.min_total();
    format!(
        "{varied}{} keys ({}), {} trials a round, {} of disk, about {} for {rounds} rounds{}",
        show_count(run.data.count),
        show_size(run.data.bytes),
        run.trials,
        show_size(disk),
        show_duration(run.time),
        if run.again { ", on the data and stores of the run before" } else { "" }
    )
}

fn describe_rounds(requests: &[Request]) -> String {
    let (request, points) = (&requests[0], requests.len());
    let each = match (points, request.rounds.runs) {
        (1, 1) => String::new(),
        (_, 1) => " of each run".to_owned(),
        (_, runs) => format!(" of each run, {} runs", points as u64 * u64::from(runs)),
    };
    match request.rounds.max {
        Some(_) => {
            let rounds: BTreeSet<_> = requests.iter().filter_map(|of| of.rounds.max).collect();
            let rounds: Vec<_> = rounds.iter().map(ToString::to_string).collect();
            format!("{}{each}, however long they take", rounds.join(" or "))
        }
        None => format!(
            "at least {}{each}, until every ratio has a verdict (a single target: its time is within \
             ±{} %) or {} are spent in all",
            request.rounds.min,
            (request.rounds.precision * 100.0).round(),
            show_duration(duration_of(request.rounds.seconds))
        ),
    }
}

fn describe_room(room: &Room) -> String {
    let free = room.free.map_or_else(String::new, |free| format!("; {} are free", show_size(free)));
    format!("about {} in {}{free}", show_size(room.needed), room.folder.display())
}
