//! Flushing to the device, and how long that takes.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use model::{Error, Flush, Result};

use crate::{
    os,
    scratch::Scratch,
    space::{nearest_existing, walk},
    stop::Stop,
};

/// Flushes all that was written to the file or folder at `path`: for a folder, on Linux and for an administrator
/// of Windows the whole file system that holds it, elsewhere and on file systems in user space (FUSE) each file
/// below it. If the path is absent, nothing is flushed.
///
/// # Errors
///
/// Fails if a file or folder cannot be opened or flushed.
pub fn sync(path: &Path) -> Result<()> {
    let place = nearest_existing(path);
    let whole = if place.is_dir() { os::sync_filesystem(&place) } else { None };
    if let Some(done) = whole {
        return done.map_err(cannot_flush(&place));
    }
    walk(path, &mut |path, meta| {
        // Folders can be flushed on Unix only.
        if meta.is_file() {
            os::flush_file(path, meta)
        } else if cfg!(unix) {
            File::open(path)?.sync_all()
        } else {
            Ok(())
        }
    })
}

/// Makes what was created, renamed or removed in the folder at `path` durable. If folders cannot be
/// flushed, the file system orders such changes by itself.
///
/// # Errors
///
/// Fails if the folder cannot be opened or flushed.
pub fn sync_dir(path: &Path) -> Result<()> {
    let flush =
        || if cfg!(unix) { File::open(path)?.sync_all() } else { path.metadata().map(drop) };
    flush().map_err(cannot_flush(path))
}

fn cannot_flush(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |cause| Error::io(format!("cannot flush {}", path.display()), cause)
}

/// The greatest number of flushes: more do not improve the percentiles.
const MOST: usize = 1000;

/// Measures how long a flush takes: writes 4 KiB to the end of a new file in `dir` and flushes it
/// (`sync_data`, which is fdatasync on Linux), repeatedly until `budget` is spent. The file is
/// removed in any case.
///
/// # Errors
///
/// Fails if `dir` cannot be written to, or the user asks to stop.
pub fn flush_latency(dir: &Path, budget: Duration, stop: &Stop) -> Result<Flush> {
    let scratch = Scratch::new_in(dir)?;
    let path = scratch.path().join("flushed");
    let times = File::create_new(&path)
        .and_then(|file| times(file, budget, stop))
        .map_err(cannot_flush(&path))?;
    stop.check()?;
    Ok(summary(times))
}

fn times(mut file: File, budget: Duration, stop: &Stop) -> io::Result<Vec<Duration>> {
    let mut append = || {
        let start = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data().map(|()| start.elapsed())
    };
    // The first flush makes the file itself durable as well.
    append()?;
    let start = Instant::now();
    let mut times = Vec::with_capacity(MOST);
    while times.is_empty()
        || (times.len() < MOST && start.elapsed() < budget && stop.check().is_ok())
    {
        times.push(append()?);
    }
    Ok(times)
}

/// Summarises `times`, which are not empty, by the nearest rank.
fn summary(mut times: Vec<Duration>) -> Flush {
    times.sort_unstable();
    // By nearest rank.
    let percentile = |percent: usize| {
        let rank = (times.len() * percent).div_ceil(100);
        u64::try_from(times[rank - 1].as_nanos()).unwrap_or(u64::MAX)
    };
    Flush {
        count: times.len() as u64,
        p50_ns: percentile(50),
        p90_ns: percentile(90),
        p99_ns: percentile(99),
        max_ns: percentile(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let times = (1..=200).rev().map(Duration::from_nanos).collect();
        let flush = Flush { count: 200, p50_ns: 100, p90_ns: 180, p99_ns: 198, max_ns: 200 };
        assert_eq!(summary(times), flush);
        assert_eq!(summary(vec![Duration::from_nanos(5)]).p99_ns, 5);
    }

    #[test]
    fn nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let flush = flush_latency(folder.path(), Duration::from_millis(20), &Stop::new()).unwrap();
        assert!(flush.count > 0 && flush.p50_ns > 0 && flush.p50_ns <= flush.max_ns, "{flush:?}");
        let stopped = Stop::new();
        stopped.set();
        let error = flush_latency(folder.path(), Duration::from_secs(60), &stopped).unwrap_err();
        assert_eq!(error.kind(), model::ErrorKind::Interrupted);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_absent_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let error = flush_latency(&absent, Duration::ZERO, &Stop::new()).unwrap_err();
        assert!(error.to_string().contains("absent does not exist"), "{error}");
    }

    #[test]
    fn files_folders_and_absent_stores_are_flushed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "x").unwrap();
        sync(&file).unwrap();
        sync(folder.path()).unwrap();
        sync(&folder.path().join("absent")).unwrap();
        sync_dir(folder.path()).unwrap();
    }

    #[test]
    fn an_absent_folder_cannot_be_made_durable() {
        let folder = tempfile::tempdir().unwrap();
        let error = sync_dir(&folder.path().join("absent")).unwrap_err();
        assert_eq!(error.kind(), model::ErrorKind::Missing);
    }
}
