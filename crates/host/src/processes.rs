//! The cost, the input and output, and the memory of this process and of others, each with all its
//! descendants (Linux: `/proc`, see proc(5)).

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use model::{Cost, Io};

use crate::{
    os,
    run_clock::{all_readings, reads},
    text,
    usage::{Usage, combine_costs, combine_io},
};

/// Returns the counters of this process so far, all its threads together (Linux: `/proc/self/io`,
/// see proc(5)), without what its clocks read, and what the kernel adds to them for this reading
/// afterwards. `None` if the kernel does not count, or does not show it to this user.
pub(crate) fn own_io() -> Option<(Io, Io)> {
    if !cfg!(target_os = "linux") {
        // Elsewhere a reading is no input.
        return os::io().map(|io| (io, Io::default()));
    }
    // More than seven counters of 64 bits can fill, so that one call reads them all.
    let mut buffer = [0; 512];
    let length = File::open("/proc/self/io").ok()?.read(&mut buffer).ok()?;
    let reading = reads(1, length as u64);
    let all = parse_io(std::str::from_utf8(&buffer[..length]).ok()?)?;
    Some((combine_io(all, all_readings(), u64::saturating_sub), reading))
}

pub(crate) fn parse_io(text: &str) -> Option<Io> {
    let count = |name| text::count(name, ':', text);
    Some(Io {
        read_calls: Some(count("syscr")?),
        read_bytes: Some(count("rchar")?),
        write_calls: Some(count("syscw")?),
        written_bytes: Some(count("wchar")?),
        device_read_bytes: Some(count("read_bytes")?),
        device_written_bytes: count("write_bytes"),
    })
}

/// The unit of processor times in `/proc/PID/stat`: `USER_HZ` is 100 on every architecture that
/// Rust's std supports.
const TICK_NS: u64 = 10_000_000;

/// The counters of some processes, of their descendants and of those that these have outlived: when
/// a process ends, what it spent passes to the one that waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Processes {
    /// The processor time: exact for living processes, in whole ticks for those that ended.
    total_ns: u64,
    /// The times as sampled at each tick, which show only how the total splits, and the switches of
    /// living threads.
    sampled: Cost,
    io: Option<Io>,
}

impl Processes {
    /// Returns the counters of `roots` and their descendants, without this process itself, and the same
    /// without those of `apart`; `None` if the system does not report them.
    pub(crate) fn now(roots: &[u32], apart: &[u32]) -> Option<(Self, Self)> {
        Self::below(Path::new("/proc"), roots, apart)
    }

    fn below(proc: &Path, roots: &[u32], apart: &[u32]) -> Option<(Self, Self)> {
        let Usage { cost, io } = Usage::NONE;
        let none = Self { total_ns: 0, sampled: cost, io };
        let (mut all, mut others) = (none, none);
        for (pid, stat) in descendants(proc, roots)? {
            let one = Self::counters(&proc.join(pid.to_string()), pid, &stat);
            all.add(&one);
            if !apart.contains(&pid) {
                others.add(&one);
            }
        }
        Some((all, others))
    }

    /// Returns the counters of one process.
    fn counters(folder: &Path, pid: u32, stat: &Stat) -> Self {
        let own_ns = os::process_ns(pid).unwrap_or(stat.own_ns);
        let switches = switches(folder);
        let sampled = Cost {
            voluntary_switches: switches.map(|(voluntary, _)| voluntary),
            involuntary_switches: switches.map(|(_, involuntary)| involuntary),
            // The system does not report them. Worker processes do, to this one.
            flushes: Some(0),
            ..stat.sampled
        };
        let total_ns = own_ns.saturating_add(stat.reaped_ns);
        Self { total_ns, sampled, io: of_living(&folder.join("io"), parse_io) }
    }

    fn add(&mut self, other: &Self) {
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.sampled = combine_costs(self.sampled, other.sampled, u64::saturating_add);
        let io = self.io.zip(other.io);
        self.io = io.map(|(sum, more)| combine_io(sum, more, u64::saturating_add));
    }

    /// Returns the work since `then`.
    pub(crate) fn usage_since(&self, then: &Self) -> Usage {
        Usage { cost: self.cost_since(then), io: self.io_since(then) }
    }

    fn cost_since(&self, then: &Self) -> Cost {
        let total = self.total_ns.saturating_sub(then.total_ns);
        let sampled = combine_costs(self.sampled, then.sampled, u64::saturating_sub);
        // Less than a tick: as it was split so far.
        let short = sampled.user_ns + sampled.system_ns == 0;
        let split = if short { self.sampled } else { sampled };
        let user_ns = scale(total, split.user_ns, split.user_ns.saturating_add(split.system_ns));
        Cost { user_ns, system_ns: total - user_ns, ..sampled }
    }

    fn io_since(&self, then: &Self) -> Option<Io> {
        let (now, then) = self.io.zip(then.io)?;
        Some(combine_io(now, then, u64::saturating_sub))
    }
}

/// Returns `whole` × `share` / `of`, or `whole` if `of` is 0.
fn scale(whole: u64, share: u64, of: u64) -> u64 {
    let part = (u128::from(whole) * u128::from(share)).checked_div(u128::from(of));
    part.and_then(|part| u64::try_from(part).ok()).unwrap_or(whole)
}

/// Returns the bytes of memory of this process, of `roots` and of all their descendants, without
/// the page cache; a page that several of them share counts once. `None` if it is not reported: macOS
/// and Windows report no parts of shared pages, so only this process is known.
pub fn occupied_bytes(roots: &[u32]) -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return if roots.is_empty() { os::own_bytes() } else { None };
    }
    let proc = Path::new("/proc");
    let others = descendants(proc, roots).unwrap_or_default().into_keys();
    others.chain([std::process::id()]).map(|pid| occupied(&proc.join(pid.to_string()))).sum()
}

/// Returns the anonymous and shared memory of the process in `folder`; 0 if it has ended meanwhile.
fn occupied(folder: &Path) -> Option<u64> {
    let sum = |text: &str, one, other| Some(text::bytes(one, text)? + text::bytes(other, text)?);
    let rollup = fs::read_to_string(folder.join("smaps_rollup")).ok();
    // The process's part of shared pages: the parts of all who share one make up the page.
    let parts = rollup.and_then(|text| sum(&text, "Pss_Anon", "Pss_Shmem"));
    // Kernels before 5.10 report only all of what is shared.
    parts.or_else(|| of_living(&folder.join("status"), |text| sum(text, "RssAnon", "RssShmem")))
}

/// Returns `roots` and all their descendants, without this process; `None` if the system does not
/// report its processes.
fn descendants(proc: &Path, roots: &[u32]) -> Option<BTreeMap<u32, Stat>> {
    if roots.is_empty() {
        return Some(BTreeMap::new());
    }
    if !cfg!(target_os = "linux") {
        return None;
    }
    let names = fs::read_dir(proc).ok()?.flatten().map(|entry| entry.file_name());
    let ids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let all: BTreeMap<u32, Stat> =
        ids.filter_map(|pid| Some((pid, Stat::read(proc, pid)?))).collect();
    let descends = |pid: u32| {
        let parents = std::iter::successors(Some(pid), |pid| all.get(pid).map(|stat| stat.parent));
        // Ids that were reused while they were read could make a ring.
        parents.take(all.len() + 1).any(|pid| roots.contains(&pid))
    };
    let own = std::process::id();
    let wanted = all.iter().filter(|(pid, _)| **pid != own && descends(**pid));
    Some(wanted.map(|(pid, stat)| (*pid, *stat)).collect())
}

/// The fields of `/proc/PID/stat` that are used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// The processor time of the process.
    own_ns: u64,
    /// The processor time of the children that it has waited for.
    reaped_ns: u64,
    /// The times and faults, with those of these children.
    sampled: Cost,
    /// The start in ticks since the system started.
    started: u64,
}

impl Stat {
    fn read(proc: &Path, pid: u32) -> Option<Self> {
        let text = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// Parses `PID (NAME) STATE PARENT …`: a name may contain spaces and brackets, so the fields
    /// start after the last bracket.
    fn parse(text: &str) -> Option<Self> {
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        // Counted from 1 as in proc(5), where the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        let sum = |one, other| Some(text::number(field(one)?)? + text::number(field(other)?)?);
        let ns = |one, other| Some(sum(one, other)?.saturating_mul(TICK_NS));
        Some(Self {
            parent: field(4)?.parse().ok()?,
            own_ns: ns(14, 15)?,
            reaped_ns: ns(16, 17)?,
            sampled: Cost {
                user_ns: ns(14, 16)?,
                system_ns: ns(15, 17)?,
                minor_faults: sum(10, 11),
                major_faults: sum(12, 13),
                ..Cost::default()
            },
            started: text::number(field(22)?)?,
        })
    }
}

/// Returns when a process started, in ticks since the system did: with its id this is unique.
pub(crate) fn start_time(pid: u32) -> Option<u64> {
    Some(Stat::read(Path::new("/proc"), pid)?.started)
}

/// Returns the voluntary and involuntary context switches of all threads of the process in
/// `folder`.
fn switches(folder: &Path) -> Option<(u64, u64)> {
    let threads: Vec<PathBuf> = match fs::read_dir(folder.join("task")) {
        Ok(threads) => threads.flatten().map(|thread| thread.path().join("status")).collect(),
        Err(error) => return has_ended(&error).then_some((0, 0)),
    };
    threads.iter().try_fold((0, 0), |(voluntary, involuntary), status| {
        let of = of_living(status, |text| {
            let count = |name| text::count(name, ':', text);
            Some((count("voluntary_ctxt_switches")?, count("nonvoluntary_ctxt_switches")?))
        })?;
        Some((voluntary + of.0, involuntary + of.1))
    })
}

/// Returns what `parse` returns for a file of a process; zero if the process has ended meanwhile.
fn of_living<T: Default>(file: &Path, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    match fs::read_to_string(file) {
        Ok(text) => parse(&text),
        Err(error) => has_ended(&error).then(T::default),
    }
}

/// Returns whether a process has ended: its folder is gone, or reading in it fails with ESRCH.
fn has_ended(error: &std::io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::text::survives;

    const STAT: &str = "42 (a (b) c) S 7 42 42 0 -1 4194304 100 20 3 4 50 60 70 80 20 0 1 0 99 0\n";

    #[test]
    fn fields_are_counted_from_the_last_bracket() {
        let stat = Stat::parse(STAT).unwrap();
        let expected = Stat {
            parent: 7,
            own_ns: 110 * TICK_NS,
            reaped_ns: 150 * TICK_NS,
            sampled: Cost {
                user_ns: 120 * TICK_NS,
                system_ns: 140 * TICK_NS,
                minor_faults: Some(120),
                major_faults: Some(7),
                ..Cost::default()
            },
            started: 99,
        };
        assert_eq!(stat, expected);
        assert_eq!(Stat::parse(&STAT.replace(" 50 ", " 18446744073709551615 ")), None);
        survives(STAT, Stat::parse);
    }

    fn process(proc: &Path, pid: u32, parent: u32, ticks: u64) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(folder.join("task/1")).unwrap();
        let stat =
            format!("{pid} (x) S {parent} 0 0 0 0 0 1 0 2 0 {ticks} {ticks} 0 0 0 0 0 0 5\n");
        fs::write(folder.join("stat"), stat).unwrap();
        let status = "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n";
        fs::write(folder.join("task/1/status"), status).unwrap();
        let io = "rchar: 5\nwchar: 6\nsyscr: 7\nsyscw: 8\nread_bytes: 9\nwrite_bytes: 11\n";
        fs::write(folder.join("io"), io).unwrap();
    }

    /// Ids beyond the largest that Linux gives, so that no clock is asked.
    const FAR: u32 = 0x0100_0000;

    #[test]
    fn descendants_count_and_others_do_not() {
        let proc = tempfile::tempdir().unwrap();
        for (pid, parent) in [(1, 0), (2, 1), (3, 2), (4, 3), (5, 1), (6, 1)] {
            process(proc.path(), FAR + pid, FAR + parent, 10);
        }
        fs::write(proc.path().join("meminfo"), "").unwrap();
        let below = |roots: &[u32]| Processes::below(proc.path(), roots, &[]).unwrap().0;
        let sum = below(&[FAR + 2, FAR + 6]);
        assert_eq!((sum.sampled.user_ns, sum.total_ns), (40 * TICK_NS, 4 * 20 * TICK_NS));
        assert_eq!((sum.sampled.minor_faults, sum.sampled.major_faults), (Some(4), Some(8)));
        assert_eq!(sum.sampled.voluntary_switches, Some(12));
        assert_eq!(sum.sampled.involuntary_switches, Some(16));
        assert_eq!(sum.io.unwrap().device_read_bytes, Some(36));
        assert_eq!(sum.io.unwrap().device_written_bytes, Some(44));
        // One that has ended meanwhile is passed over; one that cannot be read leaves no sum.
        fs::remove_file(proc.path().join(format!("{}/io", FAR + 3))).unwrap();
        assert_eq!(below(&[FAR + 2]).io.unwrap().read_calls, Some(14));
        fs::write(proc.path().join(format!("{}/io", FAR + 4)), "rchar: x").unwrap();
        assert_eq!(below(&[FAR + 2]).io, None);
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let proc = tempfile::tempdir().unwrap();
        process(proc.path(), FAR + 1, FAR + 2, 1);
        process(proc.path(), FAR + 2, FAR + 1, 1);
        assert_eq!(Processes::below(proc.path(), &[7], &[]).unwrap().0.total_ns, 0);
    }

    #[test]
    fn time_splits_as_the_ticks_do() {
        let at = |total_ns, user_ticks: u64, system_ticks: u64| Processes {
            total_ns,
            sampled: Cost {
                user_ns: user_ticks * TICK_NS,
                system_ns: system_ticks * TICK_NS,
                ..Cost::default()
            },
            io: None,
        };
        let cost = at(100, 4, 1).cost_since(&at(20, 1, 0));
        assert_eq!((cost.user_ns, cost.system_ns), (60, 20));
        let short = at(100, 3, 1).cost_since(&at(20, 3, 1));
        assert_eq!((short.user_ns, short.system_ns), (60, 20));
        let never = at(100, 0, 0).cost_since(&at(20, 0, 0));
        assert_eq!((never.user_ns, never.system_ns), (80, 0));
        assert_eq!(at(20, 1, 0).cost_since(&at(100, 4, 1)).user_ns, 0, "never runs backwards");
    }

    #[test]
    fn without_roots_there_is_nothing_to_add() {
        let (none, _) = Processes::now(&[], &[]).unwrap();
        assert_eq!(none.cost_since(&none).minor_faults, Some(0));
        assert_eq!(none.io_since(&none), Some(Io::default()));
        assert!(descendants(Path::new("/proc"), &[]).unwrap().is_empty());
    }

    /// A shell works through children of its own: when they end, what they spent still counts.
    #[test]
    fn children_that_ended_are_not_lost() {
        let script = "read _; for i in 1 2 3; do (i=0; while [ $i -lt 40000 ]; do i=$((i+1)); \
                      done); done; echo; read _";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let then = Processes::now(&[shell.id()], &[]).unwrap().0;
        let mut input = shell.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, b"\n").unwrap();
        let mut answer = [0];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut answer).unwrap();
        let now = Processes::now(&[shell.id()], &[]).unwrap().0;
        let counted = descendants(Path::new("/proc"), &[shell.id()]).unwrap();
        drop(input);
        shell.wait().unwrap();
        assert_eq!(counted.into_keys().collect::<Vec<_>>(), [shell.id()]);
        let cost = now.cost_since(&then);
        // Three loops of 40,000 steps take longer than three ticks anywhere.
        assert!(cost.user_ns + cost.system_ns > 20_000_000, "{cost:?}");
        assert!(cost.minor_faults.is_some_and(|faults| faults > 0), "{cost:?}");
        assert!(cost.voluntary_switches.is_some_and(|switches| switches > 0), "{cost:?}");
    }

    const ROLLUP: &str = "\
55d0-7ffe ---p 00000000 00:00 0                          [rollup]
Rss:                9999 kB
Pss_Anon:             20 kB
Pss_File:           5000 kB
Pss_Shmem:             3 kB
";

    #[test]
    fn occupied_memory_does_not_include_the_page_cache() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(occupied(folder.path()), Some(0), "it has ended");
        write("smaps_rollup", ROLLUP);
        assert_eq!(occupied(folder.path()), Some(23 << 10));
        write("smaps_rollup", "Rss: 5 kB\n");
        write("status", "RssAnon:\t7 kB\nRssFile: 9 kB\nRssShmem: 1 kB\n");
        assert_eq!(occupied(folder.path()), Some(8 << 10), "an older kernel");
        write("status", "Name: x\n");
        assert_eq!(occupied(folder.path()), None);
    }

    #[test]
    fn allocated_memory_is_occupied() {
        // Other tests of this process allocate and free some meanwhile.
        let block = std::hint::black_box(vec![1_u8; 64 << 20]);
        let occupied = occupied_bytes(&[]).unwrap();
        assert!(occupied >= 64 << 20, "{occupied}");
        drop(block);
    }
}

#[cfg(test)]
mod own_tests {
    use super::*;
    use crate::os::spent;
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
        assert_eq!((io.read_calls, io.read_bytes), (Some(10), Some(6976)));
        assert_eq!((io.write_calls, io.written_bytes), (Some(2), Some(12)));
        assert_eq!((io.device_read_bytes, io.device_written_bytes), (Some(4096), Some(8192)));
        for text in ["", "rchar: 1", &IO.replace("4096", "x"), &IO.replace("10\n", "-1\n")] {
            assert_eq!(parse_io(text), None, "{text}");
        }
        survives(IO, parse_io);
    }

    #[test]
    fn a_reading_does_not_count_itself() {
        let Some((before, reading)) = own_io() else { return };
        assert!(reading.read_calls == Some(1) && reading.read_bytes > Some(0), "{reading:?}");
        let (after, _) = own_io().unwrap();
        let then = combine_io(before, reading, u64::saturating_add);
        let io = combine_io(after, then, u64::saturating_sub);
        let with_reading = combine_io(after, before, u64::saturating_sub);
        // Other tests of this process may add to it.
        assert!(io.read_calls < with_reading.read_calls, "{io:?}");
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
        assert!(io.read_bytes >= Some(100_000) && io.written_bytes >= Some(100_000), "{io:?}");
        assert!(io.read_calls >= Some(1) && io.write_calls >= Some(1), "{io:?}");
    }
}
