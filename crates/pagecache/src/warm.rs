//! Filling the cache.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::walk::files;

/// One size for every file of every store.
const BUFFER: usize = 1 << 20;

/// Reads the file at `path`, or every regular file below it in sorted order, from start to end.
/// Returns the bytes read.
pub fn warm(path: &Path) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER];
    let mut bytes = 0;
    files(path, &mut |file| {
        bytes += read_through(&mut File::open(file)?, &mut buffer)?;
        Ok(())
    })?;
    Ok(bytes)
}

fn read_through(file: &mut File, buffer: &mut [u8]) -> io::Result<u64> {
    let mut bytes = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => return Ok(bytes),
            Ok(length) => bytes += length as u64,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_byte_is_read() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        fs::write(at("large"), vec![1; BUFFER * 2 + 3]).unwrap();
        fs::write(at("deep/small"), "four").unwrap();
        fs::write(at("deep/empty"), "").unwrap();
        assert_eq!(warm(root.path()).unwrap(), BUFFER as u64 * 2 + 7);
        assert_eq!(warm(&at("deep/small")).unwrap(), 4);
        assert_eq!(warm(&at("deep/empty")).unwrap(), 0);
    }

    #[test]
    fn an_absent_path_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let error = warm(&root.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
