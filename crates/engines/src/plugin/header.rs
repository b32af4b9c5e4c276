//! What `storemark_store.h` declares, in Rust.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use model::{
    Durability, Error, PluginAbilities, PluginDurability, PluginFacts, PluginSetting, Result,
};

use super::hook::Hook;

/// The version of the header.
pub(super) const VERSION: u32 = 1;

/// The symbol that a plugin exports: a function that returns its [`Table`].
pub(super) const SYMBOL: &str = "storemark_store_plugin";
pub(super) type Export = unsafe extern "C" fn() -> *const Table;

/// What hooks return.
pub(super) const OK: c_int = 0;
pub(super) const NO: c_int = 1;
pub(super) const CORRUPT: c_int = -2;
pub(super) const BUSY: c_int = -3;
pub(super) const UNSUPPORTED: c_int = -4;

/// How a store is opened, and what a batch will do.
pub(super) const READ: c_int = 0;
pub(super) const WRITE: c_int = 1;
pub(super) const CREATE: c_int = 2;

/// A store and a session, which only the plugin looks into.
pub(super) type RawStore = *mut c_void;
pub(super) type RawSession = *mut c_void;

/// A name and a value, each with a zero byte at its end.
#[repr(C)]
pub(super) struct Pair {
    pub(super) name: *const c_char,
    pub(super) value: *const c_char,
}

#[repr(C)]
struct SettingLine {
    name: *const c_char,
    accepts: *const c_char,
    help: *const c_char,
}

#[repr(C)]
struct DurabilityLine {
    durability: c_int,
    settings: *const c_char,
    how: *const c_char,
}

/// Is shown an item: visitor, key and its length, value and its length.
pub(super) type Visit =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;

pub(super) type OpenHook =
    unsafe extern "C" fn(*const c_char, c_int, *const Pair, usize, *mut RawStore) -> c_int;
pub(super) type StoreHook = unsafe extern "C" fn(RawStore) -> c_int;
pub(super) type SettingHook = unsafe extern "C" fn(RawStore, *const c_char) -> *const c_char;
pub(super) type SessionHook = unsafe extern "C" fn(RawStore, *mut RawSession) -> c_int;
pub(super) type EndHook = unsafe extern "C" fn(RawSession);
pub(super) type BeginHook = unsafe extern "C" fn(RawSession, c_int) -> c_int;
pub(super) type CommitHook = unsafe extern "C" fn(RawSession) -> c_int;
pub(super) type GetHook =
    unsafe extern "C" fn(RawSession, *const u8, usize, *mut u8, usize, *mut usize) -> c_int;
pub(super) type StatHook = unsafe extern "C" fn(RawSession, *const u8, usize, *mut usize) -> c_int;
pub(super) type PutHook =
    unsafe extern "C" fn(RawSession, *const u8, usize, *const u8, usize, c_int) -> c_int;
pub(super) type RemoveHook = unsafe extern "C" fn(RawSession, *const u8, usize) -> c_int;
pub(super) type ScanHook =
    unsafe extern "C" fn(RawSession, *const u8, usize, c_int, Visit, *mut c_void) -> c_int;
pub(super) type LastErrorHook = unsafe extern "C" fn() -> *const c_char;

/// `storemark_plugin`, as it is in the object.
#[repr(C)]
pub(super) struct Table {
    version: u32,
    can: u32,
    name: *const c_char,
    library_version: *const c_char,
    integrity: *const c_char,
    settings: *const SettingLine,
    durability: *const DurabilityLine,
    open: Option<OpenHook>,
    close: Option<StoreHook>,
    setting: Option<SettingHook>,
    sync: Option<StoreHook>,
    check: Option<StoreHook>,
    session: Option<SessionHook>,
    end: Option<EndHook>,
    begin: Option<BeginHook>,
    commit: Option<CommitHook>,
    roll_back: Option<EndHook>,
    get: Option<GetHook>,
    stat: Option<StatHook>,
    put: Option<PutHook>,
    remove: Option<RemoveHook>,
    scan: Option<ScanHook>,
    last_error: Option<LastErrorHook>,
}

/// The hooks of a plugin; those that may be absent are options.
pub(super) struct Hooks {
    pub(super) open: OpenHook,
    pub(super) close: StoreHook,
    pub(super) setting: Option<SettingHook>,
    pub(super) sync: Option<StoreHook>,
    pub(super) check: Option<StoreHook>,
    pub(super) session: SessionHook,
    pub(super) end: EndHook,
    pub(super) batch: Option<BatchHooks>,
    pub(super) get: GetHook,
    pub(super) stat: Option<StatHook>,
    pub(super) put: PutHook,
    pub(super) remove: RemoveHook,
    pub(super) scan: ScanHook,
    last_error: LastErrorHook,
}

#[derive(Clone, Copy)]
pub(super) struct BatchHooks {
    pub(super) begin: BeginHook,
    pub(super) commit: CommitHook,
    pub(super) roll_back: EndHook,
}

impl Table {
    /// Returns the hooks of the table, and what it declares.
    ///
    /// # Errors
    ///
    /// Fails if it was made with another version of the header, or lacks a hook that must be there.
    ///
    /// # Safety
    ///
    /// `table` is null, or what a plugin's function returned: as the header says it.
    pub(super) unsafe fn read(table: *const Self) -> Result<(Hooks, PluginFacts)> {
        // SAFETY: every table starts with its version, whatever its other fields are.
        let version = if table.is_null() { 0 } else { unsafe { ptr::read(table.cast::<u32>()) } };
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "was made with version {version} of storemark_store.h; accepted: {VERSION}, as \
                 `storemark conformance --header` prints it"
            )));
        }
        // SAFETY: a table of this version is as the type is, and is there as long as the object is loaded.
        let table = unsafe { &*table };
        let hooks = table.hooks().map_err(|name| {
            Error::unsupported(format!("lacks the hook {name}, which must not be NULL"))
        })?;
        // SAFETY: as above: texts and lists are those of the header.
        Ok((hooks, unsafe { table.facts() }?))
    }

    /// Returns the hooks, or the name of one that is missing.
    fn hooks(&self) -> Result<Hooks, &'static str> {
        let batch = match (self.begin, self.commit, self.roll_back) {
            (Some(begin), Some(commit), Some(roll_back)) => {
                Some(BatchHooks { begin, commit, roll_back })
            }
            (None, None, None) => None,
            _ => return Err("begin, commit or roll_back, though it has one of them"),
        };
        Ok(Hooks {
            open: self.open.ok_or("open")?,
            close: self.close.ok_or("close")?,
            setting: self.setting,
            sync: self.sync,
            check: self.check,
            session: self.session.ok_or("session")?,
            end: self.end.ok_or("end")?,
            batch,
            get: self.get.ok_or("get")?,
            stat: self.stat,
            put: self.put.ok_or("put")?,
            remove: self.remove.ok_or("remove")?,
            scan: self.scan.ok_or("scan")?,
            last_error: self.last_error.ok_or("last_error")?,
        })
    }

    /// Copies what the plugin declares.
    ///
    /// # Safety
    ///
    /// The table is of this version: texts end in a zero byte, lists in a line without a name.
    unsafe fn facts(&self) -> Result<PluginFacts> {
        let (mut settings, mut durability) = (Vec::new(), Vec::new());
        // SAFETY: as the caller promises.
        unsafe {
            let mut line = self.settings;
            while !line.is_null() && !(*line).name.is_null() {
                let SettingLine { name, accepts, help } = &*line;
                let [name, accepts, help] = [*name, *accepts, *help].map(|of| text(of));
                settings.push(PluginSetting { name, accepts, help });
                line = line.add(1);
            }
            let mut line = self.durability;
            while !line.is_null() && !(*line).how.is_null() {
                let class = class((*line).durability)?;
                let [settings, how] = [(*line).settings, (*line).how].map(|of| text(of));
                durability.push(PluginDurability { class, settings, how });
                line = line.add(1);
            }
            Ok(PluginFacts {
                name: text(self.name),
                version: text(self.library_version),
                integrity: Some(text(self.integrity)).filter(|way| !way.is_empty()),
                can: abilities(self.can, self.begin.is_some()),
                settings,
                durability,
            })
        }
    }
}

fn class(number: c_int) -> Result<Durability> {
    let at = usize::try_from(number).ok().and_then(|at| Durability::ALL.get(at));
    at.copied().ok_or_else(|| {
        Error::unsupported(format!("declares the durability class {number}; accepted: 0 to 2"))
    })
}

fn abilities(bits: u32, batches: bool) -> PluginAbilities {
    let has = |bit: u32| bits & bit != 0;
    PluginAbilities {
        writers: has(1),
        batches,
        atomic_batches: has(2),
        snapshots: has(4),
        resident: has(8),
        unchanged: has(16),
        own_calls: has(32),
    }
}

/// Copies a text; an empty one if it is null.
///
/// # Safety
///
/// A text that is not null ends in a zero byte.
pub(super) unsafe fn text(of: *const c_char) -> String {
    if of.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

impl Hooks {
    /// Returns the error of a hook that returned `code` on this thread.
    #[cold]
    fn error(&self, hook: Hook, code: c_int) -> Error {
        // SAFETY: the hook was just called, and its words are there until the next one.
        let said = unsafe { text((self.last_error)()) };
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = if said.is_empty() { format!("returned {code}") } else { said };
        let said = format!("hook {}: {said}", hook.name());
        match code {
            CORRUPT => Error::corrupt(said),
            BUSY => Error::new(model::ErrorKind::Busy, said),
            UNSUPPORTED => Error::unsupported(said),
            _ => Error::failed(said),
        }
    }

    /// Returns an error unless `hook` returned [`OK`].
    #[inline]
    pub(super) fn succeeded(&self, hook: Hook, code: c_int) -> Result<()> {
        if code == OK { Ok(()) } else { Err(self.error(hook, code)) }
    }

    /// Returns whether `hook` returned [`OK`], not [`NO`].
    #[inline]
    pub(super) fn answer(&self, hook: Hook, code: c_int) -> Result<bool> {
        match code {
            OK => Ok(true),
            NO => Ok(false),
            code => Err(self.error(hook, code)),
        }
    }
}
