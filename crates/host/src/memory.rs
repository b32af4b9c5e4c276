//! Memory and swap of the machine.

use std::fs;

use model::Memory;

use crate::{cgroup, text};

/// Returns the memory as the system reports it. What is available is the lesser of what the
/// machine has left and what the limits of control groups leave; the rest is the machine's.
pub fn memory() -> Memory {
    let memory = parse(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
    let available = memory.available_bytes.into_iter().chain(cgroup::available());
    Memory { available_bytes: available.min(), ..memory }
}

fn parse(meminfo: &str) -> Memory {
    Memory {
        total_bytes: text::bytes("MemTotal", meminfo),
        available_bytes: text::bytes("MemAvailable", meminfo),
        swap_bytes: text::bytes("SwapTotal", meminfo),
    }
}

/// Returns the bytes moved to and from swap since the system started.
pub(crate) fn swapped_bytes() -> Option<u64> {
    let pages = swapped_pages(&fs::read_to_string("/proc/vmstat").ok()?)?;
    pages.checked_mul(pagecache::page_size())
}

/// A kernel without swap has neither line.
fn swapped_pages(vmstat: &str) -> Option<u64> {
    let count = |name| text::count(name, ' ', vmstat);
    Some(count("pswpin")? + count("pswpout")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::survives;

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
        assert_eq!(parse(""), Memory::default());
        survives(MEMINFO, parse);
    }

    #[test]
    fn both_directions_of_swap_count() {
        let vmstat = "nr_free_pages 5\npgpgin 77\npswpin 3\npswpout 40\npswpin_other 9\n";
        assert_eq!(swapped_pages(vmstat), Some(43));
        for text in ["", "pswpin 3", "pswpin 3\npswpout", "pswpin x\npswpout 4"] {
            assert_eq!(swapped_pages(text), None, "{text}");
        }
        survives(vmstat, swapped_pages);
    }
}
