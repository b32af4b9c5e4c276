//! `tar:FILE` and `zip:FILE` are archives: written once, from start to end, and then only read. The
//! offset of each entry is in memory, read from the headers once in a process, so that a read is one `pread`,
//! and the inflating of an entry that is deflated.

mod index;
mod inflate;
mod kept;
mod reading;
mod shared;
mod tar;
mod writing;
mod zip;

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use model::{
    Accepts, Access, Blobs, Capabilities, Declaration, Durability, DurabilitySettings, Engine,
    Error, Facet, KeyKind, OpenOptions, Result, Setting, Settings, Store,
};

use self::{index::Entries, reading::ArchiveStore, writing::NewArchive};
use crate::{
    at::{self, FileVersion},
    caught::catch,
    fresh,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archive {
    /// The archives of tar: in the forms of POSIX (ustar, pax) and of GNU, not compressed.
    Tar,
    /// The archives of zip: with entries that are stored or deflated.
    Zip,
}

pub(crate) static TAR: Archive = Archive::Tar;
pub(crate) static ZIP: Archive = Archive::Zip;

/// The setting for the entries of a new zip archive.
const METHOD: &str = "method";
/// The setting by which a worker of this program finds an index that is already read; no user gives it.
const INDEX: &str = "index";
const STORED: &str = "stored";
const DEFLATED: &str = "deflated";

const DURABILITY: &[DurabilitySettings] = &[Durability::None
    .kept_by(
        &[],
        "write(2) of the whole archive, no flush: a power cut or a killed process leaves no readable \
         store",
    )
    .lost_if_killed()];

const ONCE: &str = "updates and deletes: an archive is written once";
const ORDER: &str = "names in order: a scan looks at all of them";

const CAPABILITIES: Capabilities =
    Capabilities { snapshots: false, written_once: true, ..Capabilities::ON_DISK };

static TAR_DECLARATION: Declaration = Declaration {
    durability: DURABILITY,
    limitations: &[
        ONCE,
        ORDER,
        "an index: a program reads the header of each entry first; the time to open leaves that out",
    ],
    capabilities: CAPABILITIES,
    linked: Some(("tar", env!("VERSION_OF_TAR"))),
    blobs: Some(&TAR),
    title: "tar archives",
    extension: Some("tar"),
    ..Declaration::new("tar", "a tar archive, to read and to copy from and to")
};

static ZIP_DECLARATION: Declaration = Declaration {
    settings: &[Setting::new(
        METHOD,
        Accepts::Words(&[STORED, DEFLATED]),
        "how the entries of a new archive are written; a read of a deflated one inflates it",
    )
    .only_for(&[Facet::Blobs])],
    durability: DURABILITY,
    limitations: &[ONCE, ORDER],
    capabilities: CAPABILITIES,
    integrity: Some("a checksum for each value"),
    linked: Some(("rawzip", env!("VERSION_OF_RAWZIP"))),
    blobs: Some(&ZIP),
    title: "zip archives",
    extension: Some("zip"),
    ..Declaration::new("zip", "a zip archive, to read and to copy from and to")
};

impl Engine for Archive {
    fn declaration(&self) -> &'static Declaration {
        match self {
            Self::Tar => &TAR_DECLARATION,
            Self::Zip => &ZIP_DECLARATION,
        }
    }
}

impl Blobs for Archive {
    fn recognises(&self, path: &Path) -> bool {
        match self {
            Self::Tar => tar::is_archive(path),
            Self::Zip => at::start(path).is_some_and(zip::is_start),
        }
    }

    fn worker_settings(&self, location: &Path, keys: KeyKind) -> Settings {
        let mut settings = Settings::default();
        if let Some(index) = self.shared_index(location, keys) {
            settings.set(INDEX, index.display());
        }
        settings
    }

    /// Lists the entries that are not values.
    fn other_contents(&self, location: &Path) -> Result<Vec<String>> {
        let (_, entries) = self.entries(location, KeyKind::Names, None)?;
        let entries =
            entries.left_out.iter().filter(|entry| entry.is_single() && !entry.kind.is_property());
        Ok(entries.map(ToString::to_string).collect())
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let is_deflated = options.settings.is(METHOD, DEFLATED);
        fresh::file(location, |file| {
            let writer = match self {
                Self::Tar => writing::Writer::Tar(tar::TarWriter::new(file)),
                Self::Zip => writing::Writer::Zip(zip::ZipWriter::new(file, is_deflated)),
            };
            Ok(NewArchive::new(*self, location, options.keys, writer))
        })
    }

    /// Opens an archive for reading, whatever access is asked for, because it is written once.
    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let index = options.settings.get(INDEX).map(Path::new);
        let (file, entries) = self.entries(location, options.keys, index)?;
        Ok(Box::new(ArchiveStore::new(*self, location, file, entries)))
    }
}

impl Archive {
    /// Returns the path of an index for other processes, read from the archive if that was not done yet;
    /// `None` if that fails, or each opening has to read it.
    fn shared_index(self, location: &Path, keys: KeyKind) -> Option<PathBuf> {
        let file = at::open(location, Access::Read).ok()?;
        let version = FileVersion::read(&file)?;
        self.entries(location, keys, None).ok()?;
        kept::share(version, keys)
    }

    /// Opens the archive at `location`, and returns its entries under keys of this kind, or under names.
    /// They are those of `index` if that is an index of the archive.
    fn entries(
        self,
        location: &Path,
        keys: KeyKind,
        index: Option<&Path>,
    ) -> Result<(File, Arc<Entries>)> {
        let file = at::open(location, Access::Read)?;
        let read = || {
            catch(location, || match self {
                Self::Tar => tar::index(&file),
                Self::Zip => zip::index(&file),
            })
        };
        let entries = kept::entries(&file, keys, index, read);
        let entries = entries.map_err(|error| match compression(location) {
            Some(how) if self == Self::Tar => Error::unsupported(format!(
                "is compressed by {how}, so that no entry can be read without those before it; \
                 decompress it first"
            ))
            .at(location.display()),
            _ => error.at(location.display()),
        })?;
        Ok((file, entries))
    }

    /// Returns the settings of an archive, any entry of which may be deflated.
    fn in_effect(self, is_deflated: bool) -> (Settings, Durability) {
        let mut settings = Settings::default();
        if self == Self::Zip {
            settings.set(METHOD, if is_deflated { DEFLATED } else { STORED });
        }
        (settings, Durability::None)
    }
}

/// Returns the program that compressed the file at `path`, by the first bytes; `None` if none did.
fn compression(path: &Path) -> Option<&'static str> {
    let start: [u8; 6] = at::start(path)?;
    let known: [(&[u8], _); 5] = [
        (b"\x1F\x8B", "gzip"),
        (b"BZh", "bzip2"),
        (b"\xFD7zXZ\0", "xz"),
        (b"\x28\xB5\x2F\xFD", "zstd"),
        (b"\x04\x22\x4D\x18", "lz4"),
    ];
    known.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, name)| *name)
}

/// Checks that a file of `length` bytes has all of an entry's bytes.
fn check_within(name: &[u8], start: u64, stored: u64, length: u64) -> Result<()> {
    if start.checked_add(stored).is_some_and(|end| end <= length) {
        return Ok(());
    }
    let name = model::Shown(name);
    Err(Error::corrupt(format!("is cut short: the entry {name} ends after the end of the file")))
}

fn length(file: &File) -> Result<u64> {
    Ok(file.metadata().map_err(|e| Error::io("its length", e))?.len())
}
