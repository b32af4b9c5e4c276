//! The only test that touches the caches of the whole machine, if it may; in a binary of its
//! own, since it would disturb the others.

#![allow(clippy::unwrap_used, reason = "tests")]

mod folder;

use std::{fs, io::ErrorKind};

use folder::{folder, lives_in_memory};
use storemark_pagecache::{Files, can_drop_all, drop_all};

#[test]
fn dropping_everything_drops_names_and_asking_does_not_load_them() {
    let root = folder();
    for folder in ["a", "b"] {
        fs::create_dir(root.path().join(folder)).unwrap();
        for file in 0..50 {
            fs::write(root.path().join(folder).join(file.to_string()), "x").unwrap();
        }
    }
    let files = Files::below([root.path()]).unwrap();
    let Ok(before) = files.names() else {
        assert_eq!(files.names().unwrap_err().kind(), ErrorKind::Unsupported);
        return;
    };
    assert_eq!((before.total, before.cached), (102, 102));
    if let Err(error) = can_drop_all() {
        let said = drop_all().unwrap_err();
        assert_eq!((said.kind(), said.to_string()), (error.kind(), error.to_string()));
        assert!(said.to_string().contains("needs"), "{said}");
        return;
    }
    drop_all().unwrap();
    let dropped = files.names().unwrap();
    assert!(dropped.cached < 10 || lives_in_memory(root.path()), "{dropped:?}");
    // Asking loaded nothing, opening does.
    assert!(files.names().unwrap().cached <= dropped.cached);
    files.pages().unwrap();
    assert_eq!(files.names().unwrap().cached, 102);
}
