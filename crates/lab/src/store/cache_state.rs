//! Brings a store to a cache state, the same way for every engine, and checks that it is in it.

use std::io;

use model::{Cache, Error, FindingKind, Residency, Result};
use pagecache::{Files, Pages};

use super::ReadyStore;
use crate::Stop;

/// Returns those of `wanted` that this machine and this user can reach, and a finding for each
/// other one. Fails if none remains.
pub(crate) fn reachable(wanted: &[Cache]) -> Result<(Vec<Cache>, Vec<FindingKind>)> {
    let mut reachable = Vec::new();
    let mut findings = Vec::new();
    for &cache in wanted {
        match can_reach(cache) {
            Ok(()) => reachable.push(cache),
            Err(why) => {
                findings.push(FindingKind::StateUnreachable { cache, why: missing(cache, &why) });
            }
        }
    }
    match findings.first() {
        Some(finding) if reachable.is_empty() => {
            let warm = "; --cache warm measures with all pages in memory";
            let instead = if can_reach(Cache::DataCold).is_ok() { "" } else { warm };
            Err(Error::usage(format!("{finding}{instead}")))
        }
        _ => Ok((reachable, findings)),
    }
}

fn can_reach(cache: Cache) -> io::Result<()> {
    match cache {
        Cache::Warm | Cache::AsFound => Ok(()),
        Cache::Limited | Cache::DataCold => pagecache::can_evict(),
        Cache::Cold => pagecache::can_evict()
            .and_then(|()| pagecache::can_drop_all())
            .and_then(|()| pagecache::can_see_names()),
    }
}

fn missing(cache: Cache, why: &io::Error) -> String {
    let instead = if cache == Cache::Cold && can_reach(Cache::DataCold).is_ok() {
        "; --cache data-cold drops the stores' pages only and needs no more rights"
    } else {
        ""
    };
    format!("{why}{instead}")
}

/// How often a missed state is tried again: pages that the kernel has just taken up may escape
/// eviction, and others drop out of memory while a large store is filled.
const AGAIN: u32 = 2;

/// Brings the closed store to `cache` and returns what is then in memory; `None` for a store
/// without files.
///
/// Every store is evicted first, whatever was done to it before, and a warm one then filled from
/// start to end, and so is one that is limited. Only a warm one that was filled so, and since then
/// merely read, or merely written to where that alone is measured, is not evicted: pages that it has lost
/// are filled in as they were before.
///
/// Where only some files are examined, only these are evicted and filled to be warm. Of one that was found too
/// large for that, what was read since then is evicted.
pub(crate) fn reach(ready: &ReadyStore, cache: Cache, stop: &Stop) -> Result<Option<Residency>> {
    while_goes_on(stop, |go_on| {
        let files = match cache {
            Cache::Warm | Cache::AsFound => files(ready, go_on),
            Cache::Limited | Cache::DataCold | Cache::Cold => all_files(ready, go_on),
        };
        files?.map_or(Ok(None), |files| reach_of(&files, ready, cache).map(Some))
    })
}

fn reach_of(files: &Files<'_>, ready: &ReadyStore, cache: Cache) -> Result<Residency> {
    if cache == Cache::AsFound {
        let found = ready.found.borrow();
        let evict = |found| residency(files.evict_others(found));
        return found.as_ref().map_or_else(|| pages(files), evict);
    }
    if cache == Cache::Warm && ready.as_found.get() {
        ready.filled.set(true);
        return pages(files);
    }
    let is_filled = cache == Cache::Warm && ready.filled.get();
    if !is_filled {
        evict(files)?;
        // Pages that were read under no limit, or another one, count against that until they are
        // gone.
        for _ in 0..if cache == Cache::Limited { AGAIN } else { 0 } {
            if pages(files)?.shows(Cache::DataCold) {
                break;
            }
            evict(files)?;
        }
        fill(files, cache)?;
    }
    // What the state asks of the pages alone.
    let asked = if cache == Cache::Cold { Cache::DataCold } else { cache };
    let mut seen = if is_filled { residency(files.warm_missing())? } else { pages(files)? };
    for _ in 0..AGAIN {
        if seen.shows(asked) {
            break;
        }
        if cache.is_cold() {
            evict(files)?;
        } else {
            fill(files, cache)?;
        }
        seen = pages(files)?;
    }
    ready.filled.set(cache == Cache::Warm);
    if cache != Cache::Cold {
        return Ok(seen);
    }
    // Looking at the pages loaded the names: they are dropped last, and looking at names loads
    // nothing. What another process reads meanwhile shows in what the pass did not fetch.
    pagecache::drop_all().map_err(wrong)?;
    let names = files.names().map_err(wrong)?;
    Ok(Residency { names: Some(names.total), cached_names: Some(names.cached), ..seen })
}

/// Evicts the closed store and fills it into memory.
pub(crate) fn load(ready: &ReadyStore, stop: &Stop) -> Result<()> {
    while_goes_on(stop, |go_on| {
        if let Some(files) = files(ready, go_on)? {
            evict(&files)?;
            fill(&files, Cache::Warm)?;
        }
        ready.loaded.set(true);
        Ok(())
    })
}

/// Notes what is in memory of the store, as far as this system reports it and can drop the rest again.
pub(crate) fn note_found(ready: &ReadyStore, stop: &Stop) -> Result<()> {
    use io::ErrorKind::{PermissionDenied, Unsupported};

    while_goes_on(stop, |go_on| {
        let Some(files) = all_files(ready, go_on)? else { return Ok(()) };
        match pagecache::can_evict().and_then(|()| files.snapshot()) {
            Ok(found) => _ = ready.found.replace(Some(found)),
            Err(error) if matches!(error.kind(), PermissionDenied | Unsupported) => {}
            Err(error) => return Err(wrong(error)),
        }
        Ok(())
    })
}

/// Returns what is in memory of the store now; looking at it loads its names.
pub(crate) fn seen(ready: &ReadyStore, stop: &Stop) -> Result<Option<Residency>> {
    while_goes_on(stop, |go_on| files(ready, go_on)?.map(|files| pages(&files)).transpose())
}

/// Runs `work` as long as `stop` lets it. Fails with the reason to stop if there is one.
fn while_goes_on<T>(stop: &Stop, work: impl FnOnce(&dyn Fn() -> bool) -> Result<T>) -> Result<T> {
    let done = work(&|| stop.check().is_ok());
    if done.is_err() {
        stop.check()?;
    }
    done
}

/// Returns the files that are examined of a closed store; `None` if none is.
fn files<'a>(ready: &ReadyStore, go_on: &'a dyn Fn() -> bool) -> Result<Option<Files<'a>>> {
    let examined = ready.examined.borrow();
    let Some(paths) = examined.as_ref().filter(|_| ready.held.is_none()) else {
        return all_files(ready, go_on);
    };
    Ok((!paths.is_empty()).then(|| Files::at(paths.clone(), go_on)))
}

fn all_files<'a>(ready: &ReadyStore, go_on: &'a dyn Fn() -> bool) -> Result<Option<Files<'a>>> {
    if ready.held.is_some() {
        return Ok(None);
    }
    Files::below_while(ready.files(), go_on).map(Some).map_err(wrong)
}

fn evict(files: &Files<'_>) -> Result<()> {
    match files.evict() {
        // Then a warm store is only filled; the cold states were refused beforehand.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        other => other.map_err(wrong),
    }
}

fn fill(files: &Files<'_>, cache: Cache) -> Result<()> {
    if !cache.is_cold() {
        files.warm().map_err(wrong)?;
    }
    Ok(())
}

fn pages(files: &Files<'_>) -> Result<Residency> {
    residency(files.pages())
}

/// Returns the counted pages as a record has them.
fn residency(counted: io::Result<Pages>) -> Result<Residency> {
    let pages = match counted {
        Ok(pages) => pages,
        // Nothing is known of any page.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            return Ok(Residency { pages: 1, unknown: 1, ..Residency::default() });
        }
        Err(error) => return Err(wrong(error)),
    };
    Ok(Residency {
        pages: pages.total,
        resident: pages.resident,
        unknown: pages.unknown,
        ..Residency::default()
    })
}

fn wrong(error: io::Error) -> Error {
    Error::io("the page cache", error)
}
