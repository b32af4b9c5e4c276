//! What went to and came from swap (Linux: `/proc/vmstat`).

/// Bytes moved in both directions since the system started.
#[cfg(target_os = "linux")]
pub(super) fn bytes() -> Option<u64> {
    let pages = pages(&std::fs::read_to_string("/proc/vmstat").ok()?)?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Not told here.
#[cfg(not(target_os = "linux"))]
pub(super) fn bytes() -> Option<u64> {
    None
}

/// The sum of `pswpin` and `pswpout`, which count pages; a kernel without swap has neither line.
#[cfg(any(target_os = "linux", test))]
fn pages(vmstat: &str) -> Option<u64> {
    let count = |name| {
        let (_, value) =
            vmstat.lines().filter_map(|l| l.split_once(' ')).find(|(n, _)| *n == name)?;
        value.parse::<u64>().ok()
    };
    count("pswpin")?.checked_add(count("pswpout")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VMSTAT: &str = "nr_free_pages 5\npgpgin 77\npswpin 3\npswpout 40\npswpin_other 9\n";

    #[test]
    fn both_directions_count() {
        assert_eq!(pages(VMSTAT), Some(43));
    }

    #[test]
    fn text_of_another_form_is_not_read() {
        for text in
            ["", "pswpin 3", "pswpin 3\npswpout", "pswpin x\npswpout 4", "pswpin -1\npswpout 4"]
        {
            assert_eq!(pages(text), None, "{text}");
        }
        assert_eq!(pages(&format!("pswpin {}\npswpout 1\n", u64::MAX)), None);
        for text in crate::mutilations(VMSTAT.as_bytes()) {
            let _ = pages(&String::from_utf8_lossy(&text));
        }
    }
}
