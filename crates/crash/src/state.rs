//! A state that a power cut leaves: what is in it, and how it becomes a plain folder.

use std::{
    collections::{BTreeMap, HashMap, hash_map::DefaultHasher},
    fs::{self, DirBuilder, File, FileTimes},
    hash::{Hash, Hasher},
    io,
    os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, lchown, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, XattrFlags, lsetxattr, mknodat},
    process::geteuid,
};

use crate::{
    Inode, Loss, NodeKind, Operation, ROOT, Record,
    contents::Contents,
    tree::{Tree, TreeNode},
};

/// The bytes that are copied at once.
const BUFFER: usize = 1 << 20;

/// A state of the recorded folder, not yet written anywhere.
#[derive(Debug)]
pub struct State<'a> {
    record: &'a Record,
    tree: Tree,
    paths: Vec<(PathBuf, Inode)>,
    contents: HashMap<Inode, Contents>,
}

impl<'a> State<'a> {
    /// Determines the state after the operations before `cut` without what is lost.
    pub fn new(record: &'a Record, cut: usize, loss: &Loss) -> Self {
        let operations = record.operations()[..cut].iter().enumerate();
        let tree = Tree::build(operations, |number| loss.metadata.contains(&number));
        let paths = tree.paths();
        let is_file =
            |inode: &Inode| tree.nodes.get(inode).is_some_and(|node| node.kind == NodeKind::File);
        let files = paths.iter().map(|(_, inode)| *inode).filter(is_file);
        let contents = files.map(|inode| (inode, contents(record, cut, loss, inode))).collect();
        Self { record, tree, paths, contents }
    }

    /// Returns a number that is the same for states with the same names, attributes and writes.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut paths: Vec<_> = self.paths.iter().collect();
        paths.sort();
        for (path, inode) in paths {
            path.hash(&mut hasher);
            inode.hash(&mut hasher);
            self.contents.get(inode).hash(&mut hasher);
            if let Some(node) = self.tree.nodes.get(inode) {
                node.kind.hash(&mut hasher);
                node.attributes.mode.hash(&mut hasher);
                node.extended.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    pub(crate) fn paths(&self) -> &[(PathBuf, Inode)] {
        &self.paths
    }

    pub(crate) fn is_file(&self, inode: Inode) -> bool {
        self.contents.contains_key(&inode)
    }

    /// Returns the content of each file by its path, and what is no file without content.
    ///
    /// # Errors
    ///
    /// Fails if the record's bytes cannot be read.
    pub fn read(&self) -> io::Result<BTreeMap<PathBuf, Vec<u8>>> {
        let read = |(path, inode): &(PathBuf, Inode)| {
            let contents = self.contents.get(inode);
            let bytes =
                contents.map(|contents| read_contents(self.record, contents)).transpose()?;
            Ok((path.clone(), bytes.unwrap_or_default()))
        };
        self.paths.iter().map(read).collect()
    }

    /// Writes the state into `folder`, which is created. Zeros take no space.
    ///
    /// # Errors
    ///
    /// Fails if the folder exists, or something cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o755).create(folder)?;
        if let Some(root) = self.tree.nodes.get(&ROOT) {
            set(folder, root)?;
        }
        let mut first: HashMap<Inode, PathBuf> = HashMap::new();
        for (path, inode) in &self.paths {
            let path = folder.join(path);
            if let Some(other) = first.get(inode) {
                fs::hard_link(other, &path)?;
                continue;
            }
            self.write_node(&path, *inode)?;
            first.insert(*inode, path);
        }
        // A folder that may not be written to is filled first.
        for (path, inode) in self.paths.iter().rev() {
            if let Some(node) = self.tree.nodes.get(inode) {
                set(&folder.join(path), node)?;
            }
        }
        Ok(())
    }

    fn write_node(&self, path: &Path, inode: Inode) -> io::Result<()> {
        match self.tree.nodes.get(&inode).map(|node| &node.kind) {
            Some(NodeKind::Folder) => DirBuilder::new().mode(0o700).create(path),
            Some(NodeKind::Link(target)) => symlink(target, path),
            Some(NodeKind::Special(bits, device)) => {
                let kind = FileType::from_raw_mode(*bits);
                Ok(mknodat(CWD, path, kind, Mode::from_raw_mode(0o600), u64::from(*device))?)
            }
            Some(NodeKind::File) => self.write_file(path, &self.contents[&inode]),
            None => Ok(()),
        }
    }

    fn write_file(&self, path: &Path, contents: &Contents) -> io::Result<()> {
        let file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
        file.set_len(contents.size)?;
        let mut buffer = vec![0; BUFFER];
        for (at, data) in contents.pieces() {
            let mut done = 0;
            while done < data.len {
                let count = (data.len - done).min(BUFFER as u64);
                let part = &mut buffer[..count as usize];
                self.record.read(data.start + done, part)?;
                file.write_all_at(part, at + done)?;
                done += count;
            }
        }
        Ok(())
    }
}

/// Reads the content of a file.
pub(crate) fn read_contents(record: &Record, contents: &Contents) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; contents.size as usize];
    for (at, data) in contents.pieces() {
        record.read(data.start, &mut bytes[at as usize..][..data.len as usize])?;
    }
    Ok(bytes)
}

/// Sets the attributes of what was written at `path`.
fn set(path: &Path, node: &TreeNode) -> io::Result<()> {
    let attributes = &node.attributes;
    if geteuid().is_root() {
        lchown(path, attributes.user, attributes.group)?;
    }
    if matches!(node.kind, NodeKind::Link(_)) {
        return Ok(());
    }
    if let Some(mode) = attributes.mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    for (name, value) in &node.extended {
        lsetxattr(path, name, value, XattrFlags::empty())?;
    }
    if let ([_, Some(modified)], NodeKind::File) = (attributes.times, &node.kind) {
        let times = FileTimes::new().set_modified(modified);
        File::options().write(true).open(path)?.set_times(times)?;
    }
    Ok(())
}

/// Returns the content of a file after the operations before `cut` without what is lost.
pub(crate) fn contents(record: &Record, cut: usize, loss: &Loss, inode: Inode) -> Contents {
    let mut contents = Contents::default();
    let longest = loss.sizes.get(&inode).copied().unwrap_or(usize::MAX);
    let has_lost = loss.units.range((inode, 0)..=(inode, u64::MAX)).next().is_some();
    // From here on nothing is in the file that was written after a lost truncation: the disk has no
    // blocks for it.
    let mut stale = u64::MAX;
    for number in record.contents(inode, cut) {
        let is_lost = loss.metadata.contains(number);
        match &record.operations()[*number] {
            Operation::Write { offset, data, .. } => {
                let end = offset + data.len;
                if *number < longest && stale == u64::MAX {
                    contents.size = contents.size.max(end);
                }
                let kept =
                    |unit: u64| loss.units.get(&(inode, unit)).is_none_or(|lost| number < lost);
                if !has_lost && stale == u64::MAX {
                    contents.put(*offset, *data);
                    continue;
                }
                let unit = loss.unit.max(1);
                let mut at = *offset;
                while at < end.min(stale) {
                    let next = ((at / unit + 1) * unit).min(end);
                    if kept(at / unit) {
                        let start = data.start + (at - offset);
                        contents.put(at, crate::Spooled { start, len: next - at });
                    }
                    at = next;
                }
            }
            Operation::Truncate { size, .. } if is_lost => stale = stale.min(*size),
            Operation::Truncate { size, .. } => contents.resize(*size),
            Operation::Allocate { .. } if is_lost => {}
            Operation::Allocate { offset, len, zero, grow, .. } => {
                if *zero {
                    contents.clear(*offset, offset + len);
                }
                if *grow {
                    contents.size = contents.size.max(offset + len);
                }
            }
            _ => {}
        }
    }
    contents
}
