//! Copies a folder as it is: content, modes, times and links.

use std::{
    collections::HashMap,
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

use model::{Error, Result};

use crate::{
    entry::{Kind, Stat},
    os,
    repository::StopCheck,
    save::Problem,
};

/// The outcome of copying a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The files, as paths in the copy, with their bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// The paths that could not be copied.
    pub problems: Vec<Problem>,
}

/// Copies the folder `from` as `to`, which is missing, without what is in the folder `but`.
///
/// # Errors
///
/// Fails if a path cannot be resolved or no space is left; problems of single paths are in the
/// result.
pub fn copy_tree(from: &Path, to: &Path, but: &Path, stop: StopCheck<'_>) -> Result<Copied> {
    let but = but.canonicalize().map_err(|e| Error::io(but.display(), e))?;
    let from = from.canonicalize().map_err(|e| Error::io(from.display(), e))?;
    let mut copying = Copying { but, stop, linked: HashMap::new(), copied: Copied::default() };
    copying.entry(&from, to)?;
    Ok(copying.copied)
}

/// A copy under way.
struct Copying<'a> {
    but: PathBuf,
    stop: StopCheck<'a>,
    /// The first copies of files with several names.
    linked: HashMap<(u64, u64), PathBuf>,
    copied: Copied,
}

impl Copying<'_> {
    fn entry(&mut self, from: &Path, to: &Path) -> Result<()> {
        (self.stop)()?;
        if from == self.but {
            return Ok(());
        }
        let problem = match self.copy(from, to) {
            Ok(done) => return done,
            Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                return Err(Error::io(to.display(), error));
            }
            Err(error) => Problem { path: from.to_owned(), what: error.to_string() },
        };
        self.copied.problems.push(problem);
        Ok(())
    }

    /// Copies a path. The inner error ends everything, the outer one concerns only this path.
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<Result<()>> {
        let meta = fs::symlink_metadata(from)?;
        let stat = os::stat(&meta).ok_or_else(|| io::Error::other("a device, socket or pipe"))?;
        match stat.kind {
            Kind::Folder => {
                let mut names = fs::read_dir(from)?
                    .map(|entry| entry.map(|entry| entry.file_name()))
                    .collect::<io::Result<Vec<_>>>()?;
                names.sort();
                host::create_folder(to, 0o700)?;
                for name in names {
                    if let Err(error) = self.entry(&from.join(&name), &to.join(&name)) {
                        return Ok(Err(error));
                    }
                }
            }
            Kind::Link => {
                let target = os::bytes(fs::read_link(from)?.into_os_string());
                os::link(&target, to)?;
            }
            _ => self.file(from, to, &meta)?,
        }
        let mode = match stat.kind {
            Kind::Link => stat.mode,
            _ => host::mode_without_list(from, &meta)?.0,
        };
        os::restore(to, &Stat { mode, ..stat })?;
        Ok(Ok(()))
    }

    fn file(&mut self, from: &Path, to: &Path, meta: &Metadata) -> io::Result<()> {
        let links = os::stat(meta).map_or(1, |stat| stat.links);
        // Device and inode: two file systems may have the same inodes.
        let key = if links > 1 { host::identity(from, meta) } else { None };
        if let Some(first) = key.and_then(|key| self.linked.get(&key)) {
            return fs::hard_link(first, to);
        }
        let mut source = os::open_file(from)?;
        let mut copy = os::create(to)?;
        io::copy(&mut source, &mut copy).inspect_err(|_| {
            let _ = fs::remove_file(to);
        })?;
        self.linked.extend(key.map(|key| (key, to.to_owned())));
        self.copied.files.push((to.to_owned(), meta.len()));
        Ok(())
    }
}
