//! The folder that is backed up: a copy of the user's, or a generated one.

use std::{
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

use backup::{Copied, copy_tree};
use host::Scratch;
use model::{Error, Finding, FindingKind, Result, units::show_size};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    Stop,
    dataset::{Use, below, derive, fill},
};

/// A folder that may be changed.
pub(super) struct Source {
    pub(super) folder: PathBuf,
    /// Its files that hold something, with their bytes.
    files: Vec<(PathBuf, u64)>,
    pub(super) count: u64,
    pub(super) bytes: u64,
}

impl Source {
    /// Makes it in the folder `scratch` of the user's folder, or generates so many files. Only this user can
    /// read it there: what protects the user's files may be a folder above them, which is not copied. What
    /// could not be copied is a finding.
    pub(super) fn new(
        (user, files): (Option<&Path>, Option<u64>),
        scratch: &Scratch,
        seed: u64,
        stop: &Stop,
    ) -> Result<(Self, Option<Finding>)> {
        let folder = scratch.folder("source", None)?.join("copy");
        let copied = match user {
            Some(user) => copy_tree(user, &folder, scratch.path(), &|| stop.check())?,
            None => generate(&folder, files.unwrap_or(FILES), seed, stop)?,
        };
        let Copied { mut files, problems } = copied;
        let (count, bytes) = (files.len() as u64, files.iter().map(|(_, size)| size).sum());
        files.retain(|(_, size)| *size > 0);
        if files.is_empty() {
            let user = user.unwrap_or(&folder).display();
            return Err(Error::usage("holds no file with content").at(&user));
        }
        let kind = problems.first().map(|first| FindingKind::NotBackedUp {
            count: problems.len() as u64,
            first: first.to_string(),
        });
        Ok((Self { folder, files, count, bytes }, kind.map(Finding::run)))
    }

    /// Changes 1 % of the files, in one place of each, until that is undone.
    pub(super) fn change(&self, seed: u64) -> Result<Change<'_>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut change = Change(Vec::new());
        for _ in 0..self.files.len().div_ceil(100) {
            let pick = below(&mut random, self.files.len() as u64);
            // The index is below the length.
            let (path, size) = &self.files[usize::try_from(pick).unwrap_or_default()];
            if change.0.iter().any(|(other, ..)| *other == path) {
                continue;
            }
            let offset = below(&mut random, *size);
            let failed = |e| Error::io(path.display(), e);
            let then = fs::metadata(path).and_then(|meta| meta.modified()).map_err(failed)?;
            invert(path, offset, None).map_err(failed)?;
            change.0.push((path, offset, then));
        }
        Ok(change)
    }
}

/// The files that are changed, where, and when they were changed before.
pub(super) struct Change<'a>(Vec<(&'a PathBuf, u64, SystemTime)>);

impl Change<'_> {
    /// Makes the files what they were, for the next target.
    pub(super) fn undo(self) -> Result<()> {
        self.0.into_iter().try_for_each(|(path, offset, then)| {
            invert(path, offset, Some(then)).map_err(|e| Error::io(path.display(), e))
        })
    }
}

/// The largest number of bytes that change in a file.
const CHANGED: usize = 4096;

/// Inverts bytes from `offset` on: done twice, they are what they were. The copy may not be writable
/// as the user's files are not.
fn invert(path: &Path, offset: u64, time: Option<SystemTime>) -> std::io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let mut writable = permissions.clone();
    make_writable(&mut writable);
    fs::set_permissions(path, writable)?;
    let mut file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    (&file).take(CHANGED as u64).read_to_end(&mut bytes)?;
    for byte in &mut bytes {
        *byte = !*byte;
    }
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(&bytes)?;
    time.map_or(Ok(()), |time| file.set_modified(time))?;
    drop(file);
    fs::set_permissions(path, permissions)
}

#[cfg(unix)]
fn make_writable(permissions: &mut fs::Permissions) {
    use std::os::unix::fs::PermissionsExt;
    permissions.set_mode(permissions.mode() | 0o600);
}

#[cfg(not(unix))]
fn make_writable(permissions: &mut fs::Permissions) {
    permissions.set_readonly(false);
}

/// The number of files of a generated folder, if none is asked for.
const FILES: u64 = 2000;
/// The number of files in each folder.
const PER_FOLDER: u64 = 50;
/// The bytes of the smallest files, which are doubled up to [`DOUBLED`] times.
const LEAST: u64 = 64;
const DOUBLED: u64 = 12;
/// The percentage of random bytes: sources compress to about a third.
const RANDOM_PERCENT: u8 = 30;

/// Generates files of many sizes in folders, most of them small.
fn generate(folder: &Path, count: u64, seed: u64, stop: &Stop) -> Result<Copied> {
    let mean = LEAST * (1 << DOUBLED) / DOUBLED * 3 / 2;
    if let Some(free) =
        host::shortage(folder.parent().unwrap_or(folder), count.saturating_mul(mean))?
    {
        let (needed, free) = (show_size(count.saturating_mul(mean)), show_size(free));
        return Err(Error::usage(format!("--files {count}: take {needed}, {free} are free")));
    }
    let mut copied = Copied::default();
    let mut bytes = Vec::new();
    for number in 0..count {
        stop.check()?;
        let seed = derive(seed, Use::Payloads, number);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let size = LEAST << below(&mut random, DOUBLED + 1);
        let size = size / 2 + below(&mut random, size);
        bytes.resize(usize::try_from(size).expect("at most 400 kB"), 0);
        fill(&mut bytes, RANDOM_PERCENT, &mut random);
        let inside = folder.join(format!("folder-{:05}", number / PER_FOLDER));
        let path = inside.join(format!("file-{number:07}-{:04x}", random.next_u32() & 0xffff));
        let write = || {
            fs::create_dir_all(&inside)?;
            File::create_new(&path)?.write_all(&bytes)
        };
        write().map_err(|e| Error::io(path.display(), e))?;
        copied.files.push((path, size));
    }
    Ok(copied)
}
