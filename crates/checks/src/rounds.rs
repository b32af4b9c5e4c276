//! The rounds of a record, and how far it got in them.

use std::collections::BTreeSet;

use model::{BlobsData, Case, Sample, record::Record};
use stats::FIRST_LOOK;

use crate::Series;

/// Counts the rounds with a trial in the record, without one that was cut off.
pub fn whole_rounds(record: &Record) -> usize {
    let all = record.samples.iter().map(|s| s.round).collect::<BTreeSet<_>>().len();
    all - usize::from(is_cut_off(record))
}

/// Reports whether the last round lacks trials that the one before has. Unknown, and so `false`,
/// after as many rounds as [`FIRST_LOOK`], because targets leave from then on.
pub fn is_cut_off(record: &Record) -> bool {
    let trials = |round: u32| {
        let of_round = record.samples.iter().filter(move |sample| sample.round == round);
        of_round.map(|s| (s.workload, s.cache, s.target)).collect::<BTreeSet<_>>()
    };
    let last = record.samples.iter().map(|sample| sample.round).max().unwrap_or(0);
    let few = record.header.plan.rounds.runs == 1 && last > 0 && (last as usize) < FIRST_LOOK;
    few && trials(last).len() < trials(last - 1).len()
}

/// Counts the rounds of a case that give figures, of the target with the fewest among those that were tried
/// in its last round; a target that is never in its state is none of them. `None` if no target is left.
pub fn usable_rounds(record: &Record, case: Case) -> Option<usize> {
    let series = |target| Series::new(record, case, target);
    let all = || (0..record.header.plan.targets.len()).map(series);
    let last = all().flat_map(Series::rounds).max();
    let goes_on = |of: &Series<'_>| of.rounds().last().copied() == last;
    let usable = all().filter(goes_on).map(|of| of.times().len());
    usable.filter(|rounds| *rounds > 0).min()
}

/// Reports whether a target of a case was in its cache state in no round.
pub fn lacks_state(record: &Record) -> bool {
    let case = |sample: &&Sample| (sample.workload, sample.cache, sample.target);
    let cases = |samples: Vec<&Sample>| samples.iter().map(case).collect::<BTreeSet<_>>();
    let in_state = record.samples.iter().filter(|sample| record.in_state(sample));
    cases(record.samples.iter().collect()).len() > cases(in_state.collect()).len()
}

/// Returns the share of each store's keys that the rounds of a case touched; `None` if each round
/// touched all, or as many as were asked for.
pub fn keys_touched(record: &Record, case: Case) -> Option<f64> {
    let parts = parts_of(record, case)?;
    let drawn = record.header.plan.experiment.blobs().map_or(1.0, drawn_share);
    Some(parts_touched(record, case) as f64 / parts as f64 * drawn)
}

/// Reports whether a large value may not have been touched: one has more bytes than a part of the keys on average,
/// and not all parts were touched. Without that value, rounds agree on another ratio.
pub(crate) fn may_lack_a_large_value(record: &Record, case: Case) -> bool {
    let Some(blobs) = record.header.plan.experiment.blobs() else { return false };
    // The parts are of the keys that were drawn.
    let bytes = blobs.summary.bytes as f64 * drawn_share(blobs);
    parts_of(record, case).is_some_and(|parts| {
        blobs.summary.largest as f64 * parts as f64 > bytes && parts_touched(record, case) < parts
    })
}

/// Returns the share of all keys that were drawn to be measured.
fn drawn_share(blobs: &BlobsData) -> f64 {
    blobs.drawn.map_or(1.0, |drawn| drawn as f64 / blobs.available as f64)
}

/// Returns how many parts the rounds of a case take in turn.
fn parts_of(record: &Record, case: Case) -> Option<u64> {
    record.header.plan.workloads.get(case.workload)?.parts
}

fn parts_touched(record: &Record, case: Case) -> u64 {
    let own = |s: &&Sample| s.workload == case.workload && s.cache == case.cache;
    let passes = record.samples.iter().filter(own).filter_map(Sample::passes);
    passes.filter_map(|passes| passes.part).collect::<BTreeSet<u64>>().len() as u64
}
