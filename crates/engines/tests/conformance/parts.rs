//! Stores that another program made: the part with the values is found, named or refused, and not changed.

use std::{ops::ControlFlow, path::Path};

use heed::{CommitOrAbort, DatabaseFlags, EnvOpenOptions, types::Bytes};
use model::{Access, Blobs, FoundValues, KeyKind, Result, Settings};
use storemark_engines::registry;

use crate::case::{Case, Ease, OwnedKey, StoreFolder, checked};

fn engine(name: &str) -> &'static dyn Blobs {
    registry::blobs(name).unwrap()
}

fn find(name: &str, path: &Path) -> Result<Option<FoundValues>> {
    engine(name).find_values(path, &Settings::default())
}

fn case(name: &str, pairs: &[(&str, &str)]) -> Case {
    let engine = engine(name);
    Case::new(engine, KeyKind::Names, checked(engine, pairs))
}

/// The keys in the part of the store at `path` that these settings name.
fn keys(name: &str, path: &Path, pairs: &[(&str, &str)]) -> Vec<String> {
    let store = case(name, pairs).open(path, Access::Read).unwrap();
    let items = store.session().unwrap().items();
    items.into_iter().map(|(key, _)| key.as_key().to_string()).collect()
}

fn refused(name: &str, path: &Path, pairs: &[(&str, &str)]) -> String {
    case(name, pairs).open(path, Access::Read).err().unwrap().to_string()
}

/// Makes an environment with these databases, empty for the unnamed one.
fn environment(path: &Path, databases: &[(&str, DatabaseFlags, &[&str])]) {
    std::fs::create_dir(path).unwrap();
    let mut options = EnvOpenOptions::new();
    options.max_dbs(8).map_size(1 << 20);
    // SAFETY: nothing else has the file open.
    let env = unsafe { options.open(path) }.unwrap();
    for (name, flags, keys) in databases {
        let made = env.create_databases_and_commit(env.write_txn().unwrap(), |opener, txn| {
            let mut options = opener.database_options().types::<Bytes, Bytes>();
            if !name.is_empty() {
                options.name(name);
            }
            let database = options.flags(*flags).create(txn)?;
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(database))
        });
        let database = made.unwrap().unwrap_commit();
        let mut txn = env.write_txn().unwrap();
        for key in *keys {
            // As long as what LMDB keeps of a database.
            database.put(&mut txn, key.as_bytes(), &[7; 48]).unwrap();
        }
        txn.commit().unwrap();
    }
}

#[test]
fn the_only_database_of_an_environment_is_found() {
    let none = DatabaseFlags::empty();
    for name in ["", "photos"] {
        let place = StoreFolder::new().unwrap();
        environment(&place.path, &[(name, none, &["a", "b"])]);
        let found = find("lmdb", &place.path).unwrap().unwrap();
        assert_eq!(found.settings.get("database"), Some(name));
        assert!(found.about.unwrap().contains("2 values"));
        assert_eq!(keys("lmdb", &place.path, &[("database", name)]), ["a", "b"]);
        assert_eq!(keys("lmdb", &place.path, &[]), ["a", "b"]);
    }
}

#[test]
fn of_several_databases_one_has_to_be_named() {
    let place = StoreFolder::new().unwrap();
    let none = DatabaseFlags::empty();
    let databases = [("", none, &["z"][..]), ("notes", none, &["b"]), ("photos", none, &["a"])];
    environment(&place.path, &databases);
    let said = find("lmdb", &place.path).unwrap_err().to_string();
    for name in ["notes", "photos", ""] {
        assert!(said.contains(&format!("?database={name}' (1 ")), "{said}");
    }
    // The names of the others are no values of the unnamed one.
    assert_eq!(keys("lmdb", &place.path, &[("database", "")]), ["z"]);
    assert_eq!(keys("lmdb", &place.path, &[("database", "photos")]), ["a"]);
    let said = refused("lmdb", &place.path, &[("database", "photo")]);
    assert!(said.contains("did you mean photos?"), "{said}");
}

#[test]
fn databases_in_another_order_or_with_several_values_a_key_are_refused() {
    // The numbers of lmdb.h.
    for (flags, name) in [(0x02, "MDB_REVERSEKEY"), (0x04, "MDB_DUPSORT"), (0x08, "MDB_INTEGERKEY")]
    {
        let place = StoreFolder::new().unwrap();
        environment(
            &place.path,
            &[("other", DatabaseFlags::from_bits_retain(flags), &["12345678", "87654321"])],
        );
        let said = refused("lmdb", &place.path, &[("database", "other")]);
        assert!(said.contains(name), "{said}");
    }
    let place = StoreFolder::new().unwrap();
    environment(&place.path, &[("", DatabaseFlags::REVERSE_KEY, &["ba", "ab"])]);
    let store = case("lmdb", &[]).open(&place.path, Access::Read).unwrap();
    let scanned =
        store.session().unwrap().scan(model::Scan::ALL, &mut |_| Ok(ControlFlow::Continue(())));
    assert!(scanned.unwrap_err().to_string().contains("in another order"));
}

#[test]
fn the_only_keyspace_is_found_and_of_several_one_has_to_be_named() {
    let place = StoreFolder::new().unwrap();
    let database = fjall::Database::builder(&place.path).open().unwrap();
    let make = |name: &str, key: &str| {
        let keyspace = database.keyspace(name, fjall::KeyspaceCreateOptions::default).unwrap();
        keyspace.insert(key, "value").unwrap();
    };
    make("photos", "a");
    database.persist(fjall::PersistMode::SyncAll).unwrap();
    drop(database);
    assert_eq!(keys("fjall", &place.path, &[]), ["a"]);
    let database = fjall::Database::builder(&place.path).open().unwrap();
    let keyspace = database.keyspace("notes", fjall::KeyspaceCreateOptions::default).unwrap();
    keyspace.insert("b", "value").unwrap();
    drop((keyspace, database));
    let said = refused("fjall", &place.path, &[]);
    assert!(said.contains("keyspace=: ") && said.contains("notes"), "{said}");
    assert_eq!(keys("fjall", &place.path, &[("keyspace", "notes")]), ["b"]);
}

#[test]
fn the_column_family_that_has_values_is_found() {
    let place = StoreFolder::new().unwrap();
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    let database = rocksdb::DB::open_cf(&options, &place.path, ["default", "photos"]).unwrap();
    let photos = database.cf_handle("photos").unwrap();
    database.put_cf(photos, "a", "value").unwrap();
    drop(database);
    let found = find("rocksdb", &place.path).unwrap().unwrap();
    assert_eq!(found.settings.get("family"), Some("photos"));
    assert_eq!(keys("rocksdb", &place.path, &[("family", "photos")]), ["a"]);
    let database = rocksdb::DB::open_cf(&options, &place.path, ["default", "photos"]).unwrap();
    database.put("b", "value").unwrap();
    drop(database);
    let said = find("rocksdb", &place.path).unwrap_err().to_string();
    assert!(said.contains("'family=default") || said.contains("?family=default'"), "{said}");
    assert_eq!(keys("rocksdb", &place.path, &[("family", "default")]), ["b"]);
}

#[test]
fn a_named_part_has_no_integers() {
    for (name, word) in [("lmdb", "database"), ("fjall", "keyspace"), ("rocksdb", "family")] {
        let place = StoreFolder::new().unwrap();
        let case = Case { keys: KeyKind::Integers, ..case(name, &[(word, "photos")]) };
        let said = case.create(&place.path).err().unwrap().to_string();
        assert!(said.contains(&format!("{word}=photos")) && !place.path.exists(), "{said}");
    }
}

#[test]
fn a_store_of_storemarks_own_needs_no_name() {
    for (name, word) in [("lmdb", "database"), ("fjall", "keyspace"), ("rocksdb", "family")] {
        let place = StoreFolder::new().unwrap();
        case(name, &[]).create_filled(&place.path, 3).unwrap();
        assert_eq!(find(name, &place.path).unwrap(), None);
        let store = case(name, &[]).open(&place.path, Access::Read).unwrap();
        assert_eq!(store.in_effect().unwrap().0.get(word), None);
        assert!(store.session().unwrap().value(&OwnedKey::Name((*b"1/1").into())).is_some());
    }
}

#[test]
fn the_other_parts_of_a_store_are_left_out_by_name() {
    let left_out = |name: &str, path: &Path, pairs: &[(&str, &str)]| {
        let store = case(name, pairs).open(path, Access::Read).unwrap();
        let entries = store.left_out().unwrap().into_iter();
        let names: Vec<_> = entries.map(|of| String::from_utf8(of.name).unwrap()).collect();
        (names, store.table().unwrap().is_some())
    };
    let place = StoreFolder::new().unwrap();
    let none = DatabaseFlags::empty();
    let (own, photos) = (["names", "meta"].map(|name| (name, none, &[][..])), &["a"][..]);
    environment(&place.path, &[own[0], own[1], ("empty", none, &[]), ("photos", none, photos)]);
    let others = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(left_out("lmdb", &place.path, &[]), (others(&["database photos"]), false));
    assert_eq!(left_out("lmdb", &place.path, &[("database", "photos")]), (Vec::new(), true));

    let place = StoreFolder::new().unwrap();
    case("fjall", &[]).create_filled(&place.path, 3).unwrap();
    assert_eq!(left_out("fjall", &place.path, &[]), (Vec::new(), false));
    let database = fjall::Database::builder(&place.path).open().unwrap();
    drop(database.keyspace("notes", fjall::KeyspaceCreateOptions::default).unwrap());
    drop(database);
    assert_eq!(left_out("fjall", &place.path, &[]), (others(&["keyspace notes"]), false));
    let (names, is_users) = left_out("fjall", &place.path, &[("keyspace", "notes")]);
    assert!(is_users && names == others(&["keyspace names"]), "{names:?}");

    let place = StoreFolder::new().unwrap();
    case("rocksdb", &[]).create_filled(&place.path, 3).unwrap();
    assert_eq!(left_out("rocksdb", &place.path, &[]), (Vec::new(), false));
    let columns = ["default", "names"];
    let database = rocksdb::DB::open_cf(&rocksdb::Options::default(), &place.path, columns);
    database.unwrap().put("b", "value").unwrap();
    assert_eq!(left_out("rocksdb", &place.path, &[]), (others(&["family default"]), false));
}
