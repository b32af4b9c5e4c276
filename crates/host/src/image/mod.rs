//! Throw-away file systems: an image file in a scratch folder, on a loop device without the page
//! cache if that is possible, mounted next to it. The [scratch folder](crate::Scratch) that holds
//! them unmounts and detaches them before it is removed.

#[cfg(target_os = "linux")]
mod mounted;
#[cfg(not(target_os = "linux"))]
#[path = "none.rs"]
mod mounted;

use std::{fmt, str::FromStr};

use model::{Error, Result, nearest};

pub(crate) use mounted::release;
pub use mounted::{check_images, mount_image};

/// A file system for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
}

impl ImageKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Ext4, Self::Xfs, Self::Btrfs];

    /// Returns the word for it, which is also the kernel's.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }
}

impl fmt::Display for ImageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ImageKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str);
            let near = nearest(text, words);
            let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            Error::usage(format!(
                "{text}: no such folder, and no file system to make an image of (accepted: a folder, {}){near}",
                words.join(", ")
            ))
        })
    }
}
