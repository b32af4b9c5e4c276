//! How long a round takes, before the first: of experiments whose trials make their stores, rounds of a
//! small part are run and forgotten.

use std::time::Duration;

use model::{ErrorKind, Result, units::duration_of};

use super::{Line, shares};
use crate::Stop;

/// The parts that are tried: one of so many. Two, because some of a trial takes as long whatever
/// its size.
const PARTS: [u32; 2] = [32, 8];

/// The expected time of a round before the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expected {
    Nothing,
    Round(Duration),
    /// Already a small part of it takes longer.
    Longer(Duration),
}

/// Returns how long a round takes in a run that has this `time`. `round` runs one of a part of the
/// work and returns how long it took; `None` if there is no such part.
pub(crate) fn rehearse(
    time: Option<Duration>,
    stop: &Stop,
    round: impl Fn(u32) -> Result<Option<Duration>>,
) -> Result<Expected> {
    let Some(time) = time else { return Ok(Expected::Nothing) };
    let trying = time.mul_f64(shares::REHEARSING);
    let [few, some] = PARTS;
    let try_out = || round(few).and_then(|small| Ok((small, round(some)?)));
    match stop.within(Some(trying), try_out) {
        Ok((Some(small), Some(large))) => Ok(Expected::Round(whole([small, large]))),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
        Err(error) if error.kind() == ErrorKind::Overdue => {
            stop.check().map(|()| Expected::Longer(trying))
        }
        // What failed fails again when it is measured, and is reported then.
        _ => Ok(Expected::Nothing),
    }
}

/// Returns the time of the whole, on the line through two of its parts.
fn whole(took: [Duration; 2]) -> Duration {
    let point = |place: usize| (1.0 / f64::from(PARTS[place]), took[place].as_secs_f64());
    duration_of(Line::through([point(0), point(1)]).seconds(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_grow_is_counted_once() {
        let took = |part: u32| Duration::from_secs(64 / u64::from(part) + 3);
        assert_eq!(whole(PARTS.map(took)), Duration::from_secs(67));
        let constant = [Duration::from_secs(3), Duration::from_secs(2)];
        assert_eq!(whole(constant), Duration::from_secs(2));
    }
}
