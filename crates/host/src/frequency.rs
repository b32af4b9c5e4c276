//! How fast the processors run (Linux: cpufreq).

use std::{fs, path::Path};

use super::cpu::read_line;

/// Frequency of the fastest processor now, in MHz. Told by cpufreq only: the figure in
/// `/proc/cpuinfo` is a constant where cpufreq is missing, as in most virtual machines.
pub(super) fn mhz() -> Option<f64> {
    fastest(Path::new("/sys/devices/system/cpu/cpufreq"))
}

/// The greatest of `folder/policy*/scaling_cur_freq`, which are in kHz.
fn fastest(folder: &Path) -> Option<f64> {
    let policies = fs::read_dir(folder).ok()?.flatten();
    let read = |policy: fs::DirEntry| read_line(policy.path().join("scaling_cur_freq"));
    let frequencies = policies.filter_map(read).filter_map(|khz| khz.parse::<u32>().ok());
    frequencies.filter(|khz| *khz > 0).max().map(|khz| f64::from(khz) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_processor_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(fastest(&folder.path().join("absent")), None);
        assert_eq!(fastest(folder.path()), None, "as in a virtual machine");
        let odd = ["", "<unknown>", "-5", "0", "99999999999999999999"];
        for (policy, khz) in odd.into_iter().chain(["3400000", "2100000"]).enumerate() {
            let policy = folder.path().join(format!("policy{policy}"));
            fs::create_dir(&policy).unwrap();
            fs::write(policy.join("scaling_cur_freq"), format!("{khz}\n")).unwrap();
        }
        assert_eq!(fastest(folder.path()), Some(3400.0));
    }
}
