//! Images of file systems as targets: `squashfs:FILE` and `erofs:FILE`. Their files are values, as those of a
//! folder. Each image is mounted once in a command, because the system caches what is read through a mount
//! for this mount alone.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use host::{MountedImage, ReadOnlyKind};
use model::{Error, Result};

/// The images that are mounted.
static MOUNTED: Mutex<Vec<MountedImage>> = Mutex::new(Vec::new());

/// Mounts the image in a file, if it is not mounted already, and returns the folder with its files.
///
/// # Errors
///
/// Fails if it is no such image, or this user cannot mount it.
pub(crate) fn mounted(kind: &ReadOnlyKind, image: &Path) -> Result<PathBuf> {
    if image.as_os_str().is_empty() {
        let why = format!("names no image (accepted: {0}:FILE)", kind.name);
        return Err(Error::usage(why).at(format!("{}:", kind.name)));
    }
    let image = image.canonicalize().map_err(|e| Error::io(image.display(), e))?;
    let mut all = MOUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = all.iter().find(|other| other.image() == image) {
        return Ok(same.point().to_owned());
    }
    let new = MountedImage::new(kind, &image)?;
    let point = new.point().to_owned();
    all.push(new);
    Ok(point)
}

/// Returns the image that is mounted on `folder`; `folder` itself if none is.
pub(crate) fn original(folder: &Path) -> PathBuf {
    let all = MOUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let image = all.iter().find(|image| image.point() == folder).map(MountedImage::image);
    image.unwrap_or(folder).to_owned()
}

/// Unmounts all images. No file of theirs may be open.
pub(crate) fn unmount() {
    MOUNTED.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Replaces the folder that an image is mounted on in an error by the path of the image.
pub(crate) fn named(error: Error) -> Error {
    let all = MOUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |image: &MountedImage| {
        [image.point(), image.image()].map(|path| path.display().to_string())
    };
    all.iter().map(of).fold(error, |error, [point, image]| error.moved(&point, &image))
}
