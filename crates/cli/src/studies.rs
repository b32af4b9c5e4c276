//! The published experiments, as files built into the program.

use model::{Error, Result, no_such, study::Study};

/// Names and texts, in the order in which they are listed.
const STUDIES: [(&str, &str); 6] = [
    ("faster-than-fs", include_str!("../../../studies/faster-than-fs.toml")),
    ("page-cache", include_str!("../../../studies/page-cache.toml")),
    ("mass-inserts", include_str!("../../../studies/mass-inserts.toml")),
    ("task-queue", include_str!("../../../studies/task-queue.toml")),
    ("internal-or-external", include_str!("../../../studies/internal-or-external.toml")),
    ("to-blob-or-not", include_str!("../../../studies/to-blob-or-not.toml")),
];

/// All of them by their names.
pub(crate) fn all() -> Result<Vec<(&'static str, Study)>> {
    STUDIES.iter().map(|(name, text)| Ok((*name, Study::parse(text)?))).collect()
}

/// The one called `name`.
pub(crate) fn find(name: &str) -> Result<Study> {
    let names = STUDIES.iter().map(|(name, _)| *name);
    let found = STUDIES.iter().find(|(own, _)| *own == name);
    let (_, text) = found.ok_or_else(|| Error::usage(no_such("study", name, names)))?;
    Study::parse(text)
}
