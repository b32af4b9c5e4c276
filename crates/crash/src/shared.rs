//! What the calls of the recorded folder share: its files, their record and its two special files.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::File,
    os::unix::fs::FileExt,
    path::Path,
    time::SystemTime,
};

use fuser::{Errno, FileAttr, FileHandle, FileType, FopenFlags, INodeNo, RenameFlags, Request};

use crate::{
    Attributes, Entry, Inode, NodeKind, Operation, ROOT, Record,
    nodes::{Node, Nodes},
};

/// The file in the recorded folder whose every line is an acknowledgement.
pub const ACKNOWLEDGEMENTS: &str = ".storemark-ack";
/// The file that is the program's standard output; a line `ACK text` of it is an acknowledgement.
pub(crate) const OUTPUT: &str = ".storemark-out";

/// The inodes of the two files, which are in no listing and in no state.
pub(crate) const SPECIAL: [(&str, Inode); 2] = [(ACKNOWLEDGEMENTS, 2), (OUTPUT, 3)];
const FIRST: Inode = 4;

/// The most lines of the program's output that are kept.
const MOST_LINES: usize = 1_000;

/// What the threads of the file system and of its owner share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) nodes: Nodes,
    pub(crate) record: Record,
    /// The files that are open, by handle, and the listings.
    files: HashMap<u64, File>,
    listings: HashMap<u64, Vec<(Inode, OsString)>>,
    next_handle: u64,
    /// What was written to each of the special files without a line's end.
    unfinished: [Vec<u8>; 2],
    /// The first lines of the output that are no acknowledgements.
    pub(crate) output: Vec<String>,
    /// The number of flushes of files before the one that fails; `None` if none does.
    pub(crate) before_failure: Option<u64>,
}

impl Shared {
    pub(crate) fn new(record: Record, bytes: &Path, user: u32, group: u32) -> Self {
        Self {
            nodes: Nodes::new(bytes.to_owned(), FIRST, user, group),
            record,
            files: HashMap::new(),
            listings: HashMap::new(),
            next_handle: 1,
            unfinished: Default::default(),
            output: Vec::new(),
            before_failure: None,
        }
    }

    fn handle(&mut self) -> u64 {
        self.next_handle += 1;
        self.next_handle
    }

    /// Takes lines written to a special file: acknowledgements are operations of the record.
    fn take_lines(&mut self, special: usize, bytes: &[u8]) {
        self.unfinished[special].extend_from_slice(bytes);
        while let Some(end) = self.unfinished[special].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unfinished[special].drain(..=end).collect();
            self.line(special, &line[..end]);
        }
    }

    /// Reads what was written without a line's end, once no more is written.
    pub(crate) fn finish(&mut self) {
        for special in 0..SPECIAL.len() {
            let line = std::mem::take(&mut self.unfinished[special]);
            if !line.is_empty() {
                self.line(special, &line);
            }
        }
    }

    fn line(&mut self, special: usize, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end_matches('\r').to_owned();
        let text = if special == 0 { Some(line.as_str()) } else { line.strip_prefix("ACK ") };
        if let Some(text) = text {
            self.record.add(Operation::Acknowledge { text: text.to_owned() });
        } else if self.output.len() < MOST_LINES {
            self.output.push(line);
        }
    }

    pub(crate) fn attributes(&self, inode: INodeNo) -> Result<FileAttr, Errno> {
        if special(inode).is_some() {
            return Ok(special_attributes(inode.0));
        }
        self.nodes.get(inode.0).map(|node| attributes(inode.0, node)).map_err(errno)
    }

    pub(crate) fn create(
        &mut self,
        request: &Request,
        creation: Creation<'_>,
    ) -> Result<FileAttr, Errno> {
        let Creation { folder, name, kind, mode } = creation;
        if is_special(folder, name) || self.nodes.find(folder.0, name).is_ok() {
            return Err(Errno::EEXIST);
        }
        let entry = entry(folder, name);
        let attributes = Attributes {
            mode: Some(mode & 0o7777),
            user: Some(request.uid()),
            group: Some(request.gid()),
            ..Attributes::default()
        };
        let inode = self.nodes.create(&entry, kind.clone(), &attributes)?;
        self.record.add(Operation::Create { inode, entry, kind, attributes });
        self.attributes(INodeNo(inode))
    }

    pub(crate) fn remove(&mut self, folder: INodeNo, name: &OsStr) -> Result<(), Errno> {
        if is_special(folder, name) {
            return Err(Errno::EPERM);
        }
        let entry = entry(folder, name);
        let inode = self.nodes.remove(&entry).map_err(errno)?;
        self.record.add(Operation::Remove { inode, entry });
        Ok(())
    }

    pub(crate) fn rename(
        &mut self,
        from: Entry,
        to: Entry,
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        if [&from, &to].iter().any(|entry| is_special(INodeNo(entry.0), &entry.1)) {
            return Err(Errno::EPERM);
        }
        if flags.contains(RenameFlags::RENAME_WHITEOUT) {
            return Err(Errno::EINVAL);
        }
        if flags.contains(RenameFlags::RENAME_NOREPLACE) && self.nodes.find(to.0, &to.1).is_ok() {
            return Err(Errno::EEXIST);
        }
        let exchange = flags.contains(RenameFlags::RENAME_EXCHANGE);
        let (inode, replaced) = self.nodes.rename(&from, &to, exchange).map_err(errno)?;
        self.record.add(Operation::Rename { inode, from, to, replaced, exchange });
        Ok(())
    }

    pub(crate) fn open(&mut self, inode: INodeNo) -> Result<(FileHandle, FopenFlags), Errno> {
        let handle = self.handle();
        if special(inode).is_some() {
            return Ok((
                FileHandle(handle),
                FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_NOFLUSH,
            ));
        }
        let file = self.nodes.open(inode.0)?;
        self.files.insert(handle, file);
        // As elsewhere, close(2) writes nothing back.
        Ok((FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH))
    }

    pub(crate) fn write(
        &mut self,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), Errno> {
        if let Some(special) = special(inode) {
            self.take_lines(special, bytes);
            return Ok(());
        }
        match self.files.get(&handle.0) {
            Some(file) => file.write_all_at(bytes, offset)?,
            // The kernel writes back a mapping by a handle of its own choice.
            None => self.nodes.open(inode.0)?.write_all_at(bytes, offset)?,
        }
        self.nodes.written(inode.0, offset + bytes.len() as u64).map_err(errno)?;
        self.record.add_write(inode.0, offset, bytes)?;
        Ok(())
    }

    pub(crate) fn read(
        &self,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
    ) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; size as usize];
        let mut read = 0;
        if let Some(file) = self.files.get(&handle.0).filter(|_| special(inode).is_none()) {
            while read < bytes.len() {
                match file.read_at(&mut bytes[read..], offset + read as u64)? {
                    0 => break,
                    count => read += count,
                }
            }
        }
        bytes.truncate(read);
        Ok(bytes)
    }

    pub(crate) fn set_attributes(
        &mut self,
        inode: INodeNo,
        attributes: Attributes,
        size: Option<u64>,
    ) -> Result<FileAttr, Errno> {
        if special(inode).is_some() {
            return self.attributes(inode);
        }
        if let Some(size) = size {
            self.nodes.truncate(inode.0, size)?;
            self.record.add(Operation::Truncate { inode: inode.0, size });
        }
        if attributes != Attributes::default() {
            self.nodes.set(inode.0, &attributes).map_err(errno)?;
            self.record.add(Operation::Attributes { inode: inode.0, attributes });
        }
        self.attributes(inode)
    }

    pub(crate) fn allocate(
        &mut self,
        inode: INodeNo,
        offset: u64,
        len: u64,
        mode: i32,
    ) -> Result<(), Errno> {
        // fallocate(2): KEEP_SIZE, PUNCH_HOLE, ZERO_RANGE.
        let (keep, punch, zero) = (mode & 1 != 0, mode & 2 != 0, mode & 16 != 0);
        if mode & !(1 | 2 | 16) != 0 || special(inode).is_some() {
            return Err(Errno::EOPNOTSUPP);
        }
        let (zero, grow) = (punch || zero, !keep);
        self.nodes.allocate(inode.0, offset, len, [zero, grow])?;
        self.record.add(Operation::Allocate { inode: inode.0, offset, len, zero, grow });
        Ok(())
    }

    /// Sets an extended attribute, or removes it if `value` is `None`; `flags` are those of setxattr(2).
    pub(crate) fn set_extended(
        &mut self,
        inode: INodeNo,
        name: &OsStr,
        value: Option<&[u8]>,
        flags: i32,
    ) -> Result<(), Errno> {
        let node = self.nodes.get_mut(inode.0).map_err(errno)?;
        let exists = node.extended.contains_key(name);
        // setxattr(2): XATTR_CREATE, XATTR_REPLACE.
        if exists && flags & 1 != 0 {
            return Err(Errno::EEXIST);
        }
        if !exists && (flags & 2 != 0 || value.is_none()) {
            return Err(Errno::ENODATA);
        }
        match value {
            Some(value) => node.extended.insert(name.to_owned(), value.to_owned()),
            None => node.extended.remove(name),
        };
        let (name, value) = (name.to_owned(), value.map(<[u8]>::to_vec));
        self.record.add(Operation::Extended { inode: inode.0, name, value });
        Ok(())
    }

    /// Flushes a file, or fails if that is its turn.
    pub(crate) fn flush(&mut self, inode: INodeNo, data_only: bool) -> Result<(), Errno> {
        if special(inode).is_some() {
            return Ok(());
        }
        let (inode, fails) = (inode.0, self.before_failure == Some(0));
        self.before_failure = self.before_failure.and_then(|left| left.checked_sub(1));
        if fails {
            self.record.add(Operation::FailedFlush { inode });
            return Err(Errno::EIO);
        }
        self.record.add(Operation::Flush { inode, data_only });
        Ok(())
    }

    pub(crate) fn close(&mut self, handle: FileHandle) {
        self.files.remove(&handle.0);
    }

    pub(crate) fn open_listing(&mut self, inode: INodeNo) -> Result<FileHandle, Errno> {
        let listing = self.nodes.list(inode.0).map_err(errno)?;
        let handle = self.handle();
        self.listings.insert(handle, listing);
        Ok(FileHandle(handle))
    }

    /// Reads again what an open listing has.
    pub(crate) fn refresh_listing(&mut self, inode: INodeNo, handle: FileHandle) {
        if let Ok(listing) = self.nodes.list(inode.0) {
            self.listings.insert(handle.0, listing);
        }
    }

    pub(crate) fn listing(&self, handle: FileHandle) -> &[(Inode, OsString)] {
        self.listings.get(&handle.0).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn close_listing(&mut self, handle: FileHandle) {
        self.listings.remove(&handle.0);
    }
}

/// Returns the index of a special file.
pub(crate) fn special(inode: INodeNo) -> Option<usize> {
    SPECIAL.iter().position(|(_, special)| *special == inode.0)
}

pub(crate) fn entry(folder: INodeNo, name: &OsStr) -> Entry {
    (folder.0, name.to_owned())
}

pub(crate) fn is_special(folder: INodeNo, name: &OsStr) -> bool {
    folder.0 == ROOT && SPECIAL.iter().any(|(special, _)| name == *special)
}

pub(crate) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

pub(crate) fn file_type(kind: &NodeKind) -> FileType {
    match kind {
        NodeKind::File => FileType::RegularFile,
        NodeKind::Folder => FileType::Directory,
        NodeKind::Link(_) => FileType::Symlink,
        NodeKind::Special(bits, _) => match bits & 0o170_000 {
            0o010_000 => FileType::NamedPipe,
            0o020_000 => FileType::CharDevice,
            0o060_000 => FileType::BlockDevice,
            _ => FileType::Socket,
        },
    }
}

fn attributes(inode: Inode, node: &Node) -> FileAttr {
    let rdev = if let NodeKind::Special(_, device) = node.kind { device } else { 0 };
    FileAttr {
        ino: INodeNo(inode),
        size: node.size,
        blocks: node.size.div_ceil(512),
        atime: node.accessed,
        mtime: node.modified,
        ctime: node.changed,
        crtime: node.changed,
        kind: file_type(&node.kind),
        perm: (node.mode & 0o7777) as u16,
        nlink: if node.kind == NodeKind::Folder { 2 } else { node.links },
        uid: node.user,
        gid: node.group,
        rdev,
        blksize: 4096,
        flags: 0,
    }
}

/// Returns the attributes of a special file: it is always empty, and anyone may write to it.
pub(crate) fn special_attributes(inode: Inode) -> FileAttr {
    let never = SystemTime::UNIX_EPOCH;
    FileAttr {
        ino: INodeNo(inode),
        size: 0,
        blocks: 0,
        atime: never,
        mtime: never,
        ctime: never,
        crtime: never,
        kind: FileType::RegularFile,
        perm: 0o666,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
/// What a request creates, under which name.
pub(crate) struct Creation<'a> {
    pub(crate) folder: INodeNo,
    pub(crate) name: &'a OsStr,
    pub(crate) kind: NodeKind,
    pub(crate) mode: u32,
}
