//! The recorded folder as the program sees it: names and attributes in memory, bytes in a file each.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{OsStr, OsString},
    fs::File,
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};

use crate::{Attributes, Entry, Inode, NodeKind, ROOT};

/// A file, folder or link.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) mode: u32,
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) links: u32,
    pub(crate) size: u64,
    pub(crate) accessed: SystemTime,
    pub(crate) modified: SystemTime,
    pub(crate) changed: SystemTime,
    pub(crate) extended: BTreeMap<OsString, Vec<u8>>,
    /// The entries of a folder.
    pub(crate) entries: BTreeMap<OsString, Inode>,
    /// The folder that a folder is in.
    pub(crate) parent: Inode,
}

/// All inodes of the folder. One that lost its last name stays, because it may still be open.
#[derive(Debug)]
pub(crate) struct Nodes {
    all: HashMap<Inode, Node>,
    next: Inode,
    /// The folder with a file for the bytes of each inode.
    bytes: PathBuf,
}

type Result<T> = std::result::Result<T, Errno>;

impl Nodes {
    /// Creates an empty folder of this owner, with the bytes of its files in the folder `bytes`;
    /// inodes are numbered from `first`.
    pub(crate) fn new(bytes: PathBuf, first: Inode, user: u32, group: u32) -> Self {
        let attributes = Attributes {
            mode: Some(0o755),
            user: Some(user),
            group: Some(group),
            ..<_>::default()
        };
        let root = new_node(NodeKind::Folder, &attributes, ROOT);
        Self { all: HashMap::from([(ROOT, root)]), next: first, bytes }
    }

    pub(crate) fn get(&self, inode: Inode) -> Result<&Node> {
        self.all.get(&inode).ok_or(Errno::NOENT)
    }

    pub(crate) fn get_mut(&mut self, inode: Inode) -> Result<&mut Node> {
        self.all.get_mut(&inode).ok_or(Errno::NOENT)
    }

    pub(crate) fn find(&self, folder: Inode, name: &OsStr) -> Result<Inode> {
        self.get(folder)?.entries.get(name).copied().ok_or(Errno::NOENT)
    }

    pub(crate) fn open(&self, inode: Inode) -> io::Result<File> {
        File::options().read(true).write(true).open(self.path(inode))
    }

    fn path(&self, inode: Inode) -> PathBuf {
        self.bytes.join(inode.to_string())
    }

    /// Creates an inode with its first name.
    pub(crate) fn create(
        &mut self,
        entry: &Entry,
        kind: NodeKind,
        attributes: &Attributes,
    ) -> io::Result<Inode> {
        let inode = self.next;
        if kind == NodeKind::File {
            File::create_new(self.path(inode))?;
        }
        self.next += 1;
        self.all.insert(inode, new_node(kind, attributes, entry.0));
        self.enter(entry, inode)?;
        Ok(inode)
    }

    /// Gives an inode another name.
    pub(crate) fn link(&mut self, inode: Inode, entry: &Entry) -> Result<()> {
        self.enter(entry, inode)?;
        let node = self.get_mut(inode)?;
        node.links += 1;
        node.changed = SystemTime::now();
        Ok(())
    }

    /// Removes a name and returns what had it. A folder has to be empty.
    pub(crate) fn remove(&mut self, entry: &Entry) -> Result<Inode> {
        let inode = self.find(entry.0, &entry.1)?;
        if !self.get(inode)?.entries.is_empty() {
            return Err(Errno::NOTEMPTY);
        }
        self.leave(entry)?;
        self.lose_name(inode)?;
        Ok(inode)
    }

    fn lose_name(&mut self, inode: Inode) -> Result<()> {
        let node = self.get_mut(inode)?;
        node.links = node.links.saturating_sub(1);
        node.changed = SystemTime::now();
        Ok(())
    }

    /// Renames, and returns what was renamed and what was replaced or exchanged.
    pub(crate) fn rename(
        &mut self,
        from: &Entry,
        to: &Entry,
        exchange: bool,
    ) -> Result<(Inode, Option<Inode>)> {
        let inode = self.find(from.0, &from.1)?;
        let other = self.find(to.0, &to.1).ok();
        if exchange {
            let other = other.ok_or(Errno::NOENT)?;
            self.enter(from, other)?;
            self.enter(to, inode)?;
            return Ok((inode, Some(other)));
        }
        if let Some(other) = other {
            if !self.get(other)?.entries.is_empty() {
                return Err(Errno::NOTEMPTY);
            }
            self.lose_name(other)?;
        }
        self.leave(from)?;
        self.enter(to, inode)?;
        Ok((inode, other))
    }

    /// Puts an inode under a name, whatever has it.
    fn enter(&mut self, entry: &Entry, inode: Inode) -> Result<()> {
        let folder = self.get_mut(entry.0)?;
        folder.entries.insert(entry.1.clone(), inode);
        touch(folder);
        self.get_mut(inode)?.parent = entry.0;
        Ok(())
    }

    fn leave(&mut self, entry: &Entry) -> Result<()> {
        let folder = self.get_mut(entry.0)?;
        folder.entries.remove(&entry.1);
        touch(folder);
        Ok(())
    }

    pub(crate) fn set(&mut self, inode: Inode, attributes: &Attributes) -> Result<()> {
        let node = self.get_mut(inode)?;
        node.mode = attributes.mode.map_or(node.mode, |mode| mode & 0o7777);
        node.user = attributes.user.unwrap_or(node.user);
        node.group = attributes.group.unwrap_or(node.group);
        let [accessed, modified] = attributes.times;
        node.accessed = accessed.unwrap_or(node.accessed);
        node.modified = modified.unwrap_or(node.modified);
        node.changed = SystemTime::now();
        Ok(())
    }

    /// Sets the length of a file.
    pub(crate) fn truncate(&mut self, inode: Inode, size: u64) -> io::Result<()> {
        self.open(inode)?.set_len(size)?;
        let node = self.get_mut(inode)?;
        node.size = size;
        touch(node);
        Ok(())
    }

    /// Notes that a file was written to, up to `end`.
    pub(crate) fn written(&mut self, inode: Inode, end: u64) -> Result<()> {
        let node = self.get_mut(inode)?;
        node.size = node.size.max(end);
        touch(node);
        Ok(())
    }

    /// Makes bytes of a file zeros, and lets it grow to contain them. Nothing is allocated.
    pub(crate) fn allocate(
        &mut self,
        inode: Inode,
        offset: u64,
        len: u64,
        [zero, grow]: [bool; 2],
    ) -> io::Result<()> {
        let file = self.open(inode)?;
        if zero {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&file, flags, offset, len)?;
        }
        let node = self.get_mut(inode)?;
        if grow && offset + len > node.size {
            file.set_len(offset + len)?;
            node.size = offset + len;
        }
        touch(node);
        Ok(())
    }

    /// Returns the entries of a folder with their inodes, `.` and `..` first.
    pub(crate) fn list(&self, folder: Inode) -> Result<Vec<(Inode, OsString)>> {
        let node = self.get(folder)?;
        let own = [(folder, OsString::from(".")), (node.parent, OsString::from(".."))];
        let entries = node.entries.iter().map(|(name, inode)| (*inode, name.clone()));
        Ok(own.into_iter().chain(entries).collect())
    }
}

fn touch(node: &mut Node) {
    node.modified = SystemTime::now();
    node.changed = node.modified;
}

fn new_node(kind: NodeKind, attributes: &Attributes, parent: Inode) -> Node {
    let now = SystemTime::now();
    let size = if let NodeKind::Link(target) = &kind { length(target) } else { 0 };
    Node {
        kind,
        mode: attributes.mode.unwrap_or(0o644) & 0o7777,
        user: attributes.user.unwrap_or(0),
        group: attributes.group.unwrap_or(0),
        links: 1,
        size,
        accessed: now,
        modified: now,
        changed: now,
        extended: BTreeMap::new(),
        entries: BTreeMap::new(),
        parent,
    }
}

fn length(target: &Path) -> u64 {
    target.as_os_str().len() as u64
}
