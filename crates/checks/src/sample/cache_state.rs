//! The findings on whether a trial started in its cache state, and kept it.

use model::{Cache, FindingKind, Plan, Residency, Sample, State};

pub(super) fn findings(sample: &Sample, plan: &Plan) -> Vec<FindingKind> {
    let before = sample.before.unwrap_or_default();
    if sample.as_found {
        let fetched = sample.io.is_some_and(|io| io.device_read_bytes > Some(0));
        let resident = before.resident_share().filter(|_| fetched && !before.shows(Cache::Warm));
        return resident
            .map(|resident| FindingKind::PartlyInMemory { resident })
            .into_iter()
            .collect();
    }
    let work = plan.workloads[sample.workload].work;
    let cache = sample.cache;
    let state = if plan.holds(sample) { sample.state(work) } else { State::NotReached };
    let state = match state {
        State::Reached if work.updates() => None,
        State::Reached => lost(sample).map(|resident| FindingKind::StateLost { resident }),
        // Only reads have a cold state, and before those pages are always looked at.
        State::NotFetched(_) if sample.before.is_none() => None,
        State::NotReached => Some(FindingKind::StateNotReached {
            cache,
            resident: before.resident_share().unwrap_or(0.0),
            names: before.names_share(),
        }),
        State::Fetched(fetched) => Some(FindingKind::StateFetched { fetched }),
        State::NotFetched(fetched) => Some(FindingKind::StateNotFetched { cache, fetched }),
        State::Unproven => None,
    };
    let unknown =
        (before.unknown > 0).then(|| FindingKind::StateUnproven { why: unknown(&before) });
    state.into_iter().chain(unknown).collect()
}

/// Returns the resident share of a warm store that lost its state to others. Only a store that
/// stays as it is can: one that is updated may write past the page cache, or create files and
/// remove them. What it then fetches from a device is reported as such.
fn lost(sample: &Sample) -> Option<f64> {
    let (before, after) = sample.before.zip(sample.after)?;
    let lost = sample.cache == Cache::Warm && !after.shows(Cache::Warm);
    (lost && before.pages == after.pages).then(|| after.resident_share()).flatten()
}

fn unknown(before: &Residency) -> String {
    let of = if before.unknown >= before.pages { "any of the pages" } else { "some of the pages" };
    format!(
        "this system does not show this user {of}; run it as the owner of the files, on Linux, or \
         as root"
    )
}

#[cfg(test)]
mod tests {
    use model::{Io, MemoryLimit};

    use super::*;
    use crate::tests::{sound, workload};

    fn read(sample: &Sample) -> Vec<FindingKind> {
        findings(sample, &sound(&[sample.cache]).header.plan)
    }

    fn sample(cache: Cache, before: u64, after: u64) -> Sample {
        let residency = |resident| Residency { pages: 100, resident, ..Residency::default() };
        Sample {
            cache,
            before: Some(residency(before)),
            after: Some(residency(after)),
            ..Sample::default()
        }
    }

    #[test]
    fn a_state_that_was_reached_and_kept_is_no_finding() {
        assert_eq!(read(&sample(Cache::Warm, 100, 100)), []);
        assert_eq!(read(&sample(Cache::DataCold, 0, 100)), []);
        assert_eq!(read(&Sample::default()), []);
    }

    #[test]
    fn one_that_was_not_reached_or_was_lost_is_a_finding() {
        let not = |cache, resident| FindingKind::StateNotReached { cache, resident, names: None };
        assert_eq!(read(&sample(Cache::Warm, 98, 100)), [not(Cache::Warm, 0.98)]);
        assert_eq!(read(&sample(Cache::DataCold, 2, 100)), [not(Cache::DataCold, 0.02)]);
        let lost = FindingKind::StateLost { resident: 0.5 };
        assert_eq!(read(&sample(Cache::Warm, 100, 50)), [lost]);
    }

    #[test]
    fn what_a_store_does_to_its_own_files_is_no_loss() {
        let mut sample = sample(Cache::Warm, 100, 50);
        let mut plan = sound(&[Cache::Warm]).header.plan;
        plan.workloads = vec![workload(model::Operation::Update)];
        assert_eq!(findings(&sample, &plan), [], "past the page cache");
        sample.after.as_mut().unwrap().pages = 110;
        assert_eq!(read(&sample), [], "at the start of a server");
    }

    #[test]
    fn more_pages_than_the_limit_holds_belong_to_another_process() {
        let mut plan = sound(&[Cache::Limited]).header.plan;
        let limit =
            |limit_bytes| MemoryLimit { limit_bytes, page_bytes: 4096, ..MemoryLimit::default() };
        plan.memory = Some(limit(Some(50 * 4096)));
        assert_eq!(findings(&sample(Cache::Limited, 50, 100), &plan), []);
        let found = findings(&sample(Cache::Limited, 51, 100), &plan);
        assert!(matches!(found[..], [FindingKind::StateNotReached { cache: Cache::Limited, .. }]));
        assert_eq!(findings(&sample(Cache::Warm, 100, 100), &plan), [], "of another state");
    }

    #[test]
    fn what_memory_holds_of_a_store_that_was_left_as_found_is_said() {
        let io = Io { device_read_bytes: Some(1), ..Io::default() };
        let found = sample(Cache::AsFound, 23, 24);
        let found = Sample { as_found: true, io: Some(io), bytes: 100, ..found };
        assert_eq!(read(&found), [FindingKind::PartlyInMemory { resident: 0.23 }]);
    }

    #[test]
    fn bytes_from_the_device_are_a_finding_also_if_nobody_looked_at_pages() {
        let io = Io { device_read_bytes: Some(50_000_000), ..Io::default() };
        let sample = Sample { bytes: 100_000_000, io: Some(io), ..Sample::default() };
        assert_eq!(read(&sample), [FindingKind::StateFetched { fetched: 0.5 }]);
    }

    #[test]
    fn an_unknown_state_is_unproven() {
        let mut sample = sample(Cache::Warm, 0, 0);
        sample.before.as_mut().unwrap().unknown = 100;
        sample.after = sample.before;
        let found = read(&sample);
        assert!(matches!(found[..], [FindingKind::StateUnproven { .. }]), "{found:?}");
    }

    #[test]
    fn names_alone_can_spoil_the_cold_state() {
        let mut sample = sample(Cache::Cold, 0, 100);
        let before = sample.before.as_mut().unwrap();
        (before.names, before.cached_names) = (Some(100), Some(50));
        let found = read(&sample);
        let names = |kind: &FindingKind| {
            matches!(kind, FindingKind::StateNotReached { names: Some(_), .. })
        };
        assert!(found.iter().any(names), "{found:?}");
    }
}
