//! The file systems that scratch stores are placed on when the user names several.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use model::{Error, Result, did_you_mean};

use crate::{
    clamd::Clamd,
    image::{ImageKind, check_images, mount_again, mount_image},
    mounts::filesystems,
    scanner::Scanner,
    scratch::Scratch,
};

/// A file system as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesystemChoice {
    /// The file system that holds this folder.
    Folder(PathBuf),
    /// A new one of this kind, on a loop device, for as long as the run lasts.
    Image(&'static ImageKind),
    /// The file system of the scratch folder.
    Plain,
    /// The same with a scanner in the way, which reads each file before it is opened.
    Scanned,
    /// The same with ClamAV in the way.
    ClamAv,
}

/// The words for the choices without a folder or an image.
const PLAIN: &str = "plain";
const SCANNED: &str = "scanned";
const CLAMAV: &str = "clamav";

impl FromStr for FilesystemChoice {
    type Err = Error;

    /// Reads a choice. The word of a kind always means an image, so that a command means the same
    /// everywhere: `./ext4` names a folder called ext4.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            PLAIN => return Ok(Self::Plain),
            SCANNED => return Ok(Self::Scanned),
            CLAMAV => return Ok(Self::ClamAv),
            _ => {}
        }
        if let Some(kind) = ImageKind::ALL.iter().find(|kind| kind.name == text) {
            return Ok(Self::Image(kind));
        }
        match Path::new(text) {
            path if path.is_dir() => Ok(Self::Folder(path.to_owned())),
            path if path.exists() => Err(Error::usage("is no folder").at(text)),
            _ if text.contains(std::path::is_separator) => {
                Err(Error::usage("no such folder").at(text))
            }
            _ => Err(unknown(text)),
        }
    }
}

impl FilesystemChoice {
    /// Returns the word for the scanner, if one is in the way.
    fn scanner(&self) -> Option<&'static str> {
        match self {
            Self::Scanned => Some(SCANNED),
            Self::ClamAv => Some(CLAMAV),
            _ => None,
        }
    }
}

fn unknown(text: &str) -> Error {
    let words =
        || [PLAIN, SCANNED, CLAMAV].into_iter().chain(ImageKind::ALL.iter().map(|kind| kind.name));
    let (near, words) = (did_you_mean(text, words()), words().collect::<Vec<_>>().join(", "));
    Error::usage(format!(
        "no such folder, and no file system to make an image of{near} (accepted: a folder, {words})"
    ))
    .at(text)
}

/// A file system that scratch stores are placed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// A name that no other placement has: `xfs`, or `ext4 in /srv` if several are of one kind.
    pub name: String,
    /// The folder for scratch stores.
    pub path: PathBuf,
}

/// The placements of a run. Dropping this unmounts and removes the images; nothing may be open on
/// them.
pub struct Placements {
    all: Vec<Placement>,
    _scanners: Vec<Scanner>,
    _scratch: Option<Scratch>,
}

impl Placements {
    /// Prepares the placements, with images of `image_bytes` each in a scratch folder in `parent`.
    ///
    /// # Errors
    ///
    /// Fails if an image or a scanner cannot be set up; the sentence says what helps.
    pub fn open(choices: &[FilesystemChoice], image_bytes: u64, parent: &Path) -> Result<Self> {
        Self::try_open(choices, image_bytes, parent).map_err(|error| error.context("--on"))
    }

    fn try_open(choices: &[FilesystemChoice], image_bytes: u64, parent: &Path) -> Result<Self> {
        let kinds = choices.iter().filter_map(|choice| match choice {
            FilesystemChoice::Image(kind) => Some(*kind),
            _ => None,
        });
        let kinds: Vec<_> = kinds.collect();
        check_images(&kinds, image_bytes, parent)?;
        let mounts = !kinds.is_empty() || choices.iter().any(|choice| choice.scanner().is_some());
        let scratch = if mounts { Some(Scratch::new_in(parent)?) } else { None };
        let folder = scratch.as_ref().map_or(parent, Scratch::path);
        let mut scanners = Vec::new();
        let mut placements = Vec::new();
        for choice in choices {
            let placement = prepare(choice, parent, folder, image_bytes)?;
            if let Some(word) = choice.scanner() {
                let clamd = *choice == FilesystemChoice::ClamAv;
                let clamd = clamd.then(|| Clamd::start(folder)).transpose();
                let scanner = clamd.and_then(|clamd| Scanner::start(&placement.path, clamd));
                scanners.push(scanner.map_err(|error| error.context(word))?);
            }
            placements.push(placement);
        }
        distinguish(&mut placements, choices);
        Ok(Self { all: placements, _scanners: scanners, _scratch: scratch })
    }

    /// Returns each placement in the order of the choices, or a single `None` if there are none.
    pub fn or_none(&self) -> impl Iterator<Item = Option<&Placement>> {
        let none = self.all.is_empty().then_some(None);
        self.all.iter().map(Some).chain(none)
    }
}

/// Prepares a choice; `folder` is the scratch folder for what is mounted, in `parent`.
fn prepare(
    choice: &FilesystemChoice,
    parent: &Path,
    folder: &Path,
    image_bytes: u64,
) -> Result<Placement> {
    match choice {
        // The kind of file system; if the system does not report it, the folder's name.
        FilesystemChoice::Folder(path) => {
            let found = filesystems(std::slice::from_ref(path)).into_iter().next();
            let name = found.map_or_else(|| path.display().to_string(), |found| found.kind);
            Ok(Placement { name, path: path.clone() })
        }
        FilesystemChoice::Image(kind) => {
            let mounted = mount_image(kind, folder, image_bytes);
            let path = mounted.map_err(|error| error.context(kind))?;
            Ok(Placement { name: kind.to_string(), path })
        }
        FilesystemChoice::Plain => {
            Ok(Placement { name: PLAIN.to_owned(), path: parent.to_owned() })
        }
        FilesystemChoice::Scanned | FilesystemChoice::ClamAv => {
            let name = choice.scanner().unwrap_or_default().to_owned();
            let path = mount_again(folder).map_err(|error| error.context(&name))?;
            Ok(Placement { name, path })
        }
    }
}

/// Makes names that occur more than once distinct, if necessary by a number.
fn distinguish(placements: &mut [Placement], choices: &[FilesystemChoice]) {
    let kinds: Vec<String> = placements.iter().map(|placement| placement.name.clone()).collect();
    for index in 0..placements.len() {
        if kinds.iter().filter(|kind| **kind == kinds[index]).count() == 1 {
            continue;
        }
        let name = match &choices[index] {
            FilesystemChoice::Folder(path) => format!("{} in {}", kinds[index], path.display()),
            FilesystemChoice::Image(kind) => format!("{kind} image"),
            FilesystemChoice::Plain | FilesystemChoice::Scanned | FilesystemChoice::ClamAv => {
                kinds[index].clone()
            }
        };
        let numbered = format!("{name} #");
        let earlier = placements[..index].iter().map(|placement| &placement.name);
        let earlier = earlier.filter(|other| **other == name || other.starts_with(&numbered));
        placements[index].name = match earlier.count() {
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
        let parse = |text: &str| text.parse::<FilesystemChoice>();
        assert_eq!(parse("xfs").unwrap(), FilesystemChoice::Image(&ImageKind::ALL[1]));
        assert_eq!(parse("scanned").unwrap(), FilesystemChoice::Scanned);
        assert_eq!(parse(&path).unwrap(), FilesystemChoice::Folder(folder.path().to_owned()));
        std::fs::write(folder.path().join("file"), "").unwrap();
        for (text, answer) in [
            ("etx4", "did you mean ext4?"),
            ("zfs", "accepted: a folder, plain, scanned, clamav, ext4, xfs, btrfs"),
            ("", "no such folder"),
            (&*format!("{path}/absent"), "no such folder"),
            (&*format!("{path}/file"), "is no folder"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(answer), "{text}: {error}");
        }
    }

    #[test]
    fn placements_of_one_kind_get_different_names() {
        let folder = |path: &str| FilesystemChoice::Folder(path.into());
        let xfs = FilesystemChoice::Image(&ImageKind::ALL[1]);
        let choices = [folder("/a"), folder("/b"), xfs, folder("/a")];
        let placement = |name: &str| Placement { name: name.into(), path: PathBuf::new() };
        let mut placements = ["ext4", "ext4", "xfs", "ext4"].map(placement);
        distinguish(&mut placements, &choices);
        let names = placements.map(|placement| placement.name);
        assert_eq!(names, ["ext4 in /a", "ext4 in /b", "xfs", "ext4 in /a #2"]);
    }

    #[test]
    fn folders_are_used_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let choices = [FilesystemChoice::Folder(folder.path().to_owned())];
        let placements = Placements::open(&choices, 0, folder.path()).unwrap();
        assert_eq!(placements.or_none().next().unwrap().unwrap().path, folder.path());
        drop(placements);
        assert!(folder.path().exists());
    }
}
