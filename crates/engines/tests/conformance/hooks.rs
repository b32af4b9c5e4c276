//! The page for contributors lists every hook of an engine, and those without a default in bold.

use std::{fs, path::Path};

/// The methods of the trait that starts with `head`, with whether they have a default.
fn methods<'s>(source: &'s str, head: &str) -> Vec<(&'s str, bool)> {
    let (_, body) = source.split_once(head).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let declared = body.split("\n    fn ").skip(1);
    let has_default = |method: &str| method.find('{') < method.find(';').or(Some(usize::MAX));
    declared
        .map(|method| {
            (method.split('(').next().unwrap(), method.contains('{') && has_default(method))
        })
        .collect()
}

#[test]
fn the_page_lists_every_hook() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let page = read("docs/adding-an-engine.md");
    for (file, head) in [
        ("engine/mod", "pub trait Engine: "),
        ("engine/blobs", "pub trait Blobs: "),
        ("store", "pub trait Store: "),
        ("store", "pub trait Session {"),
    ] {
        let source = read(&format!("crates/model/src/{file}.rs"));
        let methods = methods(&source, head);
        assert!(methods.len() > 5, "{head}: {methods:?}");
        for (name, has_default) in methods {
            let is_bold = page.contains(&format!("**`{name}`**"));
            assert!(page.contains(&format!("`{name}`")) && is_bold != has_default, "{head}{name}");
        }
    }
}
