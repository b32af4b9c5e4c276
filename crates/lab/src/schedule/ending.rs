//! When enough rounds have run, and how much longer that takes.

use std::time::Duration;

use model::{
    Case, Plan, Rounds,
    record::{Ended, Record},
    units::duration_of,
};

use crate::{budget::Budget, experiment::Trial};

/// The times of the rounds of a case.
pub(super) struct Times {
    /// The longest round so far.
    pub(super) longest: Duration,
    /// The share of the case.
    pub(super) share: Budget,
    /// The time of all cases.
    pub(super) all: Budget,
    /// Whether another case has no rounds yet.
    pub(super) others_wait: bool,
}

/// Returns why there is no further round after `done`; `None` if there is one. A round that would
/// not fit into the share is not started, unless it is one of the least number: the end of the time
/// cuts that off. Rounds that give no figures are made up for, up to as many again. If so many do not
/// fit into all the time, and give no verdict, other cases that wait are next.
pub(super) fn ended(
    rounds: &Rounds,
    done: u32,
    times: &Times,
    record: Option<&Record>,
    trial: &Trial,
) -> Option<Ended> {
    if let Some(max) = rounds.max {
        return (done >= max).then_some(Ended::Rounds);
    }
    // Of several runs, rounds of all of them are in the record.
    let usable =
        record.filter(|_| rounds.runs == 1).and_then(|record| usable_rounds(record, trial));
    let counted = usable.unwrap_or(done).max(done.saturating_sub(rounds.min));
    // What a run takes beyond its share would be missing for those after it.
    if rounds.runs > 1 && !times.share.fits(times.longest) {
        return Some(Ended::Time);
    }
    if counted < rounds.min {
        let least = times.longest.saturating_mul(rounds.min - counted);
        return (times.others_wait && !times.all.fits(least)).then_some(Ended::Time);
    }
    // Each of several runs has its share of the time, so that their means are of about as many rounds.
    if rounds.runs == 1 && record.is_some_and(|record| is_settled(record, trial)) {
        return Some(Ended::Precise);
    }
    (!times.share.fits(times.longest)).then_some(Ended::Time)
}

/// Counts the rounds of trials like `trial` that give figures; `None` if no trial of any target does.
fn usable_rounds(record: &Record, trial: &Trial) -> Option<u32> {
    let cases = record.header.plan.cases().filter(|case| trial.is_about(*case));
    let usable = cases.filter_map(|case| checks::usable_rounds(record, case)).min()?;
    Some(u32::try_from(usable).unwrap_or(u32::MAX))
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

/// Returns how long `further` rounds take if `passed` of them took the time `measuring`; `None` until
/// a trial has shown how long one takes.
pub(super) fn time_of(further: f64, passed: f64, measuring: Duration) -> Option<Duration> {
    let seconds = || further.max(0.0) * measuring.as_secs_f64() / passed;
    (passed > 0.0).then(|| duration_of(seconds()))
}

#[cfg(test)]
mod tests {
    use model::{Cache, record::Record};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_number_of_rounds_takes_what_those_before_took() {
        let seconds = |all: f64, passed, measuring| {
            time_of(all - passed, passed, SECOND * measuring).map(|left| left.as_secs())
        };
        assert_eq!(seconds(7.0, 0.0, 0), None);
        assert_eq!(seconds(7.0, 0.5, 5), Some(65));
        assert_eq!(seconds(10.0, 2.5, 25), Some(75));
        assert_eq!(seconds(1.0, 1.0, 25), Some(0));
    }

    #[test]
    fn a_case_whose_least_rounds_do_not_fit_gives_way_to_those_that_wait() {
        let rounds = Rounds::within(60.0);
        let (all, share) = (Budget::new(Some(SECOND * 60)), Budget::new(Some(Duration::ZERO)));
        let trial = Trial::for_target(0, 0..1, Some(Cache::Warm));
        let ended = |done, longest, others_wait| {
            let times = Times { longest: SECOND * longest, share, all, others_wait };
            super::ended(&rounds, done, &times, None::<&Record>, &trial)
        };
        assert_eq!(ended(1, 5, true), None, "five fit, though not into its share");
        assert_eq!(ended(1, 20, true), Some(Ended::Time), "four more take 80 of 60 seconds");
        assert_eq!(ended(1, 20, false), None, "nobody else needs the time");
        assert_eq!(ended(5, 5, false), Some(Ended::Time), "its share is over");
    }

    #[test]
    fn one_of_several_runs_ends_with_its_share() {
        let rounds = Rounds { min: 2, runs: 4, ..Rounds::within(60.0) };
        let trial = Trial::for_target(0, 0..1, Some(Cache::Warm));
        let ended = |done, share: u32| {
            let (all, share) = (SECOND * 60, SECOND * share);
            let [all, share] = [all, share].map(|time| Budget::new(Some(time)));
            let times = Times { longest: SECOND * 5, share, all, others_wait: false };
            super::ended(&rounds, done, &times, None::<&Record>, &trial)
        };
        assert_eq!([ended(1, 4), ended(1, 9), ended(2, 9)], [Some(Ended::Time), None, None]);
    }
}
