//! Operations and losses in words.

use std::{collections::HashMap, path::Path};

use crate::{Entry, Inode, Loss, NodeKind, Operation, ROOT, Record, tree::Tree};

/// The number of lost changes that are described.
const FEW: usize = 3;

/// The paths of inodes just before the operation `number`.
struct Paths(HashMap<Inode, String>);

impl Paths {
    fn new(record: &Record, number: usize) -> Self {
        let operations = record.operations()[..number].iter().enumerate();
        let tree = Tree::build(operations, |_| false);
        let paths = tree.paths().into_iter();
        let mut names: HashMap<_, _> =
            paths.map(|(path, inode)| (inode, path.display().to_string())).collect();
        names.insert(ROOT, ".".to_owned());
        Self(names)
    }

    fn inode(&self, inode: Inode) -> &str {
        self.0.get(&inode).map_or("a file without a name", String::as_str)
    }

    fn entry(&self, entry: &Entry) -> String {
        let folder = Path::new(self.inode(entry.0));
        let folder = if entry.0 == ROOT { Path::new("") } else { folder };
        folder.join(&entry.1).display().to_string()
    }
}

impl Record {
    /// Describes an operation: "the rename of `a` to `b`".
    pub fn describe(&self, number: usize) -> String {
        let paths = Paths::new(self, number);
        describe(&self.operations()[number], &paths)
    }

    /// Describes the moment before operation `cut`.
    pub fn describe_cut(&self, cut: usize) -> String {
        match cut.checked_sub(1) {
            Some(last) => format!("after {}", self.describe(last)),
            None => "before the first operation".to_owned(),
        }
    }

    /// Lists what is lost: changes of names first, the first few of them, then data, a file each.
    pub fn describe_loss(&self, loss: &Loss, cut: usize) -> Vec<String> {
        let more = loss.metadata.len().saturating_sub(FEW);
        let more = (more > 0).then(|| format!("and {more} later changes of names and attributes"));
        let metadata = loss.metadata.iter().take(FEW).map(|number| self.describe(*number));
        let metadata = metadata.chain(more);
        let paths = Paths::new(self, cut);
        let data = loss.files().into_iter().map(|inode| {
            let name = paths.inode(inode);
            let blocks = loss.units.range((inode, 0)..=(inode, u64::MAX)).count();
            let parts = match blocks {
                0 => String::new(),
                1 => format!("a part of {} bytes", loss.unit),
                _ => format!("{blocks} parts of {} bytes", loss.unit),
            };
            let growth = if loss.sizes.contains_key(&inode) { "its growth" } else { "" };
            let all = [&*parts, growth].into_iter().filter(|part| !part.is_empty());
            let all: Vec<_> = all.collect();
            format!("unflushed data of `{name}`: {}", all.join(" and "))
        });
        metadata.chain(data).collect()
    }

    /// Describes the flush that would have kept the first thing that is lost; `None` if nothing is.
    pub fn missing_flush(&self, loss: &Loss, cut: usize) -> Option<String> {
        let first_data = || loss.units.values().chain(loss.sizes.values()).min().copied();
        let number = loss.metadata.first().copied().or_else(first_data)?;
        let operation = &self.operations()[number];
        let paths = Paths::new(self, number + 1);
        let flushed = match (operation.folders().last(), operation) {
            (Some(folder), _) => format!("the folder `{}`", paths.inode(*folder)),
            (None, Operation::Write { inode, .. }) => format!("`{}`", paths.inode(*inode)),
            (None, other) => format!("`{}`", paths.inode(*other.touched().first()?)),
        };
        let by = match self.acknowledged(cut).last() {
            Some(text) => format!("before the acknowledgement `{text}`"),
            None => "before the cut".to_owned(),
        };
        Some(format!("{flushed} was not flushed after {}, {by}", self.describe(number)))
    }
}

fn describe(operation: &Operation, paths: &Paths) -> String {
    let inode = |inode: &Inode| paths.inode(*inode).to_owned();
    match operation {
        Operation::Create { entry, kind, .. } => {
            let what = match kind {
                NodeKind::File => "",
                NodeKind::Folder => "the folder ",
                NodeKind::Link(_) => "the link ",
                NodeKind::Special(..) => "the special file ",
            };
            format!("the creation of {what}`{}`", paths.entry(entry))
        }
        Operation::Link { inode: file, entry } => {
            format!("the link `{}` to `{}`", paths.entry(entry), inode(file))
        }
        Operation::Remove { entry, .. } => format!("the removal of `{}`", paths.entry(entry)),
        Operation::Rename { from, to, exchange: true, .. } => {
            format!("the exchange of `{}` and `{}`", paths.entry(from), paths.entry(to))
        }
        Operation::Rename { from, to, .. } => {
            format!("the rename of `{}` to `{}`", paths.entry(from), paths.entry(to))
        }
        Operation::Write { inode: file, offset, data } => {
            format!("the write of {} bytes at {offset} of `{}`", data.len, inode(file))
        }
        Operation::Truncate { inode: file, size } => {
            format!("setting the length of `{}` to {size}", inode(file))
        }
        Operation::Allocate { inode: file, offset, len, .. } => {
            format!("the allocation of {len} bytes at {offset} of `{}`", inode(file))
        }
        Operation::Attributes { inode: file, .. } | Operation::Extended { inode: file, .. } => {
            format!("a change of the attributes of `{}`", inode(file))
        }
        Operation::Flush { inode: file, .. } => format!("the flush of `{}`", inode(file)),
        Operation::FailedFlush { inode: file } => format!("the failed flush of `{}`", inode(file)),
        Operation::FlushFolder { inode: folder } => {
            format!("the flush of the folder `{}`", inode(folder))
        }
        Operation::Acknowledge { text } => format!("the acknowledgement `{text}`"),
    }
}
