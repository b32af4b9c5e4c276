//! `pack:FILE` is one file of values and a table of where they stand: the physical limit of a
//! copy, against which other engines are held.
//!
//! A read is a table lookup and one copy, by `pread` or out of a map of the file (`io=mmap`)
//! made when it is opened; values written later lie behind the map and are read by `pread`.
//! An update that fits into the room of the old value overwrites it, a longer one is appended;
//! room that is given up is not used again. Between processes nothing is locked.

mod format;
mod session;
mod store;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use model::{
    Accepts, Blobs, Capabilities, Durability, DurabilitySettings, Engine, Facet, OpenOptions,
    Result, Setting, Store,
};

pub(crate) struct Pack;

const SETTINGS: &[Setting] = &[Setting {
    name: "io",
    accepts: Accepts::Words(&["pread", "mmap"]),
    help: "how values are read: a system call each, or copied out of a map of the file",
}];

impl Engine for Pack {
    fn name(&self) -> &'static str {
        "pack"
    }

    fn about(&self) -> &'static str {
        "one file and an offset table: the physical limit of a copy"
    }

    fn settings(&self, _: Facet) -> &'static [Setting] {
        SETTINGS
    }

    fn limitations(&self) -> &'static [&'static str] {
        &["names in order: a scan looks at all of them"]
    }

    fn durability_settings(&self, _: Facet, class: Durability) -> Option<DurabilitySettings> {
        let how =
            "pwrite(2) over the old bytes, no flush: a power cut leaves any mixture of old and new";
        (class == Durability::None).then_some(DurabilitySettings { settings: &[], how })
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }
}

impl Blobs for Pack {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            persistent: true,
            retains: true,
            meta: true,
            concurrent_writes: true,
            processes: true,
            remote: false,
        }
    }

    fn recognises(&self, path: &Path) -> bool {
        let mut head = [0; format::HEAD.len()];
        path.is_file()
            && File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
            && format::is_pack(&head)
    }

    fn files(&self, location: &Path) -> Vec<PathBuf> {
        vec![location.to_owned()]
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(store::Pack::create(location, options)?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(store::Pack::open(location, options)?))
    }
}
