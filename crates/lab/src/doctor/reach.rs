//! Which cache states can be reached.

use std::{fs, io, path::Path};

use model::{Cache, Error, Reach, Result, units::show_count};
use pagecache::{Files, Pages};

use crate::host::Scratch;

/// Written, read and evicted to see whether eviction works.
const BYTES: usize = 4 << 20;

/// All cache states in `folder`; absent: nothing can be written there. Leaves the caches of the
/// machine alone.
pub(super) fn caches(folder: Option<&Path>) -> Vec<Reach> {
    let warm =
        Reach { cache: Cache::Warm, reached: Some(true), why: "files are read first".to_owned() };
    let data_cold = match folder.map(evicted) {
        None => unknown("nothing can be written there to try it with"),
        Some(Err(error)) => unknown(&error.to_string()),
        Some(Ok((before, after))) => judged(before, after),
    };
    let cold = cold(&data_cold, pagecache::can_drop_all());
    vec![warm, data_cold, cold]
}

/// The pages of a new file after it was read, and after it was evicted.
fn evicted(folder: &Path) -> Result<(Pages, Pages)> {
    let scratch = Scratch::new_in(folder)?;
    let path = scratch.path().join("evicted");
    let seen = || {
        fs::write(&path, vec![7; BYTES])?;
        let files = Files::below([&path])?;
        files.warm()?;
        let before = files.pages()?;
        files.evict()?;
        Ok((before, files.pages()?))
    };
    seen().map_err(|cause| Error::io("evicting a file", cause))
}

fn judged(before: Pages, after: Pages) -> Reach {
    if before.resident == 0 || after.unknown > 0 {
        return unknown("this system does not report what is in memory");
    }
    let stayed = after.resident;
    let left = if stayed == 0 { "none".to_owned() } else { show_count(stayed) };
    let total = show_count(after.total);
    let why = format!("a file of {total} pages was read and evicted, and {left} stayed in memory");
    Reach { cache: Cache::DataCold, reached: Some(stayed == 0), why }
}

fn unknown(why: &str) -> Reach {
    Reach { cache: Cache::DataCold, reached: None, why: why.to_owned() }
}

/// If eviction leaves pages in memory, dropping all caches does so as well.
fn cold(data_cold: &Reach, can_drop: io::Result<()>) -> Reach {
    let (reached, why) = match can_drop {
        Err(error) => (Some(false), error.to_string()),
        Ok(()) if data_cold.reached == Some(false) => {
            (Some(false), "pages stay in memory here".to_owned())
        }
        Ok(()) => {
            (data_cold.reached, "by dropping all caches of the machine; not tried".to_owned())
        }
    };
    Reach { cache: Cache::Cold, reached, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(resident: u64, unknown: u64) -> Pages {
        Pages { total: 1024, resident, unknown, ..Pages::default() }
    }

    #[test]
    fn only_pages_that_were_there_and_went_prove_anything() {
        let reached = |before, after| judged(before, after).reached;
        assert_eq!(reached(pages(1024, 0), pages(0, 0)), Some(true));
        assert_eq!(reached(pages(1024, 0), pages(1, 0)), Some(false));
        assert_eq!(reached(pages(0, 0), pages(0, 0)), None);
        assert_eq!(reached(pages(1024, 0), pages(0, 1024)), None);
    }

    #[test]
    fn cold_needs_both_the_right_and_a_device() {
        let data_cold = |reached| Reach { reached, ..unknown("") };
        let may = |reached| cold(&data_cold(reached), Ok(())).reached;
        assert_eq!([Some(true), Some(false), None].map(may), [Some(true), Some(false), None]);
        let denied = cold(&data_cold(Some(true)), Err(io::Error::other("needs root")));
        assert_eq!((denied.reached, denied.why.as_str()), (Some(false), "needs root"));
    }

    #[test]
    fn trying_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let states = caches(Some(folder.path()));
        assert_eq!(states.iter().map(|state| state.cache).collect::<Vec<_>>(), Cache::CHOICES);
        assert_eq!(states[0].reached, Some(true));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(caches(None)[1].reached, None);
    }
}
