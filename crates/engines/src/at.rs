//! Existing files: opens them, reads their first bytes, and reads and writes at an offset, all of
//! it or an error.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
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

/// Checks that a store of `engine` is at `location`.
pub(crate) fn check(engine: &dyn model::Blobs, location: &Path) -> Result<()> {
    fs::metadata(location).map_err(|e| Error::io(location.display(), e))?;
    if engine.recognises(location) {
        return Ok(());
    }
    Err(Error::corrupt(format!("is no {} store", engine.name())).at(location.display()))
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
