//! Memory that processes occupy, the page cache left out (Linux: `/proc`, see proc(5)).

use std::{fs, path::Path};

use super::{
    family::{members, of_living},
    memory::bytes_of,
};

/// Bytes of memory of this process, of `roots` and of all that descend from these, but for the
/// page cache; a page that several of them share counts once. Absent where it is not told.
pub fn occupied_bytes(roots: &[u32]) -> Option<u64> {
    let own = std::process::id();
    let processes = members(roots).into_iter().chain([own]);
    processes.map(|pid| of(&Path::new("/proc").join(pid.to_string()))).sum()
}

/// Anonymous and shared memory of the process in `folder`; 0 of one that has ended meanwhile.
fn of(folder: &Path) -> Option<u64> {
    let rollup = fs::read_to_string(folder.join("smaps_rollup")).ok();
    // Its part of shared pages: the parts of all who share one make up the page.
    let parts = rollup.and_then(|text| sum(&text, ["Pss_Anon", "Pss_Shmem"]));
    // Kernels before 5.10 tell only all of what is shared.
    parts.or_else(|| of_living(&folder.join("status"), |text| sum(text, ["RssAnon", "RssShmem"])))
}

fn sum(text: &str, names: [&str; 2]) -> Option<u64> {
    names.into_iter().try_fold(0, |sum: u64, name| sum.checked_add(bytes_of(name, text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLUP: &str = "\
55d0-7ffe ---p 00000000 00:00 0                          [rollup]
Rss:                9999 kB
Pss_Anon:             20 kB
Pss_File:           5000 kB
Pss_Shmem:             3 kB
";

    #[test]
    fn the_page_cache_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of(folder.path()), Some(0), "it has ended");
        fs::write(folder.path().join("smaps_rollup"), ROLLUP).unwrap();
        assert_eq!(of(folder.path()), Some(23 << 10));
        fs::write(folder.path().join("smaps_rollup"), "Rss: 5 kB\n").unwrap();
        fs::write(folder.path().join("status"), "RssAnon:\t7 kB\nRssFile: 9 kB\nRssShmem: 1 kB\n")
            .unwrap();
        assert_eq!(of(folder.path()), Some(8 << 10), "an older kernel");
        fs::write(folder.path().join("status"), "Name: x\n").unwrap();
        assert_eq!(of(folder.path()), None);
        for text in crate::mutilations(ROLLUP.as_bytes()) {
            let _ = sum(&String::from_utf8_lossy(&text), ["Pss_Anon", "Pss_Shmem"]);
        }
    }

    #[test]
    fn what_is_allocated_is_seen() {
        let before = occupied_bytes(&[]).unwrap();
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = occupied_bytes(&[]).unwrap();
        // Other tests of this process may free some meanwhile.
        assert!(after > before + (32 << 20), "{before} {after}");
        drop(block);
    }
}
