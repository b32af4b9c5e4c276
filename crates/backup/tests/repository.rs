//! Backups and restores of a small folder, in every kind of catalogue.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{Seek, SeekFrom, Write},
    ops::ControlFlow,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime},
};

use model::{
    Access, Error, Item, Key, KeyKind, Mode, OpenOptions, Put, Result, Scan, Session, Settings,
};
use storemark_backup::{
    About, KeptRepository, Problem, Replay, Saved, check, differences, repeat, restore, save, stats,
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

    fn open(&self) -> Result<KeptRepository> {
        let engine = engines::registry::blobs(self.engine).unwrap();
        KeptRepository::open(&self.repository(), engine, &Settings::default())
    }

    fn open_to_save(&self) -> Result<KeptRepository> {
        let engine = engines::registry::blobs(self.engine).unwrap();
        let folder = self.repository();
        match About::read(&folder)? {
            Some(_) => KeptRepository::open_to_save(&folder, engine, &Settings::default()),
            None => KeptRepository::create(&folder, engine, &Settings::default()),
        }
    }

    fn save(&self) -> Saved {
        self.try_save().unwrap()
    }

    fn try_save(&self) -> Result<Saved> {
        let mut kept = self.open_to_save()?;
        let saved = kept.save(&self.tree(), GO_ON)?;
        kept.close().map(|()| saved)
    }

    /// Replaces the catalogue by one that `change` changed.
    fn change_catalogue(&self, change: impl FnOnce(&mut dyn Session)) {
        let engine = engines::registry::blobs(self.engine).unwrap();
        let (settings, access, keys) = (Settings::default(), Access::Write, KeyKind::Names);
        let options = OpenOptions { settings, access, keys };
        let store = engine.open(&self.repository().join("catalogue/store"), &options).unwrap();
        let mut session = store.session().unwrap();
        session.begin(Mode::Write).unwrap();
        change(&mut *session);
        session.commit().unwrap();
        drop(session);
        store.close().unwrap();
    }

    /// All keys of the catalogue with their records.
    fn records(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found = Vec::new();
        self.change_catalogue(|session| {
            let scan = Scan::ALL;
            let visit = &mut |item: Item<'_>| {
                let Key::Name(key) = item.key else { panic!("a name") };
                found.push((key.to_vec(), item.value.to_vec()));
                Ok(ControlFlow::Continue(()))
            };
            session.scan(scan, visit).unwrap();
        });
        found
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.repository().join(folder)) else { return Vec::new() };
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries.map(|entry| name(entry).into_string().unwrap()).collect();
        names.sort();
        names
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
        place.open_to_save().unwrap().repository().warm_up().unwrap();
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
        let (left, kept) = (AtomicU32::new(steps), place.open_to_save().unwrap());
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
        let snapshots = place.open().unwrap().repository().list().unwrap().snapshots;
        assert_eq!(snapshots, vec![]);
        assert_eq!(place.names_in("packs"), Vec::<String>::new(), "it removes what it wrote");
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

/// A byte of one record of each kind is flipped: what needs it is named, everything else is restored.
#[test]
fn one_damaged_record_costs_only_what_it_describes() {
    let place = Place::new("sqlite");
    place.save();
    fs::write(place.tree().join("late"), b"in the second backup").unwrap();
    place.save();
    let whole = place.restored(None);
    let all = place.records();
    for (kind, name, lost) in [
        ("b/", "", 1..=3),
        ("k/", "", 0..=0),
        ("s/", "", 0..=0),
        ("i", "", 0..=0),
        ("f/", "/late/", 1..=1),
        ("f/", "/large/", 1..=1),
    ] {
        let is_it = |key: &str| key.starts_with(kind) && key.contains(name);
        let mut records = all.iter().map(|(key, value)| (String::from_utf8_lossy(key), key, value));
        let (shown, key, value) = records.find(|(shown, ..)| is_it(shown)).unwrap();
        let mut damaged = value.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let put = |value: &[u8]| {
            place.change_catalogue(|session| {
                session.put(Key::Name(key), value, &Put::default()).unwrap();
            });
        };
        put(&damaged);
        let to = place.folder.path().join(format!("rest of {shown}").replace('/', "-"));
        let restored = restore(place.open().unwrap().repository(), None, &to, GO_ON).unwrap();
        let is_named =
            |problem: &Problem| problem.what == format!("catalogue: record {shown} is damaged");
        assert!(restored.problems.iter().any(is_named), "{:?}", restored.problems);
        let missing = differences(&whole, &to, GO_ON).unwrap();
        let found = place.open().unwrap().repository().list().unwrap();
        assert_eq!(found.snapshots.len(), if kind == "s/" { 1 } else { 2 });
        assert_eq!(found.damage.is_empty(), matches!(kind, "b/" | "f/"), "{:?}", found.damage);
        assert_eq!(place.problems().len(), 1, "{:?}", place.problems());
        assert!(lost.contains(&missing.len()), "{shown}: {missing:?}");
        put(value);
    }
    place.assert_whole();
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
    let first = place.open_to_save().unwrap();
    let refused = place.open().err().unwrap().to_string();
    assert!(refused.contains("another process uses this repository"), "{refused}");
    first.close().unwrap();
    let readers = [place.open().unwrap(), place.open().unwrap()];
    let refused = place.open_to_save().err().unwrap().to_string();
    assert!(refused.contains("another process uses this repository"), "{refused}");
    drop(readers);
    let engine = engines::registry::blobs("sqlite").unwrap();
    let error = KeptRepository::create(&place.tree(), engine, &Settings::default()).err().unwrap();
    assert!(error.to_string().contains("is not empty and no repository"), "{error}");
}

#[test]
fn a_repository_whose_making_was_interrupted_is_made_again() {
    let place = Place::new("sqlite");
    fs::create_dir_all(place.repository().join("catalogue")).unwrap();
    fs::write(place.repository().join("catalogue/store"), b"half").unwrap();
    place.save();
    fs::remove_file(place.repository().join("storemark-backup")).unwrap();
    let error = place.open_to_save().err().unwrap().to_string();
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
    let kept = place.open_to_save().unwrap();
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
    let kept = place.open_to_save().unwrap();
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
    let first = recorded.open_to_save().unwrap();
    let mut changed = false;
    let mut change = || {
        changed = true;
        fs::write(recorded.tree().join("empty"), b"no longer").map_err(|e| Error::io("test", e))
    };
    let replay = Replay::record(first.repository(), &recorded.tree(), &mut change, GO_ON).unwrap();
    assert!(changed);
    let of_one = stats(first.repository()).unwrap();
    let second = repeated.open_to_save().unwrap();
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

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap();
    assert!(copied.success());
}

/// A record under a key, with its sum in front.
fn sealed(key: &[u8], record: &[u8]) -> Vec<u8> {
    let sum = blake3::hash(&[key, record].concat());
    [&sum.as_bytes()[..8], record].concat()
}

/// Which records are gone, by their numbers and keys.
type IsLost<'a> = dyn Fn(usize, &[u8]) -> bool + 'a;

#[test]
fn a_catalogue_that_lost_anything_is_named_and_costs_no_pack() {
    for engine in ["sqlite", "lmdb", "redb"] {
        let place = Place::new(engine);
        place.save();
        fs::write(place.tree().join("late"), bytes(30_000, 5)).unwrap();
        place.save();
        let (all, packs) = (place.records(), place.names_in("packs"));
        assert_eq!(packs.len(), 2);
        let whole = place.folder.path().join("whole");
        copy(&place.repository(), &whole);
        // Every kind of record, the first ones, the last ones, every second one, and all.
        let lost: [&IsLost<'_>; 9] = [
            &|_, _| true,
            &|_, key| key == b"i",
            &|_, key| key.starts_with(b"b/"),
            &|_, key| key.starts_with(b"f/"),
            &|_, key| key.starts_with(b"k/"),
            &|_, key| key.starts_with(b"s/"),
            &|at, _| at < all.len() / 3,
            &|at, _| at >= all.len() * 2 / 3,
            &|at, _| at % 2 == 1,
        ];
        for (number, lost) in lost.iter().enumerate() {
            let gone: Vec<_> = (0..).zip(&all).filter(|(at, (key, _))| lost(*at, key)).collect();
            assert!(!gone.is_empty());
            place.change_catalogue(|session| {
                for (_, (key, _)) in &gone {
                    assert!(session.delete(Key::Name(key)).unwrap());
                }
            });
            let problems = place.problems();
            assert!(!problems.is_empty(), "{engine} {number}");
            assert!(problems.iter().all(|line| line.contains("catalogue")), "{problems:?}");
            let to = place.folder.path().join(format!("to-{number}"));
            match restore(place.open().unwrap().repository(), None, &to, GO_ON) {
                Err(error) => assert!(error.to_string().contains("catalogue"), "{error}"),
                Ok(restored) => assert!(!restored.problems.is_empty(), "{engine} {number}"),
            }
            // A catalogue that cannot say which packs are needed is refused.
            if let Err(error) = place.try_save() {
                assert!(error.to_string().contains("catalogue: "), "{error}");
            }
            let kept = place.names_in("packs");
            assert!(packs.iter().all(|pack| kept.contains(pack)), "{engine} {number}: {kept:?}");
            fs::remove_dir_all(place.repository()).unwrap();
            copy(&whole, &place.repository());
            place.assert_whole();
        }
    }
}

#[test]
fn the_catalogue_of_another_repository_costs_no_pack() {
    let (one, other) = (Place::new("sqlite"), Place::new("sqlite"));
    one.save();
    other.save();
    let store = "catalogue/store";
    let older = fs::read(one.repository().join(store)).unwrap();
    fs::write(one.tree().join("late"), b"late").unwrap();
    one.save();
    for (bytes, says) in [
        (fs::read(other.repository().join(store)).unwrap(), "is that of another repository"),
        (older, "last backup has the number 1 instead of 2"),
    ] {
        fs::write(one.repository().join(store), bytes).unwrap();
        let error = one.try_save().unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("nothing was changed"), "{error}");
        assert!(one.problems().iter().any(|line| line.contains(says)), "{:?}", one.problems());
        assert_eq!(one.names_in("packs"), ["00000001", "00000002"]);
    }
}

/// What form 1 looked like: no number, no count, and a catalogue without an inventory.
fn make_form_1(place: &Place) {
    place.change_catalogue(|session| {
        session.delete(Key::Name(b"i")).unwrap();
    });
    let about = place.repository().join("storemark-backup");
    let text = fs::read_to_string(&about).unwrap();
    let lines =
        text.lines().filter(|line| !line.starts_with("id=") && !line.starts_with("backups="));
    let text: String = lines.map(|line| line.replace("backup 2", "backup 1") + "\n").collect();
    fs::write(about, text).unwrap();
}

#[test]
fn a_repository_of_form_1_is_read_and_raised_by_the_next_backup() {
    let place = Place::new("sqlite");
    place.save();
    make_form_1(&place);
    place.assert_whole();
    assert_same(&place.tree(), &place.restored(Some(1)));
    assert_eq!(place.save().version, 2);
    assert!(
        fs::read_to_string(place.repository().join("storemark-backup")).unwrap().contains("id=")
    );
    place.assert_whole();
    assert_same(&place.tree(), &place.restored(Some(2)));
}

/// The catalogue of form 1 cannot say that it lost its backups.
#[test]
fn packs_are_set_aside_where_no_backup_is_known() {
    let place = Place::new("sqlite");
    for round in 1..=2 {
        place.save();
        make_form_1(&place);
        let pack = fs::read(place.pack()).unwrap();
        for (key, _) in place.records() {
            place.change_catalogue(|session| {
                session.delete(Key::Name(&key)).unwrap();
            });
        }
        assert_eq!(place.save().set_aside, 1);
        let aside = place.names_in("set-aside");
        assert_eq!(aside.len(), round, "{aside:?}");
        let last = place.repository().join("set-aside").join(aside.last().unwrap());
        assert_eq!(fs::read(last).unwrap(), pack);
        place.assert_whole();
    }
}

#[test]
fn no_name_in_a_catalogue_leads_out_of_the_restored_folder() {
    let place = Place::new("sqlite");
    place.save();
    let records: HashMap<_, _> = place.records().into_iter().collect();
    let (key, record) = records
        .iter()
        .find(|(key, _)| key.ends_with(b"/small/00000001"))
        .map(|(key, value)| (key.clone(), value[8..].to_vec()))
        .unwrap();
    let folder = &key[..11];
    let names: [&[u8]; 10] = [
        b"../../evil",
        b"../evil",
        b"/evil",
        b"evil/",
        b"a/../../evil",
        b"",
        b".",
        b"..",
        b"ev\0il",
        b"./evil",
    ];
    for name in names {
        let crafted = [folder, name, b"/00000001"].concat();
        place.change_catalogue(|session| {
            let sealed = sealed(&crafted, &record);
            session.put(Key::Name(&crafted), &sealed, &Put::default()).unwrap();
        });
        assert!(!place.problems().is_empty(), "{name:?}");
        let before = listing(place.folder.path());
        let to = place.folder.path().join("restored");
        let restored = restore(place.open().unwrap().repository(), None, &to, GO_ON).unwrap();
        let refused =
            restored.problems.iter().any(|problem| problem.what.contains("leads elsewhere"));
        assert!(refused, "{name:?}: {:?}", restored.problems);
        assert_eq!(restored.files, 6, "the others are restored");
        fs::remove_dir_all(&to).unwrap();
        assert_eq!(listing(place.folder.path()), before, "{name:?}");
        place.change_catalogue(|session| {
            session.delete(Key::Name(&crafted)).unwrap();
        });
    }
    place.assert_whole();
}

/// A folder in itself has no end.
#[test]
fn a_folder_that_a_catalogue_has_twice_is_restored_once() {
    let place = Place::new("sqlite");
    place.save();
    let all = place.records();
    let (key, record) = all.iter().find(|(key, _)| key.ends_with(b"/a/00000001")).unwrap();
    let number = u32::from_le_bytes(*record.last_chunk().unwrap());
    for copy in ["loop", "other"] {
        let crafted = format!("f/{number:08x}/{copy}/00000001").into_bytes();
        place.change_catalogue(|session| {
            let sealed = sealed(&crafted, &record[8..]);
            session.put(Key::Name(&crafted), &sealed, &Put::default()).unwrap();
        });
    }
    let to = place.folder.path().join("restored");
    let restored = restore(place.open().unwrap().repository(), None, &to, GO_ON).unwrap();
    let problems: Vec<_> = restored.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?} {key:?}");
    assert!(problems.iter().all(|problem| problem.contains("in itself")), "{problems:?}");
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(listing(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// 4 GiB for a frame, and a block at the end of all numbers.
#[test]
fn a_crafted_place_asks_for_no_memory() {
    let place = Place::new("sqlite");
    place.save();
    let all = place.records();
    // Bytes of the frame in the pack, the block's start in the frame, and its bytes.
    for (field, says) in [
        (8, "is longer than any frame"),
        (12, "holds other bytes than were backed up"),
        (16, "holds other bytes than were backed up"),
    ] {
        place.change_catalogue(|session| {
            for (key, value) in all.iter().filter(|(key, _)| key.starts_with(b"b/")) {
                let mut record = value[8..].to_vec();
                record[field..field + 4].copy_from_slice(&u32::MAX.to_le_bytes());
                session.put(Key::Name(key), &sealed(key, &record), &Put::default()).unwrap();
            }
        });
        let problems = place.problems();
        assert!(problems.iter().any(|line| line.contains(says)), "{problems:?}");
        let to = place.folder.path().join(format!("restored-{field}"));
        let restored = restore(place.open().unwrap().repository(), None, &to, GO_ON).unwrap();
        let named = restored.problems.iter().filter(|problem| problem.what.contains(says)).count();
        assert_eq!(named, 5, "{:?}", restored.problems);
    }
}

/// Records that are looked up are short: the rest of one is not read.
#[test]
fn a_record_that_is_too_long_is_damaged() {
    let place = Place::new("sqlite");
    place.save();
    place.change_catalogue(|session| {
        let record = vec![0; 8 << 20];
        session.put(Key::Name(b"i"), &sealed(b"i", &record), &Put::default()).unwrap();
    });
    let problems = place.problems();
    assert!(problems.iter().any(|line| line.contains("record i is damaged")), "{problems:?}");
    assert!(place.try_save().is_err());
    assert_eq!(place.names_in("packs"), ["00000001"]);
}
