//! Backups and restores of a small folder, in every kind of catalogue.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    fs::{self, File},
    io::{Seek, SeekFrom, Write},
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime},
};

use model::{Error, Result, Settings};
use storemark_backup::{
    About, Kept, Replay, Saved, check, differences, repeat, restore, save, stats,
};

const GO_ON: &(dyn Fn() -> Result<()> + Sync) = &|| Ok(());

struct Place {
    folder: tempfile::TempDir,
    engine: &'static str,
}

impl Place {
    fn new(engine: &'static str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap(), engine };
        let tree = place.tree();
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::create_dir(tree.join("a.b")).unwrap();
        fs::write(tree.join("empty"), b"").unwrap();
        fs::write(tree.join("a/small"), b"small").unwrap();
        fs::write(tree.join("a/twin"), b"small").unwrap();
        fs::write(tree.join("a/b/large"), bytes(3_000_000, 1)).unwrap();
        fs::write(tree.join("z \u{e9} \n"), b"a name").unwrap();
        fs::hard_link(tree.join("a/small"), tree.join("a.b/linked")).unwrap();
        symlink("../a/nowhere", tree.join("a.b/link")).unwrap();
        fs::set_permissions(tree.join("a/small"), fs::Permissions::from_mode(0o751)).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
        for path in ["a/b/large", "a/b"] {
            File::open(tree.join(path)).unwrap().set_modified(old).unwrap();
        }
        place
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn open(&self) -> Result<Kept> {
        let engine = engines::registry::blobs(self.engine).unwrap();
        let folder = self.repository();
        match About::of(&folder)? {
            Some(_) => Kept::open(&folder, engine, &Settings::default()),
            None => Kept::create(&folder, engine, &Settings::default()),
        }
    }

    fn save(&self) -> Saved {
        let kept = self.open().unwrap();
        let saved = save(kept.repository(), &self.tree(), GO_ON).unwrap();
        kept.close().unwrap();
        saved
    }

    fn restored(&self, version: Option<u32>) -> PathBuf {
        let to = self.folder.path().join(format!("restored-{version:?}"));
        restore(self.open().unwrap().repository(), version, &to, GO_ON).unwrap();
        to
    }

    fn assert_whole(&self) {
        let checked = check(self.open().unwrap().repository(), GO_ON).unwrap();
        assert_eq!(checked.problems, Vec::<String>::new(), "{}", self.engine);
    }

    fn problems(&self) -> Vec<String> {
        check(self.open().unwrap().repository(), GO_ON).unwrap().problems
    }

    fn pack(&self) -> PathBuf {
        self.repository().join("packs/00000001")
    }
}

/// Bytes that do not compress and do not repeat.
fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn assert_same(one: &Path, other: &Path) {
    assert_eq!(differences(one, other, GO_ON).unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_restored_is_what_was_backed_up_in_every_catalogue() {
    for engine in ["sqlite", "lmdb", "redb"] {
        let place = Place::new(engine);
        place.open().unwrap().repository().warm_up().unwrap();
        let first = place.save();
        assert_eq!((first.version, first.files_read, first.bytes_read), (1, 6, 3_000_021));
        assert_eq!((first.entries, first.problems.len()), (11, 0), "{engine}");
        place.assert_whole();
        assert_same(&place.tree(), &place.restored(None));
    }
}

#[test]
fn unchanged_files_are_not_read_and_shared_blocks_not_stored_again() {
    let place = Place::new("sqlite");
    let first = place.save();
    assert!(first.stored_bytes < 3_010_000, "twins are one block: {first:?}");
    let again = place.save();
    assert_eq!((again.files_read, again.new_blocks, again.stored_bytes), (0, 0, 0));
    assert_eq!((again.version, again.entries, again.bytes), (2, first.entries, first.bytes));

    // A few bytes in front move all others.
    let large = place.tree().join("a/b/large");
    fs::write(&large, [b"in front", &bytes(3_000_000, 1)[..]].concat()).unwrap();
    fs::remove_file(place.tree().join("empty")).unwrap();
    fs::rename(place.tree().join("a.b"), place.tree().join("moved")).unwrap();
    let changed = place.save();
    assert!(changed.stored_bytes < 600_000, "{changed:?}");
    place.assert_whole();
    assert_same(&place.tree(), &place.restored(None));
    let stats = stats(place.open().unwrap().repository()).unwrap();
    assert_eq!((stats.snapshots, stats.orphans), (3, 0));
}

#[test]
fn each_snapshot_stays_as_it_was() {
    let place = Place::new("sqlite");
    let copy = place.folder.path().join("copy");
    place.save();
    restore(place.open().unwrap().repository(), None, &copy, GO_ON).unwrap();
    fs::remove_dir_all(place.tree().join("a")).unwrap();
    fs::write(place.tree().join("a"), b"now a file").unwrap();
    place.save();
    assert_same(&copy, &place.restored(Some(1)));
    assert_same(&place.tree(), &place.restored(Some(2)));
    let to = place.folder.path().join("none");
    let error = restore(place.open().unwrap().repository(), Some(7), &to, GO_ON).unwrap_err();
    assert!(error.to_string().contains("accepted is 1 to 2"), "{error}");
}

#[test]
fn a_backup_that_is_stopped_anywhere_leaves_what_was_there() {
    let place = Place::new("sqlite");
    for steps in 0.. {
        let (left, kept) = (AtomicU32::new(steps), place.open().unwrap());
        let stop = || match left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
        {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::interrupted()),
        };
        let saved = save(kept.repository(), &place.tree(), &stop);
        drop(kept);
        place.assert_whole();
        if saved.is_ok() {
            assert!(steps > 3, "it is asked often");
            break;
        }
        let snapshots = place.open().unwrap().repository().snapshots().unwrap();
        assert_eq!(snapshots, vec![]);
    }
    place.save();
    assert_same(&place.tree(), &place.restored(None));
}

#[test]
fn packs_that_no_catalogue_mentions_are_removed_by_the_next_backup() {
    let place = Place::new("sqlite");
    place.save();
    let leftover = place.repository().join("packs/00000002");
    fs::write(&leftover, b"half a pack").unwrap();
    place.assert_whole();
    place.save();
    assert!(!leftover.exists());
    place.assert_whole();
}

#[test]
fn damage_is_named() {
    let place = Place::new("sqlite");
    place.save();
    let mut pack = fs::OpenOptions::new().write(true).open(place.pack()).unwrap();
    pack.seek(SeekFrom::Start(1000)).unwrap();
    pack.write_all(b"damaged").unwrap();
    let problems = place.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].contains("packs/00000001: frame at byte 0"), "{problems:?}");

    pack.set_len(5000).unwrap();
    assert!(place.problems()[0].contains("5000 bytes instead of"), "{:?}", place.problems());
    fs::remove_file(place.pack()).unwrap();
    assert!(place.problems().iter().any(|line| line.contains("packs/00000001")));
}

/// Two files in packs of their own, one of them with a second name.
#[test]
fn what_is_damaged_is_named_and_the_rest_is_restored() {
    let place = Place::new("sqlite");
    place.save();
    let whole = place.restored(None);
    fs::write(place.tree().join("a/late"), b"in a pack of its own").unwrap();
    fs::hard_link(place.tree().join("a/late"), place.tree().join("a/late too")).unwrap();
    place.save();
    fs::write(place.repository().join("packs/00000002"), b"damaged").unwrap();
    let to = place.folder.path().join("rest");
    let restored = restore(place.open().unwrap().repository(), None, &to, GO_ON).unwrap();
    let paths: Vec<_> = restored.problems.iter().map(|problem| problem.path.clone()).collect();
    assert_eq!(paths, [to.join("a/late"), to.join("a/late too")]);
    let named = restored.problems.iter().all(|of| of.what.contains("packs/00000002: frame at"));
    assert!(named, "{:?}", restored.problems);
    for path in ["a/small", "a/b/large", "a.b/linked"] {
        assert_eq!(fs::read(to.join(path)).unwrap(), fs::read(whole.join(path)).unwrap(), "{path}");
    }
    assert!(!to.join("a/late").exists(), "no half file is left");
}

/// The catalogue is small: every page of it is in use.
#[test]
fn a_damaged_catalogue_is_named() {
    let place = Place::new("sqlite");
    place.save();
    let path = place.repository().join("catalogue/store");
    let whole = fs::read(&path).unwrap();
    let mut named = 0;
    for at in (100..whole.len()).step_by(509) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        fs::write(&path, &damaged).unwrap();
        let problems = match place.open() {
            Ok(kept) => check(kept.repository(), GO_ON).unwrap().problems,
            Err(error) => vec![error.to_string()],
        };
        assert!(problems.iter().all(|line| line.contains("catalogue")), "{problems:?}");
        named += usize::from(!problems.is_empty());
    }
    assert!(named > 0);
}

#[test]
fn a_second_process_is_refused_and_a_foreign_folder_too() {
    let place = Place::new("sqlite");
    let first = place.open().unwrap();
    let refused = place.open().err().unwrap().to_string();
    assert!(refused.contains("another process uses this repository"), "{refused}");
    first.close().unwrap();
    let engine = engines::registry::blobs("sqlite").unwrap();
    let error = Kept::create(&place.tree(), engine, &Settings::default()).err().unwrap();
    assert!(error.to_string().contains("is not empty and no repository"), "{error}");
}

#[test]
fn a_repository_whose_making_was_interrupted_is_made_again() {
    let place = Place::new("sqlite");
    fs::create_dir_all(place.repository().join("catalogue")).unwrap();
    fs::write(place.repository().join("catalogue/store"), b"half").unwrap();
    place.save();
    fs::remove_file(place.repository().join("storemark-backup")).unwrap();
    let error = place.open().err().unwrap().to_string();
    assert!(error.contains("storemark-backup is missing"), "{error}");
}

#[test]
fn what_cannot_be_backed_up_is_named_and_the_rest_is() {
    let place = Place::new("sqlite");
    let socket = place.tree().join("a/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // A link to itself cannot be opened as the file that the walk saw.
    let saved = place.save();
    let problems: Vec<_> = saved.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].ends_with("a/socket: device, socket or pipe: not backed up"));
    place.assert_whole();
    assert_same(&place.tree(), &place.restored(None));
}

/// Each time that the backup asks whether to go on, the file is another one.
#[test]
fn a_file_that_changes_or_goes_while_it_is_backed_up_is_named() {
    let place = Place::new("sqlite");
    let path = place.tree().join("a/small");
    let count = AtomicU32::new(0);
    let kept = place.open().unwrap();
    let change = || {
        let text = format!("change {}", count.fetch_add(1, Ordering::Relaxed));
        fs::write(&path, text).map_err(|e| Error::io("test", e))
    };
    let saved = save(kept.repository(), &place.tree(), &change).unwrap();
    let named = saved.problems.iter().any(|problem| problem.what.contains("changed while"));
    assert!(named, "{:?}", saved.problems);
    kept.close().unwrap();
    place.assert_whole();

    fs::write(place.tree().join("gone"), b"soon gone").unwrap();
    let kept = place.open().unwrap();
    let remove = || {
        let _ = fs::remove_file(place.tree().join("gone"));
        Ok(())
    };
    let saved = save(kept.repository(), &place.tree(), &remove).unwrap();
    kept.close().unwrap();
    // The walk may have come before or after.
    let is_named = saved.problems.iter().any(|problem| problem.path.ends_with("gone"));
    assert!(is_named || saved.entries == 11, "{saved:?}");
    place.assert_whole();
}

#[test]
fn a_replay_for_copies_leaves_as_many_times_the_records() {
    let (recorded, repeated) = (Place::new("sqlite"), Place::new("lmdb"));
    let first = recorded.open().unwrap();
    let mut changed = false;
    let mut change = || {
        changed = true;
        fs::write(recorded.tree().join("empty"), b"no longer").map_err(|e| Error::io("test", e))
    };
    let replay = Replay::record(first.repository(), &recorded.tree(), &mut change, GO_ON).unwrap();
    assert!(changed);
    let of_one = stats(first.repository()).unwrap();
    let second = repeated.open().unwrap();
    let store = second.repository().store();
    for (step, writes) in [
        (&replay.full, true),
        (&replay.unchanged, true),
        (&replay.changed, true),
        (&replay.stats, false),
        (&replay.check, false),
    ] {
        let operations = Replay::copies(step, 3);
        assert_eq!(repeat(store, &operations, writes).unwrap(), operations.len() as u64);
    }
    let of_three = stats(second.repository()).unwrap();
    assert_eq!(of_three.snapshots, of_one.snapshots);
    assert_eq!(of_three.entries, of_one.entries * 3);
    assert_eq!(of_three.blocks, of_one.blocks * 3);
    assert_eq!(of_three.references, of_one.references * 3);
}
