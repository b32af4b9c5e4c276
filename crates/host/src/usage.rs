//! What this process spent and asked of the system: processor time, page faults, context
//! switches, reads and writes.

use std::{fs::File, io::Read};

use model::{Cost, Io};

use crate::text;

/// Returns what the process, all its threads together, spent so far.
///
/// On Linux the sum of both modes comes from the scheduler and is exact to the microsecond; how
/// it splits into user and kernel mode is sampled at each timer tick (1 to 10 ms) unless the
/// kernel accounts precisely (`VIRT_CPU_ACCOUNTING`), so the split means little for short passes.
pub(crate) fn spent() -> Cost {
    #[cfg(unix)]
    if let Ok(usage) = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF) {
        use nix::sys::time::{TimeVal, TimeValLike};

        let ns = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0) * 1_000;
        let count = |count: std::ffi::c_long| u64::try_from(count).ok();
        return Cost {
            user_ns: ns(usage.user_time()),
            system_ns: ns(usage.system_time()),
            minor_faults: count(usage.minor_page_faults()),
            major_faults: count(usage.major_page_faults()),
            voluntary_switches: count(usage.voluntary_context_switches()),
            involuntary_switches: count(usage.involuntary_context_switches()),
        };
    }
    Cost::default()
}

/// Combines two costs counter by counter: `saturating_sub` gives what was spent between them,
/// `saturating_add` their sum. What one of them lacks is absent.
pub(crate) fn combine_costs(one: Cost, other: Cost, with: fn(u64, u64) -> u64) -> Cost {
    let both = |one: Option<u64>, other| one.zip(other).map(|(one, other)| with(one, other));
    Cost {
        user_ns: with(one.user_ns, other.user_ns),
        system_ns: with(one.system_ns, other.system_ns),
        minor_faults: both(one.minor_faults, other.minor_faults),
        major_faults: both(one.major_faults, other.major_faults),
        voluntary_switches: both(one.voluntary_switches, other.voluntary_switches),
        involuntary_switches: both(one.involuntary_switches, other.involuntary_switches),
    }
}

/// Combines the counters of two processes, or of one at two times.
pub(crate) fn combine_io(one: Io, other: Io, with: fn(u64, u64) -> u64) -> Io {
    Io {
        read_calls: with(one.read_calls, other.read_calls),
        read_bytes: with(one.read_bytes, other.read_bytes),
        write_calls: with(one.write_calls, other.write_calls),
        written_bytes: with(one.written_bytes, other.written_bytes),
        device_read_bytes: with(one.device_read_bytes, other.device_read_bytes),
    }
}

/// Counters of this process so far, all its threads together (Linux: `/proc/self/io`, see proc(5)),
/// and what the kernel adds to them for this reading afterwards. Absent if the kernel does not
/// count, or does not show it to this user.
pub(crate) fn own_io() -> Option<(Io, Io)> {
    // More than seven counters of 64 bits can fill, so that one call reads them all.
    let mut buffer = [0; 512];
    let length = File::open("/proc/self/io").ok()?.read(&mut buffer).ok()?;
    let reading = Io { read_calls: 1, read_bytes: length as u64, ..Io::default() };
    Some((parse_io(std::str::from_utf8(&buffer[..length]).ok()?)?, reading))
}

pub(crate) fn parse_io(text: &str) -> Option<Io> {
    let count = |name| text::count(name, ':', text);
    Some(Io {
        read_calls: count("syscr")?,
        read_bytes: count("rchar")?,
        write_calls: count("syscw")?,
        written_bytes: count("wchar")?,
        device_read_bytes: count("read_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::survives;

    #[test]
    #[cfg(unix)]
    fn work_costs_processor_time() {
        use std::time::{Duration, Instant};

        let before = spent();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {}
        let cost = combine_costs(spent(), before, u64::saturating_sub);
        assert!(cost.user_ns + cost.system_ns > 5_000_000, "{cost:?}");
    }

    #[test]
    #[cfg(unix)]
    fn touching_new_memory_faults_and_sleeping_switches() {
        let before = spent();
        // More than allocators keep for later.
        std::hint::black_box(vec![1_u8; 64 << 20]);
        std::thread::sleep(std::time::Duration::from_millis(1));
        let cost = combine_costs(spent(), before, u64::saturating_sub);
        assert!(cost.minor_faults.is_some_and(|faults| faults > 0), "{cost:?}");
        assert!(cost.voluntary_switches.is_some_and(|switches| switches > 0), "{cost:?}");
        assert!(cost.major_faults.is_some() && cost.involuntary_switches.is_some(), "{cost:?}");
    }

    #[test]
    fn time_never_runs_backwards() {
        let later = Cost { user_ns: 5, system_ns: 1, ..Cost::default() };
        let now = Cost { user_ns: 3, system_ns: 4, ..Cost::default() };
        let cost = combine_costs(now, later, u64::saturating_sub);
        assert_eq!(cost, Cost { user_ns: 0, system_ns: 3, ..Cost::default() });
    }

    const IO: &str = "\
rchar: 6976
wchar: 12
syscr: 10
syscw: 2
read_bytes: 4096
write_bytes: 8192
cancelled_write_bytes: 0
";

    #[test]
    fn counters_are_read_by_name() {
        let io = parse_io(IO).unwrap();
        assert_eq!((io.read_calls, io.read_bytes), (10, 6976));
        assert_eq!((io.write_calls, io.written_bytes), (2, 12));
        assert_eq!(io.device_read_bytes, 4096);
        for text in ["", "rchar: 1", &IO.replace("4096", "x"), &IO.replace("10\n", "-1\n")] {
            assert_eq!(parse_io(text), None, "{text}");
        }
        survives(IO, parse_io);
    }

    #[test]
    fn a_reading_does_not_count_itself() {
        let Some((before, reading)) = own_io() else { return };
        assert!(reading.read_calls == 1 && reading.read_bytes > 0, "{reading:?}");
        let (after, _) = own_io().unwrap();
        let then = combine_io(before, reading, u64::saturating_add);
        let io = combine_io(after, then, u64::saturating_sub);
        // Other tests of this process may add to it.
        assert!(io.read_calls < after.read_calls - before.read_calls, "{io:?}");
        let backwards = combine_io(Io::default(), after, u64::saturating_sub);
        assert_eq!(backwards, Io::default(), "counters never run backwards");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn reads_and_writes_are_seen_if_the_kernel_shows_them() {
        let Some((then, _)) = own_io() else {
            assert!(std::fs::read_to_string("/proc/self/io").is_err(), "readable, but not read");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), vec![7; 100_000]).unwrap();
        assert_eq!(std::fs::read(folder.path().join("x")).unwrap().len(), 100_000);
        let io = combine_io(own_io().unwrap().0, then, u64::saturating_sub);
        // Other tests of this process may add to it.
        assert!(io.read_bytes >= 100_000 && io.written_bytes >= 100_000, "{io:?}");
        assert!(io.read_calls >= 1 && io.write_calls >= 1, "{io:?}");
    }
}
