//! A whole store behind `storemark_store.h` in Rust, to copy: a map, and a file that each commit replaces.
//! skeleton.c says when each hook is called, and storemark_store.h what it has to do.
//!     rustc --edition 2021 --crate-type cdylib -O -o libskeleton.so skeleton.rs
use std::{
    cell::RefCell, collections::BTreeMap, ffi::*, fs::{rename, File}, io::{self, Read, Write}, ops::Bound, path::*, ptr,
    slice, sync::Mutex, sync::MutexGuard,
};

const OK: c_int = 0;
const NO: c_int = 1;

#[derive(Default)]
struct Content { map: BTreeMap<Vec<u8>, Vec<u8>>, changed: bool }
/// A batch holds the lock, or an operation without one.
struct Store { path: PathBuf, flushes: bool, content: Mutex<Content> }
/// The store is closed after its sessions.
struct Session { store: &'static Store, batch: Option<MutexGuard<'static, Content>> }
impl Store {
    fn load(&self, content: &mut Content) -> io::Result<()> {
        *content = Content::default();
        let mut file = io::BufReader::new(File::open(&self.path)?);
        let mut next = |length: &mut [u8]| file.read_exact(length);
        let mut lengths = [[0; 8]; 2];
        while next(lengths.as_flattened_mut()).is_ok() {
            let [mut key, mut value] = lengths.map(|of| vec![0; u64::from_ne_bytes(of) as usize]);
            next(&mut key).and_then(|()| next(&mut value))?;
            content.map.insert(key, value);
        }
        Ok(())
    }
    fn save(&self, content: &mut Content) -> io::Result<()> {
        let next = self.path.with_extension("new");
        let mut file = io::BufWriter::new(File::create(&next)?);
        for (key, value) in &content.map {
            let lengths = [key.len(), value.len()].map(|length| (length as u64).to_ne_bytes());
            [lengths.as_flattened(), key, value].iter().try_for_each(|part| file.write_all(part))?;
        }
        let file = file.into_inner()?;
        if self.flushes { file.sync_all()? }
        rename(&next, &self.path)?;
        // Windows cannot open a folder.
        if self.flushes && cfg!(unix) { File::open(self.path.parent().unwrap_or(Path::new(".")))?.sync_all()? }
        content.changed = false;
        Ok(())
    }
}
thread_local!(static WORDS: RefCell<CString> = RefCell::default()); // of the last failure
extern "C" fn last_error() -> *const c_char { WORDS.with_borrow(|words| words.as_ptr()) }
fn result(done: io::Result<()>) -> c_int {
    let Err(error) = done else { return OK };
    WORDS.set(CString::new(error.to_string()).unwrap_or_default());
    -1 // STOREMARK_FAILED
}
/// Does one operation, as a batch of its own if none is open.
fn within(of: &mut Session, work: impl FnOnce(&mut Content) -> c_int) -> c_int {
    if let Some(batch) = &mut of.batch { return work(batch) }
    begin(of, 0);
    let done = within(of, work);
    match commit(of) { OK => done, failed => failed }
}
unsafe fn bytes<'b>(start: *const u8, length: usize) -> &'b [u8] {
    if length == 0 { &[] } else { slice::from_raw_parts(start, length) }
}
#[repr(C)]
struct Pair { name: *const c_char, value: *const c_char }
unsafe extern "C" fn open(path: *const c_char, access: c_int, set: *const Pair, count: usize, to: *mut *mut Store) -> c_int {
    let path = PathBuf::from(CStr::from_ptr(path).to_string_lossy().into_owned());
    let flushes = count == 0 || CStr::from_ptr((*set).value) == c"full"; // there is one setting
    let store = Store { path, flushes, content: Mutex::default() };
    let mut content = Content::default();
    let done = if access == 2 { store.save(&mut content) } else { store.load(&mut content) };
    *store.content.lock().unwrap() = content;
    *to = Box::into_raw(Box::new(store));
    result(done.inspect_err(|_| drop(Box::from_raw(*to))))
}
unsafe extern "C" fn close(of: *mut Store) -> c_int { drop(Box::from_raw(of)); OK }
unsafe extern "C" fn setting(of: *mut Store, _: *const c_char) -> *const c_char {
    if (*of).flushes { c"full".as_ptr() } else { c"off".as_ptr() }
}
unsafe extern "C" fn session(of: *mut Store, to: *mut *mut Session) -> c_int {
    *to = Box::into_raw(Box::new(Session { store: &*of, batch: None })); OK
}
unsafe extern "C" fn end(of: *mut Session) { drop(Box::from_raw(of)) }
extern "C" fn begin(of: &mut Session, _: c_int) -> c_int { of.batch = of.store.content.lock().ok(); OK }
extern "C" fn commit(of: &mut Session) -> c_int {
    let Some(mut content) = of.batch.take() else { return OK };
    if !content.changed { return OK }
    let saved = of.store.save(&mut content);
    result(saved.inspect_err(|_| drop(of.store.load(&mut content))))
}
extern "C" fn roll_back(of: &mut Session) {
    let Some(mut content) = of.batch.take() else { return };
    if content.changed { result(of.store.load(&mut content)); }
}
unsafe extern "C" fn get(of: &mut Session, key: *const u8, size: usize, into: *mut u8, room: usize, length: *mut usize) -> c_int {
    within(of, |content| {
        let Some(value) = content.map.get(bytes(key, size)) else { return NO };
        *length = value.len();
        if value.len() <= room { ptr::copy_nonoverlapping(value.as_ptr(), into, value.len()) } OK
    })
}
unsafe extern "C" fn put(of: &mut Session, key: *const u8, size: usize, value: *const u8, length: usize, how: c_int) -> c_int {
    within(of, |content| {
        let exists = content.map.contains_key(bytes(key, size));
        if how != 0 && exists != (how == 2) { return NO } // insert is 1, update is 2
        content.map.insert(bytes(key, size).to_vec(), bytes(value, length).to_vec());
        content.changed = true; OK
    })
}
unsafe extern "C" fn remove(of: &mut Session, key: *const u8, size: usize) -> c_int {
    within(of, |content| {
        let existed = content.map.remove(bytes(key, size)).is_some();
        content.changed |= existed;
        if existed { OK } else { NO }
    })
}
type Visit = unsafe extern "C" fn(*mut c_void, *const u8, usize, *const u8, usize) -> c_int;
unsafe extern "C" fn scan(of: &mut Session, from: *const u8, size: usize, _: c_int, visit: Visit, to: *mut c_void) -> c_int {
    within(of, |content| {
        let from = if from.is_null() { Bound::Unbounded } else { Bound::Included(bytes(from, size)) };
        let mut items = content.map.range::<[u8], _>((from, Bound::Unbounded));
        items.any(|(key, value)| visit(to, key.as_ptr(), key.len(), value.as_ptr(), value.len()) != 0); OK
    })
}

/// `storemark_plugin`: numbers, texts and lists first, then the hooks in the order of the header.
#[repr(C)]
pub struct Plugin([u32; 2], [*const c_char; 3], *const [*const c_char; 3], *const Class, [*const c_void; 16]);
#[repr(C)]
struct Class(c_int, *const c_char, *const c_char);
struct Shared<T>(T);
unsafe impl<T> Sync for Shared<T> {} // all of it is constant
static SETTINGS: Shared<[[*const c_char; 3]; 2]> =
    Shared([[c"sync".as_ptr(), c"full|off".as_ptr(), c"whether each commit is flushed".as_ptr()], [ptr::null(); 3]]);
static CLASSES: Shared<[Class; 3]> = Shared([
    Class(0, c"sync=off".as_ptr(), c"write(2) and rename(2) of the whole file at each commit, no flush".as_ptr()),
    Class(2, c"sync=full".as_ptr(), c"write(2), fsync(2) and rename(2) of the whole file, fsync(2) of its folder".as_ptr()),
    Class(0, ptr::null(), ptr::null()),
]);
static PLUGIN: Shared<Plugin> = Shared(Plugin(
    [1, 1 | 2 | 4 | 8 | 16], // version; writers, batches, snapshots, resident, unchanged
    [c"map".as_ptr(), c"1".as_ptr(), ptr::null()], SETTINGS.0.as_ptr(), CLASSES.0.as_ptr(),
    [open as _, close as _, setting as _, ptr::null(), ptr::null(), session as _, end as _, begin as _, commit as _,
     roll_back as _, get as _, ptr::null(), put as _, remove as _, scan as _, last_error as _],
));
#[no_mangle]
pub extern "C" fn storemark_store_plugin() -> *const Plugin { &raw const PLUGIN.0 }
