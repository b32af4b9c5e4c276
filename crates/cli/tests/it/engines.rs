//! `storemark engines`.

use crate::world::World;

#[test]
fn all_engines_are_listed_with_what_each_class_does() {
    let page = World::new().ok("engines").out;
    // Lines are broken anywhere.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for engine in engines::registry::all_blobs() {
        let title = format!("{}: {}", engine.name(), engine.declaration().about);
        assert!(words.contains(&title), "{title}\n{page}");
    }
    for part in
        ["\n  version       SQLite 3.", "\n  durable       ", "\n  lacks         durability"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
}

#[test]
fn one_is_explained_by_its_name_as_targets_have_it() {
    let world = World::new();
    let page = world.ok("engines files").out;
    assert_eq!(world.ok("engines files:").out, page);
    for part in
        ["Settings", "accepted: flat, tree, names", "Durability", "by write=rename sync=full"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_slip_is_answered_with_the_nearest_match() {
    let line = World::new().refused("engines file");
    assert!(line.contains("did you mean files?"), "{line}");
}
