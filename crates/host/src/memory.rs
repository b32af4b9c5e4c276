//! Memory.

use model::Memory;

use super::cgroup;

/// Memory as the system tells it. What is available is the lesser of what the machine has left
/// and what the limits of control groups leave; the rest is the machine's.
pub fn memory() -> Memory {
    let memory = std::fs::read_to_string("/proc/meminfo").map(|text| parse(&text));
    let memory = memory.unwrap_or_default();
    Memory { available_bytes: lesser(memory.available_bytes, cgroup::available()), ..memory }
}

/// Size of a page in bytes, which residency is counted in.
#[cfg(unix)]
pub fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Not told here; that of most processors.
#[cfg(not(unix))]
pub fn page_bytes() -> u64 {
    4096
}

/// The lesser of those that are told.
fn lesser(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

fn parse(meminfo: &str) -> Memory {
    Memory {
        total_bytes: bytes_of("MemTotal", meminfo),
        available_bytes: bytes_of("MemAvailable", meminfo),
        swap_bytes: bytes_of("SwapTotal", meminfo),
    }
}

/// Lines read `Name:   123 kB`; by `kB` the kernel means 1024 bytes.
pub(super) fn bytes_of(name: &str, meminfo: &str) -> Option<u64> {
    let (_, value) = meminfo.lines().filter_map(|l| l.split_once(':')).find(|(n, _)| *n == name)?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "\
MemTotal:       16384000 kB
MemFree:          812345 kB
MemAvailable:    8192000 kB
SwapCached:            0 kB
SwapTotal:             0 kB
HugePages_Total:       0
";

    #[test]
    fn kilobytes_become_bytes() {
        let memory = parse(MEMINFO);
        assert_eq!(memory.total_bytes, Some(16_384_000 << 10));
        assert_eq!(memory.available_bytes, Some(8_192_000 << 10));
        assert_eq!(memory.swap_bytes, Some(0));
    }

    #[test]
    fn the_lesser_is_available() {
        assert_eq!(lesser(Some(5), Some(7)), Some(5));
        assert_eq!(lesser(Some(7), Some(5)), Some(5));
        assert_eq!(lesser(Some(7), None), Some(7));
        assert_eq!(lesser(None, Some(5)), Some(5));
        assert_eq!(lesser(None, None), None);
    }

    #[test]
    fn what_is_not_told_is_absent() {
        assert_eq!(parse(""), Memory::default());
        for line in ["MemTotal: 5", "MemTotal: x kB", "MemTotal 5 kB", "MemTotal: -5 kB"] {
            assert_eq!(parse(line), Memory::default(), "{line}");
        }
        assert_eq!(parse(&format!("MemTotal: {} kB", u64::MAX)).total_bytes, None);
        for text in crate::mutilations(MEMINFO.as_bytes()) {
            let _ = parse(&String::from_utf8_lossy(&text));
        }
    }
}
