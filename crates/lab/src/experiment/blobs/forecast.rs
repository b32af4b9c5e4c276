//! The forecast of a run, as far as it is known before anything is created or measured.

use std::{path::PathBuf, time::Duration};

use model::{BlobWork, Error, Result, Workload, units::duration_of};

use super::{
    Job,
    costs::{preparing, round},
    requests::{self, RequestForecast},
    room::{Room, needed},
    source::Source,
};
use crate::{Amount, Silent, Stop, experiment::request::Request};

/// A run beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Keys and bytes of the data.
    pub data: Amount,
    /// The workloads with the smallest number of operations of a pass: if that takes no time, the
    /// calibration makes it more.
    pub workloads: Vec<Workload>,
    /// Trials of a round.
    pub trials: usize,
    /// Room on disk for scratch stores, by their folder.
    pub disk: Vec<Room>,
    /// Making the data and the stores ready, roughly.
    pub preparing: Duration,
    /// The time of preparing after a run of the same [needs](super::Needs).
    pub preparing_again: Duration,
    /// A round, roughly.
    pub round: Duration,
    /// Requests to services that charge for them; `None` if no target sends any.
    pub requests: Option<RequestForecast>,
}

/// Forecasts `request`. An existing store is opened for reading, to count its keys.
///
/// # Errors
///
/// Fails if the data or an existing store cannot be read.
pub fn forecast(request: &Request, stop: &Stop) -> Result<Forecast> {
    let part = request.blobs().ok_or_else(|| Error::usage("only `run` can be forecast"))?;
    let job = Job::new(request, part, &Silent, stop);
    let data = part.coverage.amount(Source::open(job)?.amount(stop)?);
    let rooms = needed(job, &job.operations(), data);
    let room = |(folder, needed): (PathBuf, u64)| Room {
        free: host::free_bytes(&folder).ok(),
        folder,
        needed,
    };
    let count = part.count.unwrap_or(data.count);
    let workload = |work: &BlobWork| job.workload(*work, count, data.count);
    let workloads: Vec<_> = part.work.iter().map(workload).collect();
    let round = round(job, data);
    Ok(Forecast {
        data,
        trials: part.targets.len() * workloads.len() * part.caches.len(),
        workloads,
        disk: rooms.into_iter().map(room).collect(),
        preparing: duration_of(preparing(job, data, false)),
        preparing_again: duration_of(preparing(job, data, true)),
        round: duration_of(round),
        requests: requests::requests(job, data),
    })
}

impl Forecast {
    /// Returns the shortest time of `rounds` rounds with their preparation; `again` if they come
    /// after a run of the same needs.
    pub fn time(&self, rounds: u32, again: bool) -> Duration {
        let preparing = if again { self.preparing_again } else { self.preparing };
        preparing.saturating_add(self.round.saturating_mul(rounds))
    }
}

#[cfg(test)]
mod tests {
    use model::{Generated, Operation, Rounds};

    use super::*;
    use crate::Data;

    fn request(count: u64) -> Request {
        let rounds = Rounds { min: 5, max: None, precision: 0.03, seconds: 1.0, runs: 1 };
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
        let large = forecast(&request(1 << 40), &stop).unwrap();
        assert_eq!(large.data, Amount { count: 1 << 40, bytes: 1000 << 40 });
        assert!(large.time(u32::MAX, false) >= large.time(1, false));
        let mut both = request(9);
        both.change_blobs(|part| {
            let updating = BlobWork { operation: Operation::Update, ..part.work[0] };
            part.work.push(updating);
        });
        let counts: Vec<_> = forecast(&both, &stop).unwrap().workloads;
        assert_eq!(counts.iter().map(|w| w.count).collect::<Vec<_>>(), [9, 9]);
    }
}
