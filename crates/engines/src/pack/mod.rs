//! `pack:FILE` is one file of values and a table of where they are: the physical limit of a
//! copy, against which other engines are held.
//!
//! A read is a table lookup and one copy, by `pread` or out of a map of the file (`io=mmap`)
//! created when it is opened; values written later are behind the map and are read by `pread`.
//! An update that fits into the room of the old value overwrites it, a longer one is appended;
//! room that is given up is not used again. Between processes nothing is locked.

mod format;
mod store;

use std::path::Path;

use model::{Accepts, Blobs, Declaration, Durability, Engine, OpenOptions, Result, Setting, Store};

use crate::{at, fresh};

pub(crate) struct Pack;

static DECLARATION: Declaration = Declaration {
    settings: &[Setting::new(
        "io",
        Accepts::Words(&["pread", "mmap"]),
        "how values are read: a system call each, or copied out of a map of the file",
    )],
    durability: &[Durability::None.kept_by(
        &[],
        "pwrite(2) over the old bytes, no flush: a power cut leaves any mixture of old and new",
    )],
    limitations: &["names in order: a scan looks at all of them"],
    blobs: Some(&Pack),
    ..Declaration::new("pack", "one file and an offset table: the physical limit of a copy")
};

impl Engine for Pack {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }
}

impl Blobs for Pack {
    fn recognises(&self, path: &Path) -> bool {
        at::start(path).is_some_and(|head| format::is_pack(&head))
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        fresh::file(location, |file| store::Pack::create(location, file, options))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(store::Pack::open(location, options)?))
    }
}
