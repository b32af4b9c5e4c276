//! Images are mounted on Linux only.

use std::path::{Path, PathBuf};

use model::{Error, Result};

use super::ImageKind;

/// Checks that images of these kinds can be created in a folder: they cannot.
pub fn check_images(kinds: &[ImageKind], _: u64, _: &Path) -> Result<()> {
    kinds.first().map_or(Ok(()), |kind| Err(unsupported(*kind)))
}

/// Creates an image in a scratch folder and returns where it is mounted.
pub fn mount_image(kind: ImageKind, _: &Path, _: u64) -> Result<PathBuf> {
    Err(unsupported(kind))
}

/// Unmounts and detaches the images in a scratch folder.
pub(crate) fn release(_: &Path) {}

fn unsupported(kind: ImageKind) -> Error {
    Error::unsupported(format!(
        "{kind}: images are mounted on Linux only; a folder on such a file system can be named instead"
    ))
}
