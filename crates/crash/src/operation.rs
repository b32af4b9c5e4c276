//! What a program asks a file system to do, as one list of operations.

use std::{ffi::OsString, path::PathBuf, time::SystemTime};

/// The number of a file, folder or link, unique in a record. The root is [`ROOT`].
pub type Inode = u64;

/// The number of the recorded folder.
pub const ROOT: Inode = 1;

/// A place in a folder: its inode and a name in it.
pub type Entry = (Inode, OsString);

/// What an inode is when it is created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A regular file, empty at first.
    File,
    /// A folder.
    Folder,
    /// A symbolic link with its target.
    Link(PathBuf),
    /// A named pipe or a socket, with the bits of its type and its device number.
    Special(u32, u32),
}

/// Bytes in the spool of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spooled {
    /// Where they start in the spool.
    pub start: u64,
    /// How many they are.
    pub len: u64,
}

/// The attributes that an operation sets; `None` leaves one as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The permission bits.
    pub mode: Option<u32>,
    /// The owner.
    pub user: Option<u32>,
    /// The group.
    pub group: Option<u32>,
    /// The times of the last access and the last change, if the program sets them itself.
    pub times: [Option<SystemTime>; 2],
}

/// An operation of a program on the recorded folder, in the order in which it took effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A file, folder or link is created under a name.
    Create {
        /// The new inode.
        inode: Inode,
        /// Its first name.
        entry: Entry,
        /// What it is.
        kind: NodeKind,
        /// Its permissions, owner and group.
        attributes: Attributes,
    },
    /// A file gets another name.
    Link {
        /// The file.
        inode: Inode,
        /// The other name.
        entry: Entry,
    },
    /// A name is removed: unlink(2) or rmdir(2).
    Remove {
        /// What had the name.
        inode: Inode,
        /// The name.
        entry: Entry,
    },
    /// A name is changed, and what had the new one is replaced, or gets the old one.
    Rename {
        /// What is renamed.
        inode: Inode,
        /// The old name.
        from: Entry,
        /// The new name.
        to: Entry,
        /// What had the new name before.
        replaced: Option<Inode>,
        /// Whether both exchange their names.
        exchange: bool,
    },
    /// Bytes are written.
    Write {
        /// The file.
        inode: Inode,
        /// Where in the file.
        offset: u64,
        /// The bytes.
        data: Spooled,
    },
    /// The length of a file is set.
    Truncate {
        /// The file.
        inode: Inode,
        /// Its new length.
        size: u64,
    },
    /// Space is allocated, or given back and then reads as zeros.
    Allocate {
        /// The file.
        inode: Inode,
        /// Where in the file.
        offset: u64,
        /// How many bytes.
        len: u64,
        /// Whether the bytes become zeros.
        zero: bool,
        /// Whether the file grows to contain them.
        grow: bool,
    },
    /// Permissions, owner or times are set.
    Attributes {
        /// The file or folder.
        inode: Inode,
        /// What is set.
        attributes: Attributes,
    },
    /// An extended attribute is set, or removed if it has no value.
    Extended {
        /// The file or folder.
        inode: Inode,
        /// The name of the attribute.
        name: OsString,
        /// Its value; `None` removes it.
        value: Option<Vec<u8>>,
    },
    /// A file is flushed: fsync(2), or fdatasync(2).
    Flush {
        /// The file.
        inode: Inode,
        /// Whether it is fdatasync(2), which leaves out what is not needed to read the data.
        data_only: bool,
    },
    /// The flush of a file fails: what was written since the last one is not on the disk.
    FailedFlush {
        /// The file.
        inode: Inode,
    },
    /// A folder is flushed: fsync(2) on it.
    FlushFolder {
        /// The folder.
        inode: Inode,
    },
    /// The program says that something is safe from now on.
    Acknowledge {
        /// What it says.
        text: String,
    },
}

impl Operation {
    /// Returns the inodes whose metadata it changes: the entries of a folder are its metadata.
    pub(crate) fn touched(&self) -> Vec<Inode> {
        match self {
            Self::Create { inode, entry, .. }
            | Self::Link { inode, entry }
            | Self::Remove { inode, entry } => vec![*inode, entry.0],
            Self::Rename { inode, from, to, replaced, .. } => {
                [*inode, from.0, to.0].into_iter().chain(*replaced).collect()
            }
            Self::Truncate { inode, .. }
            | Self::Allocate { inode, .. }
            | Self::Attributes { inode, .. }
            | Self::Extended { inode, .. } => vec![*inode],
            _ => Vec::new(),
        }
    }

    /// Returns the folders whose entries it changes.
    pub(crate) fn folders(&self) -> Vec<Inode> {
        match self {
            Self::Create { entry, .. } | Self::Link { entry, .. } | Self::Remove { entry, .. } => {
                vec![entry.0]
            }
            Self::Rename { from, to, .. } => vec![from.0, to.0],
            _ => Vec::new(),
        }
    }

    /// Returns the file whose content or length it changes.
    pub(crate) fn content_of(&self) -> Option<Inode> {
        match self {
            Self::Write { inode, .. }
            | Self::Truncate { inode, .. }
            | Self::Allocate { inode, .. } => Some(*inode),
            _ => None,
        }
    }

    /// Returns whether it changes metadata: names, lengths that are set, attributes. A write that
    /// extends a file is not one: the length changes when the system writes the data out.
    pub(crate) fn is_metadata(&self) -> bool {
        !self.touched().is_empty()
    }

    /// Returns whether it flushes something.
    pub fn is_flush(&self) -> bool {
        matches!(self, Self::Flush { .. } | Self::FlushFolder { .. })
    }
}
