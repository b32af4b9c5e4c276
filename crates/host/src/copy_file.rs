//! Copying a file for a measurement.

use std::{
    fs::{self, File, FileTimes},
    io::{self, BufReader, Read},
    path::Path,
};

use model::{Error, Result};

const BUFFER: usize = 1 << 20;

/// Copies the bytes, times and mode of the file `from` to `to`, which must not exist; returns the
/// number of bytes. After a failure there is nothing at `to`.
///
/// The bytes go through memory on purpose: `copy_file_range` may let both files share their
/// blocks, and the first write to the copy would then pay for separating them.
pub fn copy_file(from: &Path, to: &Path) -> Result<u64> {
    let mut source = File::open(from).map_err(|cause| Error::io(from.display(), cause))?;
    let mut copy = File::create_new(to).map_err(|cause| Error::io(to.display(), cause))?;
    fill(&mut source, &mut copy).map_err(|cause| {
        // The first failure is the one to report.
        let _ = fs::remove_file(to);
        Error::io(format!("cannot copy {} to {}", from.display(), to.display()), cause)
    })
}

fn fill(source: &mut File, copy: &mut File) -> io::Result<u64> {
    let meta = source.metadata()?;
    // As a plain reader, std cannot see that it is a file and use `copy_file_range`.
    let mut source = BufReader::with_capacity(BUFFER, source as &mut dyn Read);
    let bytes = io::copy(&mut source, copy)?;
    copy.set_permissions(meta.permissions())?;
    copy.set_times(FileTimes::new().set_accessed(meta.accessed()?).set_modified(meta.modified()?))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn bytes_times_and_mode_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        let bytes: Vec<u8> = (0..=250).cycle().take(BUFFER * 2 + 7).collect();
        fs::write(&from, &bytes).unwrap();
        let then = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_000_000);
        let times = FileTimes::new().set_modified(then);
        File::options().write(true).open(&from).unwrap().set_times(times).unwrap();
        let mut permissions = fs::metadata(&from).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&from, permissions.clone()).unwrap();

        assert_eq!(copy_file(&from, &to).unwrap(), bytes.len() as u64);
        assert_eq!(fs::read(&to).unwrap(), bytes);
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), then);
        assert_eq!(fs::metadata(&to).unwrap().permissions(), permissions);
    }

    #[test]
    fn nothing_is_overwritten_and_no_part_of_a_copy_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "a").unwrap();
        fs::write(at("b"), "b").unwrap();
        assert_eq!(copy_file(&at("a"), &at("b")).unwrap_err().kind(), model::ErrorKind::Exists);
        assert_eq!(fs::read(at("b")).unwrap(), b"b");
        assert!(copy_file(folder.path(), &at("c")).is_err());
        assert!(!at("c").exists());
    }
}
