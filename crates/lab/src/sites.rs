//! The file systems that scratch stores are put on, where the user chose several.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use model::{Error, Result};

use host::{self, ImageKind, Scratch};

/// A file system as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// The one that holds this folder.
    Folder(PathBuf),
    /// A new one of this kind, on a loop device, for the time of the run.
    Image(ImageKind),
}

impl FromStr for On {
    type Err = Error;

    /// The word of a kind is always an image, so that a command means the same everywhere: `./ext4`
    /// names a folder that is called so.
    fn from_str(text: &str) -> Result<Self> {
        let kind = text.parse().map(Self::Image);
        if kind.is_ok() || text.is_empty() {
            return kind;
        }
        match Path::new(text) {
            path if path.is_dir() => Ok(Self::Folder(path.to_owned())),
            path if path.exists() => Err(Error::usage(format!("{text}: is no folder"))),
            _ if text.contains(std::path::is_separator) => {
                Err(Error::usage(format!("{text}: no such folder")))
            }
            _ => kind,
        }
    }
}

/// A file system that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it is called, unlike all others: `xfs`, or `ext4 in /srv` where several are alike.
    pub name: String,
    /// A folder on it.
    pub path: PathBuf,
}

/// The file systems of a run. Dropped, they are unmounted and gone; nothing may be open on them.
pub struct Sites {
    sites: Vec<Site>,
    /// Holds the images.
    _scratch: Option<Scratch>,
}

impl Sites {
    /// Makes those that are images, of `image_bytes` each, in a scratch folder in `parent`.
    pub fn open(on: &[On], image_bytes: u64, parent: &Path) -> Result<Self> {
        let wrong = |e: Error| e.context("--on");
        let kinds: Vec<_> = on.iter().filter_map(On::image).collect();
        host::check_images(&kinds, image_bytes, parent).map_err(wrong)?;
        let scratch =
            if kinds.is_empty() { None } else { Some(Scratch::new_in(parent).map_err(wrong)?) };
        let mut sites = Vec::new();
        for asked in on {
            let path = match asked {
                On::Folder(path) => path.clone(),
                On::Image(kind) => {
                    let folder = scratch.as_ref().map_or(parent, Scratch::path);
                    host::mount_image(*kind, folder, image_bytes)
                        .map_err(|e| wrong(e.context(kind)))?
                }
            };
            sites.push(Site { name: asked.kind(), path });
        }
        name_apart(&mut sites, on);
        Ok(Self { sites, _scratch: scratch })
    }

    /// Each, in the order asked for; `None` where none was.
    pub fn or_none(&self) -> impl Iterator<Item = Option<&Site>> {
        let none = self.sites.is_empty().then_some(None);
        self.sites.iter().map(Some).chain(none)
    }
}

impl On {
    fn image(&self) -> Option<ImageKind> {
        match self {
            Self::Image(kind) => Some(*kind),
            Self::Folder(_) => None,
        }
    }

    /// The kind of file system; of one that the system does not tell, the folder's name.
    fn kind(&self) -> String {
        match self {
            Self::Image(kind) => kind.to_string(),
            Self::Folder(path) => {
                let told = host::filesystems(std::slice::from_ref(path)).into_iter().next();
                told.map_or_else(|| path.display().to_string(), |told| told.kind)
            }
        }
    }
}

/// Adds to names that several have what tells them apart, if need be a number.
fn name_apart(sites: &mut [Site], on: &[On]) {
    let kinds: Vec<String> = sites.iter().map(|site| site.name.clone()).collect();
    for index in 0..sites.len() {
        if kinds.iter().filter(|kind| **kind == kinds[index]).count() == 1 {
            continue;
        }
        let name = match &on[index] {
            On::Folder(path) => format!("{} in {}", kinds[index], path.display()),
            On::Image(kind) => format!("{kind} image"),
        };
        let numbered = format!("{name} #");
        let earlier = sites[..index].iter().map(|site| &site.name);
        let earlier = earlier.filter(|other| **other == name || other.starts_with(&numbered));
        sites[index].name = match earlier.count() {
            0 => name,
            n => format!("{name} #{}", n + 1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kinds_and_the_rest_are_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display().to_string();
        assert_eq!("xfs".parse::<On>().unwrap(), On::Image(ImageKind::Xfs));
        assert_eq!(path.parse::<On>().unwrap(), On::Folder(folder.path().to_owned()));
        std::fs::write(folder.path().join("file"), "").unwrap();
        for (text, answer) in [
            ("etx4", "did you mean ext4?"),
            ("zfs", "accepted: a folder, ext4, xfs, btrfs"),
            ("", "no such folder"),
            (&*format!("{path}/absent"), "no such folder"),
            (&*format!("{path}/file"), "is no folder"),
        ] {
            let said = text.parse::<On>().unwrap_err().to_string();
            assert!(said.contains(answer), "{text}: {said}");
        }
    }

    #[test]
    fn those_of_a_kind_are_told_apart() {
        let folder = |path: &str| On::Folder(path.into());
        let on = [folder("/a"), folder("/b"), On::Image(ImageKind::Xfs), folder("/a")];
        let site = |name: &str| Site { name: name.into(), path: PathBuf::new() };
        let mut sites = [site("ext4"), site("ext4"), site("xfs"), site("ext4")];
        name_apart(&mut sites, &on);
        let names = sites.map(|site| site.name);
        assert_eq!(names, ["ext4 in /a", "ext4 in /b", "xfs", "ext4 in /a #2"]);
    }

    #[test]
    fn folders_are_taken_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let on = [On::Folder(folder.path().to_owned())];
        let sites = Sites::open(&on, 0, folder.path()).unwrap();
        assert_eq!(sites.or_none().next().unwrap().unwrap().path, folder.path());
        drop(sites);
        assert!(folder.path().exists());
    }
}
