//! Known states of the cache, seen through the public interface. Every test also passes where
//! the system does not tell, by asserting that it says so.

#![allow(clippy::unwrap_used, reason = "tests")]

mod folder;
#[cfg(target_os = "linux")]
mod overlay;

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Seek},
    iter,
    path::Path,
    time::{Duration, Instant},
};

use folder::{folder, lives_in_memory};
use storemark_pagecache::{
    self as pagecache, Evictor, Files, Pages, Span, evict, open, page_size, residency_map,
};

fn pages(path: &Path) -> Pages {
    Files::below([path]).unwrap().pages().unwrap()
}

/// Evicts, then tells whether that has any effect here.
fn evicts(path: &Path) -> bool {
    Files::below([path]).unwrap().evict().unwrap();
    !lives_in_memory(path)
}

/// Other programs and tests may empty or flush the caches at any time: a state must be seen once in
/// as many attempts as ten seconds allow, longer than the other tests take.
#[cfg(target_os = "linux")]
fn seen_in_some_attempt(attempt: impl Fn() -> bool) {
    let start = Instant::now();
    while !attempt() {
        assert!(start.elapsed() < Duration::from_secs(10), "never seen");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_was_just_written_is_resident_and_after_eviction_nothing_is() {
    let root = folder();
    let sizes = [("a", 10_000_u64), ("b", 1), ("c", 0), ("d", 300_000)];
    let total: u64 = sizes.iter().map(|(_, size)| size.div_ceil(page_size())).sum();
    seen_in_some_attempt(|| {
        for (name, size) in sizes {
            fs::write(root.path().join(name), vec![1; usize::try_from(size).unwrap()]).unwrap();
        }
        let written = pages(root.path());
        assert_eq!((written.total, written.unknown), (total, 0));
        written.resident == total
    });
    if evicts(root.path()) {
        let evicted = pages(root.path());
        assert_eq!((evicted.total, evicted.resident), (total, 0));
        assert_eq!(evicted.share(), Some(0.0));
        assert!(matches!(evicted.dirty, Some(0) | None));
    }
    seen_in_some_attempt(|| {
        assert_eq!(Files::below([root.path()]).unwrap().warm().unwrap(), 310_001);
        pages(root.path()).share() == Some(1.0)
    });
}

#[test]
#[cfg(target_os = "linux")]
fn half_a_file_is_evicted_by_its_span() {
    let root = folder();
    let path = root.path().join("file");
    // Halves larger than any folio, which is evicted whole or not at all.
    let half = 16_u64 << 20;
    fs::write(&path, vec![1; 32 << 20]).unwrap();
    if !evicts(&path) {
        return;
    }
    let file = open(&path, false).unwrap().file;
    let of = |start, end| Pages::count(&file, Span { start, end }).unwrap();
    let per_cell = half / 2 / page_size();
    seen_in_some_attempt(|| {
        (&file).rewind().unwrap();
        pagecache::warm(&file, Span::ALL, &mut vec![0; pagecache::BUFFER]).unwrap();
        evict(&file, Span { start: half, end: None }).unwrap();
        let map = residency_map(&file, Span::ALL, per_cell).unwrap();
        assert_eq!(of(half, None).resident, 0);
        of(0, Some(half)).share() == Some(1.0)
            && of(0, None).share() == Some(0.5)
            && map == Some(vec![per_cell, per_cell, 0, 0])
    });
}

/// Large enough that the kernel cannot have written it by itself before its pages are dropped.
#[test]
#[cfg(target_os = "linux")]
fn unwritten_bytes_are_written_and_evicted() {
    let root = folder();
    let path = root.path().join("file");
    // Pages that something else has just begun to write stay.
    seen_in_some_attempt(|| {
        fs::write(&path, vec![1; 32 << 20]).unwrap();
        let evicts = evicts(&path);
        let left = pages(&path);
        !evicts || (left.resident == 0 && matches!(left.dirty, Some(0) | None))
    });
    assert_eq!(fs::read(&path).unwrap(), vec![1; 32 << 20]);
}

/// Once several files had to be flushed, so is their file system: those that come next are clean
/// before they are evicted.
#[test]
#[cfg(target_os = "linux")]
fn many_files_with_unwritten_bytes_are_flushed_together() {
    const FEW: usize = 16;
    let root = folder();
    if lives_in_memory(root.path()) {
        return;
    }
    let (first, next) = (root.path().join("first"), root.path().join("next"));
    let dirty = |path: &Path| pages(path).dirty;
    // ext4 starts to write a file that was cut to nothing and filled again as soon as it is closed.
    let write = |path: &Path| {
        let _ = fs::remove_file(path);
        fs::write(path, vec![1; 10_000]).unwrap();
    };
    let flushes_next = || {
        let mut evictor = Evictor::default();
        // The kernel may write the file by itself, or another test has it write all files.
        let mut flush = || {
            write(&first);
            let was_dirty = dirty(&first) != Some(0);
            evictor.evict(&File::open(&first).unwrap(), Span::ALL).unwrap();
            was_dirty
        };
        let flushed = iter::repeat_with(&mut flush).take(10 * FEW).filter(|flushed| *flushed);
        if flushed.take(FEW).count() < FEW {
            return false;
        }
        write(&next);
        let before = dirty(&next);
        flush() && before != Some(0) && matches!(dirty(&next), Some(0) | None)
    };
    // Once may be the work of another test.
    seen_in_some_attempt(|| (0..4).all(|_| flushes_next()));
}

#[test]
#[cfg(target_os = "linux")]
fn holes_and_files_larger_than_memory_are_counted() {
    let root = folder();
    let path = root.path().join("sparse");
    let size = 1 << 40;
    let file = File::create(&path).unwrap();
    if file.set_len(size).is_err() {
        // Some file systems hold no file that large.
        file.set_len(1 << 31).unwrap();
    }
    let size = file.metadata().unwrap().len();
    let seen = pages(&path);
    assert_eq!((seen.total, seen.resident, seen.unknown), (size / page_size(), 0, 0));
    evict(&File::open(&path).unwrap(), Span::ALL).unwrap();
}

#[test]
fn nothing_at_all_counts_as_all() {
    let root = folder();
    fs::write(root.path().join("empty"), "").unwrap();
    let files = Files::below([root.path()]).unwrap();
    assert_eq!(files.paths().len(), 1);
    match files.pages() {
        Ok(pages) => assert_eq!((pages.total, pages.share()), (0, Some(1.0))),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    }
    assert_eq!(files.warm().unwrap(), 0);
}

#[test]
fn every_byte_is_read() {
    let root = folder();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    fs::write(at("large"), vec![1; pagecache::BUFFER * 2 + 3]).unwrap();
    fs::write(at("deep/small"), "four").unwrap();
    let warm = |path: &Path| Files::below([path]).unwrap().warm().unwrap();
    assert_eq!(warm(root.path()), pagecache::BUFFER as u64 * 2 + 7);
    assert_eq!(warm(&at("deep/small")), 4);
    let span = Span { start: page_size(), end: Some(page_size() + 5) };
    let file = File::open(at("large")).unwrap();
    assert_eq!(pagecache::warm(&file, span, &mut [0; 3]).unwrap(), 5);
}

#[test]
fn work_on_files_ends_when_it_is_asked_to() {
    let root = folder();
    let paths = ["a", "b", "c"].map(|name| root.path().join(name));
    for path in &paths {
        fs::write(path, "four").unwrap();
    }
    let left = std::cell::Cell::new(2_usize);
    let go_on = || left.replace(left.get().saturating_sub(1)) > 0;
    let files = Files::at(paths.to_vec(), &go_on);
    let is_over = |error: std::io::Error| error.kind() == ErrorKind::TimedOut;
    assert!(files.warm().is_err_and(is_over));
    assert_eq!(left.get(), 0);
    assert!(files.evict().is_err_and(is_over) && files.pages().is_err_and(is_over));
    assert!(files.warm_missing().is_err_and(is_over));
    assert!(Files::below_while([root.path()], &go_on).is_err_and(is_over));
    left.set(usize::MAX);
    assert_eq!(files.warm().unwrap(), 12);
    let listed = Files::below_while([root.path()], &go_on).unwrap();
    assert_eq!(listed.paths(), files.paths());
}

#[test]
fn what_is_missing_is_read_again() {
    let root = folder();
    fs::write(root.path().join("large"), vec![1; pagecache::BUFFER * 2 + 3]).unwrap();
    fs::write(root.path().join("small"), "four").unwrap();
    let files = Files::below([root.path()]).unwrap();
    if let Err(error) = files.pages() {
        assert_eq!(files.warm_missing().unwrap_err().kind(), error.kind());
        return;
    }
    let evicted = files.evict();
    let pages = files.warm_missing().unwrap();
    assert_eq!(pages.resident + pages.unknown, pages.total, "{evicted:?}");
    assert_eq!(pages, files.pages().unwrap());
}

#[test]
fn what_vanishes_or_shrinks_counts_as_what_is_left() {
    let root = folder();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("deep")).unwrap();
    for name in ["gone", "deep/gone", "shrunk"] {
        fs::write(at(name), vec![1; 50_000]).unwrap();
    }
    let files = Files::below([root.path()]).unwrap();
    fs::remove_file(at("gone")).unwrap();
    fs::remove_dir_all(at("deep")).unwrap();
    fs::write(at("shrunk"), "x").unwrap();
    assert_eq!(files.warm().unwrap(), 1);
    match files.pages() {
        Ok(pages) => assert_eq!(pages.total, 1),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    }
    match files.names() {
        Ok(names) => assert!(names.total == 4 && names.cached <= 1, "{names:?}"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    }
    match files.evict() {
        Ok(()) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    }
}

#[test]
fn an_absent_path_is_an_error_that_names_it() {
    let root = folder();
    let error = Files::below([root.path().join("absent")]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("absent"), "{error}");
}

#[test]
#[cfg(unix)]
fn a_path_may_be_a_link() {
    let root = folder();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("store")).unwrap();
    fs::write(at("store/file"), "four").unwrap();
    std::os::unix::fs::symlink("store/file", at("to file")).unwrap();
    std::os::unix::fs::symlink("store", at("to folder")).unwrap();
    for link in ["to file", "to folder"] {
        assert_eq!(Files::below([at(link)]).unwrap().warm().unwrap(), 4, "{link}");
        assert_eq!(pages(&at(link)).total, 1, "{link}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let root = folder();
    let path = root.path().join("file");
    fs::write(&path, "x").unwrap();
    let files = Files::below([&path]).unwrap();
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let read: io::Result<u64> = files.warm();
    assert!(matches!(read, Ok(0)), "{read:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn what_was_read_since_a_snapshot_is_evicted_alone() {
    use std::os::unix::fs::FileExt;

    let root = folder();
    let path = root.path().join("file");
    let (size, page) = (160 << 20, page_size());
    fs::write(&path, vec![1; 160 << 20]).unwrap();
    if !evicts(&path) {
        return;
    }
    let file = File::open(&path).unwrap();
    let read = |at: u64| {
        file.read_exact_at(&mut [0; 4096], at).unwrap();
    };
    // Far apart, so that neither is read ahead with the other, and on both sides of a part.
    let (before, later) = ([0, 64 << 20, size - page], [32 << 20, 128 << 20]);
    seen_in_some_attempt(|| {
        evict(&file, Span::ALL).unwrap();
        before.into_iter().for_each(read);
        let files = Files::below([&path]).unwrap();
        let (found, snapshot) = (files.pages().unwrap(), files.snapshot().unwrap());
        later.into_iter().for_each(read);
        let read = files.pages().unwrap();
        files.evict_others(&snapshot).unwrap();
        let left = files.pages().unwrap();
        let is_there = |at| {
            Pages::count(&file, Span { start: at, end: Some(at + page) }).unwrap().resident == 1
        };
        read.resident > found.resident
            && left.resident == found.resident
            && before.into_iter().all(is_there)
            && !later.into_iter().any(is_there)
    });
}
