//! `storemark advise`: which store and which settings suit some data. Many candidates are measured
//! briefly on a sample of the values; those that are not clearly behind, and what is there now, are
//! measured again on all that fit into the time.

mod candidates;
mod race;
mod sharing;
mod threshold;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use checks::{Advice, Costs};
use model::{Batch, Blobs, Durability, Error, ErrorKind, Result, Role, record::Record};

use crate::{
    Data, Progress, Recorder, ResolvedTarget, RolesRequest, Stop, StoreCache,
    budget::{Budget, shares},
    experiment::blobs::{Coverage, Survey, survey},
    progress::Quiet,
};
use candidates::{Field, Runner};
use race::Race;

/// The request of a search.
#[derive(Clone)]
pub struct AdviseRequest {
    /// The values.
    pub data: Data,
    /// The folder or store that has them, as it was named; `None` if they are generated.
    pub source: Option<String>,
    /// A scratch store like the present one.
    pub now: ResolvedTarget<dyn Blobs>,
    /// The engines that are tried, the simplest first.
    pub engines: Vec<&'static dyn Blobs>,
    /// The targets that a run measures if none are named: of each engine the one that is tried first.
    pub usual: &'static [&'static str],
    /// Whether servers are tried too.
    pub servers: bool,
    /// Share of reads among the operations, 0 to 1; all others are updates.
    pub reads: f64,
    /// Whether values are mostly not in memory when they are read.
    pub cold: bool,
    /// The class that every candidate provides.
    pub durability: Durability,
    /// Sessions that work at the same time.
    pub threads: u32,
    /// The roles of sessions that read and sessions that write; empty if all sessions do the same.
    pub roles: Vec<Role>,
    /// Operations per commit; `None` for [`Batch::usual`].
    pub batch: Option<Batch>,
    /// The time for the whole search.
    pub time: Duration,
    /// The seed of all runs.
    pub seed: u64,
    /// The folder of scratch stores; `None` for the current folder.
    pub scratch: Option<PathBuf>,
    /// The command that starts a worker process, as in [`Request`](crate::Request).
    pub worker: Vec<OsString>,
}

impl AdviseRequest {
    /// Fails if the target cannot do what a role asks for.
    fn check_roles(&self, target: &ResolvedTarget<dyn Blobs>) -> Result<()> {
        RolesRequest::new(Vec::new(), Data::Targets, self.roles.clone()).check_target(target)
    }
}

/// The number of candidates of the race that are measured again, in addition to the present store.
const FINALISTS: usize = 3;

/// How an answer names the last step if it rests on the race alone.
const AGAIN: &str = "the last candidates once more, on all values that fit";

/// Finds the store that suits the data. The record of the last candidates, on which the answer rests, is left
/// in `recorder`.
///
/// # Errors
///
/// Fails if the data is empty or cannot be read, the user stops the search, or the time is over
/// before enough was measured.
pub fn advise(
    asked: &AdviseRequest,
    recorder: &mut Recorder,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Advice> {
    let (budget, progress) = (Budget::new(Some(asked.time)), &Quiet { progress, details: true });
    let race = Race { asked, budget, progress, stop };
    let plain = |error: Error| match error.kind() {
        // Which candidate it was at does not matter.
        ErrorKind::Interrupted => Error::interrupted(),
        ErrorKind::Overdue => Error::failed(
            "the time was over before enough was measured for an answer; use more --time, or faster \
             scratch space (--scratch DIR)",
        ),
        _ => error,
    };
    stop.within(Some(asked.time), || find(&race, recorder)).map_err(plain)
}

fn find(race: &Race<'_>, recorder: &mut Recorder) -> Result<Advice> {
    let asked = race.asked;
    let Survey { lengths, settings } =
        race.retried(|| survey(&race.survey_request(), race.progress, race.stop))?;
    if lengths.is_empty() {
        let source = asked.source.as_deref().unwrap_or("the data");
        return Err(Error::usage("holds no values: there is nothing to advise on").at(source));
    }
    let (thresholds, failed) =
        threshold::measure_all(race, &lengths, race.share(shares::THRESHOLDS))?;
    let most = race.candidates(race.share(shares::RACE));
    let mut field = Field::new(asked, &settings, &thresholds, failed, most);
    let raced = raced(race, &mut field, &lengths)?;
    let chosen = last(&field, &raced, asked);
    let mut stores = StoreCache::default();
    let coverage = Coverage::Fitting(race.room(&lengths, chosen.len()));
    let leader = leader(&chosen, &raced, asked.reads);
    race.progress.detail(&format!("comparing the last {}", chosen.len()));
    let share = if asked.roles.is_empty() { shares::FINALS } else { shares::FINALS_OF_ROLES };
    let finals = race.request(&chosen, leader, (coverage, &lengths), race.share(share));
    let mut kept = Recorder::new(None);
    let finals = match race.run(&finals, &mut stores, &mut kept) {
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            kept.record().into_iter().for_each(|measured| recorder.copy(measured));
            return Err(error);
        }
        // The race alone is an answer, too.
        Err(error) => {
            field.leave_out(AGAIN, error.to_string());
            raced.clone()
        }
        Ok(finals) if !Costs::new(&finals, asked.reads).is_judged() => {
            let why = "fewer rounds fit than a verdict needs; use more --time".to_owned();
            field.leave_out(AGAIN, why);
            raced.clone()
        }
        Ok(finals) => finals,
    };
    recorder.copy(&finals);
    let keys = finals.header.plan.experiment.summary().map_or(1, |summary| summary.count);
    let cold = race.measure_cold(&chosen, (coverage, keys), &mut stores)?;
    drop(stores);
    let sharing = sharing::measure(race, &chosen, &finals, &lengths)?;
    let life = race.life(&chosen, &lengths)?;
    Ok(Advice {
        reads: asked.reads,
        source: asked.source.clone(),
        time: asked.time,
        now: asked.now.label.clone(),
        candidates: field.runners.into_iter().map(|runner| runner.about).collect(),
        left_out: field.left_out,
        thresholds,
        race: raced,
        finals,
        cold,
        life,
        sharing,
    })
}

/// Measures the candidates, or as many of them as there is time for. If that of a race is too short for
/// two of them, they get nearly all that is left, because the race alone is an answer.
fn raced(race: &Race<'_>, field: &mut Field, lengths: &[u64]) -> Result<Record> {
    let is_time_left = || race.stop.check().is_ok();
    let run = |field: &Field, share| race.retried(|| briefly(race, field, lengths, share));
    halved(field, is_time_left, run)
}

/// Returns what `run` returns for the candidates and a share of the time, in which it may be overdue. Then it
/// is called again for half of them, and for the last two with a larger share.
fn halved<T>(
    field: &mut Field,
    is_time_left: impl Fn() -> bool,
    mut run: impl FnMut(&Field, f64) -> Result<T>,
) -> Result<T> {
    let mut share = shares::RACE;
    loop {
        match run(field, share) {
            // Its own time was over, not that of all.
            Err(error) if error.kind() == ErrorKind::Overdue && is_time_left() => {
                match field.runners.len() {
                    count @ 3.. => field.keep(count / 2),
                    _ if share < shares::LAST_RACE => share = shares::LAST_RACE,
                    _ => return Err(error),
                }
            }
            raced => return raced,
        }
    }
}

/// Measures all candidates on a sample.
fn briefly(race: &Race<'_>, field: &Field, lengths: &[u64], share: f64) -> Result<Record> {
    let seconds = race.share(share);
    let most = race.sample(lengths, field.runners.len(), seconds);
    race.progress.detail(&format!("comparing {} candidates on a sample", field.runners.len()));
    let sample = (Coverage::Fitting(most), lengths);
    let request = race.request(&field.runners, 0, sample, seconds);
    // There are many, and those that differ by little stay.
    let request = race::with(request, |part| part.copies = false);
    race.run(&request, &mut StoreCache::default(), &mut Recorder::new(None))
}

/// Returns the index of the leading one among the last candidates, with which the others are
/// compared.
fn leader(chosen: &[Runner], raced: &Record, reads: f64) -> usize {
    let ranking = Costs::new(raced, reads).ranking();
    let label = ranking.first().map(|best| &raced.header.plan.targets[best.target].label);
    chosen.iter().position(|runner| Some(&runner.about.label) == label).unwrap_or(0)
}

/// Returns the present store, and the candidates that are not clearly behind.
fn last(field: &Field, raced: &Record, asked: &AdviseRequest) -> Vec<Runner> {
    let targets = &raced.header.plan.targets;
    let kept = Costs::new(raced, asked.reads).finalists(FINALISTS);
    let stays = |runner: &&Runner| {
        let label = &runner.about.label;
        let is_measured = targets.iter().any(|target| target.label == *label);
        let is_now = *label == asked.now.label && is_measured;
        is_now || kept.iter().any(|target| targets[*target].label == *label)
    };
    field.runners.iter().filter(stays).cloned().collect()
}

#[cfg(test)]
mod tests {
    use checks::Candidate;
    use model::Generated;

    use super::*;
    use crate::copy::generated;

    /// A field of candidates with these ranks, called by their places.
    fn field(ranks: &[usize]) -> Field {
        let data = Generated { seed: 1, count: 1, size: 1, variance: 0, random_percent: 100 };
        let engine = generated(data).unwrap().engine;
        let runner = |(place, rank): (usize, &usize)| {
            let label = format!("{place}:");
            let target = ResolvedTarget::scratch(&label, engine);
            let about = Candidate {
                target: label.clone(),
                label,
                trades: String::new(),
                durability: String::new(),
                power_cut: None,
                extension: None,
            };
            Runner { about, rank: *rank, target }
        };
        Field { runners: ranks.iter().enumerate().map(runner).collect(), left_out: Vec::new() }
    }

    fn names(field: &Field) -> Vec<&str> {
        field.left_out.iter().map(|one| &*one.name).collect()
    }

    /// Races candidates that take more than their time with up to this share of all; returns how many were
    /// tried each time, and whether with the larger share.
    fn race(field: &mut Field, too_little: f64) -> (Vec<(usize, bool)>, Result<()>) {
        let mut tried = Vec::new();
        let ended = halved(
            field,
            || true,
            |field, share| {
                tried.push((field.runners.len(), share > shares::RACE));
                if share > too_little { Ok(()) } else { Err(Error::overdue()) }
            },
        );
        (tried, ended)
    }

    #[test]
    fn the_last_two_get_nearly_all_time_and_the_others_are_left_out_by_name() {
        let mut all = field(&[0, 0, 1, 0, 3, 2]);
        let (tried, ended) = race(&mut all, shares::RACE);
        assert_eq!(tried, [(6, false), (3, false), (2, false), (2, true)]);
        ended.unwrap();
        assert_eq!(names(&all), ["4:", "5:", "2:", "3:"]);
        assert!(all.left_out.iter().all(|one| one.why == "more --time tries it"));
        // Two alone get it at once.
        let mut two = field(&[0, 1]);
        let (tried, ended) = race(&mut two, shares::RACE);
        assert_eq!((tried, two.left_out.len()), (vec![(2, false), (2, true)], 0));
        ended.unwrap();
    }

    #[test]
    fn two_that_take_more_than_all_time_have_no_answer() {
        let mut two = field(&[0, 1]);
        let (tried, ended) = race(&mut two, 1.0);
        assert_eq!(tried.len(), 2);
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Overdue);
        // Nothing is tried again once all time is over.
        let mut calls = 0;
        let ended: Result<()> = halved(
            &mut two,
            || false,
            |_, _| {
                calls += 1;
                Err(Error::overdue())
            },
        );
        assert_eq!((calls, ended.unwrap_err().kind()), (1, ErrorKind::Overdue));
    }
}
