//! A target measured against itself.

use std::time::Duration;

use checks::{FEWEST_ROUNDS, Series};
use model::{Blobs, FindingKind, Generated, Noise, Result, Rounds, record::Record};
use stats::{Estimate, Verdict, detectable, verdict};

use super::DoctorRequest;
use crate::{Data, Progress, Recorder, Request, Stop, Target, measure};

/// As many and as large as `run` takes them.
const DATA: Generated =
    Generated { seed: 0, count: 5_000, size: 10_000, variance: 2_000, random_percent: 100 };

/// What was measured.
pub(super) struct Measured {
    /// Absent: it was stopped too early.
    pub(super) noise: Option<Noise>,
    pub(super) findings: Vec<FindingKind>,
    pub(super) loop_ns: f64,
}

/// Reads scratch stores of `engine` for about `time`, by pairs.
pub(super) fn against_itself(
    engine: &'static dyn Blobs,
    request: &DoctorRequest,
    time: Duration,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Measured> {
    let mut recorder = Recorder::new(None);
    let request = self::request(engine, request, time);
    let outcome = measure(&request, &mut recorder, &Mute(progress), stop)?;
    let record = recorder.record().expect("a run that succeeded has a record");
    Ok(measured(engine.name(), record, outcome.measuring))
}

/// Shows progress without messages: those of a run are about its own options.
struct Mute<'a>(&'a dyn Progress);

impl Progress for Mute<'_> {
    fn stage(&self, what: &str, steps: Option<u64>) {
        self.0.stage(what, steps);
    }

    fn done(&self, steps: u64) {
        self.0.done(steps);
    }

    fn rounds(&self, what: &str, left: Option<Duration>) {
        self.0.rounds(what, left);
    }

    fn say(&self, _: &str) {}
}

fn request(engine: &'static dyn Blobs, request: &DoctorRequest, time: Duration) -> Request {
    let target = |label: &str| Target::scratch(label, engine);
    let data = Data::Generated(Generated { seed: request.seed, ..DATA });
    let targets = vec![target(engine.name()), target(&format!("{} again", engine.name()))];
    // No interval is ever narrow enough: all of the time is for rounds.
    let rounds =
        Rounds { min: FEWEST_ROUNDS, max: None, precision: 0.0, seconds: time.as_secs_f64() };
    let scratch = Some(request.folder.clone());
    Request { scratch, ..Request::reading(data, targets, rounds, request.seed) }
}

fn measured(target: &str, record: &Record, took: Duration) -> Measured {
    let noise = ratio(record).map(|ratio| noise(target, &ratio, took));
    let uneven = noise.as_ref().filter(|noise| !noise.even);
    let uneven = uneven.map(|noise| FindingKind::NotEven { ratio: noise.ratio });
    let findings = record.findings.iter().map(|finding| finding.kind.clone());
    Measured {
        findings: findings.filter(is_about_machine).chain(uneven).collect(),
        noise,
        loop_ns: record.header.environment.loop_ns,
    }
}

/// The other findings are about data, targets and rounds, which the user did not choose here.
fn is_about_machine(kind: &FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::DebugBuild
            | FindingKind::Governor { .. }
            | FindingKind::FrequencyVaries { .. }
            | FindingKind::LoadUnknown
            | FindingKind::MemorySmall { .. }
            | FindingKind::OtherLoad { .. }
            | FindingKind::Pressure { .. }
            | FindingKind::StateFetched { .. }
            | FindingKind::StateLost { .. }
            | FindingKind::StateNotReached { .. }
            | FindingKind::StateUnproven { .. }
            | FindingKind::Steal { .. }
            | FindingKind::Swapped { .. }
            | FindingKind::Throttled { .. }
            | FindingKind::UnusualFilesystem { .. }
    )
}

fn ratio(record: &Record) -> Option<Estimate> {
    let first = Series::new(record, record.header.plan.cases().next()?, 0);
    first.of(1).ratio_to(first).filter(|ratio| ratio.n >= FEWEST_ROUNDS as usize)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float is cast to the nearest integer, and rounds are not negative"
)]
fn noise(target: &str, ratio: &Estimate, took: Duration) -> Noise {
    let a_minute = (ratio.n as f64 * 60.0 / took.as_secs_f64()).max(2.0) as u32;
    Noise {
        target: target.to_owned(),
        rounds: u32::try_from(ratio.n).unwrap_or(u32::MAX),
        seconds: took.as_secs_f64(),
        ratio: ratio.point,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        even: verdict(ratio) == Verdict::NoDifference,
        rounds_a_minute: a_minute,
        detectable_share: detectable(ratio, a_minute as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_counted_from_the_rounds_and_their_time() {
        let ratio = Estimate { point: 1.0, low: 0.97, high: 1.03, n: 20 };
        let measured = noise("some", &ratio, Duration::from_secs(30));
        assert_eq!((measured.rounds, measured.rounds_a_minute, measured.even), (20, 40, true));
        // Twice the rounds show less than the interval of these.
        assert!((0.01..0.04).contains(&measured.detectable_share), "{measured:?}");
        let apart = Estimate { low: 1.01, ..ratio };
        assert!(!noise("some", &apart, Duration::from_secs(30)).even);
    }
}
