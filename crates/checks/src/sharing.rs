//! The figures of settings that decide what readers and writers of a store cost each other.

use stats::SAME;

use crate::{
    advice::{Sharing, SharingSetting, SharingWay},
    costs::Costs,
    experiment::roles::{RoleFigures, role_figures},
    figures::figures,
};

/// The figures of a setting in its two ways.
#[derive(Clone, Debug)]
pub struct SharingFigures<'a> {
    /// The setting.
    pub setting: &'a SharingSetting,
    /// The figures of each way, in their order.
    pub ways: [WayFigures; 2],
    /// The index of the way that is shown to be better: the store refuses nothing, or an operation
    /// costs less. `None` if no difference is shown.
    pub better: Option<usize>,
}

/// The figures of one way of a setting.
#[derive(Clone, Debug)]
pub struct WayFigures {
    /// The figures of the sessions that read, next to the others.
    pub readers: RoleFigures,
    /// The figures of the sessions that write, next to the others.
    pub writers: RoleFigures,
}

impl WayFigures {
    /// Returns the number of operations that the store refused because it was busy.
    pub fn refused(&self) -> u64 {
        (self.readers.waits.errors + self.writers.waits.errors).unsigned_abs()
    }
}

/// Returns the figures of the settings that were measured, weighed by this share of reads.
pub fn sharing_figures(sharing: &Sharing, reads: f64) -> Vec<SharingFigures<'_>> {
    sharing.settings.iter().filter_map(|setting| setting_figures(sharing, setting, reads)).collect()
}

fn setting_figures<'a>(
    sharing: &Sharing,
    setting: &'a SharingSetting,
    reads: f64,
) -> Option<SharingFigures<'a>> {
    let [one, other] = &setting.ways;
    let ways = [way_figures(sharing, one)?, way_figures(sharing, other)?];
    let better = match ways.each_ref().map(WayFigures::refused) {
        [0, refused] if refused > 0 => Some(0),
        [refused, 0] if refused > 0 => Some(1),
        _ => cheaper(sharing, setting, reads),
    };
    Some(SharingFigures { setting, ways, better })
}

fn way_figures(sharing: &Sharing, way: &SharingWay) -> Option<WayFigures> {
    let record = sharing.records.get(way.record)?.as_ref()?;
    let plan = &record.header.plan;
    let all = role_figures(record, &figures(record)).into_iter();
    let own = all.filter(|row| row.figures.target == way.target);
    let (writers, readers): (Vec<_>, Vec<_>) =
        own.partition(|row| plan.workloads[row.figures.case.workload].work.writes());
    Some(WayFigures { readers: readers.into_iter().next()?, writers: writers.into_iter().next()? })
}

/// Returns the way in which an operation is shown to cost less. Ways that ran together are compared
/// by round; others are shown to differ if their intervals have nothing in common.
fn cheaper(sharing: &Sharing, setting: &SharingSetting, reads: f64) -> Option<usize> {
    let [one, other] = &setting.ways;
    let costs = |way: &SharingWay| {
        let record = sharing.records.get(way.record)?.as_ref()?;
        Some(Costs::new(record, reads))
    };
    let (low, high) = if one.record == other.record {
        let ratio = costs(one)?.ratio(other.target, one.target)?;
        (ratio.low, ratio.high)
    } else {
        let (one, other) = (costs(one)?.cost(one.target)?, costs(other)?.cost(other.target)?);
        (other.low / one.high, other.high / one.low)
    };
    match () {
        () if low > 1.0 + SAME => Some(0),
        () if high < 1.0 / (1.0 + SAME) => Some(1),
        () => None,
    }
}
