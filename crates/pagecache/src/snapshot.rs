//! The parts of files that were in memory at one time, so that what is read later can be dropped again.

use std::{collections::HashMap, io, ops::Range, path::PathBuf};

use crate::{
    Evictor, Files, Pages, Span, open,
    pages::{pages, ranges_in_memory},
};

/// The parts of files that were in memory when it was made, in bytes.
#[derive(Debug, Default)]
pub struct Snapshot(HashMap<PathBuf, Vec<Range<u64>>>);

impl Files<'_> {
    /// Returns what of the files is in memory. It loads their names.
    ///
    /// # Errors
    ///
    /// Fails with `Unsupported` if the system reports the pages of no file, and with `PermissionDenied` if it
    /// does not report those of one to this user.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        let mut snapshot = Snapshot::default();
        self.visit_each(self.paths(), |path| {
            let ranges = ranges_in_memory(&open(path, false)?.file, || self.check())?;
            snapshot.0.insert(path.to_owned(), ranges);
            Ok(())
        })?;
        Ok(snapshot)
    }

    /// Drops the pages that `snapshot` does not have, as [`Files::evict`] does, and returns what is then in
    /// memory. What has left the memory since the snapshot is not brought back.
    ///
    /// # Errors
    ///
    /// Fails as [`Files::snapshot`] and [`Files::evict`] do.
    pub fn evict_others(&self, snapshot: &Snapshot) -> io::Result<Pages> {
        let (mut evictor, mut sum) = (Evictor::default(), Pages::default());
        self.visit_each(self.paths(), |path| {
            let file = open(path, false)?.file;
            let now = ranges_in_memory(&file, || self.check())?;
            let then = snapshot.0.get(path).map(Vec::as_slice).unwrap_or_default();
            let mut resident: u64 = now.iter().map(|range| pages(range.end - range.start)).sum();
            for Range { start, end } in without(now, then) {
                let others = Span { start, end: Some(end) };
                evictor.evict(&file, others)?;
                let stayed = Pages::count(&file, others)?.resident;
                resident -= pages(end - start).saturating_sub(stayed);
            }
            let total = pages(file.metadata()?.len());
            sum += Pages { total, resident, unknown: 0, dirty: None };
            Ok(())
        })?;
        Ok(sum)
    }
}

/// Returns those parts of `ranges` that are in none of `others`. Both are sorted, and no range touches the next.
fn without(ranges: Vec<Range<u64>>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let (mut parts, mut first) = (Vec::new(), 0);
    for Range { mut start, end } in ranges {
        first += others[first..].partition_point(|other| other.end <= start);
        for other in others[first..].iter().take_while(|other| other.start < end) {
            if start < other.start {
                parts.push(start..other.start);
            }
            start = other.end;
        }
        if start < end {
            parts.push(start..end);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks what is left of `ranges` without `others`, each from a first byte to before a last one.
    #[track_caller]
    fn check(ranges: &[(u64, u64)], others: &[(u64, u64)], left: &[(u64, u64)]) {
        let [ranges, others, left] = [ranges, others, left]
            .map(|all| all.iter().map(|(start, end)| *start..*end).collect::<Vec<_>>());
        assert_eq!(without(ranges, &others), left);
    }

    #[test]
    fn what_others_have_is_taken_away() {
        check(&[(0, 9)], &[], &[(0, 9)]);
        check(&[(0, 9)], &[(0, 9)], &[]);
        check(&[(0, 9)], &[(2, 3), (5, 7)], &[(0, 2), (3, 5), (7, 9)]);
        check(&[(1, 4), (5, 9)], &[(0, 2), (3, 6)], &[(2, 3), (6, 9)]);
        check(&[(0, 2), (6, 8)], &[(3, 4), (7, 20)], &[(0, 2), (6, 7)]);
        check(&[(4, 6)], &[(0, 2), (8, 9)], &[(4, 6)]);
    }
}
