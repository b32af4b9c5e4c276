//! Computes how stores scale with the number of clients, from the runs of a sweep over it.

use std::collections::BTreeMap;

use itertools::Itertools;
use model::{Case, record::Record};
use stats::{Estimate, Knee, Values, knee, unpaired_ratio};

use super::{Figures, figures};
use crate::series::{CLIENTS, Series};

/// The figures of a target with several numbers of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// The workload and the cache state.
    pub case: Case,
    /// The other options that vary in the sweep, with their values here.
    pub others: BTreeMap<String, String>,
    /// Label of the target.
    pub target: String,
    /// The points, by the number of clients.
    pub points: Vec<ScalingPoint>,
    /// The number of clients from which the rate no longer grows; `None` with fewer than two
    /// points.
    pub knee: Option<Knee>,
}

/// The figures of a target with one number of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingPoint {
    /// Workers of all processes and hosts.
    pub clients: u32,
    /// Operations a second of all together.
    pub rate: Estimate,
    /// That rate divided by the rate of the fewest clients times their ratio; `None` for the fewest
    /// clients.
    pub efficiency: Option<Estimate>,
    /// Median latency in microseconds.
    pub p50: Option<f64>,
    /// 99th percentile of latencies in microseconds.
    pub p99: Option<f64>,
    /// The rate divided by that of as many clients of a target that does nothing.
    pub of_limit: Option<f64>,
}

/// Returns the scaling of every target in every case, for each combination of what else varies;
/// empty if only one number of clients was measured.
pub fn scalings(runs: &[Record]) -> Vec<Scaling> {
    let mut groups: BTreeMap<_, Vec<(&Record, Vec<Figures>)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.header.varied().contains_key(CLIENTS)) {
        let mut others = run.header.varied().clone();
        others.remove(CLIENTS);
        groups.entry(others).or_default().push((run, figures(run)));
    }
    groups.retain(|_, group| group.len() > 1);
    let of_group = |(others, group): (BTreeMap<String, String>, Vec<_>)| {
        let plan = &runs[0].header.plan;
        let closed =
            plan.cases().filter(|case| plan.workloads[case.workload].work.rate().is_none());
        let all = closed.cartesian_product(&plan.targets);
        let all = all.filter_map(|(case, target)| scaling(&group, case, &target.label));
        all.map(|own| Scaling { others: others.clone(), ..own }).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(of_group).collect()
}

/// Returns the scaling of a target in a case, from the runs that have times of it. `None` if fewer than two have.
fn scaling(group: &[(&Record, Vec<Figures>)], case: Case, label: &str) -> Option<Scaling> {
    let measured = group.iter().filter_map(|(run, figures)| {
        let plan = &run.header.plan;
        let place = plan.targets.iter().position(|target| target.label == label)?;
        let row = figures.iter().find(|row| row.case == case && row.target == place)?;
        let null = plan.targets.iter().position(|target| target.engine == "null");
        let null = null.filter(|null| *null != place);
        let limit = null.and_then(|null| Series::new(run, case, null).rate_times().mean());
        let times = Series::new(run, case, place).rate_times();
        times.mean()?;
        Some((plan.workloads[case.workload].workers(), times, row, limit))
    });
    let measured: Vec<_> = measured.sorted_by_key(|(clients, ..)| *clients).collect();
    let (fewest, first, ..) = measured.first().filter(|_| measured.len() > 1)?;
    let point = |(clients, times, row, limit): &(u32, Values, &Figures, Option<Estimate>)| {
        let us = times.mean()?;
        let share = f64::from(*fewest) / f64::from(*clients);
        let gain = unpaired_ratio(first, times).filter(|_| clients > fewest);
        Some(ScalingPoint {
            clients: *clients,
            rate: Estimate { point: 1e6 / us.point, low: 1e6 / us.high, high: 1e6 / us.low, ..us },
            efficiency: gain.map(|gain| gain.map(|gain| gain * share)),
            p50: row.latency.map(|latency| latency.p50),
            p99: row.latency.map(|latency| latency.p99),
            of_limit: limit.map(|limit| limit.point / us.point),
        })
    };
    let points = measured.iter().map(point).collect::<Option<Vec<_>>>()?;
    let steps = measured.windows(2).map(|pair| unpaired_ratio(&pair[0].1, &pair[1].1));
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let clients: Vec<_> = points.iter().map(|point| point.clients).collect();
    let knee = knee(&clients, &steps);
    Some(Scaling { case, others: BTreeMap::new(), target: label.to_owned(), points, knee })
}
