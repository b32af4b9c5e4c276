//! How often processors slowed themselves down: too hot, or short of power (Linux on x86).

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::cpu::read_line;

/// Times that cores and packages throttled themselves since the system started.
pub(super) fn times() -> Option<u64> {
    static COUNTERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    sum(COUNTERS.get_or_init(|| counters(Path::new("/sys/devices/system/cpu"))))
}

/// Counters, and who shares each: every processor shows those of its core and package.
const KINDS: [(&str, &str); 2] =
    [("core_throttle_count", "core_cpus_list"), ("package_throttle_count", "package_cpus_list")];

/// The counters below `folder`, each core's and package's once: that of its first processor.
fn counters(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let processors = entries.flatten().map(|entry| entry.path());
    processors.filter(|processor| number(processor).is_some()).flat_map(|p| own(&p)).collect()
}

/// The counters that `processor` is the first to show.
fn own(processor: &Path) -> Vec<PathBuf> {
    let first = |list: &str| {
        // `0-3,8`; where the kernel does not tell, the counter is the processor's own.
        let list = read_line(processor.join("topology").join(list));
        list.is_none_or(|list| list.split(['-', ',']).next() == number(processor))
    };
    KINDS
        .into_iter()
        .map(|(counter, list)| (processor.join("thermal_throttle").join(counter), list))
        .filter(|(counter, list)| counter.exists() && first(list))
        .map(|(counter, _)| counter)
        .collect()
}

/// The digits in `cpu12`; other folders stand beside the processors.
fn number(processor: &Path) -> Option<&str> {
    let digits = processor.file_name()?.to_str()?.strip_prefix("cpu")?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// Absent where there are no counters, or one of them cannot be read.
fn sum(counters: &[PathBuf]) -> Option<u64> {
    let counts: Option<Vec<u64>> =
        counters.iter().map(|counter| read_line(counter)?.parse().ok()).collect();
    counts.filter(|counts| !counts.is_empty())?.into_iter().try_fold(0, u64::checked_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(folder: &Path, name: &str, core: &str, counts: [&str; 2]) {
        let (topology, throttle) =
            (folder.join(name).join("topology"), folder.join(name).join("thermal_throttle"));
        fs::create_dir_all(&topology).unwrap();
        fs::create_dir_all(&throttle).unwrap();
        fs::write(topology.join("core_cpus_list"), core).unwrap();
        fs::write(topology.join("package_cpus_list"), "0-3\n").unwrap();
        fs::write(throttle.join("core_throttle_count"), counts[0]).unwrap();
        fs::write(throttle.join("package_throttle_count"), counts[1]).unwrap();
    }

    #[test]
    fn a_counter_that_processors_share_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        processor(folder.path(), "cpu0", "0,2\n", ["3\n", "100\n"]);
        processor(folder.path(), "cpu1", "1,3\n", ["4\n", "100\n"]);
        processor(folder.path(), "cpu2", "0,2\n", ["3\n", "100\n"]);
        processor(folder.path(), "cpu3", "1,3\n", ["4\n", "100\n"]);
        processor(folder.path(), "cpufreq", "0\n", ["9\n", "9\n"]);
        assert_eq!(sum(&counters(folder.path())), Some(107));
    }

    #[test]
    fn what_is_not_told_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(sum(&counters(folder.path())), None);
        assert_eq!(sum(&counters(&folder.path().join("absent"))), None);
        for odd in ["", "x", "-1", "99999999999999999999"] {
            processor(folder.path(), "cpu0", "0\n", ["3\n", odd]);
            assert_eq!(sum(&counters(folder.path())), None, "{odd}");
        }
        let large = u64::MAX.to_string();
        processor(folder.path(), "cpu0", "0\n", [&large, "1"]);
        assert_eq!(sum(&counters(folder.path())), None);
    }

    #[test]
    fn without_a_topology_each_counter_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        processor(folder.path(), "cpu1", "0-1\n", ["5\n", "6\n"]);
        assert_eq!(sum(&counters(folder.path())), None, "cpu0 shows them first");
        fs::remove_dir_all(folder.path().join("cpu1/topology")).unwrap();
        assert_eq!(sum(&counters(folder.path())), Some(11));
    }
}
