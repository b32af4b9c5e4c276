//! Functions for Windows, by its own calls. What it has no word for is in `other`.

use std::{
    ffi::{CStr, OsStr, OsString},
    fs::{File, Metadata},
    io, iter, mem,
    os::windows::{
        ffi::{OsStrExt, OsStringExt},
        fs::OpenOptionsExt,
        io::{AsRawHandle, FromRawHandle, OwnedHandle},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command},
    ptr,
    sync::OnceLock,
    thread,
    time::Duration,
};

use model::{Cost, Filesystem, Io, Memory};
use windows_sys::{
    Wdk::System::SystemServices::RtlGetVersion,
    Win32::{
        Foundation::{
            ERROR_ACCESS_DENIED, ERROR_FILE_NOT_FOUND, ERROR_NO_MORE_ITEMS,
            ERROR_SHARING_VIOLATION, FILETIME, MAX_PATH,
        },
        Storage::FileSystem::{
            BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
            FILE_STANDARD_INFO, FileStandardInfo, GetDiskFreeSpaceExW, GetFileInformationByHandle,
            GetFileInformationByHandleEx, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW,
            GetVolumePathNameW, MOVEFILE_WRITE_THROUGH, MoveFileExW,
        },
        System::{
            Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler},
            JobObjects::{
                AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
                JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
                SetInformationJobObject, TerminateJobObject,
            },
            LibraryLoader::{GetModuleHandleW, GetProcAddress},
            Performance::{QueryPerformanceCounter, QueryPerformanceFrequency},
            ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS},
            Registry::{
                HKEY_LOCAL_MACHINE, KEY_READ, RRF_RT_REG_SZ, RegCloseKey, RegEnumValueW,
                RegGetValueW, RegOpenKeyExW,
            },
            Services::{
                CloseServiceHandle, OpenSCManagerW, OpenServiceW, QueryServiceStatus,
                SC_MANAGER_CONNECT, SERVICE_QUERY_STATUS, SERVICE_RUNNING, SERVICE_STATUS,
            },
            SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX, OSVERSIONINFOW},
            Threading::{
                CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS, GetCurrentProcess, GetCurrentThread,
                GetProcessIoCounters, GetProcessTimes, GetThreadTimes, IO_COUNTERS,
            },
        },
    },
};

pub(crate) use super::other::*;

/// Returns `text` with the zero that ends it.
fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain(iter::once(0)).collect()
}

/// Returns the text before the first zero.
fn narrow(wide: &[u16]) -> OsString {
    OsString::from_wide(wide.split(|unit| *unit == 0).next().unwrap_or_default())
}

fn checked(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the path as the calls take it that have a limit on its length otherwise.
fn long(path: &Path) -> io::Result<Vec<u16>> {
    let full = std::path::absolute(path)?;
    let text = full.as_os_str().to_string_lossy();
    let is_plain = !text.starts_with(r"\\") && text.len() >= MAX_PATH as usize - 12;
    let full = if is_plain { PathBuf::from(format!(r"\\?\{text}")) } else { full };
    Ok(wide(full.as_os_str()))
}

/// Returns a full path of a drive without the prefix of long paths, unless it is long.
pub(crate) fn shown_path(path: PathBuf) -> PathBuf {
    let plain = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    let plain = plain.filter(|text| text.get(1..3) == Some(r":\"));
    let plain = plain.filter(|text| text.len() < MAX_PATH as usize - 12).map(PathBuf::from);
    plain.unwrap_or(path)
}

/// Opens a file, folder or link to ask for what the system knows of it, which takes no access.
fn opened(path: &Path, is_link: bool) -> io::Result<File> {
    // Without the first flag no folder is opened, and without the second what a link leads to is.
    let link = if is_link { FILE_FLAG_OPEN_REPARSE_POINT } else { 0 };
    File::options().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS | link).open(path)
}

/// Returns the number of the volume and that of the file in it.
fn numbers(file: &File) -> Option<(u64, u64)> {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut found: BY_HANDLE_FILE_INFORMATION = unsafe { mem::zeroed() };
    // SAFETY: the handle is open, and the call writes a structure of this type.
    checked(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) }).ok()?;
    let index = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Some((found.dwVolumeSerialNumber.into(), index))
}

/// Returns the numbers of the file, folder or link at `path`.
pub(crate) fn identity(path: &Path, meta: &Metadata) -> Option<(u64, u64)> {
    numbers(&opened(path, meta.is_symlink()).ok()?)
}

/// Returns the numbers of what `path` leads to.
pub(crate) fn file_identity(path: &Path) -> Option<(u64, u64)> {
    numbers(&opened(path, false).ok()?)
}

/// Returns the identity of the file or folder at `path`, and the bytes that it occupies on the volume, which
/// are fewer than its length if it is compressed or has holes; its length if the system does not report them.
pub(crate) fn occupied(path: &Path, meta: &Metadata) -> (Option<(u64, u64)>, u64) {
    let file = opened(path, meta.is_symlink()).ok();
    let length = if meta.is_file() { meta.len() } else { 0 };
    let allocated = file.as_ref().and_then(allocated);
    (file.as_ref().and_then(numbers), allocated.unwrap_or(length))
}

fn allocated(file: &File) -> Option<u64> {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut found: FILE_STANDARD_INFO = unsafe { mem::zeroed() };
    let size = u32::try_from(size_of_val(&found)).ok()?;
    let handle = file.as_raw_handle();
    // SAFETY: the handle is open, and the structure is that of its class, of this size.
    checked(unsafe {
        GetFileInformationByHandleEx(handle, FileStandardInfo, (&raw mut found).cast(), size)
    })
    .ok()?;
    u64::try_from(found.AllocationSize).ok()
}

/// Flushes a file to the device, which takes a handle that may write. One that is read-only was flushed
/// before it became that ([`crate::copy_file`]).
pub(crate) fn flush_file(path: &Path, meta: &Metadata) -> io::Result<()> {
    if meta.permissions().readonly() {
        return Ok(());
    }
    File::options().write(true).open(path)?.sync_all()
}

/// Flushes the volume that `folder` is on, as an administrator may; returns `None` if that is not possible here.
pub(crate) fn sync_filesystem(folder: &Path) -> Option<io::Result<()>> {
    let volume = filesystem(folder)?.device;
    // With a backslash at the end the name is that of the root folder.
    let volume = File::options().write(true).open(volume.trim_end_matches('\\')).ok()?;
    volume.sync_all().ok().map(Ok)
}

/// Returns the bytes that this user may still write to the volume of `place`.
pub(crate) fn free_bytes(place: &Path) -> Option<io::Result<u64>> {
    let free = || {
        let (place, mut free) = (long(place)?, 0);
        // SAFETY: the path ends in zero, and the call writes one number; it takes null for the others.
        checked(unsafe {
            GetDiskFreeSpaceExW(place.as_ptr(), &raw mut free, ptr::null_mut(), ptr::null_mut())
        })?;
        Ok(free)
    };
    Some(free())
}

/// Returns nanoseconds on the performance counter, which never goes back and is the same in all processes.
pub(crate) fn now_ns() -> u64 {
    static FREQUENCY: OnceLock<u64> = OnceLock::new();
    let read = |call: unsafe extern "system" fn(*mut i64) -> i32| {
        let mut count = 0;
        // SAFETY: both calls write one number.
        unsafe { call(&raw mut count) };
        u64::try_from(count).unwrap_or(0)
    };
    let frequency = *FREQUENCY.get_or_init(|| read(QueryPerformanceFrequency).max(1));
    let ns = u128::from(read(QueryPerformanceCounter)) * 1_000_000_000 / u128::from(frequency);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Puts the process into a group of its own, which Ctrl-C does not reach.
pub(crate) fn in_own_group(command: &mut Command) -> &mut Command {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP)
}

/// Starts the process without a console: it outlives one that is closed, and Ctrl-Break does not reach it.
pub(crate) fn without_terminal(command: &mut Command) -> &mut Command {
    command.creation_flags(DETACHED_PROCESS)
}

/// The processes that one process has started, with itself. They end when this is dropped, and when this
/// process ends, however it does.
#[derive(Debug)]
pub(crate) struct Group(Option<OwnedHandle>);

impl Group {
    /// Puts a process that has just been started into a group; it keeps going alone if it cannot be.
    pub(crate) fn with(child: &Child) -> Self {
        Self(Self::job(child).ok())
    }

    fn job(child: &Child) -> io::Result<OwnedHandle> {
        // SAFETY: the call takes null for a name and for rights of its own.
        let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else's.
        let owned = unsafe { OwnedHandle::from_raw_handle(job) };
        // SAFETY: the structure has numbers alone, of which zeros set no limit.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { mem::zeroed() };
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).expect("some hundred bytes");
        let class = JobObjectExtendedLimitInformation;
        // SAFETY: the job is open, and the structure is that of its class, of this size.
        checked(unsafe { SetInformationJobObject(job, class, (&raw const limits).cast(), size) })?;
        // SAFETY: both handles are open.
        checked(unsafe { AssignProcessToJobObject(job, child.as_raw_handle()) })?;
        Ok(owned)
    }

    /// Ends all processes of the group.
    pub(crate) fn kill(&self, _: &Child) {
        if let Some(job) = &self.0 {
            // SAFETY: the handle is open. A job without processes is none to end.
            unsafe { TerminateJobObject(job.as_raw_handle(), 1) };
        }
    }
}

/// The function that [`on_interrupt`] was given.
static HANDLER: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Calls `handler`, in a thread of its own, when the user or the system asks this process to end.
pub(crate) fn on_interrupt(handler: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    unsafe extern "system" fn call(event: u32) -> i32 {
        HANDLER.get().map(|handler| handler());
        if !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
            // The window closes, or the user logs off: the system ends this process once this returns.
            thread::sleep(Duration::from_secs(3600));
        }
        1
    }
    if HANDLER.set(Box::new(handler)).is_err() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // SAFETY: the function is there as long as the process.
    checked(unsafe { SetConsoleCtrlHandler(Some(call), 1) })
}

/// Returns nanoseconds of a time in units of 100 ns.
fn ns(time: FILETIME) -> u64 {
    (u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)) * 100
}

/// Returns the times in user and kernel mode that `call` reports.
fn times(
    call: impl FnOnce(*mut FILETIME, *mut FILETIME, *mut FILETIME, *mut FILETIME) -> i32,
) -> Cost {
    const ZERO: FILETIME = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    let [mut created, mut ended, mut system, mut user] = [ZERO; 4];
    call(&raw mut created, &raw mut ended, &raw mut system, &raw mut user);
    Cost { user_ns: ns(user), system_ns: ns(system), ..Cost::default() }
}

/// Returns what this process, all its threads together, has spent so far. Page faults are not distinguished
/// into those with and without reading, and all count as the latter.
pub(crate) fn spent() -> Cost {
    // SAFETY: the handle is that of this process, and the call writes four times.
    let times = times(|created, ended, system, user| unsafe {
        GetProcessTimes(GetCurrentProcess(), created, ended, system, user)
    });
    let minor_faults = own_memory().map(|memory| memory.PageFaultCount.into());
    Cost { minor_faults, ..times }
}

/// Returns the memory that the system keeps ready for this process: what it has of its own, read or not, and no
/// page of a file.
pub(crate) fn own_bytes() -> Option<u64> {
    u64::try_from(own_memory()?.PagefileUsage).ok()
}

/// Returns the system's account of the memory of this process.
fn own_memory() -> Option<PROCESS_MEMORY_COUNTERS> {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut memory: PROCESS_MEMORY_COUNTERS = unsafe { mem::zeroed() };
    let size = u32::try_from(size_of_val(&memory)).ok()?;
    // SAFETY: the handle is that of this process, and the structure has this size.
    let read = unsafe { K32GetProcessMemoryInfo(GetCurrentProcess(), &raw mut memory, size) };
    (read != 0).then_some(memory)
}

/// Returns the input and output of this process so far. What a device had to do for it is not counted;
/// `None` if nothing is, as in Wine: a program that runs was read.
pub(crate) fn io() -> Option<Io> {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut found: IO_COUNTERS = unsafe { mem::zeroed() };
    // SAFETY: the handle is that of this process, and the call writes a structure of this type.
    checked(unsafe { GetProcessIoCounters(GetCurrentProcess(), &raw mut found) }).ok()?;
    (found.ReadOperationCount > 0).then_some(Io {
        read_calls: Some(found.ReadOperationCount),
        read_bytes: Some(found.ReadTransferCount),
        write_calls: Some(found.WriteOperationCount),
        written_bytes: Some(found.WriteTransferCount),
        device_read_bytes: None,
        device_written_bytes: None,
    })
}

/// Returns what the calling thread spent so far.
pub(crate) fn spent_by_thread() -> Cost {
    // SAFETY: the handle is that of this thread, and the call writes four times.
    times(|created, ended, system, user| unsafe {
        GetThreadTimes(GetCurrentThread(), created, ended, system, user)
    })
}

/// Renames to a path at which nothing is yet, in one step. What another program has open cannot be renamed, and a
/// scanner opens what is new, so this is tried for a second.
pub(crate) fn rename_new(from: &Path, to: &Path) -> Option<io::Result<()>> {
    const TRIES: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(20);
    let rename = || {
        let (from, to) = (long(from)?, long(to)?);
        // SAFETY: both paths end in zero.
        checked(unsafe { MoveFileExW(from.as_ptr(), to.as_ptr(), MOVEFILE_WRITE_THROUGH) })
    };
    let mut done = rename();
    for _ in 0..TRIES {
        let code = done.as_ref().err().and_then(io::Error::raw_os_error).map(i32::cast_unsigned);
        if !matches!(code, Some(ERROR_ACCESS_DENIED | ERROR_SHARING_VIOLATION)) {
            break;
        }
        thread::sleep(PAUSE);
        done = rename();
    }
    Some(done)
}

/// Returns the version of Windows, and that of Wine if it is Wine.
pub(crate) fn kernel() -> Option<String> {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut version: OSVERSIONINFOW = unsafe { mem::zeroed() };
    version.dwOSVersionInfoSize = u32::try_from(size_of_val(&version)).ok()?;
    // SAFETY: the structure has the size that it names.
    unsafe { RtlGetVersion(&raw mut version) };
    let OSVERSIONINFOW { dwMajorVersion, dwMinorVersion, dwBuildNumber, .. } = version;
    Some(format!("{dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber}"))
}

/// Returns the emulator that plays this system, with its version: Wine's library has a function for it.
pub(crate) fn emulator() -> Option<String> {
    type Version = unsafe extern "C" fn() -> *const std::ffi::c_char;

    let library = wide(OsStr::new("ntdll.dll"));
    // SAFETY: both names end in zero, and every process has this library as long as it runs.
    let found = unsafe {
        GetProcAddress(GetModuleHandleW(library.as_ptr()), c"wine_get_version".as_ptr().cast())
    }?;
    // SAFETY: Wine declares the function so; its text is constant.
    let version = unsafe {
        CStr::from_ptr(mem::transmute::<unsafe extern "system" fn() -> isize, Version>(found)())
    };
    Some(format!("Wine {}", version.to_string_lossy()))
}

/// Returns the memory of the machine. What is free may be in use as cache.
pub(crate) fn memory() -> Memory {
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut found: MEMORYSTATUSEX = unsafe { mem::zeroed() };
    found.dwLength = u32::try_from(size_of_val(&found)).expect("less than a hundred bytes");
    // SAFETY: the structure has the size that it names.
    if unsafe { GlobalMemoryStatusEx(&raw mut found) } == 0 {
        return Memory::default();
    }
    Memory {
        total_bytes: Some(found.ullTotalPhys),
        available_bytes: Some(found.ullAvailPhys),
        swap_bytes: Some(found.ullTotalPageFile.saturating_sub(found.ullTotalPhys)),
        ..Memory::default()
    }
}

pub(crate) fn processor_name() -> Option<String> {
    registry_text(r"HARDWARE\DESCRIPTION\System\CentralProcessor\0", "ProcessorNameString")
}

/// Returns the vendor and the product that the firmware names.
pub(crate) fn firmware() -> [Option<String>; 2] {
    let bios = r"HARDWARE\DESCRIPTION\System\BIOS";
    ["SystemManufacturer", "SystemProductName"].map(|name| registry_text(bios, name))
}

/// Returns nothing: a system that has Hyper-V sees a hypervisor without being in a virtual machine.
pub(crate) fn hypervisor() -> Option<String> {
    None
}

/// Returns a text of the machine's registry; `None` if it is not there, or is empty or longer than these are.
fn registry_text(key: &str, name: &str) -> Option<String> {
    let [key, name] = [key, name].map(|text| wide(OsStr::new(text)));
    let mut text = [0_u16; 256];
    let mut bytes = u32::try_from(size_of_val(&text)).ok()?;
    // SAFETY: the names end in zero, and the call writes no more bytes than the text has.
    let failed = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            RRF_RT_REG_SZ,
            ptr::null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    let name = narrow(&text).to_string_lossy().trim().to_owned();
    (failed == 0 && !name.is_empty()).then_some(name)
}

/// Returns the volume that `path` is on.
pub(crate) fn filesystem(path: &Path) -> Option<Filesystem> {
    const LONGEST: u32 = MAX_PATH + 1;
    let text = || [0_u16; LONGEST as usize];
    let ([mut mount, mut volume, mut kind], path) = ([text(), text(), text()], long(path).ok()?);
    // SAFETY: the path ends in zero, and the call writes no more than the length.
    checked(unsafe { GetVolumePathNameW(path.as_ptr(), mount.as_mut_ptr(), LONGEST) }).ok()?;
    // SAFETY: as above. A volume of the network has no name of its own.
    unsafe { GetVolumeNameForVolumeMountPointW(mount.as_ptr(), volume.as_mut_ptr(), LONGEST) };
    // SAFETY: as above; the call takes null for what is not asked.
    checked(unsafe {
        GetVolumeInformationW(
            mount.as_ptr(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            kind.as_mut_ptr(),
            LONGEST,
        )
    })
    .ok()?;
    let shown = |wide: &[u16]| narrow(wide).to_string_lossy().into_owned();
    Some(Filesystem {
        mount: shown(&mount),
        kind: shown(&kind),
        device: shown(&volume),
        ..Filesystem::default()
    })
}

/// Returns whether the service of Windows Defender runs; `None` if that cannot be known.
pub(crate) fn defender_runs() -> Option<bool> {
    let name = wide(OsStr::new("WinDefend"));
    // SAFETY: the call takes null for this machine and its services.
    let manager = unsafe { OpenSCManagerW(ptr::null(), ptr::null(), SC_MANAGER_CONNECT) };
    if manager.is_null() {
        return None;
    }
    // SAFETY: the handle is open until the end of the function, and the name ends in zero.
    let service = unsafe { OpenServiceW(manager, name.as_ptr(), SERVICE_QUERY_STATUS) };
    const ABSENT: i32 = 1060;
    let found = if service.is_null() {
        (io::Error::last_os_error().raw_os_error() == Some(ABSENT)).then_some(false)
    } else {
        // SAFETY: the structure has numbers alone, for which zeros will do.
        let mut status: SERVICE_STATUS = unsafe { mem::zeroed() };
        // SAFETY: the handle is open, and the call writes a structure of this type.
        let read = unsafe { QueryServiceStatus(service, &raw mut status) };
        // SAFETY: it is not used any more.
        unsafe { CloseServiceHandle(service) };
        (read != 0).then_some(status.dwCurrentState == SERVICE_RUNNING)
    };
    // SAFETY: it is not used any more.
    unsafe { CloseServiceHandle(manager) };
    found
}

/// Returns the paths that Windows Defender leaves out, by its own list and by that of the machine's policies;
/// `None` if this user may not read them.
pub(crate) fn defender_exclusions() -> Option<Vec<String>> {
    let list = |place| value_names(&format!(r"SOFTWARE\{place}\Windows Defender\Exclusions\Paths"));
    Some([list("Microsoft")?, list(r"Policies\Microsoft")?].concat())
}

/// Returns the names of the values that a key of the machine's registry has, none if there is no such key;
/// `None` if they cannot be read.
fn value_names(key: &str) -> Option<Vec<String>> {
    let (key, mut opened) = (wide(OsStr::new(key)), ptr::null_mut());
    // SAFETY: the name ends in zero, and the call writes a handle.
    let failed =
        unsafe { RegOpenKeyExW(HKEY_LOCAL_MACHINE, key.as_ptr(), 0, KEY_READ, &raw mut opened) };
    if failed != 0 {
        return (failed == ERROR_FILE_NOT_FOUND).then(Vec::new);
    }
    // As long as a name can be, with its zero.
    let (mut name, mut names) = (vec![0_u16; 16_384], Vec::new());
    let end = loop {
        let (mut length, none) = (u32::try_from(name.len()).ok()?, ptr::null_mut());
        let number = u32::try_from(names.len()).ok()?;
        // SAFETY: the handle is open until the end of the function, and the call writes at most so many
        // units; it takes null for what is not asked.
        let end = unsafe {
            let name = name.as_mut_ptr();
            RegEnumValueW(
                opened,
                number,
                name,
                &raw mut length,
                ptr::null(),
                none,
                none.cast(),
                none,
            )
        };
        if end != 0 {
            break end;
        }
        names.push(narrow(&name).to_string_lossy().into_owned());
    };
    // SAFETY: it is not used any more.
    unsafe { RegCloseKey(opened) };
    (end == ERROR_NO_MORE_ITEMS).then_some(names)
}
