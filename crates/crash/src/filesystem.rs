//! The recorded folder as a FUSE file system. One thread serves it, so that operations have one order.
//!
//! The process that serves it must not wait for it in the kernel: if it is killed meanwhile, it waits
//! forever, because its end of the file system is closed only when the wait is over. So what it does
//! there itself, other processes do for it, and closing a file asks nothing (`FOPEN_NOFLUSH`).
//!
//! The kernel's page cache writes through: each write(2) arrives when it is made. What a program
//! writes through a shared mapping arrives when the kernel writes it back.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation,
    INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
    ReplyXattr, Request, TimeOrNow, WriteFlags,
};

use crate::{
    Attributes, Entry, Inode, NodeKind, Operation, ROOT, Record,
    nodes::{Node, Nodes},
};

/// The file in the recorded folder whose every line is an acknowledgement.
pub const ACKNOWLEDGEMENTS: &str = ".storemark-ack";
/// The file that is the program's standard output; a line `ACK text` of it is an acknowledgement.
pub(crate) const OUTPUT: &str = ".storemark-out";

/// The inodes of the two files, which are in no listing and in no state.
const SPECIAL: [(&str, Inode); 2] = [(ACKNOWLEDGEMENTS, 2), (OUTPUT, 3)];
const FIRST: Inode = 4;

/// How long the kernel may keep what it was told: nothing changes but through it.
const VALID: Duration = Duration::from_secs(3600);

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
}

/// The file system; its owner shares what it records.
pub(crate) struct RecordedFolder(pub(crate) Arc<Mutex<Shared>>);

impl RecordedFolder {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the index of a special file.
fn special(inode: INodeNo) -> Option<usize> {
    SPECIAL.iter().position(|(_, special)| *special == inode.0)
}

fn entry(folder: INodeNo, name: &OsStr) -> Entry {
    (folder.0, name.to_owned())
}

/// Returns whether a name is one of the special files.
fn is_special(folder: INodeNo, name: &OsStr) -> bool {
    folder.0 == ROOT && SPECIAL.iter().any(|(special, _)| name == *special)
}

fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

fn file_type(kind: &NodeKind) -> FileType {
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
fn special_attributes(inode: Inode) -> FileAttr {
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

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

/// What a request creates, under which name.
struct Creation<'a> {
    folder: INodeNo,
    name: &'a OsStr,
    kind: NodeKind,
    mode: u32,
}

impl Shared {
    fn attributes(&self, inode: INodeNo) -> Result<FileAttr, Errno> {
        if special(inode).is_some() {
            return Ok(special_attributes(inode.0));
        }
        self.nodes.get(inode.0).map(|node| attributes(inode.0, node)).map_err(errno)
    }

    fn create(&mut self, request: &Request, creation: Creation<'_>) -> Result<FileAttr, Errno> {
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

    fn remove(&mut self, folder: INodeNo, name: &OsStr) -> Result<(), Errno> {
        if is_special(folder, name) {
            return Err(Errno::EPERM);
        }
        let entry = entry(folder, name);
        let inode = self.nodes.remove(&entry).map_err(errno)?;
        self.record.add(Operation::Remove { inode, entry });
        Ok(())
    }

    fn rename(&mut self, from: Entry, to: Entry, flags: RenameFlags) -> Result<(), Errno> {
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

    /// Opens a file and returns its handle.
    fn open(&mut self, inode: INodeNo) -> Result<(FileHandle, FopenFlags), Errno> {
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

    fn write(
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

    fn read(
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

    fn set_attributes(
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

    fn allocate(&mut self, inode: INodeNo, offset: u64, len: u64, mode: i32) -> Result<(), Errno> {
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

    fn set_extended(
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
}

/// Replies with an entry or an error.
fn reply_entry(reply: ReplyEntry, found: Result<FileAttr, Errno>) {
    match found {
        Ok(attributes) => reply.entry(&VALID, &attributes, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn reply_attributes(reply: ReplyAttr, found: Result<FileAttr, Errno>) {
    match found {
        Ok(attributes) => reply.attr(&VALID, &attributes),
        Err(error) => reply.error(error),
    }
}

fn reply_empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

/// Replies with bytes of an extended attribute, or with their length if that is asked for.
fn reply_bytes(reply: ReplyXattr, size: u32, bytes: &[u8]) {
    match u32::try_from(bytes.len()) {
        Ok(len) if size == 0 => reply.size(len),
        Ok(len) if len <= size => reply.data(bytes),
        _ => reply.error(Errno::ERANGE),
    }
}

impl Filesystem for RecordedFolder {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Otherwise each write is preceded by a request for an extended attribute.
        let _ = config.add_capabilities(InitFlags::FUSE_HANDLE_KILLPRIV_V2);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let shared = self.shared();
        let special = SPECIAL.iter().find(|(special, _)| parent.0 == ROOT && name == *special);
        let found = match special {
            Some((_, inode)) => Ok(special_attributes(*inode)),
            None => shared
                .nodes
                .find(parent.0, name)
                .map_err(errno)
                .and_then(|inode| shared.attributes(INodeNo(inode))),
        };
        reply_entry(reply, found);
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply_attributes(reply, self.shared().attributes(inode));
    }

    fn setattr(
        &self,
        _: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        user: Option<u32>,
        group: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mode = mode.map(|mode| mode & 0o7777);
        // A length that is set carries the time of the call.
        let times =
            if size.is_some() { [None; 2] } else { [accessed.map(time), modified.map(time)] };
        let attributes = Attributes { mode, user, group, times };
        reply_attributes(reply, self.shared().set_attributes(inode, attributes, size));
    }

    fn readlink(&self, _: &Request, inode: INodeNo, reply: ReplyData) {
        match self.shared().nodes.get(inode.0).map(|node| &node.kind) {
            Ok(NodeKind::Link(target)) => reply.data(target.as_os_str().as_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        folder: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let kind = match mode & 0o170_000 {
            0 | 0o100_000 => NodeKind::File,
            bits => NodeKind::Special(bits, device),
        };
        let creation = Creation { folder, name, kind, mode };
        reply_entry(reply, self.shared().create(request, creation));
    }

    fn mkdir(
        &self,
        request: &Request,
        folder: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let creation = Creation { folder, name, kind: NodeKind::Folder, mode };
        reply_entry(reply, self.shared().create(request, creation));
    }

    fn unlink(&self, _: &Request, folder: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.shared().remove(folder, name));
    }

    fn rmdir(&self, _: &Request, folder: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.shared().remove(folder, name));
    }

    fn symlink(
        &self,
        request: &Request,
        folder: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let kind = NodeKind::Link(target.to_owned());
        let creation = Creation { folder, name, kind, mode: 0o777 };
        reply_entry(reply, self.shared().create(request, creation));
    }

    fn rename(
        &self,
        _: &Request,
        folder: INodeNo,
        name: &OsStr,
        new_folder: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = (entry(folder, name), entry(new_folder, new_name));
        reply_empty(reply, self.shared().rename(from, to, flags));
    }

    fn link(&self, _: &Request, inode: INodeNo, folder: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let mut shared = self.shared();
        if special(inode).is_some() || is_special(folder, name) {
            return reply.error(Errno::EPERM);
        }
        let entry = entry(folder, name);
        let linked = shared.nodes.link(inode.0, &entry).map_err(errno);
        let linked = linked.and_then(|()| {
            shared.record.add(Operation::Link { inode: inode.0, entry });
            shared.attributes(inode)
        });
        reply_entry(reply, linked);
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.shared().open(inode) {
            Ok((handle, flags)) => reply.opened(handle, flags),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        request: &Request,
        folder: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let mut shared = self.shared();
        let creation = Creation { folder, name, kind: NodeKind::File, mode };
        let created = shared.create(request, creation);
        match created.and_then(|attributes| Ok((attributes, shared.open(attributes.ino)?))) {
            Ok((attributes, (handle, flags))) => {
                reply.created(&VALID, &attributes, Generation(0), handle, flags);
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.shared().read(inode, handle, offset, size) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.shared().write(inode, handle, offset, data) {
            // A request has 16 MiB at most.
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // close(2) promises nothing.
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.shared().files.remove(&handle.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, data: bool, reply: ReplyEmpty) {
        if special(inode).is_none() {
            let operation = Operation::Flush { inode: inode.0, data_only: data };
            self.shared().record.add(operation);
        }
        reply.ok();
    }

    fn opendir(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let mut shared = self.shared();
        match shared.nodes.list(inode.0) {
            Ok(listing) => {
                let handle = shared.handle();
                shared.listings.insert(handle, listing);
                reply.opened(FileHandle(handle), FopenFlags::empty());
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let mut shared = self.shared();
        if offset == 0
            && let Ok(listing) = shared.nodes.list(inode.0)
        {
            // rewinddir(3) reads again.
            shared.listings.insert(handle.0, listing);
        }
        let listing = shared.listings.get(&handle.0).map_or(&[][..], Vec::as_slice);
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (number, (inode, name)) in listing.iter().enumerate().skip(from) {
            let kind = shared.nodes.get(*inode).map(|node| file_type(&node.kind));
            let kind = kind.unwrap_or(FileType::RegularFile);
            if reply.add(INodeNo(*inode), number as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.shared().listings.remove(&handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, inode: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.shared().record.add(Operation::FlushFolder { inode: inode.0 });
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // 1 TiB, of which all is free: a program that looks finds enough.
        let blocks = 1 << 28;
        reply.statfs(blocks, blocks, blocks, 1 << 30, 1 << 30, 4096, 255, 4096);
    }

    fn setxattr(
        &self,
        _: &Request,
        inode: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        reply_empty(reply, self.shared().set_extended(inode, name, Some(value), flags));
    }

    fn getxattr(&self, _: &Request, inode: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let shared = self.shared();
        match shared.nodes.get(inode.0).ok().and_then(|node| node.extended.get(name)) {
            Some(value) => reply_bytes(reply, size, value),
            None => reply.error(Errno::ENODATA),
        }
    }

    fn listxattr(&self, _: &Request, inode: INodeNo, size: u32, reply: ReplyXattr) {
        let shared = self.shared();
        let names = shared.nodes.get(inode.0).map(|node| {
            let names = node.extended.keys().flat_map(|name| [name.as_bytes(), b"\0"].concat());
            names.collect::<Vec<u8>>()
        });
        reply_bytes(reply, size, &names.unwrap_or_default());
    }

    fn removexattr(&self, _: &Request, inode: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.shared().set_extended(inode, name, None, 0));
    }

    fn fallocate(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        reply_empty(reply, self.shared().allocate(inode, offset, length, mode));
    }
}
