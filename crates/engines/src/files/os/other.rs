//! Through the standard library, with what every system has: no modes, no flushing of folders.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use model::{How, Meta};

use super::{Facts, Sync, Writing};

pub(in crate::files) struct Root(PathBuf);

impl Root {
    pub(in crate::files) fn open(path: &Path) -> io::Result<Self> {
        fs::read_dir(path)?;
        Ok(Self(path.to_owned()))
    }

    fn at(&self, name: &[u8]) -> PathBuf {
        self.0.join(path(name.strip_suffix(&[0]).unwrap_or(name)))
    }

    pub(in crate::files) fn read(&self, name: &[u8]) -> io::Result<Option<(File, Facts)>> {
        match self.facts(name)? {
            Some(facts) => Ok(Some((File(fs::File::open(self.at(name))?), facts))),
            None => Ok(None),
        }
    }

    pub(in crate::files) fn write(
        &self,
        name: &[u8],
        how: How,
        write: Writing,
    ) -> io::Result<Option<File>> {
        let mut options = fs::File::options();
        options.write(true).truncate(how != How::Insert && write != Writing::Overwrite);
        options.create(how == How::Upsert).create_new(how == How::Insert);
        match options.open(self.at(name)) {
            Ok(file) => Ok(Some(File(file))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(in crate::files) fn facts(&self, name: &[u8]) -> io::Result<Option<Facts>> {
        match fs::symlink_metadata(self.at(name)) {
            Ok(found) if found.is_file() => {
                let meta = meta(found.modified()?);
                Ok(Some(Facts { length: found.len(), meta }))
            }
            Ok(_) => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::NotADirectory => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(in crate::files) fn rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        fs::rename(self.at(from), self.at(to))
    }

    pub(in crate::files) fn remove(&self, name: &[u8]) -> io::Result<()> {
        fs::remove_file(self.at(name))
    }

    pub(in crate::files) fn make_folder(&self, name: &[u8]) -> io::Result<bool> {
        match fs::create_dir(self.at(name)) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e),
        }
    }

    pub(in crate::files) fn flush_folder(&self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

pub(in crate::files) struct File(fs::File);

impl File {
    pub(in crate::files) fn fill(&self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match (&self.0).read(&mut into[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        Ok(filled)
    }

    pub(in crate::files) fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.0).write_all(bytes)
    }

    pub(in crate::files) fn cut(&self, length: usize) -> io::Result<()> {
        self.0.set_len(length as u64)
    }

    pub(in crate::files) fn set_meta(&self, meta: &Meta) -> io::Result<()> {
        let since = Duration::new(meta.seconds.unsigned_abs(), meta.nanoseconds);
        let time = if meta.seconds < 0 {
            UNIX_EPOCH.checked_sub(since)
        } else {
            UNIX_EPOCH.checked_add(since)
        };
        self.0.set_modified(time.ok_or(io::ErrorKind::InvalidInput)?)
    }

    pub(in crate::files) fn flush(&self, sync: Sync) -> io::Result<()> {
        match sync {
            Sync::None => Ok(()),
            Sync::File => self.0.sync_data(),
            Sync::Full => self.0.sync_all(),
        }
    }
}

/// `name` as a path of this system; bytes that are not UTF-8 are replaced.
pub(in crate::files) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(&*String::from_utf8_lossy(name))
}

fn meta(modified: SystemTime) -> Meta {
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Meta { mode: 0o100_644, seconds, nanoseconds: since.subsec_nanos() }
}
