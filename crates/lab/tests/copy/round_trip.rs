//! What goes in comes out, from every engine to every other.

use model::KeyKind;

use crate::common::*;

const INTEGERS: [(&str, &str); 5] = [
    ("files", ""),
    ("files", "?layout=tree"),
    ("pack", ""),
    ("sqlite", ""),
    ("sqlite", "?page_size=512"),
];

#[test]
fn integers_pass_between_all_engines() {
    let folder = tempfile::tempdir().unwrap();
    for (i, (from, setting)) in INTEGERS.into_iter().enumerate() {
        let source = at(from, folder.path(), &format!("from{i}")) + setting;
        integers(&source, 600);
        for (j, (to, setting)) in INTEGERS.into_iter().enumerate() {
            let name = format!("to{i}{j}");
            let copied = copy(&source, &(at(to, folder.path(), &name) + setting)).unwrap();
            assert_eq!((copied.count, copied.resumed), (600, 0));
            let copy = at(to, folder.path(), &name);
            assert_equal(&source, &copy);
            assert_eq!(verify(&source, &copy).bytes, copied.bytes);
            let left = entries(folder.path());
            let files: Vec<_> = left.iter().filter(|other| other.starts_with(&name)).collect();
            assert_eq!(files, [&name], "nothing is next to the copy");
        }
    }
}

#[test]
fn names_modes_and_times_pass_between_all_engines() {
    let folder = tempfile::tempdir().unwrap();
    let source = at("files", folder.path(), "from");
    names(&source);
    for first in ["files", "pack", "sqlite"] {
        let there = at(first, folder.path(), first);
        copy(&source, &there).unwrap();
        assert_equal(&source, &there);
        for second in ["files", "pack", "sqlite"] {
            let back = at(second, folder.path(), &format!("{first}-{second}"));
            assert_eq!(copy(&there, &back).unwrap().count, NAMES.len() as u64);
            assert_equal(&source, &back);
            let whole_seconds = first == "sqlite" || second == "sqlite";
            for (name, mut meta) in metas(&source) {
                meta.nanoseconds = if whole_seconds { 0 } else { meta.nanoseconds };
                assert_eq!(metas(&back)[&name], meta, "{name} in {back}");
            }
        }
    }
}

#[test]
fn names_that_look_like_numbers_pass_where_the_layout_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let [source, copied] =
        ["source", "copy"].map(|n| at("files", folder.path(), n) + "?layout=names");
    names(&source);
    put(&source, model::Key::Name(b"000001"), b"one");
    copy(&source, &copied).unwrap();
    assert_equal(&source, &copied);
}

#[test]
fn an_empty_store_copies_to_an_empty_store() {
    let folder = tempfile::tempdir().unwrap();
    for keys in [KeyKind::Integers, KeyKind::Names] {
        let source = at("pack", folder.path(), &keys.to_string());
        match keys {
            KeyKind::Integers => integers(&source, 0),
            KeyKind::Names => no_names(&source),
        }
        for to in ["files", "pack", "sqlite"] {
            let copied = at(to, folder.path(), &format!("{keys}-{to}"));
            assert_eq!(copy(&source, &copied).unwrap().count, 0);
        }
        assert_equal(&source, &at("sqlite", folder.path(), &format!("{keys}-sqlite")));
    }
}

fn no_names(target: &str) {
    names(target);
    for name in NAMES {
        delete(target, model::Key::Name(name.as_bytes()));
    }
}

#[test]
fn a_large_value_passes() {
    let folder = tempfile::tempdir().unwrap();
    let [source, copied] = ["sqlite", "files"].map(|engine| at(engine, folder.path(), engine));
    integers(&source, 3);
    put(&source, model::Key::Int(2), &vec![7; 9 << 20]);
    copy(&source, &copied).unwrap();
    assert_equal(&source, &copied);
}

#[test]
fn settings_that_a_store_keeps_are_those_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let [source, copied] = ["pack", "sqlite"].map(|engine| at(engine, folder.path(), engine));
    integers(&source, 100);
    copy(&source, &format!("{copied}?page_size=8192&journal=wal&sync=full")).unwrap();
    let header = std::fs::read(folder.path().join("sqlite")).unwrap();
    assert_eq!(header[16..18], 8192_u16.to_be_bytes(), "page size");
    assert_eq!(header[18..20], [2, 2], "WAL");
    assert_eq!(entries(folder.path()), ["pack", "sqlite"]);
}
