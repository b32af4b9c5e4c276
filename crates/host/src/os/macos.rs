//! What macOS reports by calls of its own, where Linux has files.

use std::{
    ffi::{CStr, c_int},
    mem, ptr,
    sync::OnceLock,
};

use libc::{
    HOST_VM_INFO64, HOST_VM_INFO64_COUNT, KERN_SUCCESS, RUSAGE_INFO_V2, host_statistics64, host_t,
    proc_pid_rusage, rusage_info_v2, sysctlbyname, vm_statistics64,
};
use model::{Io, Memory};

use super::posix::native_number;

/// The most bytes of a value that is read here: the name of a processor.
const LONGEST: usize = 256;

/// Returns the bytes of a value of the system; `None` if it has none of this name, or a longer one.
fn value(name: &CStr) -> Option<Vec<u8>> {
    let mut room = vec![0_u8; LONGEST];
    let mut length = room.len();
    // SAFETY: the name ends in zero, the call writes at most `length` bytes, and with null nothing is set.
    let code = unsafe {
        let room = room.as_mut_ptr().cast();
        sysctlbyname(name.as_ptr(), room, &raw mut length, ptr::null_mut(), 0)
    };
    room.truncate(length);
    (code == 0).then_some(room)
}

fn number(name: &CStr) -> Option<u64> {
    native_number(&value(name)?)
}

/// Returns the memory of the machine. The swap space is what there is now: the system adds files to it.
pub(crate) fn memory() -> Memory {
    // The first of the numbers of `struct xsw_usage` is the whole space.
    let swap = value(c"vm.swapusage").and_then(|usage| native_number(usage.get(..8)?));
    Memory {
        total_bytes: number(c"hw.memsize"),
        available_bytes: available_bytes(),
        swap_bytes: swap,
        ..Memory::default()
    }
}

/// Returns the bytes of the pages that are free, and of those that were not used lately: the system
/// takes these for new work first.
fn available_bytes() -> Option<u64> {
    // The pages of the kernel, which are larger than those of a program that Rosetta translates.
    let page = number(c"vm.pagesize")?;
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut found: vm_statistics64 = unsafe { mem::zeroed() };
    let mut length = HOST_VM_INFO64_COUNT;
    // SAFETY: the structure is that of this question, of this length.
    let code = unsafe {
        host_statistics64(host(), HOST_VM_INFO64, (&raw mut found).cast(), &raw mut length)
    };
    let pages = u64::from(found.free_count) + u64::from(found.inactive_count);
    (code == KERN_SUCCESS).then(|| pages.saturating_mul(page))
}

/// Returns the name by which the kernel is asked about the machine.
fn host() -> host_t {
    static HOST: OnceLock<host_t> = OnceLock::new();
    // SAFETY: the call has no conditions. Each adds a reference to the name, so it is made once.
    #[allow(deprecated, reason = "libc refers to another crate, which would be one more")]
    *HOST.get_or_init(|| unsafe { libc::mach_host_self() })
}

pub(crate) fn processor_name() -> Option<String> {
    let name = value(c"machdep.cpu.brand_string")?;
    let name = CStr::from_bytes_until_nul(&name).ok()?.to_string_lossy().trim().to_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns Rosetta if it translates this program for another kind of processor.
pub(crate) fn emulator() -> Option<String> {
    (number(c"sysctl.proc_translated") == Some(1)).then(|| "Rosetta".to_owned())
}

/// Returns that there is a hypervisor; which one is not known.
pub(crate) fn hypervisor() -> Option<String> {
    (number(c"kern.hv_vmm_present") == Some(1)).then(|| "virtual machine".to_owned())
}

/// Returns the memory of this process: what it has changed, compressed pages too, and no page of a file.
pub(crate) fn own_bytes() -> Option<u64> {
    usage().map(|usage| usage.ri_phys_footprint)
}

/// Returns the bytes that were moved from and to devices for this process so far. Its calls are not counted.
pub(crate) fn io() -> Option<Io> {
    usage().map(|usage| Io {
        read_calls: None,
        read_bytes: None,
        write_calls: None,
        written_bytes: None,
        device_read_bytes: Some(usage.ri_diskio_bytesread),
        device_written_bytes: Some(usage.ri_diskio_byteswritten),
    })
}

/// Returns the kernel's account of this process.
fn usage() -> Option<rusage_info_v2> {
    let own = c_int::try_from(std::process::id()).ok()?;
    // SAFETY: the structure has numbers alone, for which zeros will do.
    let mut usage: rusage_info_v2 = unsafe { mem::zeroed() };
    // SAFETY: the call writes a structure of this version.
    let code = unsafe { proc_pid_rusage(own, RUSAGE_INFO_V2, (&raw mut usage).cast()) };
    (code == 0).then_some(usage)
}
