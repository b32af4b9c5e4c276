//! The course of passes over time, and their stalls.

use std::collections::BTreeMap;

use model::{BackgroundWork, Case, Longest, OverTime, Sample, Slice, record::Record};

use crate::series::Series;

/// The pass of one target in one case and round. Times count from its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Round, counted from 0.
    pub round: u32,
    /// Length of the pass in milliseconds.
    pub wall_ms: f64,
    /// The slices, in their order.
    pub points: Vec<Point>,
    /// The stalls, in their order.
    pub stalls: Vec<Stall>,
    /// The background work of the engine during the pass, by name.
    pub background_work: BTreeMap<String, BackgroundTotal>,
}

/// A slice of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its start in milliseconds.
    pub start_ms: f64,
    /// Whether it is as long as the others; the last one may not be.
    pub whole: bool,
    /// Operations a second.
    pub per_second: f64,
    /// 99th percentile of the latencies in microseconds; `None` if no operation ended in it.
    pub p99_us: Option<f64>,
}

/// A stretch in which one operation, or several that overlap, took far longer than usual.
#[derive(Clone, Debug, PartialEq)]
pub struct Stall {
    /// Its start in milliseconds.
    pub start_ms: f64,
    /// Its length in milliseconds.
    pub length_ms: f64,
    /// The work that ran meanwhile; `None` if it is not known.
    pub cause: Option<String>,
}

/// The total of the background work of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BackgroundTotal {
    /// How often it ran.
    pub count: u32,
    /// The sum of the lengths in milliseconds; several at once count each.
    pub total_ms: f64,
}

impl Timeline {
    /// Returns the share of the pass that was spent in stalls.
    pub fn stalled(&self) -> f64 {
        let stalled: f64 = self.stalls.iter().map(|stall| stall.length_ms).sum();
        if self.wall_ms > 0.0 { stalled / self.wall_ms } else { 0.0 }
    }
}

/// The passes of a target in one case, of all rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Passes {
    /// The timeline of each pass.
    pub lines: Vec<Timeline>,
}

impl Passes {
    /// Selects the passes of a target that were long enough for slices.
    pub fn new(record: &Record, case: Case, target: usize) -> Self {
        Self { lines: timelines(record, case, target) }
    }

    /// Returns all slices.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// Returns the operations a second of each slice in ascending order. A slice that is shorter
    /// than the others has no comparable rate.
    pub fn rates(&self) -> Vec<f64> {
        let whole = self.points().filter(|point| point.whole);
        let mut rates: Vec<_> = whole.map(|point| point.per_second).collect();
        rates.sort_by(f64::total_cmp);
        rates
    }

    /// Returns the lowest and the highest 99th percentile of a slice; `None` if no operation ended
    /// in any.
    pub fn p99_range(&self) -> Option<[f64; 2]> {
        let p99s = || self.points().filter_map(|point| point.p99_us);
        Some([p99s().reduce(f64::min)?, p99s().reduce(f64::max)?])
    }

    /// Returns the length of all passes in milliseconds.
    pub fn wall_ms(&self) -> f64 {
        self.lines.iter().map(|line| line.wall_ms).sum()
    }

    /// Returns the percentage of the passes that was spent in stalls; `None` if they have no length.
    pub fn stalled(&self) -> Option<f64> {
        let stalled = self.stalls().fold(0.0, |sum, (_, stall)| sum + stall.length_ms);
        (self.wall_ms() > 0.0).then(|| stalled / self.wall_ms() * 100.0)
    }

    /// Returns the stalls with their rounds.
    pub fn stalls(&self) -> impl Iterator<Item = (u32, &Stall)> {
        self.lines.iter().flat_map(|line| line.stalls.iter().map(|stall| (line.round, stall)))
    }

    /// Returns the background work of the engine in all passes, by name.
    pub fn background_work(&self) -> BTreeMap<&str, BackgroundTotal> {
        let mut sums = BTreeMap::<&str, BackgroundTotal>::new();
        for (name, work) in self.lines.iter().flat_map(|line| &line.background_work) {
            let sum = sums.entry(name).or_default();
            *sum = BackgroundTotal {
                count: sum.count + work.count,
                total_ms: sum.total_ms + work.total_ms,
            };
        }
        sums
    }
}

/// Returns the timelines of the rounds whose passes were long enough.
pub fn timelines(record: &Record, case: Case, target: usize) -> Vec<Timeline> {
    Series::new(record, case, target).samples().filter_map(timeline).collect()
}

fn timeline(sample: &Sample) -> Option<Timeline> {
    let over_time = sample.over_time().filter(|over_time| over_time.slice_ns > 0)?;
    let noted = over_time.slice_ns.saturating_mul(over_time.slices.len() as u64);
    // A very long pass has slices of its start only.
    let wall = sample.latency()?.wall_ns.min(noted);
    Some(Timeline {
        round: sample.round,
        wall_ms: ms(wall),
        points: points(over_time, wall),
        stalls: stalls(over_time),
        background_work: totals(&over_time.background_work),
    })
}

fn points(over_time: &OverTime, wall: u64) -> Vec<Point> {
    let point = |(index, slice): (u64, &Slice)| {
        let start = index.saturating_mul(over_time.slice_ns);
        let length = over_time.slice_ns.min(wall.saturating_sub(start));
        Point {
            start_ms: ms(start),
            whole: length == over_time.slice_ns,
            per_second: slice.operations as f64 * 1e9 / length.max(1) as f64,
            p99_us: (slice.operations > 0).then_some(slice.p99_ns as f64 / 1e3),
        }
    };
    (0..).zip(&over_time.slices).map(point).collect()
}

/// The shortest stall: shorter ones are left to the percentiles.
pub(crate) const SHORTEST_NS: u64 = 10_000_000;
/// The factor by which a stall is longer than the longest operation of an ordinary slice.
const FAR: u64 = 5;

/// Returns the stalls. Only the longest operation of each slice is examined: a worker that waits
/// ends no other meanwhile.
fn stalls(over_time: &OverTime) -> Vec<Stall> {
    let ended = over_time.slices.iter().filter(|slice| slice.operations > 0);
    let all: Vec<Longest> = ended.map(|slice| slice.longest).collect();
    let least = ordinary(&all).saturating_mul(FAR).max(SHORTEST_NS);
    let mut far: Vec<_> =
        all.into_iter().filter(|l| l.max_ns >= least).map(Stretch::from).collect();
    far.sort_by_key(|stretch| stretch.start);
    far.dedup_by(|next, last| last.joined(next));
    far.iter().map(|stretch| stretch.stall(&over_time.background_work)).collect()
}

/// Returns the median of the longest operations; of an even number the lower one, because a stall
/// among few slices is no measure.
fn ordinary(longest: &[Longest]) -> u64 {
    let mut all: Vec<_> = longest.iter().map(|longest| longest.max_ns).collect();
    all.sort_unstable();
    all.get(all.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}

/// A stretch of a pass, in nanoseconds.
struct Stretch {
    start: u64,
    end: u64,
    commits: bool,
}

impl From<Longest> for Stretch {
    fn from(longest: Longest) -> Self {
        let Longest { max_ns, max_end_ns: end, max_commits: commits } = longest;
        Self { start: end.saturating_sub(max_ns), end, commits }
    }
}

impl Stretch {
    /// Merges with a stretch that does not start earlier, if they overlap; returns whether they do.
    fn joined(&mut self, next: &Self) -> bool {
        let overlap = next.start <= self.end;
        if overlap {
            self.end = self.end.max(next.end);
            self.commits |= next.commits;
        }
        overlap
    }

    fn stall(&self, background_work: &[BackgroundWork]) -> Stall {
        let commit = self.commits.then(|| COMMIT.to_owned());
        Stall {
            start_ms: ms(self.start),
            length_ms: ms(self.end - self.start),
            cause: self.work(background_work).or(commit),
        }
    }

    /// Returns the background work that ran for the largest part of the stretch, and for at least
    /// half of it.
    fn work(&self, background_work: &[BackgroundWork]) -> Option<String> {
        let mut shared = BTreeMap::<&str, u64>::new();
        for BackgroundWork { name, start_ns, end_ns } in background_work {
            let sum = shared.entry(name).or_default();
            let start = (*start_ns).max(self.start);
            *sum = sum.saturating_add((*end_ns).min(self.end).saturating_sub(start));
        }
        let (name, both) = shared.into_iter().max_by_key(|(_, both)| *both)?;
        (both >= (self.end - self.start) / 2).then(|| name.to_owned())
    }
}

/// The cause that storemark itself knows: the operation had a batch to commit.
const COMMIT: &str = "commit";

fn totals(work: &[BackgroundWork]) -> BTreeMap<String, BackgroundTotal> {
    let mut all = BTreeMap::<_, BackgroundTotal>::new();
    for BackgroundWork { name, start_ns, end_ns } in work {
        let of = all.entry(name.clone()).or_default();
        of.count += 1;
        of.total_ms += ms(end_ns.saturating_sub(*start_ns));
    }
    all
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
