//! The forecast of a run, as far as it is known before anything is created or measured.

use std::{path::PathBuf, time::Duration};

use model::{BlobWork, Durability, Error, Result, Workload, units::duration_of};

use super::{
    Data, Job, Needs,
    fit::check_sample,
    requests::{self, RequestForecast},
    room::{Room, check_room, needed},
    source::Source,
};
use crate::{Amount, Silent, Stop, budget::guessed, experiment::request::Request};

/// The runs of a command beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Each run.
    pub runs: Vec<RunForecast>,
    /// The least that all runs take, roughly: the time that is given, if it is longer and ends them.
    pub time: Duration,
    /// The most room that any run takes in each folder: each run leaves it to the next.
    pub disk: Vec<Room>,
}

/// A run beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct RunForecast {
    /// Keys and bytes of the data.
    pub data: Amount,
    /// Whether it uses the data and stores of the run before.
    pub again: bool,
    /// The workloads with the smallest number of operations of a pass: if that takes no time, the
    /// calibration makes it more.
    pub workloads: Vec<Workload>,
    /// Trials of a round.
    pub trials: usize,
    /// Room on disk for scratch stores, by their folder.
    pub disk: Vec<Room>,
    /// Getting ready and the least number of rounds, roughly.
    pub time: Duration,
    /// Requests to services that charge for them; `None` if no target sends any.
    pub requests: Option<RequestForecast>,
}

impl Forecast {
    /// The seconds of a read, a write and a cold read that are assumed, because nothing is tried.
    pub const ASSUMED: [f64; 3] = [guessed::READ, guessed::WRITE, guessed::COLD_READ];
}

/// Forecasts runs of `requests` one after the other. Existing stores are opened for reading, to count
/// their keys. What a sweep has no room for is only shown.
///
/// # Errors
///
/// Fails if the data or an existing store cannot be read, or the measurement would be refused.
pub fn forecast(requests: &[Request], stop: &Stop) -> Result<Forecast> {
    let mut forecast = Forecast { runs: Vec::new(), time: Duration::ZERO, disk: Vec::new() };
    let mut before = None;
    for request in requests {
        request.check(stop)?;
        let needs = Needs::new(request);
        let again = needs.is_some() && needs == before;
        let run = forecast_run(request, (again, requests.len() == 1), stop)?;
        forecast.time = forecast.time.saturating_add(run.time);
        for room in &run.disk {
            match forecast.disk.iter_mut().find(|other| other.folder == room.folder) {
                Some(other) => other.needed = other.needed.max(room.needed),
                None => forecast.disk.push(room.clone()),
            }
        }
        forecast.runs.push(run);
        before = needs;
    }
    if requests.iter().any(|request| request.time().is_some()) {
        forecast.time = forecast.time.max(duration_of(requests[0].rounds.seconds));
    }
    Ok(forecast)
}

/// Forecasts one run; `again` if it comes after a run of the same [needs](Needs), `alone` if there is no
/// other.
fn forecast_run(
    request: &Request,
    (again, alone): (bool, bool),
    stop: &Stop,
) -> Result<RunForecast> {
    let part = request.blobs().ok_or_else(|| Error::usage("only `run` can be forecast"))?;
    let job = Job::new(request, part, &Silent, stop);
    let mut source = Source::open(job)?;
    let listed = source.limit(job)?;
    let all = source.amount(stop)?;
    let data = part.coverage.amount(all);
    check_sample(job, data, all)?;
    part.max_key.map_or(Ok(()), |max| source.check_max_key(max))?;
    let room = |(folder, needed): (PathBuf, u64)| Room {
        free: host::free_bytes(&folder).ok(),
        folder,
        needed,
    };
    if alone && matches!(part.data, Data::Generated(_)) {
        check_room(job, &job.operations(), data)?;
    }
    let count = part.count.unwrap_or(data.count);
    let workload = |work: &BlobWork| job.workload(*work, count, data.count);
    let workloads: Vec<_> = part.work.iter().map(workload).collect();
    let preparing = duration_of(job.guessed_preparing(data, again));
    let rounds =
        duration_of(round(job, data, &workloads)).saturating_mul(request.rounds.min_total());
    Ok(RunForecast {
        data,
        again,
        trials: part.targets.len() * workloads.len() * part.caches.len(),
        workloads,
        disk: needed(job, &job.operations(), data).into_iter().map(room).collect(),
        time: preparing.saturating_add(rounds),
        requests: requests::requests(job, data, listed),
    })
}

/// Returns the seconds of the trials of a round.
fn round(job: Job<'_>, data: Amount, workloads: &[Workload]) -> f64 {
    let durable = job.request.durability == Some(Durability::Durable);
    let caches = || job.part.caches.iter();
    let of_workload = |workload: &Workload| {
        let seconds: f64 =
            caches().map(|cache| guessed::trial(workload, *cache, data, durable)).sum();
        if job.touches_all() { seconds } else { seconds.min(guessed::LONGEST_ROUND) }
    };
    workloads.iter().map(of_workload).sum::<f64>() * job.part.targets.len() as f64
}

#[cfg(test)]
mod tests {
    use model::{Generated, Operation, Rounds};

    use super::*;

    fn request(count: u64) -> Request {
        let rounds = Rounds::within(1.0);
        let data = Data::Generated(Generated {
            seed: 1,
            count,
            size: 1000,
            variance: 0,
            random_percent: 100,
        });
        Request::reading(data, Vec::new(), rounds, 1)
    }

    #[test]
    fn generated_data_is_counted_without_generating_it() {
        let stop = Stop::new();
        let mut large = request(1 << 40);
        let few = forecast_run(&large, (false, false), &stop).unwrap();
        assert_eq!(few.data, Amount { count: 1 << 40, bytes: 1000 << 40 });
        large.rounds.min = u32::MAX;
        assert!(forecast_run(&large, (false, false), &stop).unwrap().time >= few.time);
        let mut both = request(9);
        both.change_blobs(|part| {
            let updating = BlobWork { operation: Operation::Update, ..part.work[0] };
            part.work.push(updating);
        });
        let counts: Vec<_> = forecast_run(&both, (false, false), &stop).unwrap().workloads;
        assert_eq!(counts.iter().map(|w| w.count).collect::<Vec<_>>(), [9, 9]);
    }
}
