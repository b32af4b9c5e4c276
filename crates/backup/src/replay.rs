//! Repeats the operations of a catalogue alone, as they were in backups of a folder, or in as many
//! copies of it as make a number of files.

use std::path::Path;

use model::{Mode, Result, Store};

use crate::{
    catalogue::{Catalogue, Operation, for_copy},
    check::{content, stats_with},
    repository::{Repository, StopCheck},
    save::save_with,
};

/// The recorded operations of a catalogue, step by step.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The operations of a first backup: inserts of entries and blocks.
    pub full: Vec<Operation>,
    /// The operations of a backup of an unchanged folder: look-ups.
    pub unchanged: Vec<Operation>,
    /// The operations of a backup after some files have changed: look-ups, inserts and reference
    /// counts.
    pub changed: Vec<Operation>,
    /// The scans of everything, with blocks that nothing refers to.
    pub stats: Vec<Operation>,
    /// The scans that compare references with blocks.
    pub check: Vec<Operation>,
    /// The number of files in the folder.
    pub files: u64,
}

impl Replay {
    /// The greatest number of copies whose folders have different numbers.
    pub const MOST_COPIES: u32 = 4095;

    /// Backs up `folder` three times and records the operations of the catalogue; `change` changes
    /// the folder before the last backup.
    ///
    /// # Errors
    ///
    /// Fails if a backup fails, `change` fails, or `stop` does.
    pub fn record(
        repository: &Repository,
        folder: &Path,
        change: &mut dyn FnMut() -> Result<()>,
        stop: StopCheck<'_>,
    ) -> Result<Self> {
        let save = || {
            let mut catalogue = recording(repository, Mode::Write)?;
            let saved = save_with(repository, &mut catalogue, folder, stop)?;
            Ok::<_, model::Error>((catalogue.recorded(), saved))
        };
        let ((full, saved), (unchanged, _)) = (save()?, save()?);
        change()?;
        let (changed, _) = save()?;
        let mut catalogue = recording(repository, Mode::Read)?;
        stats_with(&mut catalogue)?;
        let stats = catalogue.recorded();
        catalogue.record();
        content(&mut catalogue, &mut Vec::new())?;
        let check = catalogue.recorded();
        Ok(Self { full, unchanged, changed, stats, check, files: saved.files_read })
    }

    /// Returns the `operations` of a step for so many copies of the folder.
    pub fn copies(operations: &[Operation], copies: u32) -> Vec<Operation> {
        let (mut blocks, mut rest) = (Vec::new(), Vec::new());
        for copy in 0..copies.max(1) {
            for operation in operations.iter().filter_map(|one| for_copy(one, copy)) {
                match &operation {
                    Operation::Put(key, _) if key.starts_with(b"b/") => blocks.push(operation),
                    _ => rest.push(operation),
                }
            }
        }
        // A backup inserts them in this order.
        blocks.sort_unstable_by(|one, other| key(one).cmp(key(other)));
        rest.extend(blocks);
        rest
    }
}

fn key(operation: &Operation) -> &[u8] {
    if let Operation::Put(key, _) = operation { key } else { &[] }
}

fn recording(repository: &Repository, mode: Mode) -> Result<Catalogue<'_>> {
    let mut catalogue = repository.catalogue(mode)?;
    catalogue.record();
    Ok(catalogue)
}

/// Repeats the operations of a step on `store`, in one transaction; returns how many there are.
///
/// # Errors
///
/// Fails if the store fails.
pub fn repeat(store: &dyn Store, operations: &[Operation], writes: bool) -> Result<u64> {
    let mut catalogue = Catalogue::new(store.session()?);
    catalogue.begin(if writes { Mode::Write } else { Mode::Read })?;
    for operation in operations {
        catalogue.repeat(operation)?;
    }
    catalogue.commit()?;
    Ok(operations.len() as u64)
}
