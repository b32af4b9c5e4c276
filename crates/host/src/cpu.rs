//! The processor.

use std::{fs, path::Path};

use model::Cpu;

/// The processor as the system describes it.
pub(super) fn cpu() -> Cpu {
    Cpu {
        model: fs::read_to_string("/proc/cpuinfo").ok().as_deref().and_then(model),
        count: count(),
        last_level_cache_bytes: last_level_cache(Path::new("/sys/devices/system/cpu/cpu0/cache")),
        governor: read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

/// Whether the processor says that it runs under a hypervisor (x86 only).
pub(super) fn sees_hypervisor(cpuinfo: &str) -> bool {
    value_of("flags", cpuinfo).is_some_and(|flags| flags.split(' ').any(|f| f == "hypervisor"))
}

/// The first line of a small system file, if there is anything on it.
pub(super) fn read_line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned)
}

/// Affinity and control groups considered. When the system does not tell: the one we run on.
fn count() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// What `/proc/cpuinfo` calls the model: x86, then MIPS, then some Arm boards.
fn model(cpuinfo: &str) -> Option<String> {
    ["model name", "cpu model", "Model"]
        .into_iter()
        .find_map(|name| value_of(name, cpuinfo))
        .map(str::to_owned)
}

/// The first value of `name` in lines of the form `name : value`.
fn value_of<'a>(name: &str, text: &'a str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// Size of the cache of the highest level among `folder/index*`.
fn last_level_cache(folder: &Path) -> Option<u64> {
    let caches = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let read = |name| read_line(entry.path().join(name));
        cache(&read("type")?, &read("level")?, &read("size")?)
    });
    caches.max().map(|(_, bytes)| bytes)
}

/// Level and bytes of a cache that holds data.
fn cache(kind: &str, level: &str, size: &str) -> Option<(u32, u64)> {
    let holds_data = matches!(kind, "Data" | "Unified");
    holds_data.then_some((level.parse().ok()?, cache_bytes(size)?))
}

/// A size as sysfs writes it: digits and `K` (or, in case, `M` or `G`), powers of 1024.
fn cache_bytes(size: &str) -> Option<u64> {
    let split = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
    let (digits, suffix) = size.split_at(split);
    let factor: u64 = match suffix {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "\
processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 17
model name\t: AMD EPYC 9R14
flags\t\t: fpu vme hypervisor lahf_lm

processor\t: 1
model name\t: another
";

    #[test]
    fn the_model_is_the_first_processors() {
        assert_eq!(model(X86).as_deref(), Some("AMD EPYC 9R14"));
        let board = "processor\t: 0\nBogoMIPS\t: 108.00\n\nModel\t\t: Raspberry Pi 4 Model B\n";
        assert_eq!(model(board).as_deref(), Some("Raspberry Pi 4 Model B"));
        assert_eq!(model("processor : 0\nmodel name :\n"), None);
        assert_eq!(model(""), None);
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
        for (index, kind, level, size) in
            [("index0", "Data", "1", "48K"), ("index1", "Unified", "2", "2M")]
        {
            let cache = folder.path().join(index);
            fs::create_dir(&cache).unwrap();
            fs::write(cache.join("type"), format!("{kind}\n")).unwrap();
            fs::write(cache.join("level"), format!("{level}\n")).unwrap();
            fs::write(cache.join("size"), format!("{size}\n")).unwrap();
        }
        fs::create_dir(folder.path().join("power")).unwrap();
        assert_eq!(last_level_cache(folder.path()), Some(2 << 20));
        assert_eq!(last_level_cache(&folder.path().join("absent")), None);
    }

    #[test]
    fn no_text_makes_a_parser_panic() {
        for text in crate::mutilations(X86.as_bytes()) {
            let text = String::from_utf8_lossy(&text);
            let _ = (model(&text), sees_hypervisor(&text));
        }
    }
}
