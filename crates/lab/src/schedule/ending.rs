//! When enough rounds have run, and how much longer that takes.

use std::time::Duration;

use model::{
    Case, Plan, Rounds,
    record::{Ended, Record},
};

use crate::experiment::Trial;

/// Returns why there is no further round after `done`; `None` if there is one. A round that would
/// not fit into the time is not started, unless it is one of the least number: the end of the time
/// cuts that off.
pub(super) fn ended(
    rounds: &Rounds,
    done: u32,
    longest: Duration,
    elapsed: Duration,
    record: Option<&Record>,
    trial: &Trial,
) -> Option<Ended> {
    if let Some(max) = rounds.max {
        return (done >= max).then_some(Ended::Rounds);
    }
    if done < rounds.min {
        return None;
    }
    // Each of several runs has its share of the time, so that their means are of about as many rounds.
    if rounds.runs == 1 && record.is_some_and(|record| is_settled(record, trial)) {
        return Some(Ended::Precise);
    }
    ((elapsed + longest).as_secs_f64() > rounds.seconds).then_some(Ended::Time)
}

/// Reports whether no target needs more rounds of trials like `trial`.
fn is_settled(record: &Record, trial: &Trial) -> bool {
    let mut cases = record.header.plan.cases().filter(|case| trial.is_about(*case));
    cases.all(|case| checks::unsettled(record, case).is_empty())
}

/// Returns which targets need more rounds in any case of a trial; all if the number of rounds is
/// fixed, or several runs have their share of the time.
pub(super) fn open(plan: &Plan, record: Option<&Record>) -> impl Fn(usize, &Trial) -> bool + use<> {
    let record = record.filter(|_| plan.rounds.max.is_none() && plan.rounds.runs == 1);
    let of = |record| plan.cases().map(|case| (case, checks::unsettled(record, case))).collect();
    let unsettled: Option<Vec<(Case, Vec<usize>)>> = record.map(of);
    move |target, trial| {
        let is_open = |(case, targets): &(Case, Vec<usize>)| {
            trial.is_about(*case) && targets.contains(&target)
        };
        unsettled.as_ref().is_none_or(|unsettled| unsettled.iter().any(is_open))
    }
}

/// Returns how much longer rounds go on at most if `passed` of them took the time `measuring`, and
/// the whole run so far `spent`. If `all` rounds of a run are counted, it returns `None` until a
/// trial has shown how long one takes.
pub(super) fn time_left(
    rounds: &Rounds,
    all: Option<usize>,
    passed: f64,
    measuring: Duration,
    spent: Duration,
) -> Option<Duration> {
    let seconds = match all {
        None => rounds.seconds - spent.as_secs_f64(),
        Some(_) if passed <= 0.0 => return None,
        Some(all) => {
            let further = all as f64 * f64::from(rounds.runs) - passed;
            further * measuring.as_secs_f64() / passed
        }
    };
    Some(model::units::duration_of(seconds.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn rounds(min: u32, max: Option<u32>, seconds: f64) -> Rounds {
        Rounds { min, max, precision: 0.03, seconds, runs: 1 }
    }

    fn seconds(max: Option<u32>, passed: f64, measuring: u32, spent: u32) -> Option<u64> {
        let (all, rounds) = (max.map(|max| max as usize), rounds(5, max, 45.0));
        let left = time_left(&rounds, all, passed, SECOND * measuring, SECOND * spent);
        left.map(|left| left.as_secs())
    }

    #[test]
    fn time_is_spent_to_its_end() {
        assert_eq!(seconds(None, 0.0, 0, 10), Some(35));
        assert_eq!(seconds(None, 20.0, 20, 30), Some(15));
        assert_eq!(seconds(None, 6.0, 60, 70), Some(0));
    }

    #[test]
    fn a_number_of_rounds_takes_what_those_before_took() {
        assert_eq!(seconds(Some(7), 0.0, 0, 10), None);
        assert_eq!(seconds(Some(7), 0.5, 5, 10), Some(65));
        assert_eq!(seconds(Some(10), 2.5, 25, 100), Some(75));
        assert_eq!(seconds(Some(1), 1.0, 25, 100), Some(0));
    }
}
