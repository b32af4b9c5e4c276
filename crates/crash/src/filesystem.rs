//! The recorded folder as a FUSE file system. One thread serves it, so that operations have one order.
//!
//! The process that serves it must not wait for it in the kernel: if it is killed meanwhile, it waits
//! forever, because its end of the file system is closed only when the wait is over. So what it does
//! there itself, other processes do for it, and closing a file asks nothing (`FOPEN_NOFLUSH`).
//!
//! The kernel's page cache writes through: each write(2) arrives when it is made. What a program
//! writes through a shared mapping arrives when the kernel writes it back.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
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
    Attributes, NodeKind, Operation, ROOT,
    shared::{
        Creation, SPECIAL, Shared, entry, errno, file_type, is_special, special, special_attributes,
    },
};

/// How long the kernel may keep what it has read: nothing changes but through it.
const VALID: Duration = Duration::from_secs(3600);

/// The file system; its owner shares what it records.
pub(crate) struct RecordedFolder(pub(crate) Arc<Mutex<Shared>>);

impl RecordedFolder {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn time(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
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
        self.shared().close(handle);
        reply.ok();
    }

    fn fsync(&self, _: &Request, inode: INodeNo, _: FileHandle, data: bool, reply: ReplyEmpty) {
        reply_empty(reply, self.shared().flush(inode, data));
    }

    fn opendir(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.shared().open_listing(inode) {
            Ok(handle) => reply.opened(handle, FopenFlags::empty()),
            Err(error) => reply.error(error),
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
        if offset == 0 {
            // rewinddir(3) reads again.
            shared.refresh_listing(inode, handle);
        }
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (number, (inode, name)) in shared.listing(handle).iter().enumerate().skip(from) {
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
        self.shared().close_listing(handle);
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
