//! A system that does not tell where a file lies.

use std::path::PathBuf;

use model::Result;

use crate::space::walk;

/// Files, and the pieces they lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Files that have bytes.
    pub files: u64,
    /// Absent here.
    pub extents: Option<u64>,
}

/// The files at and below `paths`.
pub fn extents(paths: &[PathBuf]) -> Result<Extents> {
    let mut found = Extents::default();
    for path in paths {
        walk(path, &mut |_, meta| {
            found.files += u64::from(meta.is_file() && meta.len() > 0);
            Ok(())
        })?;
    }
    Ok(found)
}
