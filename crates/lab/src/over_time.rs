//! How a pass went over time, from what its workers and its engine tell.

use model::{Chore, OverTime, SLICE_NS};

use crate::{
    slices::{self, Slices},
    worker::EachOperation,
};

/// Of a pass that took longer than a slice. `chores` are in the clock that all processes share.
pub(crate) fn over_time(clocks: &[EachOperation], chores: &[Chore]) -> Option<OverTime> {
    let parts: Vec<&Slices> = clocks.iter().map(|clock| &clock.slices).collect();
    let origin_ns = parts.first()?.origin_ns;
    let slices = slices::merged(&parts);
    let end_ns = origin_ns.saturating_add(SLICE_NS.saturating_mul(slices.len() as u64));
    let meanwhile = chores.iter().filter(|c| c.end_ns >= origin_ns && c.start_ns < end_ns);
    let chores = meanwhile.map(|chore| since(chore, origin_ns)).collect();
    (slices.len() > 1).then_some(OverTime { slice_ns: SLICE_NS, slices, chores })
}

fn since(chore: &Chore, origin_ns: u64) -> Chore {
    Chore {
        name: chore.name.clone(),
        start_ns: chore.start_ns.saturating_sub(origin_ns),
        end_ns: chore.end_ns.saturating_sub(origin_ns),
    }
}
