//! `files:DIR` keeps every value in a file of its own: in one folder as kvtest numbers them
//! (`layout=flat`), in two levels of folders as kvtest does (`layout=tree`), or under the names
//! the keys themselves are (`layout=names`).
//!
//! A file is truncated and written, written over its old bytes (`write=overwrite`), or written
//! to a temporary file and then renamed (`write=rename`), and flushed or not (`sync`): `file` flushes
//! each file before it is closed, `full` also the folders, once per batch. Symbolic links and special files are no keys and are left alone;
//! [`files_left_out`] lists them.
//!
//! With `write=rename`, two sessions that insert the same key at the same time may both
//! get the answer that they did.

mod layout;
mod left_out;
mod listing;
mod number;
mod os;
mod session;
mod store;
mod tasks;
mod temporary;
mod walk;

use std::path::Path;

use model::{
    Accepts, Blobs, Declaration, Durability, DurabilitySettings, Engine, Error, Fill, OpenOptions,
    Result, Setting, Store, Tasks,
};

use self::{
    layout::{LAYOUT, Layout},
    store::Folder,
};
pub use left_out::{LeftOut, Several, files_left_out};

pub(crate) struct Files;

static DECLARATION: Declaration = Declaration {
    settings: &[
        Setting::new(
            "layout",
            Accepts::Words(&["flat", "tree", "names"]),
            "kvtest's numbered files in one folder (000001) or in a tree (00/00/01), or files by their paths; found when not given",
        ),
        Setting::new(
            "write",
            Accepts::Words(&["inplace", "overwrite", "rename"]),
            "truncate a file and write it, write over its old bytes, or write a new file and rename it",
        ),
        Setting::new(
            "sync",
            Accepts::Words(&["none", "file", "full"]),
            "flush nothing, each file before it is closed, or its folder as well",
        ),
    ],
    durability: &[
        DurabilitySettings::new(
            Durability::None,
            &[("write", "inplace"), ("sync", "none")],
            "pwrite(2) over the old bytes, no flush: a power cut leaves any mixture of old and new",
        ),
        DurabilitySettings::new(
            Durability::Consistent,
            &[("write", "rename"), ("sync", "file")],
            "each value into a new file, fsync(2) of it, rename(2) over the old one: a power cut \
             leaves the old value or the new one, whole",
        ),
        DurabilitySettings::new(
            Durability::Durable,
            &[("write", "rename"), ("sync", "full")],
            "the same, then fsync(2) of the folder before the commit returns: the new value stays",
        ),
    ],
    limitations: &["an order of its keys: each scan lists and sorts the whole folder"],

    // In place: a torn file differs from its source, and a rename would cost more than half as
    // much again. Files in one folder are created one at a time, but filled concurrently.
    fill: Some(Fill {
        settings: &[("write", "inplace"), ("sync", "none")],
        sessions: 2,
        whole_blocks: true,
    }),
    ..Declaration::new("files", "a file for each value, numbered as kvtest does or by name")
};

impl Engine for Files {
    fn declaration(&self) -> &'static Declaration {
        &DECLARATION
    }

    fn blobs(&'static self) -> Option<&'static dyn Blobs> {
        Some(self)
    }

    fn tasks(&'static self) -> Option<&'static dyn Tasks> {
        Some(self)
    }
}

impl Blobs for Files {
    fn recognises(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn create(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        let layout = LAYOUT
            .asked(&options.settings, "layout")
            .unwrap_or_else(|| Layout::usual(options.keys));
        if layout.keys() != options.keys {
            return Err(Error::usage(format!(
                "layout={} holds {}; the keys are {}",
                LAYOUT.word(layout),
                layout.keys(),
                options.keys
            )));
        }
        Ok(Box::new(Folder::create(location, layout, options)?))
    }

    fn open(&self, location: &Path, options: &OpenOptions) -> Result<Box<dyn Store>> {
        Ok(Box::new(Folder::open(location, options)?))
    }
}
