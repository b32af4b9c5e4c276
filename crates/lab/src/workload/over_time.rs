//! How a pass went over time, from what its workers and its engine report.

use model::{BackgroundWork, OverTime, SLICE_NS};

use super::{
    latency::EachOperation,
    slices::{self, Slices},
};

/// Of a pass that took longer than a slice. `background` is in the clock that all processes share.
pub(crate) fn over_time<'a>(
    clocks: impl Iterator<Item = &'a EachOperation>,
    background: impl Iterator<Item = &'a BackgroundWork>,
) -> Option<OverTime> {
    let parts: Vec<&Slices> = clocks.map(|clock| &clock.slices).collect();
    let origin_ns = parts.first()?.origin_ns;
    let slices = slices::merged(&parts);
    let end_ns = origin_ns.saturating_add(SLICE_NS.saturating_mul(slices.len() as u64));
    let meanwhile = background.filter(|c| c.end_ns >= origin_ns && c.start_ns < end_ns);
    let background_work = meanwhile.map(|work| since(work, origin_ns)).collect();
    (slices.len() > 1).then_some(OverTime { slice_ns: SLICE_NS, slices, background_work })
}

fn since(work: &BackgroundWork, origin_ns: u64) -> BackgroundWork {
    BackgroundWork {
        name: work.name.clone(),
        start_ns: work.start_ns.saturating_sub(origin_ns),
        end_ns: work.end_ns.saturating_sub(origin_ns),
    }
}
