//! Computes what each host did where clients ran on several.

use itertools::Itertools;
use model::{HostPart, Sample, Worker, record::Record};
use stats::geometric_mean;

use super::{Figures, Percentiles, latencies::latencies};
use crate::{histogram, series::Series};

/// The figures of the clients of one host over all rounds, or of all hosts together.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFigures {
    /// Name of the host; `None` for all together.
    pub host: Option<String>,
    /// Operations a second: of a host while it worked, of all together while all of them did.
    pub rate: f64,
    /// Latencies of the host's own operations, or of all hosts' merged histograms.
    pub latency: Option<Percentiles>,
    /// Milliseconds by which the host's clock was ahead in the last round.
    pub offset_ms: Option<f64>,
    /// The largest error of that offset in any round, in milliseconds.
    pub uncertainty_ms: Option<f64>,
}

/// Returns the figures of each host of `row`, then of all together; empty if this machine worked
/// alone.
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
        latency: latency.map(|latency| Percentiles::from_histogram(&latency.histogram)),
        offset_ms: None,
        uncertainty_ms: None,
    }));
    all
}

fn of_host(samples: &[&Sample], host: &str) -> Option<HostFigures> {
    let parts = || samples.iter().flat_map(|sample| host_parts(sample, host).map(|(_, part)| part));
    let merged = histogram::merge(parts().map(|part| part.histogram.as_str()));
    let ms = |ns: f64| ns / 1e6;
    Some(HostFigures {
        host: Some(host.to_owned()),
        rate: mean(samples.iter().filter_map(|sample| rate(sample, host)))?,
        latency: merged.map(|merged| Percentiles::from_histogram(&merged)),
        offset_ms: parts().last().map(|part| ms(part.clock.offset_ns as f64)),
        uncertainty_ms: parts().map(|part| part.clock.uncertainty_ns).max().map(|ns| ms(ns as f64)),
    })
}

/// Returns the processes of a host, with their indices.
fn host_parts<'a>(sample: &'a Sample, host: &str) -> impl Iterator<Item = (u32, &'a HostPart)> {
    (0..).zip(&sample.hosts).filter(move |(_, part)| part.host == host)
}

/// Returns the operations a second of all workers of a host; `None` if it took no part.
fn rate(sample: &Sample, host: &str) -> Option<f64> {
    if let ([], [_]) = (&sample.workers[..], &sample.hosts[..]) {
        return Some(sample.operations as f64 / sample.wall_ns as f64 * 1e9);
    }
    let is_own =
        |worker: &&Worker| host_parts(sample, host).any(|(process, _)| process == worker.process);
    let own = sample.workers.iter().filter(is_own).filter(|worker| worker.wall_ns > 0);
    let rate: f64 = own.map(|worker| worker.operations as f64 / worker.wall_ns as f64 * 1e9).sum();
    (rate > 0.0).then_some(rate)
}

fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    geometric_mean(&rates.collect::<Vec<_>>()).map(|mean| mean.point)
}
