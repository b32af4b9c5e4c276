//! Counts the content of a repository, and checks whether it is whole.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use model::{Error, Mode, Result};

use crate::{
    catalogue::{Catalogue, timed},
    entry::{Block, BlockPlace, Content, Hash},
    packs::{self, PackReader},
    repository::{Repository, StopCheck, workers},
};

/// The numbers of a repository's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The number of snapshots.
    pub snapshots: u64,
    /// The number of versions of paths.
    pub entries: u64,
    /// The number of blocks.
    pub blocks: u64,
    /// The bytes of blocks.
    pub bytes: u64,
    /// The number of references from files to blocks.
    pub references: u64,
    /// The number of blocks that no file refers to.
    pub orphans: u64,
    /// The number of packs.
    pub packs: u64,
    /// The bytes of packs.
    pub stored_bytes: u64,
    /// The time that the store of the catalogue took.
    pub catalogue: Duration,
}

/// Reads the whole catalogue and counts its content.
///
/// # Errors
///
/// Fails if the catalogue cannot be read or is damaged.
pub fn stats(repository: &Repository) -> Result<Stats> {
    let mut catalogue = repository.catalogue(Mode::Read)?;
    stats_with(&mut catalogue)
}

pub(crate) fn stats_with(catalogue: &mut Catalogue<'_>) -> Result<Stats> {
    let mut stats = Stats { snapshots: catalogue.snapshots()?.len() as u64, ..Stats::default() };
    catalogue.entries(&mut |_| {
        stats.entries += 1;
        Ok(())
    })?;
    catalogue.blocks(&mut |block| {
        let (_, block) = block?;
        stats.blocks += 1;
        stats.bytes += u64::from(block.place.length);
        stats.references += block.references;
        stats.orphans += u64::from(block.references == 0);
        Ok(())
    })?;
    for (_, length) in catalogue.packs()? {
        stats.packs += 1;
        stats.stored_bytes += length;
    }
    Ok(Stats { catalogue: catalogue.spent(), ..stats })
}

/// The outcome of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The damage, a sentence for each problem.
    pub problems: Vec<String>,
    /// The number of blocks that were checked.
    pub blocks: u64,
    /// The bytes of blocks that were read and are right.
    pub bytes: u64,
    /// The number of packs that were checked.
    pub packs: u64,
    /// The time that the store of the catalogue took.
    pub catalogue: Duration,
}

/// Checks the catalogue, then the packs, then every byte of every block.
///
/// # Errors
///
/// Fails if a thread cannot work or the user asks to stop; damage is in the result.
pub fn check(repository: &Repository, stop: StopCheck<'_>) -> Result<Checked> {
    let mut checked = Checked::default();
    match timed(&mut checked.catalogue, || repository.store().integrity()) {
        Ok(complaints) => checked.problems = complaints.unwrap_or_default(),
        Err(error) => checked.problems.push(error.to_string()),
    }
    let found = repository.catalogue(Mode::Read).and_then(|mut catalogue| {
        checked.problems.extend(repository.disagrees(&mut catalogue)?);
        let found = content(&mut catalogue, &mut checked.problems);
        checked.catalogue += catalogue.spent();
        found
    });
    let (blocks, packs) = found.unwrap_or_else(|error| {
        // The same record may have been named above.
        let what = error.to_string();
        if !checked.problems.contains(&what) {
            checked.problems.push(what);
        }
        Default::default()
    });
    for problem in &mut checked.problems {
        if !problem.starts_with("catalogue") {
            *problem = format!("catalogue: {problem}");
        }
    }
    check_lengths(repository, &packs, &mut checked.problems);
    let (bytes, damaged) = read_all(repository, &blocks, stop)?;
    checked.problems.extend(damaged);
    (checked.bytes, checked.blocks, checked.packs) =
        (bytes, blocks.len() as u64, packs.len() as u64);
    stop()?;
    Ok(checked)
}

/// The packs in the catalogue, each with its number and its length.
type Packs = Vec<(u32, u64)>;

/// Returns all blocks in the order in which they are in packs, and the packs; contradictions in the
/// catalogue are added to `problems`.
pub(crate) fn content(
    catalogue: &mut Catalogue<'_>,
    problems: &mut Vec<String>,
) -> Result<(Vec<(BlockPlace, Hash)>, Packs)> {
    let mut blocks: HashMap<Hash, (Block, u64)> = HashMap::new();
    catalogue.blocks(&mut |block| {
        let (hash, block) = block?;
        blocks.insert(hash, (block, 0));
        Ok(())
    })?;
    let (mut missing, mut entries) = (0, 0);
    catalogue.entries(&mut |entry| {
        entries += 1;
        let Content::Blocks(hashes) = entry.content else { return Ok(()) };
        for hash in hashes {
            match blocks.get_mut(&hash) {
                Some((_, counted)) => *counted += 1,
                None => missing += 1,
            }
        }
        Ok(())
    })?;
    if missing > 0 {
        problems.push(format!("catalogue: {missing} blocks that files refer to are missing"));
    }
    let wrong = blocks.values().filter(|(block, counted)| block.references != *counted).count();
    if wrong > 0 {
        problems.push(format!("catalogue: {wrong} blocks have wrong numbers of references"));
    }
    let packs = catalogue.packs()?;
    if let Some(had) = catalogue.inventory()? {
        for (found, had, what) in
            [(entries, had.entries, "paths"), (blocks.len() as u64, had.blocks, "blocks")]
        {
            if found != had {
                problems
                    .push(format!("catalogue: has lost records: it has {found} of {had} {what}"));
            }
        }
    }
    let mut blocks: Vec<_> =
        blocks.into_iter().map(|(hash, (block, _))| (block.place, hash)).collect();
    blocks.sort_unstable();
    Ok((blocks, packs))
}

fn check_lengths(repository: &Repository, packs: &Packs, problems: &mut Vec<String>) {
    for (pack, length) in packs {
        let path = packs::path(repository.packs(), *pack);
        match fs::metadata(&path) {
            Err(error) => {
                problems.push(Error::io(format!("pack {}", path.display()), error).to_string());
            }
            Ok(meta) if meta.len() != *length => problems.push(format!(
                "pack {}: has {} bytes instead of {length}",
                path.display(),
                meta.len()
            )),
            Ok(_) => {}
        }
    }
}

/// Reads all blocks, and returns their bytes and what is damaged, a line for each frame.
fn read_all(
    repository: &Repository,
    blocks: &[(BlockPlace, Hash)],
    stop: StopCheck<'_>,
) -> Result<(u64, Vec<String>)> {
    let packs: Vec<_> = blocks.chunk_by(|(one, _), (other, _)| one.pack == other.pack).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new((0, Vec::new())));
    let work = || {
        let mut reader = PackReader::new(repository.packs())?;
        while let Some(pack) = packs.get(next.fetch_add(1, Ordering::Relaxed)) {
            stop()?;
            let (bytes, problems) = read_pack(&mut reader, pack);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.0 += bytes;
            found.1.extend(problems);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers()).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join().expect("it does not panic"));
        done.collect::<Result<()>>()
    })?;
    let (bytes, mut problems) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort();
    Ok((bytes, problems))
}

fn read_pack(reader: &mut PackReader<'_>, blocks: &[(BlockPlace, Hash)]) -> (u64, Vec<String>) {
    let (mut bytes, mut problems) = (0, Vec::new());
    for frame in blocks.chunk_by(|(one, _), (other, _)| one.offset == other.offset) {
        let mut problem = None;
        for (place, hash) in frame {
            match reader.block(place, hash) {
                Ok(block) => bytes += block.len() as u64,
                Err(error) => problem = Some(error.to_string()),
            }
        }
        problems.extend(problem);
    }
    (bytes, problems)
}
