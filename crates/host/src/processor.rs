//! The processors: what they are, how fast they run and how often they had to slow down.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use model::Cpu;

use crate::{
    os,
    text::{entries, read, read_line, read_number, value},
};

const PROCESSORS: &str = "/sys/devices/system/cpu";

pub(crate) fn cpu() -> Cpu {
    let first = Path::new(PROCESSORS).join("cpu0");
    // Affinity and control groups are considered. If the system does not report it: the one we
    // run on.
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Cpu {
        model: read("/proc/cpuinfo").map_or_else(os::processor_name, |text| model(&text)),
        count: u32::try_from(count).unwrap_or(u32::MAX),
        last_level_cache_bytes: last_level_cache_bytes(),
        governor: read_line(first.join("cpufreq/scaling_governor")),
    }
}

/// Returns the size of the cache that is nearest to memory; `None` if it is not known.
pub fn last_level_cache_bytes() -> Option<u64> {
    last_level_cache(&Path::new(PROCESSORS).join("cpu0").join("cache"))
}

/// Returns whether the processor reports that it runs under a hypervisor (x86 only).
pub(crate) fn sees_hypervisor(cpuinfo: &str) -> bool {
    value("flags", ':', cpuinfo).is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"))
}

/// Returns the model in `/proc/cpuinfo`: x86, then MIPS, then some Arm boards.
fn model(cpuinfo: &str) -> Option<String> {
    let names = ["model name", "cpu model", "Model"];
    names.into_iter().find_map(|name| value(name, ':', cpuinfo)).map(str::to_owned)
}

/// Returns the size of the cache of the highest level among `folder/index*`.
fn last_level_cache(folder: &Path) -> Option<u64> {
    let caches = entries(folder).filter_map(|entry| {
        let read = |name| read_line(entry.path().join(name));
        cache(&read("type")?, &read("level")?, &read("size")?)
    });
    caches.max().map(|(_, bytes)| bytes)
}

/// Returns the level and the bytes of a cache that holds data.
fn cache(kind: &str, level: &str, size: &str) -> Option<(u32, u64)> {
    let holds_data = matches!(kind, "Data" | "Unified");
    holds_data.then_some((level.parse().ok()?, cache_bytes(size)?))
}

/// Parses a size as sysfs writes it: digits and `K` (or, in case, `M` or `G`), powers of 1024.
fn cache_bytes(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(['K', 'M', 'G']);
    let shift = match &size[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

/// Returns the frequency of the fastest processor now, in MHz. It uses cpufreq only: the figure in
/// `/proc/cpuinfo` is a constant if cpufreq is missing, as in most virtual machines.
pub(crate) fn mhz() -> Option<f64> {
    fastest(&Path::new(PROCESSORS).join("cpufreq"))
}

/// Returns the greatest of `folder/policy*/scaling_cur_freq`, converted from kHz.
fn fastest(folder: &Path) -> Option<f64> {
    let read = |policy: fs::DirEntry| read_line(policy.path().join("scaling_cur_freq"));
    let frequencies = entries(folder).filter_map(read).filter_map(|khz| khz.parse::<u32>().ok());
    frequencies.filter(|khz| *khz > 0).max().map(|khz| f64::from(khz) / 1e3)
}

/// Returns how often cores and packages throttled themselves since the system started: too hot, or
/// short of power (Linux on x86).
pub(crate) fn throttled() -> Option<u64> {
    static COUNTERS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    sum(COUNTERS.get_or_init(|| throttle_counters(Path::new(PROCESSORS))))
}

/// The counters, with the file that lists who shares each: every processor shows those of its core
/// and package.
const THROTTLE_COUNTERS: [(&str, &str); 2] =
    [("core_throttle_count", "core_cpus_list"), ("package_throttle_count", "package_cpus_list")];

/// Returns the counters below `folder`, each core's and package's once: that of its first
/// processor.
fn throttle_counters(folder: &Path) -> Vec<PathBuf> {
    entries(folder).flat_map(|entry| first_shown_by(&entry.path())).collect()
}

/// Returns the counters that `processor` is the first to show; none if the folder is not a
/// processor's.
fn first_shown_by(processor: &Path) -> Vec<PathBuf> {
    let name = processor.file_name().and_then(OsStr::to_str);
    let Some(number) = name.and_then(|name| name.strip_prefix("cpu")) else { return Vec::new() };
    let counters = THROTTLE_COUNTERS.into_iter().filter(|(_, list)| {
        // `0-3,8`; without such a list the counter is the processor's own.
        let list = read_line(processor.join("topology").join(list));
        list.is_none_or(|list| list.split(['-', ',']).next() == Some(number))
    });
    let counters = counters.map(|(counter, _)| processor.join("thermal_throttle").join(counter));
    // There are other folders next to those of processors, `cpufreq` for one.
    counters.filter(|counter| number.parse::<u32>().is_ok() && counter.exists()).collect()
}

/// Sums the counters; `None` if there are none, or one of them cannot be read.
fn sum(counters: &[PathBuf]) -> Option<u64> {
    let counts: Option<Vec<u64>> = counters.iter().map(read_number).collect();
    counts.filter(|counts| !counts.is_empty()).map(|counts| counts.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::survives;

    const X86: &str = "\
processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 17
model name\t: AMD EPYC 9R14
flags\t\t: fpu vme hypervisor lahf_lm

processor\t: 1
model name\t: another
";

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_model_is_the_first_processors() {
        assert_eq!(model(X86).as_deref(), Some("AMD EPYC 9R14"));
        let board = "processor\t: 0\nBogoMIPS\t: 108.00\n\nModel\t\t: Raspberry Pi 4 Model B\n";
        assert_eq!(model(board).as_deref(), Some("Raspberry Pi 4 Model B"));
        assert_eq!(model("processor : 0\nmodel name :\n"), None);
        assert_eq!(model(""), None);
        survives(X86, |text| (model(text), sees_hypervisor(text)));
    }

    #[test]
    fn the_flag_of_a_hypervisor_is_a_whole_word() {
        assert!(sees_hypervisor(X86));
        assert!(!sees_hypervisor("flags : fpu hypervisor_like"));
        assert!(!sees_hypervisor("model name : hypervisor"));
    }

    #[test]
    fn only_caches_that_hold_data_count() {
        assert_eq!(cache("Unified", "3", "32768K"), Some((3, 32 << 20)));
        assert_eq!(cache("Data", "1", "48K"), Some((1, 48 << 10)));
        assert_eq!(cache("Instruction", "1", "32K"), None);
        for size in ["", "K", "0K", "-1K", "32k", "32KiB", "99999999999999999999K"] {
            assert_eq!(cache("Unified", "3", size), None, "{size}");
        }
    }

    #[test]
    fn the_highest_level_is_the_last() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                ("index0/type", "Data\n"),
                ("index0/level", "1\n"),
                ("index0/size", "48K\n"),
                ("index1/type", "Unified\n"),
                ("index1/level", "2\n"),
                ("index1/size", "2M\n"),
                ("power/control", "auto\n"),
            ],
        );
        assert_eq!(last_level_cache(folder.path()), Some(2 << 20));
        assert_eq!(last_level_cache(&folder.path().join("absent")), None);
    }

    #[test]
    fn the_fastest_processor_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(fastest(&folder.path().join("absent")), None);
        assert_eq!(fastest(folder.path()), None, "as in a virtual machine");
        let odd = ["", "<unknown>", "-5", "0", "99999999999999999999"];
        for (policy, khz) in odd.into_iter().chain(["3400000", "2100000"]).enumerate() {
            write(folder.path(), &[(&format!("policy{policy}/scaling_cur_freq"), khz)]);
        }
        assert_eq!(fastest(folder.path()), Some(3400.0));
    }

    fn processor(folder: &Path, name: &str, core: &str, counts: [&str; 2]) {
        write(
            &folder.join(name),
            &[
                ("topology/core_cpus_list", core),
                ("topology/package_cpus_list", "0-3\n"),
                ("thermal_throttle/core_throttle_count", counts[0]),
                ("thermal_throttle/package_throttle_count", counts[1]),
            ],
        );
    }

    #[test]
    fn a_counter_that_processors_share_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        processor(folder.path(), "cpu0", "0,2\n", ["3\n", "100\n"]);
        processor(folder.path(), "cpu1", "1,3\n", ["4\n", "100\n"]);
        processor(folder.path(), "cpu2", "0,2\n", ["3\n", "100\n"]);
        processor(folder.path(), "cpu3", "1,3\n", ["4\n", "100\n"]);
        processor(folder.path(), "cpufreq", "0\n", ["9\n", "9\n"]);
        assert_eq!(sum(&throttle_counters(folder.path())), Some(107));
    }

    #[test]
    fn without_readable_counters_there_is_no_count() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(sum(&throttle_counters(folder.path())), None);
        assert_eq!(sum(&throttle_counters(&folder.path().join("absent"))), None);
        for odd in ["", "x", "-1", "99999999999999999999"] {
            processor(folder.path(), "cpu0", "0\n", ["3\n", odd]);
            assert_eq!(sum(&throttle_counters(folder.path())), None, "{odd}");
        }
    }

    #[test]
    fn without_a_topology_each_counter_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        processor(folder.path(), "cpu1", "0-1\n", ["5\n", "6\n"]);
        assert_eq!(sum(&throttle_counters(folder.path())), None, "cpu0 shows them first");
        fs::remove_dir_all(folder.path().join("cpu1/topology")).unwrap();
        assert_eq!(sum(&throttle_counters(folder.path())), Some(11));
    }
}
