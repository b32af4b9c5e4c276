//! The choice of what a power cut loses, for each model.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::model::CrashModel;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{Inode, Operation, Record, certain::Certain};

/// The bytes that are lost or kept together, but for those of a write that is torn into sectors.
pub(crate) const BLOCK: u64 = 4096;

/// What a state lacks of the operations before its cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// The changes of metadata that are lost.
    pub metadata: BTreeSet<usize>,
    /// The bytes that are lost or kept together; 0 if no data is lost.
    pub(crate) unit: u64,
    /// For each unit of a file that lost data: the first write that is not in it.
    pub(crate) units: BTreeMap<(Inode, u64), usize>,
    /// For each file that is shorter than it was: the first write that does not extend it.
    pub(crate) sizes: BTreeMap<Inode, usize>,
}

impl Loss {
    /// Chooses what is lost when the power is cut before operation `cut`.
    pub fn choose(record: &Record, cut: usize, model: CrashModel, seed: u64) -> Self {
        let certain = Certain::at(record, cut);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut choice = Choice { record, cut, certain, random, loss: Self::default() };
        choice.loss.unit = BLOCK;
        match model {
            // What a failed flush loses is not chosen: see `of_failed_flush`.
            CrashModel::Kill | CrashModel::Eio => {}
            CrashModel::Ordered => choice.ordered(),
            CrashModel::Strict => choice.strict(),
            CrashModel::Torn512 => choice.torn(512),
            CrashModel::Torn4096 => choice.torn(BLOCK),
        }
        choice.loss
    }

    /// Returns what a restart loses of a whole record in which a flush failed: the blocks of the file that
    /// it should have written, unless a write after it has the system write them again.
    pub fn of_failed_flush(record: &Record) -> Self {
        let mut loss = Self { unit: BLOCK, ..Self::default() };
        let operations = record.operations();
        let Some((failed, inode)) = record.failed_flush() else { return loss };
        let is_flush = |operation: &Operation| matches!(operation, Operation::Flush { inode: flushed, .. } if *flushed == inode);
        let flushed = operations[..failed].iter().rposition(is_flush).unwrap_or(0);
        let flushed = flushed.max(record.prepared());
        for number in record.contents(inode, operations.len()) {
            for block in units_of(&operations[*number], BLOCK) {
                if *number > failed {
                    loss.units.remove(&(inode, block));
                } else if *number >= flushed {
                    loss.units.entry((inode, block)).or_insert(*number);
                }
            }
        }
        loss
    }

    /// Returns whether nothing is lost.
    pub fn is_empty(&self) -> bool {
        self.metadata.is_empty() && self.units.is_empty() && self.sizes.is_empty()
    }

    /// Returns the files that lost data.
    pub fn files(&self) -> BTreeSet<Inode> {
        self.units.keys().map(|(inode, _)| *inode).chain(self.sizes.keys().copied()).collect()
    }

    /// Returns the same loss without that of the data of these files.
    #[must_use]
    pub fn keeping_files(&self, kept: &BTreeSet<Inode>) -> Self {
        let mut loss = self.clone();
        loss.units.retain(|(inode, _), _| !kept.contains(inode));
        loss.sizes.retain(|inode, _| !kept.contains(inode));
        loss
    }

    /// Counts what is lost in smaller units.
    fn split(&mut self, unit: u64) {
        let parts = self.unit / unit;
        let units = std::mem::take(&mut self.units).into_iter();
        let split = |((inode, block), write)| {
            (block * parts..(block + 1) * parts).map(move |part| ((inode, part), write))
        };
        self.units = units.flat_map(split).collect();
        self.unit = unit;
    }

    /// Returns the same loss with only these changes of metadata.
    #[must_use]
    pub fn with_metadata(&self, metadata: BTreeSet<usize>) -> Self {
        Self { metadata, ..self.clone() }
    }
}

/// The choice of a loss, as far as it is made.
struct Choice<'a> {
    record: &'a Record,
    cut: usize,
    certain: Certain,
    random: Xoshiro256PlusPlus,
    loss: Loss,
}

/// Returns the units of a file that a write changes.
fn units_of(operation: &Operation, unit: u64) -> std::ops::Range<u64> {
    match operation {
        Operation::Write { offset, data, .. } if data.len > 0 => {
            offset / unit..(offset + data.len).div_ceil(unit)
        }
        _ => 0..0,
    }
}

/// How much of something uncertain is lost.
#[derive(Clone, Copy)]
enum Share {
    Nothing,
    All,
    /// Each part with this chance out of 256.
    Some(u64),
    /// One part alone.
    One,
    /// All parts but one.
    AllButOne,
    /// What was written last.
    Latest,
}

impl Choice<'_> {
    fn below(&mut self, limit: usize) -> usize {
        // The bias of the remainder is below 2^-40 for what fits in memory.
        (self.random.next_u64() % limit.max(1) as u64) as usize
    }

    fn share(&mut self) -> Share {
        let shares = [
            Share::Nothing,
            Share::All,
            Share::Some(26),
            Share::Some(128),
            Share::Some(230),
            Share::One,
            Share::AllButOne,
            Share::Latest,
        ];
        shares[self.below(shares.len())]
    }

    /// Returns which of `count` parts, in the order of time, are lost.
    fn lost(&mut self, share: Share, count: usize) -> Vec<bool> {
        let one = self.below(count);
        (0..count)
            .map(|part| match share {
                Share::Nothing => false,
                Share::All => true,
                Share::Some(chance) => self.random.next_u64() % 256 < chance,
                Share::One => part == one,
                Share::AllButOne => part != one,
                Share::Latest => part >= one,
            })
            .collect()
    }

    /// Loses what no flush made certain: all metadata from a random operation on, and blocks of data. In a
    /// quarter of the states each file has a log of its own, as on btrfs, in place of one journal.
    fn ordered(&mut self) {
        let has_file_logs = self.below(4) == 0;
        let from = self.certain.journal(has_file_logs);
        let end = match self.below(3) {
            0 => self.cut,
            1 => from,
            _ => from + self.below(self.cut.saturating_sub(from) + 1),
        };
        self.loss.metadata = self.certain.lost_metadata(self.record, self.cut, end, has_file_logs);
        self.lose_data();
    }

    fn strict(&mut self) {
        let share = self.share();
        let operations = &self.record.operations()[..self.cut];
        let is_uncertain = |(number, operation): &(usize, &Operation)| {
            operation.is_metadata() && !self.certain.is_by_itself(*number, operation)
        };
        let uncertain: Vec<_> =
            operations.iter().enumerate().filter(is_uncertain).map(|(number, _)| number).collect();
        let lost = self.lost(share, uncertain.len());
        let lost = uncertain.into_iter().zip(lost).filter(|(_, lost)| *lost);
        self.loss.metadata = lost.map(|(number, _)| number).collect();
        self.lose_data();
    }

    /// Loses parts of `unit` bytes of one write, in half of the states after what `ordered` loses, which is
    /// whole blocks of other writes.
    fn torn(&mut self, unit: u64) {
        if self.below(2) == 0 {
            self.ordered();
        }
        self.loss.split(unit);
        let writes = self.unflushed();
        let tearable: Vec<_> =
            writes.into_iter().filter(|number| self.parts(*number) > 1).collect();
        let Some(last) = tearable.len().checked_sub(1) else { return };
        // The write that was under way when the power was cut is the likeliest.
        let chosen = if self.below(2) == 0 { last } else { self.below(last + 1) };
        self.tear(tearable[chosen]);
    }

    /// Returns the writes that no flush followed, in their order.
    fn unflushed(&self) -> Vec<usize> {
        let files = self.record.written().into_iter();
        let mut writes: Vec<_> = files.flat_map(|inode| self.unflushed_of(inode)).collect();
        writes.sort_unstable();
        writes
    }

    fn unflushed_of(&self, inode: Inode) -> Vec<usize> {
        let from = self.certain.content(inode);
        let writes = self.record.contents(inode, self.cut).iter().copied();
        writes
            .filter(|number| *number >= from)
            .filter(|number| matches!(self.record.operations()[*number], Operation::Write { .. }))
            .collect()
    }

    /// Loses blocks of unflushed data: of each file by a share of its own, or of all by the same.
    fn lose_data(&mut self) {
        let same = self.share();
        let is_same = self.below(2) == 0;
        for inode in self.record.written() {
            let writes = self.unflushed_of(inode);
            if writes.is_empty() {
                continue;
            }
            let share = if is_same { same } else { self.share() };
            self.lose_blocks(inode, &writes, share);
        }
    }

    fn lose_blocks(&mut self, inode: Inode, writes: &[usize], share: Share) {
        // The first unflushed write of each block, in the order of time: what is lost of a block is
        // what was written to it from some write on.
        let mut first: HashMap<u64, usize> = HashMap::new();
        let mut blocks = Vec::new();
        for number in writes {
            for block in self.units_of(*number) {
                if let Share::Latest | Share::One = share {
                    blocks.push((block, *number));
                } else if first.insert(block, *number).is_none() {
                    blocks.push((block, *number));
                }
            }
        }
        let lost = self.lost(share, blocks.len());
        for ((block, number), _) in blocks.into_iter().zip(lost).filter(|(_, lost)| *lost) {
            let first = self.loss.units.entry((inode, block)).or_insert(number);
            *first = number.min(*first);
        }
        self.shorten(inode, writes);
    }

    /// Decides how long a file is that lost blocks: as long as it was, with zeros for what is lost,
    /// or no longer than before the first or a random write that is not flushed.
    fn shorten(&mut self, inode: Inode, writes: &[usize]) {
        let lost = self.loss.units.range((inode, 0)..=(inode, u64::MAX));
        let Some(earliest) = lost.map(|(_, number)| *number).min() else { return };
        match self.below(4) {
            0 => {}
            1 => {
                let any = writes[self.below(writes.len())];
                self.loss.sizes.insert(inode, any);
            }
            _ => {
                self.loss.sizes.insert(inode, earliest);
            }
        }
    }

    /// Loses some units of a write, neither none nor all.
    fn tear(&mut self, number: usize) {
        let Operation::Write { inode, .. } = self.record.operations()[number] else { return };
        let units: Vec<_> = self.units_of(number).collect();
        let first = self.below(units.len());
        let mut lost: Vec<_> = match self.below(3) {
            // The rest from some unit on.
            0 => (0..units.len()).map(|unit| unit > first).collect(),
            // The start up to some unit.
            1 => (0..units.len()).map(|unit| unit < first).collect(),
            _ => self.lost(Share::Some(128), units.len()),
        };
        if lost.iter().all(|lost| *lost) {
            lost[first] = false;
        }
        if !lost.contains(&true) {
            lost[(first + 1) % units.len()] = true;
        }
        for (unit, lost) in units.into_iter().zip(lost) {
            if lost {
                self.loss.units.insert((inode, unit), number);
            } else {
                self.loss.units.remove(&(inode, unit));
            }
        }
        // The other blocks of the file and its length are there.
        self.loss.sizes.remove(&inode);
    }

    fn units_of(&self, number: usize) -> std::ops::Range<u64> {
        units_of(&self.record.operations()[number], self.loss.unit)
    }

    /// Returns the number of units that a write consists of.
    fn parts(&self, number: usize) -> u64 {
        let units = self.units_of(number);
        units.end - units.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attributes, NodeKind, ROOT};

    const FILE: Inode = 10;
    /// 16 sectors of 512 bytes, two blocks of 4 KiB.
    const LENGTH: usize = 8192;

    /// Returns a file that is on the disk, and a write to it that no flush followed.
    fn record(folder: &tempfile::TempDir) -> Record {
        let mut record = Record::create(&folder.path().join("spool")).unwrap();
        let entry = (ROOT, "a".into());
        let (kind, attributes) = (NodeKind::File, Attributes::default());
        record.add(Operation::Create { inode: FILE, entry, kind, attributes });
        record.add_write(FILE, 0, &[1; LENGTH]).unwrap();
        record.set_prepared();
        record.add_write(FILE, 0, &[2; LENGTH]).unwrap();
        record
    }

    /// Returns the losses of many seeds at the end of the record.
    fn losses(record: &Record, model: CrashModel) -> Vec<Loss> {
        let cut = record.operations().len();
        (0..100).map(|seed| Loss::choose(record, cut, model, seed)).collect()
    }

    #[test]
    fn a_torn_write_is_lost_in_parts_and_never_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let record = record(&folder);
        let write = record.prepared();
        for (model, unit) in [(CrashModel::Torn512, 512), (CrashModel::Torn4096, 4096)] {
            let parts = LENGTH / unit;
            let losses = losses(&record, model);
            for loss in &losses {
                let torn = loss.units.values().filter(|lost| **lost == write).count();
                assert_eq!((loss.unit, torn), (unit as u64, loss.units.len()), "{loss:?}");
                assert!((1..parts).contains(&torn) && loss.sizes.is_empty(), "{loss:?}");
            }
            let is_lost = |part: usize| {
                losses.iter().any(|loss| loss.units.contains_key(&(FILE, part as u64)))
            };
            assert!((0..parts).all(is_lost), "each part is lost in some state");
        }
    }

    #[test]
    fn one_write_is_torn_and_others_lose_whole_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = record(&folder);
        for offset in 1..5 {
            record.add_write(FILE, offset * LENGTH as u64, &[3; LENGTH]).unwrap();
        }
        let losses = losses(&record, CrashModel::Torn512);
        let torn = |loss: &Loss| {
            let mut counts = BTreeMap::new();
            for ((_, sector), write) in &loss.units {
                *counts.entry((sector / 8, *write)).or_insert(0) += 1;
            }
            let parts = counts.into_iter().filter(|(_, sectors)| *sectors < 8);
            parts.map(|((_, write), _)| write).collect::<BTreeSet<_>>().len()
        };
        assert!(losses.iter().all(|loss| torn(loss) <= 1));
        let lost = |loss: &Loss| loss.units.values().collect::<BTreeSet<_>>().len();
        assert!(losses.iter().any(|loss| lost(loss) > 1), "others lose data as well");
    }

    #[test]
    fn a_write_that_was_flushed_is_not_torn() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = record(&folder);
        record.add(Operation::Flush { inode: FILE, data_only: true });
        for model in [CrashModel::Torn512, CrashModel::Torn4096, CrashModel::Kill] {
            assert!(losses(&record, model).iter().all(Loss::is_empty), "{model}");
        }
    }

    #[test]
    fn a_failed_flush_loses_the_blocks_that_are_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = record(&folder);
        let write = record.prepared();
        assert!(Loss::of_failed_flush(&record).is_empty(), "no flush failed");
        record.add(Operation::FailedFlush { inode: FILE });
        let lost = |record: &Record| Loss::of_failed_flush(record).units;
        assert_eq!(lost(&record), [((FILE, 0), write), ((FILE, 1), write)].into());
        // A later flush writes only what was written after the one that failed.
        record.add_write(FILE, 100, &[3; 10]).unwrap();
        record.add(Operation::Flush { inode: FILE, data_only: true });
        assert_eq!(lost(&record), [((FILE, 1), write)].into());
        let cut = record.operations().len();
        let state = crate::State::new(&record, cut, &Loss::of_failed_flush(&record));
        let files = state.read().unwrap();
        let bytes = &files[std::path::Path::new("a")];
        assert_eq!((bytes[0], bytes[100], bytes[4096]), (2, 3, 1));
    }

    #[test]
    fn what_was_flushed_before_is_not_lost_with_a_failed_flush() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = record(&folder);
        record.add(Operation::Flush { inode: FILE, data_only: true });
        record.add(Operation::FailedFlush { inode: FILE });
        assert!(Loss::of_failed_flush(&record).is_empty());
    }

    #[test]
    fn ordered_loses_all_blocks_or_some() {
        let folder = tempfile::tempdir().unwrap();
        let losses = losses(&record(&folder), CrashModel::Ordered);
        let counts: BTreeSet<_> = losses.iter().map(|loss| loss.units.len()).collect();
        assert_eq!(counts, BTreeSet::from([0, 1, 2]));
    }
}
