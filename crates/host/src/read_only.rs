//! Images of file systems that are only read (Linux): mounted on a loop device by mount(8), on a folder in a
//! scratch folder, as long as they are used.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use model::{Error, Result};

use crate::{
    Scratch,
    image::{MOUNT, may_mount, run},
    programs::program,
};

/// A kind of file system whose images are only read.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadOnlyKind {
    /// The name, which is also the kernel's.
    pub name: &'static str,
    /// The offset of the bytes that are the same in all images.
    offset: u64,
    magic: [u8; 4],
}

impl ReadOnlyKind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self { name: "squashfs", offset: 0, magic: *b"hsqs" },
        Self { name: "erofs", offset: 1024, magic: 0xE0F5_E1E2_u32.to_le_bytes() },
    ];

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|kind| kind.name == name)
    }

    /// Recognises the image in a file; `None` if it is none.
    pub fn recognise(image: &Path) -> Option<&'static Self> {
        // Opening a pipe would wait for its writer.
        fs::metadata(image).ok().filter(fs::Metadata::is_file)?;
        Self::ALL.iter().find(|kind| kind.starts(image))
    }

    fn starts(&self, image: &Path) -> bool {
        let read = || {
            let (mut file, mut start) = (File::open(image)?, [0; 4]);
            file.seek(SeekFrom::Start(self.offset))?;
            file.read_exact(&mut start).map(|()| start)
        };
        read().is_ok_and(|start| start == self.magic)
    }
}

/// An image that is mounted until this is dropped, or this process has ended.
#[derive(Debug)]
pub struct MountedImage {
    image: PathBuf,
    point: PathBuf,
    _scratch: Scratch,
}

impl MountedImage {
    /// Mounts an image to read its files, in the system's folder for temporary files.
    ///
    /// # Errors
    ///
    /// Fails if a file is no image of this kind, or this user or system cannot mount it.
    pub fn new(kind: &ReadOnlyKind, image: &Path) -> Result<Self> {
        let wrong = |why: String| Error::usage(why).at(image.display());
        if !cfg!(target_os = "linux") {
            return Err(Error::unsupported("images are mounted on Linux only").at(image.display()));
        }
        match ReadOnlyKind::recognise(image) {
            Some(found) if found == kind => {}
            Some(found) => return Err(wrong(format!("is an image of {0}: {0}:FILE", found.name))),
            None => return Err(wrong(format!("is no image of {}", kind.name))),
        }
        may_mount(crate::user_id()).map_err(wrong)?;
        let has_tools = program("mount").is_some() && Path::new("/dev/loop-control").exists();
        if !has_tools {
            return Err(wrong("mount(8) or /dev/loop-control is missing".to_owned()));
        }
        let scratch = Scratch::new_in(&env::temp_dir())?;
        // The name is part of messages.
        let mut name = OsString::from(format!("{}-", kind.name));
        name.push(image.file_name().unwrap_or_default());
        name.push(format!(".{MOUNT}"));
        let point = scratch.path().join(name);
        fs::create_dir(&point).map_err(|e| Error::io(point.display(), e))?;
        let options = ["-t", kind.name, "-o", "loop,ro,nodev,nosuid,noexec", "--"];
        let mounted = run("mount", &options, &[image, &point]);
        mounted.map_err(|error| error.at(image.display()))?;
        Ok(Self { image: image.to_owned(), point, _scratch: scratch })
    }

    /// Returns the file of the image.
    pub fn image(&self) -> &Path {
        &self.image
    }

    /// Returns the folder with its files.
    pub fn point(&self) -> &Path {
        &self.point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (file, erofs) = (folder.path().join("image"), ReadOnlyKind::named("erofs"));
        for (offset, magic, kind) in [
            (0, b"hsqs", ReadOnlyKind::named("squashfs")),
            (0, b"sqsh", None),
            (1024, b"\xE2\xE1\xF5\xE0", erofs),
            (0, b"\xE2\xE1\xF5\xE0", None),
        ] {
            let mut bytes = vec![0; offset];
            bytes.extend(magic);
            fs::write(&file, bytes).unwrap();
            assert_eq!(ReadOnlyKind::recognise(&file), kind, "{offset} {magic:?}");
        }
        assert_eq!(ReadOnlyKind::recognise(folder.path()), None);
        assert_eq!(ReadOnlyKind::recognise(&folder.path().join("absent")), None);
    }
}
