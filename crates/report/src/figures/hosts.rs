//! Computes what each host did where clients ran on several.

use checks::{Figures, Percentiles, Series, histogram};
use itertools::Itertools;
use model::{HostPart, Sample, Worker, record::Record};
use stats::geometric_mean;

use super::latencies::latencies;

/// What the clients of a host did in all rounds, or those of all hosts together.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFigures {
    /// Its name; absent: all of them.
    pub host: Option<String>,
    /// Operations a second: of a host while it worked, of all while all of them did.
    pub rate: f64,
    /// Of its own operations; of all: of the merged histograms.
    pub latency: Option<Percentiles>,
    /// By how much its clock was ahead in the last round, in milliseconds.
    pub offset_ms: Option<f64>,
    /// How much that was off by at most, in any round.
    pub uncertainty_ms: Option<f64>,
}

/// Those of the hosts of `row` in their order, then of all; none: this machine did it alone.
pub fn host_figures(record: &Record, row: &Figures) -> Vec<HostFigures> {
    let samples: Vec<_> = Series::new(record, row.case, row.target).samples().collect();
    let names = samples.iter().flat_map(|sample| &sample.hosts).map(|part| &part.host).unique();
    let mut all: Vec<_> = names.filter_map(|host| of_host(&samples, host)).collect();
    if all.is_empty() {
        return all;
    }
    let latency = latencies(record, row.case, row.target).into_iter().next();
    let rate = |sample: &&Sample| sample.operations as f64 / sample.judged_ns() as f64 * 1e9;
    all.extend(mean(samples.iter().map(rate)).map(|rate| HostFigures {
        host: None,
        rate,
        latency: latency.map(|latency| Percentiles::of(&latency.histogram)),
        offset_ms: None,
        uncertainty_ms: None,
    }));
    all
}

fn of_host(samples: &[&Sample], host: &str) -> Option<HostFigures> {
    let parts = || samples.iter().flat_map(|sample| own(sample, host).map(|(_, part)| part));
    let merged = histogram::merge(parts().map(|part| part.histogram.as_str()));
    let ms = |ns: f64| ns / 1e6;
    Some(HostFigures {
        host: Some(host.to_owned()),
        rate: mean(samples.iter().filter_map(|sample| rate(sample, host)))?,
        latency: merged.map(|merged| Percentiles::of(&merged)),
        offset_ms: parts().last().map(|part| ms(part.clock.offset_ns as f64)),
        uncertainty_ms: parts().map(|part| part.clock.uncertainty_ns).max().map(|ns| ms(ns as f64)),
    })
}

/// The processes of a host, by their index.
fn own<'a>(sample: &'a Sample, host: &str) -> impl Iterator<Item = (u32, &'a HostPart)> {
    (0..).zip(&sample.hosts).filter(move |(_, part)| part.host == host)
}

/// Operations a second of all workers of a host; absent: it took no part.
fn rate(sample: &Sample, host: &str) -> Option<f64> {
    if let ([], [_]) = (&sample.workers[..], &sample.hosts[..]) {
        return Some(sample.operations as f64 / sample.wall_ns as f64 * 1e9);
    }
    let is_own = |worker: &&Worker| own(sample, host).any(|(process, _)| process == worker.process);
    let own = sample.workers.iter().filter(is_own).filter(|worker| worker.wall_ns > 0);
    let rate: f64 = own.map(|worker| worker.operations as f64 / worker.wall_ns as f64 * 1e9).sum();
    (rate > 0.0).then_some(rate)
}

fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    geometric_mean(&rates.collect::<Vec<_>>()).map(|mean| mean.point)
}
