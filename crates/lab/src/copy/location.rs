//! The location of a store, how it is opened, and how much is in it.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use model::{
    Access, Action, Blobs, Entry, Error, Facet, Fill, Generated, Item, KeyKind, OpenOptions,
    Removed, Result, Scan, Settings, Store,
    units::{show_amount, show_count, show_size},
    without_password,
};

use crate::{
    Progress, Silent, Stop,
    dataset::Generator,
    host::{self, Scratch},
};

/// A store on disk: its engine, its path, and the settings to open or create it with.
#[derive(Clone)]
pub struct StoreLocation {
    /// The engine.
    pub engine: &'static dyn Blobs,
    /// The path.
    pub path: PathBuf,
    /// The settings.
    pub settings: Settings,
}

/// Returns the name of a store in messages: its path, or its address without a password.
pub(crate) fn shown(engine: &dyn Blobs, path: &Path) -> String {
    match engine.declaration().schemes {
        [scheme, ..] if engine.capabilities().remote => {
            without_password(&format!("{scheme}:{}", path.display()))
        }
        _ => path.display().to_string(),
    }
}

/// A store that can be read, and the scratch folder that it may be in.
pub(crate) struct Readable {
    pub(crate) place: StoreLocation,
    /// The store itself, if a copy of it is read.
    original: Option<PathBuf>,
    _scratch: Option<Scratch>,
}

impl Readable {
    /// Returns the path of the store itself.
    pub(crate) fn shown(&self) -> &Path {
        self.original.as_deref().unwrap_or(&self.place.path)
    }

    /// Replaces the path of a copy in an error by that of the store.
    pub(crate) fn names(&self, error: Error) -> Error {
        let Some(original) = &self.original else { return error };
        let [copy, original] = [&self.place.path, original].map(|path| path.display().to_string());
        error.moved(&copy, &original)
    }
}

/// Returns the location of a generated dataset, which can only be read. It has no path.
///
/// # Errors
///
/// Fails if the dataset is too large.
pub fn generated(spec: Generated) -> Result<StoreLocation> {
    // An engine lives as long as the program; this one is a few numbers.
    let engine: &'static Generator = Box::leak(Box::new(Generator::new(spec)?));
    Ok(StoreLocation { engine, path: PathBuf::new(), settings: Settings::default() })
}

impl StoreLocation {
    /// Returns the store, or a copy in `scratch` (default: next to it) if even reading would change
    /// the store.
    pub(crate) fn readable(
        &self,
        scratch: Option<&Path>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Readable> {
        let Some(parent) = self.copied_to(scratch)? else {
            return Ok(Readable { place: self.clone(), original: None, _scratch: None });
        };
        let scratch = Scratch::new_in(&parent)?;
        let folder = scratch.folder("read", self.engine.account())?;
        let name = self.path.file_name().unwrap_or_else(|| self.engine.name().as_ref());
        let copy = folder.join(name);
        clone_store(self.engine, &self.path, &copy, progress, stop)?;
        let place = Self { path: copy, ..self.clone() };
        Ok(Readable { place, original: Some(self.path.clone()), _scratch: Some(scratch) })
    }

    /// Calls `read` with the path of the store, or of a copy next to it if even reading would
    /// change the store.
    ///
    /// # Errors
    ///
    /// Fails if there is no room for the copy, the store cannot be copied, or `read` fails.
    pub fn read_unchanged<T>(
        &self,
        stop: &Stop,
        read: impl FnOnce(&Path) -> Result<T>,
    ) -> Result<T> {
        self.check_room(None)?;
        let readable = self.readable(None, &Silent, stop)?;
        read(&readable.place.path).map_err(|error| readable.names(error))
    }

    /// Returns the folder for a copy that is read instead; `None` if the store itself can be read.
    fn copied_to(&self, scratch: Option<&Path>) -> Result<Option<PathBuf>> {
        if !self.engine.capabilities().persistent || !self.engine.reads_a_copy(&self.path)? {
            return Ok(None);
        }
        let asked = scratch.map_or_else(|| parent(&self.path), Path::to_owned);
        Ok(Some(host::enterable(&asked, self.engine.account())))
    }

    /// Fails if there is no room for the copy that [`Self::readable`] makes.
    pub(crate) fn check_room(&self, scratch: Option<&Path>) -> Result<()> {
        self.copied_to(scratch)?.map_or(Ok(()), |parent| self.check_copy_fits(&parent))
    }

    /// Fails if there is no room for a copy in `parent`.
    pub(crate) fn check_copy_fits(&self, parent: &Path) -> Result<()> {
        let space = host::space(&self.engine.files(&self.path))?;
        // Holes are filled by copying.
        let needed = space.apparent.max(space.allocated);
        let Some(free) = host::shortage(parent, needed)? else { return Ok(()) };
        Err(Error::usage(format!(
            "a copy of it takes {}, and {} has {} free; --scratch DIR names another folder",
            show_size(needed),
            parent.display(),
            show_size(free)
        ))
        .at(self.path.display()))
    }

    /// Returns its name in messages: the path, or the address without a password.
    pub fn shown(&self) -> String {
        shown(self.engine, &self.path)
    }

    /// Returns the path, if it is that of a file or folder: not an address, and not that of generated
    /// values, which have none.
    pub(crate) fn file(&self) -> Option<&Path> {
        let is_file = !self.engine.capabilities().remote && !self.path.as_os_str().is_empty();
        is_file.then_some(&*self.path)
    }

    /// Reports whether its operations are requests to a service that may charge for them.
    pub(crate) fn is_charged(&self) -> bool {
        self.engine.is_charged(&self.settings)
    }

    /// Says what reading all of an `amount` costs, if it is charged for.
    pub(crate) fn say_reads(&self, amount: Amount, progress: &dyn Progress) {
        self.say_requests(Action::Read, amount, progress);
    }

    /// Says how many requests an operation on each value of an `amount` takes at most, and their cost, if
    /// they are charged for.
    pub(super) fn say_requests(&self, action: Action, amount: Amount, progress: &dyn Progress) {
        if !self.is_charged() {
            return;
        }
        let Amount { count, bytes } = amount;
        let mean = bytes.div_ceil(count.max(1));
        let Some(one) = self.engine.requests(action, mean, &self.settings) else { return };
        let all = one * count;
        let cost = all.cost.map_or_else(
            || "; prices= shows what they cost".to_owned(),
            |cost| format!(", which cost {}", show_amount(cost)),
        );
        progress.say(&format!(
            "{}: {} values, {}: at most {} requests{cost}",
            self.shown(),
            show_count(count),
            show_size(bytes),
            show_count(all.count())
        ));
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Store>> {
        self.engine.open(&self.path, &self.options(Access::Read, KeyKind::Integers))
    }

    /// Returns how much the store holds and the lengths of its shortest and its longest value, with what
    /// it has in addition to values. No value is read if the engine knows lengths without that.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened or listed.
    pub fn sizes(&self, stop: &Stop) -> Result<(Amount, [u64; 2], Vec<Entry>)> {
        let store = self.open()?;
        let (mut amount, mut least, mut most) = (Amount::default(), u64::MAX, 0);
        store.session()?.scan(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            amount.add(&item);
            (least, most) = (least.min(item.length), most.max(item.length));
            Ok(ControlFlow::Continue(()))
        })?;
        let left_out = store.left_out()?;
        store.close()?;
        Ok((amount, [least.min(most), most], left_out))
    }

    /// Opens the store for writing and closes it: its engine repairs what a killed writer left.
    /// Returns the files that it removed for that.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened or closed.
    pub fn repair(&self) -> Result<Removed> {
        let store =
            self.engine.open(&self.path, &self.options(Access::Write, KeyKind::Integers))?;
        let removed = store.removed();
        store.close().map(|()| removed)
    }

    pub(crate) fn options(&self, access: Access, keys: KeyKind) -> OpenOptions {
        OpenOptions { settings: self.settings.clone(), access, keys }
    }

    /// Opens a store of this kind at `path`, whatever it was created with.
    pub(super) fn open_plain(
        &self,
        path: &Path,
        access: Access,
        keys: KeyKind,
    ) -> Result<Box<dyn Store>> {
        let settings = self.settings.to_open(self.engine.settings(Facet::Blobs));
        self.engine.open(path, &OpenOptions { settings, access, keys })
    }
}

pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Copies the files of a store, side files included, so that the copy has the same layout.
pub(crate) fn clone_store(
    engine: &dyn Blobs,
    from: &Path,
    to: &Path,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<()> {
    progress.stage(&format!("copying {}", from.display()), None);
    for (from, to) in engine.files(from).iter().zip(engine.files(to)) {
        if from.exists() {
            clone(from, &to, stop)?;
        }
    }
    Ok(())
}

/// Copies a file, or a folder with everything in it.
fn clone(from: &Path, to: &Path, stop: &Stop) -> Result<()> {
    stop.check()?;
    let wrong = |e| Error::io(from.display(), e);
    let kind = fs::symlink_metadata(from).map_err(wrong)?.file_type();
    if kind.is_file() {
        host::copy_file(from, to, stop)?;
        // A copy of a read-only file is read-only too; a scratch copy must not be.
        let mut permissions = fs::metadata(to).map_err(wrong)?.permissions();
        if permissions.readonly() {
            #[expect(clippy::permissions_set_readonly_false, reason = "in a folder of mode 0700")]
            permissions.set_readonly(false);
            fs::set_permissions(to, permissions).map_err(wrong)?;
        }
    } else if kind.is_dir() {
        fs::create_dir(to).map_err(|e| Error::io(to.display(), e))?;
        for entry in fs::read_dir(from).map_err(wrong)? {
            let name = entry.map_err(wrong)?.file_name();
            clone(&from.join(&name), &to.join(&name), stop)?;
        }
    }
    Ok(())
}

/// The block size of nearly all file systems, in bytes.
const BLOCK: u64 = 4096;

/// A number of values and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Number of values.
    pub count: u64,
    /// Bytes of the values.
    pub bytes: u64,
}

impl Amount {
    pub(crate) fn measure(store: &dyn Store, stop: &Stop) -> Result<Self> {
        let mut amount = Self::default();
        store.session()?.scan(Scan::LENGTHS, &mut |item| {
            stop.check()?;
            amount.add(&item);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(amount)
    }

    pub(crate) fn add(&mut self, item: &Item<'_>) {
        self.count += 1;
        self.bytes += item.length;
    }

    /// Returns the room for the values on disk: a quarter more than the bytes; a value with blocks
    /// of its own fills half of its last one.
    pub(crate) fn room(self, fill: &Fill) -> u64 {
        let mean = self.bytes / self.count.max(1);
        let more = match fill.whole_blocks_from {
            Some(size) if mean >= size => self.count.saturating_mul(BLOCK / 2),
            _ => self.bytes / 4,
        };
        self.bytes.saturating_add(more)
    }

    /// Fails if a copy into `folder` has no room.
    pub(super) fn check_room(self, fill: &Fill, folder: &Path) -> Result<()> {
        let needed = self.room(fill);
        let Some(free) = host::shortage(folder, needed)? else { return Ok(()) };
        Err(Error::usage(format!(
            "the copy takes about {}, but there are only {} free",
            show_size(needed),
            show_size(free)
        )))
    }
}

#[cfg(test)]
mod tests {
    use model::ErrorKind;

    use super::*;

    #[test]
    fn a_shortage_names_both_figures() {
        let folder = tempfile::tempdir().unwrap();
        let fill = Fill { settings: &[], sessions: 1, whole_blocks_from: None };
        let check = |bytes| Amount { count: 1, bytes }.check_room(&fill, folder.path());
        check(1000).unwrap();
        let error = check(1 << 62).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("5765 PB"), "{error}");
    }

    #[test]
    fn tiny_values_take_blocks_where_each_has_its_own() {
        let amount = Amount { count: 1000, bytes: 1000 };
        let fill = |whole_blocks_from| Fill { settings: &[], sessions: 1, whole_blocks_from };
        assert_eq!(amount.room(&fill(None)), 1250);
        assert_eq!(amount.room(&fill(Some(0))), 2_049_000);
        assert_eq!(amount.room(&fill(Some(2))), 1250, "several share a block");
    }
}
