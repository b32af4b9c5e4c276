//! How long a round takes, before the first: of experiments whose trials make their stores, rounds of a
//! small part are run and forgotten.

use std::time::Duration;

use model::{Error, ErrorKind, Result, Rounds};

use crate::{Stop, experiment::request::Request};

/// The parts that are tried: one of so many. Two, because some of a trial takes as long whatever
/// its size.
const PARTS: [u32; 2] = [32, 8];
/// The part of the time that trying may take.
const TRYING: u32 = 8;

/// The expected time of a round before the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expected {
    Nothing,
    Round(Duration),
    /// Already a small part of it takes longer.
    Longer(Duration),
}

/// Returns how long a round of `request` takes, if a small part of it can be tried; `round` runs
/// one round.
pub(super) fn expected(
    request: &Request,
    stop: &Stop,
    round: impl Fn(&Request) -> Result<Duration>,
) -> Result<Expected> {
    let Some(time) = request.time() else { return Ok(Expected::Nothing) };
    let parts = PARTS.map(|part| request.one_of(part));
    let [Some(small), Some(large)] = parts else { return Ok(Expected::Nothing) };
    let try_out = || {
        let [small, large] = [once(small), once(large)];
        Ok::<_, Error>([round(&small)?, round(&large)?])
    };
    let trying = time / TRYING;
    match stop.within(Some(trying), try_out) {
        Ok(tried) => Ok(Expected::Round(extrapolated(tried))),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        Err(error) if error.kind() == ErrorKind::Overdue => {
            stop.check().map(|()| Expected::Longer(trying))
        }
        // It fails again when it is measured, and is reported then.
        Err(_) => Ok(Expected::Nothing),
    }
}

/// Returns a request for one round.
fn once(request: Request) -> Request {
    let rounds = Rounds { min: 1, max: Some(1), runs: 1, ..request.rounds };
    Request { rounds, ..request }
}

/// Returns the time of the whole, on the line through two of its parts.
fn extrapolated([small, large]: [Duration; 2]) -> Duration {
    let [few, some] = PARTS.map(|part| 1.0 / f64::from(part));
    let each = large.saturating_sub(small).as_secs_f64() / (some - few);
    let seconds = large.as_secs_f64() + each * (1.0 - some);
    model::units::duration_of(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_grow_is_counted_once() {
        let took = |part: u32| Duration::from_secs(64 / u64::from(part) + 3);
        assert_eq!(extrapolated(PARTS.map(took)), Duration::from_secs(67));
        let constant = [Duration::from_secs(3), Duration::from_secs(2)];
        assert_eq!(extrapolated(constant), Duration::from_secs(2));
    }
}
