//! Existing files: opens them, reads their first bytes, and reads and writes at an offset, all of
//! it or an error.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read},
    path::Path,
    time::{Duration, SystemTime},
};

use model::{Access, Error, Result};

/// Opens a regular file.
///
/// # Errors
///
/// Fails if there is no file or something else is there.
pub(crate) fn open(path: &Path, access: Access) -> Result<File> {
    length(path)?;
    let file = File::options().read(true).write(access == Access::Write).open(path);
    file.map_err(|e| Error::io(path.display(), e))
}

/// Returns the length of a regular file.
///
/// # Errors
///
/// Fails if it is no regular file: opening a pipe would wait for its writer.
pub(crate) fn length(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).map_err(|e| Error::io(path.display(), e))?;
    if !metadata.is_file() {
        return Err(Error::usage("is not a file").at(path.display()));
    }
    Ok(metadata.len())
}

/// What shows that an open file has the bytes that it had: device, inode, length, and the time of the last
/// change in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion([u64; 2], u64, [i64; 2]);

/// The seconds after a change in which another one may get the same time, on any file system.
const SAME_TIME: Duration = Duration::from_secs(2);

impl FileVersion {
    /// Returns the version of a file; `None` if the system does not report it, or the file was changed so
    /// lately that the next change may not show.
    pub(crate) fn read(file: &File) -> Option<Self> {
        Self::from_metadata(&file.metadata().ok()?, SystemTime::now())
    }

    /// Returns the bytes by which another process of this program recognises it.
    pub(crate) fn to_bytes(self) -> [u8; 40] {
        let Self([device, inode], length, [seconds, nanoseconds]) = self;
        let numbers = [device, inode, length, seconds.cast_unsigned(), nanoseconds.cast_unsigned()];
        let mut bytes = [0; 40];
        bytes.as_chunks_mut().0.copy_from_slice(&numbers.map(u64::to_le_bytes));
        bytes
    }

    #[cfg(unix)]
    pub(crate) fn from_metadata(meta: &Metadata, now: SystemTime) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let [seconds, nanoseconds] = [meta.ctime(), meta.ctime_nsec()];
        let changed = Duration::new(seconds.try_into().ok()?, nanoseconds.try_into().ok()?);
        let age = now.duration_since(SystemTime::UNIX_EPOCH + changed).ok()?;
        let version = Self([meta.dev(), meta.ino()], meta.len(), [seconds, nanoseconds]);
        (age > SAME_TIME).then_some(version)
    }

    #[cfg(not(unix))]
    pub(crate) fn from_metadata(_: &Metadata, _: SystemTime) -> Option<Self> {
        None
    }
}

/// Checks that a store of `engine` is at `location`.
pub(crate) fn check(engine: &dyn model::Blobs, location: &Path) -> Result<()> {
    fs::metadata(location).map_err(|e| Error::io(location.display(), e))?;
    if engine.recognises(location) {
        return Ok(());
    }
    Err(Error::corrupt(format!("is no {} store", engine.name())).at(location.display()))
}

/// Lists what is in the folder of a store besides its own files, whose names start with one of `own`.
pub(crate) fn other_files(folder: &Path, own: &[&str]) -> Result<Vec<String>> {
    let entries = folder.read_dir().map_err(|cause| Error::io(folder.display(), cause))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let others = names.filter(|name| !own.iter().any(|own| name.starts_with(own)));
    let mut others: Vec<_> = others.map(|name| format!("the file {name}")).collect();
    others.sort_unstable();
    Ok(others)
}

/// Returns the first bytes of a regular file, if it has as many.
pub(crate) fn start<const N: usize>(path: &Path) -> Option<[u8; N]> {
    length(path).ok()?;
    let mut start = [0; N];
    File::open(path).ok()?.read_exact(&mut start).ok()?;
    Some(start)
}

/// Flushes the names in a folder to the device; systems that cannot open a folder do that
/// themselves.
pub(crate) fn flush_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        let flushed = File::open(folder).and_then(|folder| folder.sync_all());
        return flushed.map_err(|e| Error::io(folder.display(), e));
    }
    Ok(())
}

/// Flushes the names in the folder that `path` is in.
pub(crate) fn flush_folder_of(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    flush_folder(parent.unwrap_or(Path::new(".")))
}

/// Flushes the name of a file to the device.
#[cfg(unix)]
pub(crate) fn flush_name(path: &Path) -> Result<()> {
    flush_folder_of(path)
}

#[cfg(not(unix))]
pub(crate) fn flush_name(path: &Path) -> Result<()> {
    flush_renamed(path).map_err(|e| Error::io(path.display(), e))
}

/// Flushes a file that was renamed: Windows flushes no folder, and a name with its file. "The file system metadata
/// is always cached […] to store any metadata changes to disk, the file must either be flushed or be opened with
/// `FILE_FLAG_WRITE_THROUGH`" (<https://learn.microsoft.com/en-us/windows/win32/fileio/file-caching>).
#[cfg(not(unix))]
pub(crate) fn flush_renamed(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path)?.sync_all()
}

#[cfg(unix)]
pub(crate) fn read(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(unix)]
pub(crate) fn write(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
pub(crate) fn read(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !into.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, into, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                into = &mut into[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
pub(crate) fn write(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => {
                bytes = &bytes[n..];
                offset += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_file_of_the_same_length_and_modification_time_has_another_version() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "one").unwrap();
        let first = fs::metadata(&path).unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        let version = |meta: &Metadata| FileVersion::from_metadata(meta, later).unwrap();
        assert_eq!(version(&first), version(&fs::metadata(&path).unwrap()));
        // The clock of a file system may have steps of 10 ms.
        thread::sleep(Duration::from_millis(100));
        fs::write(&path, "two").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(first.modified().unwrap()).unwrap();
        let second = file.metadata().unwrap();
        assert_eq!(second.modified().unwrap(), first.modified().unwrap());
        assert_ne!(version(&first), version(&second));
        // A further change could have the same time.
        let at_once = second.modified().unwrap();
        assert_eq!(FileVersion::from_metadata(&second, at_once), None);
    }
}
