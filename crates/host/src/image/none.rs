//! Images are mounted on Linux only.

use std::path::{Path, PathBuf};

use model::{Error, Result};

use super::ImageKind;

/// Why images of these kinds, of `bytes` each, cannot be had in `folder`.
pub fn check_images(kinds: &[ImageKind], _: u64, _: &Path) -> Result<()> {
    kinds.first().map_or(Ok(()), |kind| Err(unsupported(*kind)))
}

/// Makes an image in `folder`, a scratch folder, and returns where it is mounted.
pub fn mount_image(kind: ImageKind, _: &Path, _: u64) -> Result<PathBuf> {
    Err(unsupported(kind))
}

/// Unmounts and detaches what [`mount_image`] left in `folder`.
pub(crate) fn release(_: &Path) {}

fn unsupported(kind: ImageKind) -> Error {
    Error::unsupported(format!(
        "{kind}: images are mounted on Linux only; a folder on such a file system can be named instead"
    ))
}
