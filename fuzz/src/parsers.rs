//! libFuzzer over one of the parsers: `STOREMARK_PARSER` names it.
#![no_main]

#[path = "../../crates/cli/tests/it/torture/parsers.rs"]
mod parsers;

use std::{env, path::PathBuf, sync::OnceLock};

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    static PARSER: OnceLock<(parsers::Parser, PathBuf)> = OnceLock::new();
    let ((_, parse), file) = PARSER.get_or_init(|| {
        let name = env::var("STOREMARK_PARSER").unwrap_or_default();
        let found = parsers::ALL.into_iter().find(|(of, _)| *of == name);
        let file = env::temp_dir().join(format!("storemark-fuzz-{}", std::process::id()));
        (found.expect("STOREMARK_PARSER: target, plan, record or archive"), file)
    });
    parse(bytes, file);
});
