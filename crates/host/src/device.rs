//! What the block device under a file system did (Linux).

use std::path::Path;

use model::Device;

/// Unit of the block layer's counters, whatever the device's own sectors are: see
/// `Documentation/block/stat.rst` in the kernel's source.
const SECTOR: u64 = 512;

/// Bytes moved so far, for whomever, by the block device under the file system that holds `path`
/// or will hold it; of several devices under one file system, by the one it was mounted from.
/// Absent where there is no such device, or the system does not tell.
pub fn device(path: &Path) -> Option<Device> {
    counters(path).as_deref().and_then(parse)
}

#[cfg(target_os = "linux")]
fn counters(path: &Path) -> Option<String> {
    // A partition has counters of its own.
    super::cpu::read_line(super::mounts::block_device(path)?.folder().join("stat"))
}

#[cfg(not(target_os = "linux"))]
fn counters(_: &Path) -> Option<String> {
    None
}

/// Requests read, merged, sectors read, milliseconds; the same of writes; and more.
fn parse(stat: &str) -> Option<Device> {
    let mut columns = stat.split_whitespace();
    let mut bytes = |column| columns.nth(column)?.parse::<u64>().ok()?.checked_mul(SECTOR);
    // The second count goes on behind the first.
    Some(Device { read_bytes: bytes(2)?, written_bytes: bytes(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "   68962    32690 22915026   105376    15687   152905 23505864   208890   0";

    #[test]
    fn sectors_become_bytes() {
        let device = parse(STAT).unwrap();
        assert_eq!(device.read_bytes, 22_915_026 * 512);
        assert_eq!(device.written_bytes, 23_505_864 * 512);
    }

    #[test]
    fn text_of_another_form_is_not_read() {
        for text in ["", "1 2 3 4 5 6", "1 2 x 4 5 6 7", "1 2 -3 4 5 6 7"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&format!("1 2 {} 4 5 6 7", u64::MAX)), None);
        for text in crate::mutilations(STAT.as_bytes()) {
            let _ = parse(&String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn no_device_stands_under_what_the_kernel_makes_up() {
        assert_eq!(device(Path::new("/proc/self")), None);
    }
}
