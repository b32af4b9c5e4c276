//! A pass in slices of 100 ms, as one worker notes it: how many operations ended in each, and how
//! long they took. Those of several workers add up.
//!
//! Latencies are counted in cells, 32 to each doubling, so that those of the slice at hand stay in
//! the processor's nearest cache. When it is over, the cells that are not zero are appended to room
//! that was made before the pass. When that is used up, what follows is not noted.

use model::{BackgroundWork, Longest, OverTime, SLICE_NS, Slice};
use serde::{Deserialize, Serialize};

use super::latency::LONGEST_NS;

/// The largest number of slices that are recorded: those of an hour.
const MOST_SLICES: usize = 36_000;
/// The largest number of cells that are recorded, of all slices together, in 8 MB. A slice seldom
/// has a hundred.
const MOST_CELLS: usize = 1 << 20;

/// The slices that a worker records.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Slices {
    /// When the first starts, in the clock that all processes share.
    origin_ns: u64,
    /// End of the slice at hand; never reached once there is no more room.
    end_ns: u64,
    /// The slice at hand.
    counts: Vec<u32>,
    longest: Longest,
    /// Whether the last operation is the longest of it.
    last_is_longest: bool,
    /// The slices that are over.
    past: Vec<Past>,
    /// Their cells, one slice after the other: which, and how many latencies.
    cells: Vec<(u16, u32)>,
    /// Whether there was not enough room for all.
    full: bool,
}

/// A slice that is over.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Past {
    longest: Longest,
    /// The end of its cells.
    cells: usize,
}

impl Slices {
    pub(crate) fn new(origin_ns: u64) -> Self {
        Self {
            origin_ns,
            end_ns: origin_ns.saturating_add(SLICE_NS),
            counts: vec![0; CELLS],
            longest: Longest::default(),
            last_is_longest: false,
            past: Vec::with_capacity(MOST_SLICES),
            cells: Vec::with_capacity(MOST_CELLS),
            full: false,
        }
    }

    /// Counts `operations` that took `ns` each, the last of which until `end_ns`. None before it
    /// ended later.
    #[inline]
    pub(crate) fn note(&mut self, ns: u64, operations: u64, end_ns: u64) {
        if end_ns >= self.end_ns {
            self.turn(end_ns);
        }
        let count = &mut self.counts[cell(ns)];
        *count = count.saturating_add(u32::try_from(operations).unwrap_or(u32::MAX));
        self.last_is_longest = ns >= self.longest.max_ns;
        if self.last_is_longest {
            let max_end_ns = end_ns.saturating_sub(self.origin_ns);
            self.longest = Longest { max_ns: ns, max_end_ns, max_commits: false };
        }
    }

    /// Records that the last operation ended with the commit of a batch.
    #[inline]
    pub(crate) fn committed(&mut self) {
        self.longest.max_commits |= self.last_is_longest;
    }

    /// Begins the slice that holds `at_ns`.
    #[cold]
    fn turn(&mut self, at_ns: u64) {
        while at_ns >= self.end_ns {
            self.put_away();
            self.end_ns = if self.full { u64::MAX } else { self.end_ns.saturating_add(SLICE_NS) };
        }
    }

    fn put_away(&mut self) {
        if self.past.len() == MOST_SLICES || self.cells.len() + CELLS > MOST_CELLS {
            self.full = true;
            return;
        }
        for (cell, count) in (0..).zip(&mut self.counts).filter(|(_, count)| **count > 0) {
            self.cells.push((cell, std::mem::take(count)));
        }
        let longest = std::mem::take(&mut self.longest);
        self.past.push(Past { longest, cells: self.cells.len() });
    }

    /// Closes the last slice after the pass, and frees what is no longer needed.
    pub(crate) fn close(&mut self) {
        if !self.full {
            self.put_away();
        }
        self.counts = Vec::new();
        self.past.shrink_to_fit();
        self.cells.shrink_to_fit();
    }

    /// Returns the operations that ended until `at_ns`, of a worker that worked from `start_ns` to
    /// `end_ns`; within a slice they are spread evenly. Returns 0 if not all of them are recorded.
    pub(crate) fn until(&self, at_ns: u64, (start_ns, end_ns): (u64, u64)) -> f64 {
        if self.full {
            return 0.0;
        }
        let part = |slice: usize| {
            let starts = self.origin_ns.saturating_add(SLICE_NS.saturating_mul(slice as u64));
            let ends = starts.saturating_add(SLICE_NS).min(end_ns);
            let starts = starts.max(start_ns).min(ends);
            let length = (ends - starts).max(1) as f64;
            let passed = at_ns.clamp(starts, ends) - starts;
            let (_, cells) = self.slice(slice);
            let operations: u64 = cells.iter().map(|(_, count)| u64::from(*count)).sum();
            operations as f64 * if at_ns >= ends { 1.0 } else { passed as f64 / length }
        };
        (0..self.past.len()).map(part).sum()
    }

    /// Returns the longest operation of a slice, and its cells; nothing for a slice after the last.
    fn slice(&self, slice: usize) -> (Longest, &[(u16, u32)]) {
        let Some(past) = self.past.get(slice) else { return Default::default() };
        let start = slice.checked_sub(1).map_or(0, |before| self.past[before].cells);
        (past.longest, self.cells.get(start..past.cells).unwrap_or_default())
    }
}

/// Returns how a pass that took longer than a slice went over time, from what its workers and its
/// engine report. `background` is in the clock that all processes share.
pub(crate) fn over_time<'a>(
    parts: &[&Slices],
    background: impl Iterator<Item = &'a BackgroundWork>,
) -> Option<OverTime> {
    let start_ns = parts.first()?.origin_ns;
    let slices = merged(parts);
    let end_ns = start_ns.saturating_add(SLICE_NS.saturating_mul(slices.len() as u64));
    let meanwhile = background.filter(|work| work.end_ns >= start_ns && work.start_ns < end_ns);
    let since = |work: &BackgroundWork| BackgroundWork {
        name: work.name.clone(),
        start_ns: work.start_ns.saturating_sub(start_ns),
        end_ns: work.end_ns.saturating_sub(start_ns),
    };
    let background_work = meanwhile.map(since).collect();
    (slices.len() > 1).then_some(OverTime { slice_ns: SLICE_NS, slices, background_work })
}

/// Merges the slices of several workers that started together. If one had no more room, what
/// follows is left out.
fn merged(parts: &[&Slices]) -> Vec<Slice> {
    let longest = parts.iter().map(|part| part.past.len()).max().unwrap_or(0);
    let full = parts.iter().filter(|part| part.full).map(|part| part.past.len()).min();
    (0..full.unwrap_or(longest)).map(|slice| sum(parts, slice)).collect()
}

fn sum(parts: &[&Slices], slice: usize) -> Slice {
    let mut counts = vec![0; CELLS];
    let mut sum = Slice::default();
    for (longest, cells) in parts.iter().map(|part| part.slice(slice)) {
        for (cell, count) in cells {
            if let Some(of_all) = counts.get_mut(usize::from(*cell)) {
                *of_all += u64::from(*count);
                sum.operations += u64::from(*count);
            }
        }
        sum.longest = std::cmp::max_by_key(sum.longest, longest, |longest| longest.max_ns);
    }
    // What is in the middle of a cell may be longer than the longest in it.
    sum.p99_ns = p99(&counts, sum.operations).min(sum.longest.max_ns);
    sum
}

fn p99(counts: &[u64], operations: u64) -> u64 {
    let rank = operations - operations / 100;
    let mut below = 0;
    let cell = counts.iter().position(|count| {
        below += count;
        below >= rank
    });
    cell.map_or(0, middle)
}

/// The number of cells of each doubling.
const OF_EACH: usize = 32;
/// The number of cells. Twice as many as a doubling has hold a nanosecond each, before doublings
/// start.
const CELLS: usize = cell(LONGEST_NS) + 1;

/// Returns the cell that counts latencies of `ns`.
#[inline]
const fn cell(ns: u64) -> usize {
    let ns = if ns < LONGEST_NS { ns } else { LONGEST_NS };
    let doublings = (ns | OF_EACH as u64).ilog2() - OF_EACH.ilog2();
    // At most twice as many as a doubling has are left of each.
    #[expect(clippy::cast_possible_truncation, reason = "less than 2 * OF_EACH")]
    let within = (ns >> doublings) as usize;
    doublings as usize * OF_EACH + within
}

/// Returns the value that is closest to all latencies of a cell.
const fn middle(cell: usize) -> u64 {
    let doublings = (cell / OF_EACH).saturating_sub(1);
    let within = (cell - doublings * OF_EACH) as u64;
    (within << doublings) + (1 << doublings) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_cell_tells_its_latencies_within_two_percent() {
        for ns in (0..2_000).chain((1..42).flat_map(|n| [(1 << n) - 1, 1 << n, (1 << n) + 1])) {
            let told = middle(cell(ns.min(LONGEST_NS)));
            assert!(told.abs_diff(ns.min(LONGEST_NS)) * 50 <= ns, "{ns} is told as {told}");
        }
        let mut cells: Vec<_> = (0..1 << 20).map(cell).collect();
        cells.dedup();
        assert!(cells.into_iter().eq(0..=cell((1 << 20) - 1)), "in order, none left out");
        assert_eq!(cell(u64::MAX), CELLS - 1);
    }

    /// Operations that took `ns` and ended at these milliseconds.
    fn noted(origin_ms: u64, operations: &[(u64, u64)]) -> Slices {
        let mut slices = Slices::new(origin_ms * MS);
        for (ns, at_ms) in operations {
            slices.note(*ns, 1, (origin_ms + at_ms) * MS);
        }
        slices.close();
        slices
    }

    fn longest(max_ns: u64, max_end_ms: u64) -> Longest {
        Longest { max_ns, max_end_ns: max_end_ms * MS, max_commits: false }
    }

    #[test]
    fn operations_count_where_they_end() {
        let slices = noted(7, &[(5, 1), (60, 99), (40, 100), (300 * MS, 450)]);
        let merged = merged(&[&slices]);
        let counts: Vec<_> = merged.iter().map(|slice| slice.operations).collect();
        assert_eq!(counts, [2, 1, 0, 0, 1]);
        assert_eq!((merged[0].p99_ns, merged[0].longest), (60, longest(60, 99)));
        assert_eq!(merged[2], Slice::default());
        assert_eq!(merged[4].longest, longest(300 * MS, 450));
        assert!(merged[4].p99_ns.abs_diff(300 * MS) < 5 * MS);
    }

    #[test]
    fn operations_until_a_time_are_those_of_whole_slices_and_a_part_of_one() {
        // Three in the first slice, one in the third, of a worker that starts and ends within one.
        let slices = noted(7, &[(5, 60), (5, 70), (5, 99), (5, 240)]);
        let until = |ms: u64| slices.until((7 + ms) * MS, (57 * MS, 257 * MS));
        for (ms, operations) in
            [(0, 0.0), (50, 0.0), (75, 1.5), (100, 3.0), (200, 3.0), (225, 3.5), (250, 4.0)]
        {
            assert!((until(ms) - operations).abs() < 1e-9, "{ms} ms: {}", until(ms));
        }
    }

    #[test]
    fn workers_add_up_and_the_percentile_is_that_of_all() {
        let mut fast: Vec<_> = (0..99).map(|at| (20, at)).collect();
        fast.extend([(20, 150), (20, 250)]);
        let (fast, slow) = (noted(0, &fast), noted(0, &[(50, 3), (50 * MS, 120)]));
        let merged = merged(&[&fast, &slow]);
        let told: Vec<_> = merged.iter().map(|s| (s.operations, s.longest)).collect();
        assert_eq!(
            told,
            [(100, longest(50, 3)), (2, longest(50 * MS, 120)), (1, longest(20, 250))]
        );
        assert_eq!(merged[0].p99_ns, 20, "99 of 100 took no longer");
    }

    #[test]
    fn the_longest_tells_whether_it_held_a_commit() {
        let commits = |operations: &[(u64, bool)]| {
            let mut slices = Slices::new(0);
            for (ns, commits) in operations {
                slices.note(*ns, 1, *ns);
                if *commits {
                    slices.committed();
                }
            }
            slices.close();
            merged(&[&slices])[0].longest.max_commits
        };
        assert!(commits(&[(5, false), (6, true), (4, false)]));
        assert!(!commits(&[(5, true), (6, false), (4, true)]));
    }

    #[test]
    fn what_there_is_no_room_for_is_left_out() {
        let mut slices = Slices::new(0);
        for slice in 0..=MOST_SLICES as u64 + 5 {
            slices.note(1, 1, slice * SLICE_NS);
        }
        slices.close();
        let short = noted(0, &[(1, 0)]);
        let merged = merged(&[&short, &slices]);
        assert_eq!(merged.len(), MOST_SLICES);
        assert_eq!((merged[0].operations, merged[1].operations), (2, 1));
        assert_eq!(merged[MOST_SLICES - 1].operations, 1);
        let mut varied = Slices::new(0);
        for slice in 0..2_000 {
            for cell in 0..CELLS {
                varied.note(middle(cell), 1, slice * SLICE_NS);
            }
        }
        varied.close();
        assert!(varied.full && varied.cells.capacity() <= MOST_CELLS);
        assert_eq!(super::merged(&[&varied]).len(), MOST_CELLS / CELLS);
    }
}
