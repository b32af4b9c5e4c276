//! Computes how stores scale with the number of clients, from the runs of a sweep over it.

use std::collections::BTreeMap;

use itertools::Itertools;
use model::{Case, record::Record};
use stats::{Estimate, Knee, knee, unpaired_ratio};

use crate::{Figures, Series, figures, words};

/// The option that says how many processes there are.
const CLIENTS: &str = "processes";

/// A target with several numbers of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    pub case: Case,
    /// What else varies, with its values here.
    pub others: BTreeMap<String, String>,
    pub target: String,
    /// By the number of clients.
    pub points: Vec<ScalingPoint>,
    /// Absent: there are no two of them.
    pub knee: Option<Knee>,
}

/// A target with one number of clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingPoint {
    /// Workers of all processes and hosts.
    pub clients: u32,
    /// Operations a second of all together.
    pub rate: Estimate,
    /// That over the rate of the fewest clients, as often as there are more; absent: these are they.
    pub efficiency: Option<Estimate>,
    /// In microseconds.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    /// The rate over that of as many clients of a target that does nothing.
    pub of_limit: Option<f64>,
}

/// Every target in every case, for each combination of what else varies; none: only one number of
/// clients was measured.
pub fn scalings(runs: &[Record]) -> Vec<Scaling> {
    let mut groups: BTreeMap<_, Vec<(&Record, Vec<Figures>)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| words::values(run).contains_key(CLIENTS)) {
        let mut others = words::values(run).clone();
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

fn scaling(group: &[(&Record, Vec<Figures>)], case: Case, label: &str) -> Option<Scaling> {
    let measured = group.iter().filter_map(|(run, figures)| {
        let place = run.header.plan.targets.iter().position(|target| target.label == label)?;
        let of = |place| figures.iter().find(|row| row.case == case && row.target == place);
        let null = run.header.plan.targets.iter().position(|target| target.engine == "null");
        let limit = null.and_then(of).filter(|_| null != Some(place));
        let clients = run.header.plan.workloads[case.workload].workers();
        let limit_us = limit.and_then(|row| row.us_per_op).map(|us| us.point);
        Some((clients, Series::new(run, case, place), of(place)?, limit_us))
    });
    let measured: Vec<_> = measured.sorted_by_key(|(clients, ..)| *clients).collect();
    let times: Vec<_> = measured.iter().map(|(_, series, ..)| series.unit_times()).collect();
    let (fewest, ..) = measured.first()?;
    let point =
        |(place, (clients, _, row, limit_us)): (usize, &(u32, _, &Figures, Option<f64>))| {
            let us = row.us_per_op?;
            let share = f64::from(*fewest) / f64::from(*clients);
            let gain = unpaired_ratio(&times[0], &times[place]).filter(|_| place > 0);
            Some(ScalingPoint {
                clients: *clients,
                rate: Estimate {
                    point: 1e6 / us.point,
                    low: 1e6 / us.high,
                    high: 1e6 / us.low,
                    ..us
                },
                efficiency: gain.map(|gain| gain.map(|gain| gain * share)),
                p50: row.latency.map(|latency| latency.p50),
                p99: row.latency.map(|latency| latency.p99),
                of_limit: limit_us.map(|limit| limit / us.point),
            })
        };
    let points = measured.iter().enumerate().map(point).collect::<Option<Vec<_>>>()?;
    let steps = times.windows(2).map(|pair| unpaired_ratio(&pair[0], &pair[1]));
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let clients: Vec<_> = points.iter().map(|point| point.clients).collect();
    let knee = knee(&clients, &steps);
    Some(Scaling { case, others: BTreeMap::new(), target: label.to_owned(), points, knee })
}
