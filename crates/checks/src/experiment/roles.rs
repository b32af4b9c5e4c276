//! Computes the figures of roles: what each costs alone and together with the others, how often its
//! sessions waited for each other, and how a store grew meanwhile.

use model::{
    BUSY_ERRORS, BUSY_RETRIES, Cache, Case, Finding, FindingKind, Growth, LOCK_WAIT_NS, LOCK_WAITS,
    Maintenance, MaintenanceMeasured, Role, RoleWork, Sample, record::Record,
};
use stats::Estimate;

use crate::{
    figures::{Figures, Percentiles, percentiles, sum},
    series::Series,
    timeline::{Stall, timelines},
};

/// The figures of a role on one target.
#[derive(Clone, Debug)]
pub struct RoleFigures {
    /// The index of the role.
    pub role: usize,
    /// The figures of the role together with the others, or alone if it is the only one.
    pub figures: Figures,
    /// The microseconds of an operation in the pass that it is compared with: alone, or without
    /// maintenance. `None` if there is none.
    pub before_us: Option<Estimate>,
    /// The time of an operation divided by that one, paired by round.
    pub slowdown: Option<Estimate>,
    /// Operations a second of all its sessions, over all rounds.
    pub per_second: f64,
    /// The latencies of all rounds together.
    pub latency: Option<Percentiles>,
    /// The waits of its sessions.
    pub waits: RoleWaits,
}

/// The waits of the sessions of a role for others, over all rounds. A figure is `None` if the engine
/// does not count it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleWaits {
    /// The waits for a lock.
    pub locks: Option<i64>,
    /// The share of the time of its sessions that they waited for locks.
    pub share: Option<f64>,
    /// The operations that the store refused because it was busy.
    pub errors: i64,
    /// The attempts that found the store busy and were repeated.
    pub retries: Option<i64>,
}

/// Returns the figures by role, then in the order of the targets; only what was tried.
pub fn role_figures(record: &Record, figures: &[Figures]) -> Vec<RoleFigures> {
    let Some(data) = record.header.plan.experiment.roles() else { return Vec::new() };
    let several = data.roles.len() > 1;
    let together = |work: &RoleWork| work.together == several && work.meanwhile.is_none();
    rows_of(record, figures, together)
}

/// Returns the figures of the work that `is_shown` selects.
fn rows_of(
    record: &Record,
    figures: &[Figures],
    is_shown: impl Fn(&RoleWork) -> bool,
) -> Vec<RoleFigures> {
    let Some(data) = record.header.plan.experiment.roles() else { return Vec::new() };
    let shown = data.work().enumerate().filter(|(_, work)| is_shown(work));
    let rows = shown.flat_map(|(workload, work)| {
        let rows = figures.iter().filter(move |row| row.case.workload == workload);
        rows.filter_map(move |row| role_row(record, work, &data.roles[work.role], row))
    });
    rows.collect()
}

fn role_row(record: &Record, work: RoleWork, role: &Role, row: &Figures) -> Option<RoleFigures> {
    let series = Series::new(record, row.case, row.target);
    let before = match (work.meanwhile, work.together) {
        (Some(_), _) => Some(RoleWork { meanwhile: None, ..work }),
        (None, true) => Some(RoleWork { together: false, ..work }),
        (None, false) => None,
    };
    let before = before.and_then(|before| {
        let workload = record.header.plan.experiment.roles()?.workload(before)?;
        Some(Series { case: Case { workload, ..row.case }, ..series })
    });
    let samples: Vec<_> = record.samples_of(row.case, row.target).collect();
    let ns = sum(&samples, |sample| sample.wall_ns);
    (!samples.is_empty()).then(|| RoleFigures {
        role: work.role,
        figures: row.clone(),
        before_us: before.and_then(|before| before.unit_times().mean()),
        slowdown: before.and_then(|before| series.ratio_to(before)),
        per_second: sum(&samples, |sample| sample.operations) / ns.max(1.0) * 1e9,
        latency: percentiles(samples.iter().filter_map(|sample| sample.latency())),
        waits: waits(&samples, ns * f64::from(role.sessions)),
    })
}

fn waits(samples: &[&Sample], session_ns: f64) -> RoleWaits {
    let count = |name: &str| {
        let counts = samples.iter().filter_map(|sample| sample.counters.get(name));
        counts.copied().reduce(i64::saturating_add)
    };
    RoleWaits {
        locks: count(LOCK_WAITS),
        share: count(LOCK_WAIT_NS).map(|ns| ns as f64 / session_ns.max(1.0)),
        errors: count(BUSY_ERRORS).unwrap_or(0),
        retries: count(BUSY_RETRIES),
    }
}

/// What maintenance did to the roles of a target.
#[derive(Clone, Debug)]
pub struct MaintenanceFigures {
    /// The kind.
    pub what: Maintenance,
    /// Index of the target in the plan.
    pub target: usize,
    /// The median of its time while no session worked, in milliseconds; `None` if it never finished.
    pub alone_ms: Option<f64>,
    /// The median of its time while all roles worked; `None` if it never finished.
    pub under_load_ms: Option<f64>,
    /// How often it finished within a pass.
    pub within: u64,
    /// How often it gave up at the end of a pass.
    pub unfinished: u64,
}

/// Returns the figures of roles during each maintenance, compared with those without it.
pub fn maintained_role_figures(record: &Record, figures: &[Figures]) -> Vec<RoleFigures> {
    rows_of(record, figures, |work| work.meanwhile.is_some())
}

/// Returns the figures of each maintenance on each target.
pub fn maintenance_figures(record: &Record) -> Vec<MaintenanceFigures> {
    let Some(data) = record.header.plan.experiment.roles() else { return Vec::new() };
    let first = data.work().enumerate().filter(|(_, work)| work.role == 0);
    let all = first.filter_map(|(workload, work)| Some((workload, work.meanwhile?)));
    let of_targets = all.flat_map(|(workload, what)| {
        (0..record.header.plan.targets.len()).filter_map(move |target| {
            let case = Case { workload, cache: Cache::Warm };
            let samples = record.samples_of(case, target);
            let all: Vec<&MaintenanceMeasured> =
                samples.filter_map(|sample| sample.role()?.maintenance.as_ref()).collect();
            let ms = |ns: u64| ns as f64 / 1e6;
            let alone: Vec<_> = all.iter().filter_map(|of| of.alone_ns.map(ms)).collect();
            let loaded: Vec<_> = all.iter().flat_map(|of| &of.runs_ns).map(|ns| ms(*ns)).collect();
            (!all.is_empty()).then(|| MaintenanceFigures {
                what,
                target,
                alone_ms: median(&alone),
                under_load_ms: median(&loaded),
                within: all.iter().map(|of| of.within).sum(),
                unfinished: all.iter().map(|of| of.unfinished).sum(),
            })
        })
    });
    of_targets.collect()
}

/// The sizes of a target's store during the pass in which they became largest.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleGrowth {
    /// Index of the target in the plan.
    pub target: usize,
    /// The round, counted from 0.
    pub round: u32,
    /// The sizes, in their order.
    pub sizes: Vec<Growth>,
}

impl RoleGrowth {
    /// Returns the sizes at the moment at which the files were largest.
    pub fn peak(&self) -> Growth {
        self.sizes.iter().copied().max_by_key(|size| size.bytes).unwrap_or_default()
    }

    /// Returns the time and the bytes of the files without the log: at the start, and when they were
    /// most.
    pub fn data(&self) -> [(u64, u64); 2] {
        let of = |size: &Growth| (size.at_ns, size.bytes.saturating_sub(size.log_bytes));
        let first = self.sizes.first().map(of).unwrap_or_default();
        [first, self.sizes.iter().map(of).max_by_key(|(_, bytes)| *bytes).unwrap_or_default()]
    }

    /// Returns by how much the log became larger than it was at the start.
    fn log_growth(&self) -> u64 {
        let first = self.sizes.first().map_or(0, |size| size.log_bytes);
        self.log_peak().log_bytes.saturating_sub(first)
    }

    /// Returns by how much the files without the log became larger than they were at the start.
    fn data_growth(&self) -> u64 {
        let [(_, first), (_, peak)] = self.data();
        peak - first
    }

    /// Returns the sizes at the moment at which the log was largest.
    pub fn log_peak(&self) -> Growth {
        self.sizes.iter().copied().max_by_key(|size| size.log_bytes).unwrap_or_default()
    }
}

/// Returns the growth of each target whose sizes were measured while all roles worked.
pub fn role_growths(record: &Record) -> Vec<RoleGrowth> {
    let Some(data) = record.header.plan.experiment.roles() else { return Vec::new() };
    let together = data.work().position(|work| work.together).unwrap_or(0);
    growths_in(record, together)
}

/// Returns the growth of each target whose sizes were measured in a workload.
fn growths_in(record: &Record, workload: usize) -> Vec<RoleGrowth> {
    let growth = |target| {
        let case = Case { workload, cache: Cache::Warm };
        let all = record.samples_of(case, target);
        let all = all.filter_map(|sample| Some((sample.round, &sample.role()?.growth)));
        let all = all.filter(|(_, sizes)| !sizes.is_empty());
        let largest = |sizes: &[Growth]| sizes.iter().map(|size| size.bytes).max();
        let (round, sizes) = all.max_by_key(|(_, sizes)| largest(sizes))?;
        Some(RoleGrowth { target, round, sizes: sizes.clone() })
    };
    (0..record.header.plan.targets.len()).filter_map(growth).collect()
}

/// The bytes by which SQLite's log or a store has to grow to be reported: SQLite checkpoints at about
/// 4 MB by itself.
const LARGE: u64 = 16 << 20;
/// The bytes by which other logs have to: that of `RocksDB` grows to two buffers of 64 MiB by itself.
const LARGE_LOG: u64 = 256 << 20;
/// How many times its size at the start a store has to become to be reported.
const MUCH: f64 = 1.5;

/// Returns the findings about roles: logs that grew, and stalls that come at regular times.
pub(crate) fn findings(record: &Record) -> Vec<Finding> {
    let plan = &record.header.plan;
    let Some(data) = plan.experiment.roles() else { return Vec::new() };
    let grown = role_growths(record).into_iter().flat_map(|growth| {
        let label = &plan.targets[growth.target].label;
        let kinds = [log_grew(record, &growth), store_grew(record, &growth)];
        kinds.into_iter().flatten().map(move |kind| Finding::target(kind, label))
    });
    let regular = data.work().enumerate().flat_map(|(workload, _)| {
        let case = Case { workload, cache: Cache::Warm };
        (0..plan.targets.len()).filter_map(move |target| {
            let kind = regular_stalls(record, case, target)?;
            Some(Finding::target(kind, &plan.targets[target].label).in_workload(workload))
        })
    });
    let missed = maintenance_figures(record).into_iter().filter(|of| of.within == 0).map(|of| {
        let kind = FindingKind::MaintenanceMissed { what: of.what.to_string() };
        Finding::target(kind, &plan.targets[of.target].label)
    });
    grown.chain(regular).chain(missed).collect()
}

fn log_grew(record: &Record, growth: &RoleGrowth) -> Option<FindingKind> {
    let peak = growth.log_peak();
    // No other log that is measured has to stay for a snapshot.
    let is_sqlite = record.header.plan.targets[growth.target].engine == "sqlite";
    let kind = || FindingKind::LogGrew {
        bytes: peak.log_bytes,
        seconds: peak.at_ns as f64 / 1e9,
        holder: holder(record, growth, RoleGrowth::log_growth).filter(|_| is_sqlite),
    };
    (growth.log_growth() >= if is_sqlite { LARGE } else { LARGE_LOG }).then(kind)
}

/// Finds a store that became much larger though no role inserts.
fn store_grew(record: &Record, growth: &RoleGrowth) -> Option<FindingKind> {
    let data = record.header.plan.experiment.roles()?;
    let inserts = data.roles.iter().any(|role| role.mix.changes_keys());
    let [(_, from), (at_ns, bytes)] = growth.data();
    let much = growth.data_growth() >= LARGE && bytes as f64 >= MUCH * from as f64;
    let kind = || FindingKind::StoreGrew {
        from,
        bytes,
        seconds: at_ns as f64 / 1e9,
        holder: holder(record, growth, RoleGrowth::data_growth),
    };
    (much && !inserts).then(kind)
}

/// Returns the name of a role that holds its snapshots, if growth is at least twice that of each pass
/// without it.
fn holder(record: &Record, growth: &RoleGrowth, of: fn(&RoleGrowth) -> u64) -> Option<String> {
    let data = record.header.plan.experiment.roles()?;
    let (index, role) = data.roles.iter().enumerate().find(|(_, role)| role.held_ns.is_some())?;
    let others = data.work().enumerate().filter(|(_, work)| !work.together && work.role != index);
    let others = others.flat_map(|(workload, _)| growths_in(record, workload));
    let without =
        others.filter(|other| other.target == growth.target).map(|other| of(&other)).max();
    without.is_none_or(|without| of(growth) >= 2 * without).then(|| role.name.clone())
}

/// The least number of stalls of a pass that show a period.
const FEWEST_STALLS: usize = 4;
/// How far a gap between stalls may be from a multiple of the period, as a share of the period.
const IRREGULAR: f64 = 0.2;
/// The share of the gaps that must be that regular.
const REGULAR: f64 = 0.75;

/// How much shorter and longer than one another stalls of one cause are.
const LIKE: [f64; 2] = [0.7, 1.5];

/// Finds stalls of similar length with about the same time between them; of several such groups the
/// largest.
fn regular_stalls(record: &Record, case: Case, target: usize) -> Option<FindingKind> {
    let lines = timelines(record, case, target);
    let stalls = || lines.iter().flat_map(|line| &line.stalls);
    let like = |seed: &Stall| {
        let [shortest, longest] = LIKE.map(|factor| factor * seed.length_ms);
        let is_like = move |stall: &&Stall| (shortest..=longest).contains(&stall.length_ms);
        let of_pass = |all: &[Stall]| {
            let starts: Vec<_> = all.iter().filter(&is_like).map(|stall| stall.start_ms).collect();
            let gaps: Vec<_> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
            if starts.len() >= FEWEST_STALLS { gaps } else { Vec::new() }
        };
        let gaps: Vec<f64> = lines.iter().flat_map(|line| of_pass(&line.stalls)).collect();
        period(&gaps)
            .map(|period| (gaps.len(), period, stalls().filter(is_like).collect::<Vec<_>>()))
    };
    let groups = stalls().filter_map(like);
    let (_, period, all) = groups.max_by_key(|(gaps, ..)| *gaps)?;
    let lengths: Vec<_> = all.iter().map(|stall| stall.length_ms).collect();
    Some(FindingKind::StallsEvery {
        seconds: period / 1e3,
        length_ms: median(&lengths)?,
        cause: all.iter().find_map(|stall| stall.cause.clone()),
    })
}

/// Returns the median of the gaps if most are about a multiple of it.
fn period(gaps: &[f64]) -> Option<f64> {
    let period = median(gaps)?;
    let is_regular = |gap: &&f64| {
        let times = **gap / period;
        times > 0.5 && (times - times.round()).abs() <= IRREGULAR
    };
    let regular = gaps.iter().filter(is_regular).count() as f64 / gaps.len() as f64;
    (regular >= REGULAR).then_some(period)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_found_where_a_stall_was_missed_and_not_among_chance() {
        assert_eq!(period(&[2000.0, 2010.0, 4020.0, 1990.0]), Some(2010.0));
        assert_eq!(period(&[100.0, 2300.0, 900.0, 1450.0, 3210.0]), None);
        assert_eq!(period(&[]), None);
    }
}
