//! Names, attributes and links after some operations took effect.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use crate::{Attributes, Inode, NodeKind, Operation, ROOT};

/// Names and attributes, without the content of files.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// What an inode is, and its attributes.
    pub(crate) nodes: HashMap<Inode, TreeNode>,
    entries: HashMap<Inode, BTreeMap<OsString, Inode>>,
}

/// What an inode is, and its attributes.
#[derive(Clone, Debug)]
pub(crate) struct TreeNode {
    pub(crate) kind: NodeKind,
    pub(crate) attributes: Attributes,
    pub(crate) extended: BTreeMap<OsString, Vec<u8>>,
}

impl Tree {
    /// Builds the tree by all operations, except those that `is_lost` names. A lost creation leaves the inode
    /// without a name, so that a later operation that is not lost may still name it.
    pub(crate) fn build<'a>(
        operations: impl IntoIterator<Item = (usize, &'a Operation)>,
        is_lost: impl Fn(usize) -> bool,
    ) -> Self {
        let mut tree = Self::default();
        for (number, operation) in operations {
            tree.apply(operation, is_lost(number));
        }
        tree
    }

    fn apply(&mut self, operation: &Operation, is_lost: bool) {
        if let Operation::Create { inode, kind, attributes, .. } = operation {
            let extended = BTreeMap::new();
            let node = TreeNode { kind: kind.clone(), attributes: attributes.clone(), extended };
            self.nodes.insert(*inode, node);
        }
        if !is_lost {
            self.change(operation);
        }
    }

    fn change(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { inode, entry, .. } | Operation::Link { inode, entry } => {
                self.enter(entry.0, &entry.1, *inode);
            }
            Operation::Remove { entry, .. } => self.leave(entry.0, &entry.1),
            Operation::Rename { inode, from, to, replaced, exchange } => {
                match replaced.filter(|_| *exchange) {
                    Some(other) => self.enter(from.0, &from.1, other),
                    None => self.leave(from.0, &from.1),
                }
                self.enter(to.0, &to.1, *inode);
            }
            Operation::Attributes { inode, attributes } => {
                let node = self.nodes.entry(*inode).or_insert_with(root);
                let Attributes { mode, user, group, times } = attributes;
                let old = &mut node.attributes;
                old.mode = mode.or(old.mode);
                old.user = user.or(old.user);
                old.group = group.or(old.group);
                old.times = [times[0].or(old.times[0]), times[1].or(old.times[1])];
            }
            Operation::Extended { inode, name, value } => {
                let extended = &mut self.nodes.entry(*inode).or_insert_with(root).extended;
                match value {
                    Some(value) => extended.insert(name.clone(), value.clone()),
                    None => extended.remove(name),
                };
            }
            _ => {}
        }
    }

    fn enter(&mut self, folder: Inode, name: &OsStr, inode: Inode) {
        self.entries.entry(folder).or_default().insert(name.to_owned(), inode);
    }

    fn leave(&mut self, folder: Inode, name: &OsStr) {
        if let Some(entries) = self.entries.get_mut(&folder) {
            entries.remove(name);
        }
    }

    /// Returns all paths below the root with their inodes, folders before what is in them. A folder
    /// that has two names, because the removal of one was lost, is under the first.
    pub(crate) fn paths(&self) -> Vec<(PathBuf, Inode)> {
        let mut paths = Vec::new();
        let mut seen = vec![ROOT];
        let mut waiting = vec![(PathBuf::new(), ROOT)];
        while let Some((path, folder)) = waiting.pop() {
            for (name, inode) in self.entries.get(&folder).into_iter().flatten() {
                let path = path.join(name);
                let is_folder =
                    self.nodes.get(inode).is_some_and(|node| node.kind == NodeKind::Folder);
                if is_folder && seen.contains(inode) {
                    continue;
                }
                paths.push((path.clone(), *inode));
                if is_folder {
                    seen.push(*inode);
                    waiting.push((path, *inode));
                }
            }
        }
        paths
    }
}

/// Returns what the root is, whose creation is no operation.
fn root() -> TreeNode {
    let (attributes, extended) = <_>::default();
    TreeNode { kind: NodeKind::Folder, attributes, extended }
}
