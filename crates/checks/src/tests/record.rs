//! Findings that only all samples together show.

use model::{Cache, Durability, FindingKind, record::Record};

use super::{kinds, sample, sound};
use crate::of_record;

/// Findings about a changed record.
fn late(change: impl FnOnce(&mut Record)) -> Vec<FindingKind> {
    let mut record = sound(&[Cache::Warm]);
    change(&mut record);
    let mut kinds = kinds(of_record(&record));
    // The fixture knows of no load, and changed medians contradict its histogram.
    kinds.retain(|kind| !matches!(kind, FindingKind::LoadUnknown | FindingKind::Arithmetic { .. }));
    kinds
}

#[test]
fn a_sound_record_raises_nothing() {
    assert_eq!(late(|_| ()), []);
}

#[test]
fn what_the_tool_itself_takes_is_a_finding() {
    // 4 µs an operation were measured.
    let own = |loop_ns| late(|r| r.header.environment.loop_ns = loop_ns);
    assert_eq!(own(199.0), []);
    assert_eq!(own(400.0), [FindingKind::ToolShare { share: 0.1 }]);
}

#[test]
fn work_left_to_the_background_is_a_finding_unless_the_class_is_durable() {
    let left = |background_ns, class| {
        late(|r| {
            r.samples[0].background_ns = background_ns;
            r.stores[1].durability = class;
        })
    };
    assert_eq!(left(2_000_000, Durability::None), []);
    assert_eq!(left(10_000_000, Durability::None), [FindingKind::LeftToBackground { share: 0.25 }]);
    assert_eq!(left(10_000_000, Durability::Durable), []);
}

#[test]
fn a_clock_that_is_a_good_part_of_the_median_is_coarse() {
    let medians = |medians: [u64; 3]| {
        late(|r| {
            let timed = |p50_ns| {
                let mut sample = sample();
                sample.passes_mut().unwrap().latency.p50_ns = p50_ns;
                sample
            };
            r.samples = medians.map(timed).to_vec();
        })
    };
    let coarse = |p50_ns| [FindingKind::ClockCoarse { p50_ns, clock_ns: 70 }];
    assert_eq!(medians([900, 349, 100]), coarse(349));
    assert_eq!(medians([900, 350, 100]), []);
}

#[test]
fn a_frequency_may_vary_a_little() {
    let frequencies = |mhz: &[Option<f64>]| {
        late(|r| {
            let at = |mhz: &Option<f64>| {
                let mut sample = sample();
                sample.load.mhz = *mhz;
                sample
            };
            r.samples = mhz.iter().map(at).collect();
        })
    };
    let varies = [FindingKind::FrequencyVaries { low_mhz: 2840.0, high_mhz: 3000.0 }];
    assert_eq!(frequencies(&[Some(3000.0), None, Some(2840.0), Some(2900.0)]), varies);
    assert_eq!(frequencies(&[Some(3000.0), Some(2860.0)]), []);
    assert_eq!(frequencies(&[None, None]), []);
}
