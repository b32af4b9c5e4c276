//! What other processes spent and asked of the system, each with all that descend from it
//! (Linux: `/proc`, see proc(5)).

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    ops::Add,
    path::{Path, PathBuf},
};

use model::{Cost, Io};

use super::{io, meter::grown};

/// Unit of processor times in `/proc/PID/stat`: `USER_HZ` is 100 on every architecture that
/// Rust's std supports.
const TICK_NS: u64 = 10_000_000;

/// Counters of some processes, their descendants and those whom these have outlived: a process
/// that ends within the family leaves what it spent to the one that waited for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Family {
    /// Processor time: exact of those that live, in whole ticks of those that ended.
    total_ns: u64,
    /// The same as sampled at each tick, which tells only how it splits.
    user_ticks: u64,
    system_ticks: u64,
    minor_faults: u64,
    major_faults: u64,
    /// Of threads that live.
    switches: Option<Switches>,
    io: Option<Io>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

impl Family {
    /// Of `roots` and their descendants, but for this process itself. Absent where the system
    /// does not tell.
    pub(super) fn now(roots: &[u32]) -> Option<Self> {
        Self::below(Path::new("/proc"), roots)
    }

    fn below(proc: &Path, roots: &[u32]) -> Option<Self> {
        let none = Self {
            switches: Some(Switches::default()),
            io: Some(Io::default()),
            ..Self::default()
        };
        if roots.is_empty() {
            return Some(none);
        }
        let family = family(proc, roots)?;
        Some(family.iter().fold(none, |sum, (&pid, stat)| sum + Self::of(proc, pid, stat)))
    }

    fn of(proc: &Path, pid: u32, stat: &Stat) -> Self {
        let folder = proc.join(pid.to_string());
        let own_ns = clock_ns(pid).unwrap_or((stat.user + stat.system) * TICK_NS);
        Self {
            total_ns: own_ns + (stat.reaped_user + stat.reaped_system) * TICK_NS,
            user_ticks: stat.user + stat.reaped_user,
            system_ticks: stat.system + stat.reaped_system,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            switches: switches(&folder),
            io: of_living(&folder.join("io"), io::parse),
        }
    }

    /// What was spent since `then`.
    pub(super) fn cost_since(&self, then: &Self) -> Cost {
        let total = self.total_ns.saturating_sub(then.total_ns);
        let ticks = (self.user_ticks.saturating_sub(then.user_ticks), self.system_ticks);
        let ticks = (ticks.0, ticks.1.saturating_sub(then.system_ticks));
        // Less than a tick: as it was split so far.
        let ticks = if ticks == (0, 0) { (self.user_ticks, self.system_ticks) } else { ticks };
        let user_ns = part(total, ticks.0, ticks.0 + ticks.1);
        let switches =
            |of: fn(Switches) -> u64| grown(then.switches.map(of), self.switches.map(of));
        Cost {
            user_ns,
            system_ns: total - user_ns,
            minor_faults: grown(Some(then.minor_faults), Some(self.minor_faults)),
            major_faults: grown(Some(then.major_faults), Some(self.major_faults)),
            voluntary_switches: switches(|s| s.voluntary),
            involuntary_switches: switches(|s| s.involuntary),
        }
    }

    /// What was asked of the system since `then`.
    pub(super) fn io_since(&self, then: &Self) -> Option<Io> {
        let (now, then) = self.io.zip(then.io)?;
        Some(Io {
            read_calls: now.read_calls.saturating_sub(then.read_calls),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            write_calls: now.write_calls.saturating_sub(then.write_calls),
            written_bytes: now.written_bytes.saturating_sub(then.written_bytes),
            device_read_bytes: now.device_read_bytes.saturating_sub(then.device_read_bytes),
        })
    }
}

/// `whole` × `share` / `of`, all of it where `of` is 0.
fn part(whole: u64, share: u64, of: u64) -> u64 {
    let part = (u128::from(whole) * u128::from(share)).checked_div(u128::from(of));
    part.and_then(|part| u64::try_from(part).ok()).unwrap_or(whole)
}

impl Add for Family {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let switches = self.switches.zip(other.switches).map(|(one, other)| Switches {
            voluntary: one.voluntary + other.voluntary,
            involuntary: one.involuntary + other.involuntary,
        });
        Self {
            total_ns: self.total_ns + other.total_ns,
            user_ticks: self.user_ticks + other.user_ticks,
            system_ticks: self.system_ticks + other.system_ticks,
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
            switches,
            io: self.io.zip(other.io).map(|(one, other)| io::sum(one, other)),
        }
    }
}

/// The ids of `roots` and of all that descend from them, this process left out.
pub(super) fn members(roots: &[u32]) -> Vec<u32> {
    let family = if roots.is_empty() { None } else { family(Path::new("/proc"), roots) };
    family.unwrap_or_default().into_keys().collect()
}

fn family(proc: &Path, roots: &[u32]) -> Option<BTreeMap<u32, Stat>> {
    let names = fs::read_dir(proc).ok()?.flatten().map(|entry| entry.file_name());
    let ids = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    let all: BTreeMap<u32, Stat> = ids
        .filter_map(|pid| {
            let text = fs::read(proc.join(pid.to_string()).join("stat")).ok()?;
            Some((pid, Stat::parse(&String::from_utf8_lossy(&text))?))
        })
        .collect();
    let descends = |pid: u32| {
        let parents = std::iter::successors(Some(pid), |pid| all.get(pid).map(|stat| stat.parent));
        // Ids that were given anew while they were read could make a ring.
        parents.take(all.len() + 1).any(|pid| roots.contains(&pid))
    };
    let own = std::process::id();
    Some(
        all.iter()
            .filter(|(pid, _)| **pid != own && descends(**pid))
            .map(|(p, s)| (*p, *s))
            .collect(),
    )
}

/// What is used of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// With those of the children it has waited for.
    minor_faults: u64,
    major_faults: u64,
    /// Processor time in ticks.
    user: u64,
    system: u64,
    /// That of the children it has waited for.
    reaped_user: u64,
    reaped_system: u64,
}

impl Stat {
    /// `PID (NAME) STATE PARENT …`: a name may hold spaces and brackets, so that the fields begin
    /// after the last of these.
    fn parse(text: &str) -> Option<Self> {
        let (_, fields) = text.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        // Counted from 1 as in proc(5), where the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        // A counter past 2^48 is none; without it no sum above can overflow.
        let count = |number| field(number)?.parse().ok().filter(|count: &u64| *count < 1 << 48);
        Some(Self {
            parent: field(4)?.parse().ok()?,
            minor_faults: count(10)? + count(11)?,
            major_faults: count(12)? + count(13)?,
            user: count(14)?,
            system: count(15)?,
            reaped_user: count(16)?,
            reaped_system: count(17)?,
        })
    }
}

/// When a process started, in ticks since the system did: with its id it is one of a kind.
pub(super) fn started(pid: u32) -> Option<u64> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The 22nd field, of which two stand before the last bracket.
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Processor time of a process, all its threads together, those that ended too.
fn clock_ns(pid: u32) -> Option<u64> {
    use nix::{time::ClockId, unistd::Pid};

    let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let time = clock.now().ok()?;
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec()).ok()?)
}

/// Context switches of all threads of the process in `folder`.
fn switches(folder: &Path) -> Option<Switches> {
    let threads: Vec<PathBuf> = match fs::read_dir(folder.join("task")) {
        Ok(threads) => threads.flatten().map(|thread| thread.path().join("status")).collect(),
        Err(error) => return gone(&error).then(Switches::default),
    };
    threads.iter().try_fold(Switches::default(), |sum, status| {
        let of = of_living(status, switches_of)?;
        Some(Switches {
            voluntary: sum.voluntary + of.voluntary,
            involuntary: sum.involuntary + of.involuntary,
        })
    })
}

fn switches_of(status: &str) -> Option<Switches> {
    Some(Switches {
        voluntary: value("voluntary_ctxt_switches", status)?,
        involuntary: value("nonvoluntary_ctxt_switches", status)?,
    })
}

/// `name:  7`
fn value(name: &str, status: &str) -> Option<u64> {
    let (_, value) = status.lines().filter_map(|l| l.split_once(':')).find(|(n, _)| *n == name)?;
    value.trim().parse().ok().filter(|count: &u64| *count < 1 << 48)
}

/// What `parse` makes of a file of a process; nothing of one that has ended meanwhile.
pub(super) fn of_living<T: Default>(file: &Path, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    match fs::read_to_string(file) {
        Ok(text) => parse(&text),
        Err(error) => gone(&error).then(T::default),
    }
}

/// Whether a process has ended: its folder is gone, or reading in it says ESRCH.
fn gone(error: &std::io::Error) -> bool {
    const ESRCH: i32 = 3;
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    const STAT: &str = "42 (a (b) c) S 7 42 42 0 -1 4194304 100 20 3 4 50 60 70 80 20 0 1 0 99 0\n";

    #[test]
    fn fields_are_counted_from_the_last_bracket() {
        let stat = Stat::parse(STAT).unwrap();
        let expected = Stat {
            parent: 7,
            minor_faults: 120,
            major_faults: 7,
            user: 50,
            system: 60,
            reaped_user: 70,
            reaped_system: 80,
        };
        assert_eq!(stat, expected);
        assert_eq!(Stat::parse(&STAT.replace(" 50 ", " 18446744073709551615 ")), None);
        for text in crate::mutilations(STAT.as_bytes()) {
            let _ = Stat::parse(&String::from_utf8_lossy(&text));
            let _ = switches_of(&String::from_utf8_lossy(&text));
        }
    }

    fn process(proc: &Path, pid: u32, parent: u32, ticks: u64) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(folder.join("task/1")).unwrap();
        let stat = format!("{pid} (x) S {parent} 0 0 0 0 0 1 0 2 0 {ticks} {ticks} 0 0 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
        let status = "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n";
        fs::write(folder.join("task/1/status"), status).unwrap();
        let io = "rchar: 5\nwchar: 6\nsyscr: 7\nsyscw: 8\nread_bytes: 9\nwrite_bytes: 0\n";
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
        let family = Family::below(proc.path(), &[FAR + 2, FAR + 6]).unwrap();
        assert_eq!((family.user_ticks, family.total_ns), (40, 4 * 20 * TICK_NS));
        assert_eq!((family.minor_faults, family.major_faults), (4, 8));
        assert_eq!(family.switches, Some(Switches { voluntary: 12, involuntary: 16 }));
        assert_eq!(family.io.unwrap().device_read_bytes, 36);
        // What has ended meanwhile is passed over, what is not told makes the whole untold.
        fs::remove_file(proc.path().join(format!("{}/io", FAR + 3))).unwrap();
        assert_eq!(Family::below(proc.path(), &[FAR + 2]).unwrap().io.unwrap().read_calls, 14);
        fs::write(proc.path().join(format!("{}/io", FAR + 4)), "rchar: x").unwrap();
        assert_eq!(Family::below(proc.path(), &[FAR + 2]).unwrap().io, None);
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let proc = tempfile::tempdir().unwrap();
        process(proc.path(), FAR + 1, FAR + 2, 1);
        process(proc.path(), FAR + 2, FAR + 1, 1);
        assert_eq!(Family::below(proc.path(), &[7]).unwrap().total_ns, 0);
    }

    #[test]
    fn time_splits_as_the_ticks_do() {
        let at = |total_ns, user_ticks, system_ticks| Family {
            total_ns,
            user_ticks,
            system_ticks,
            ..Family::default()
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
        let none = Family::now(&[]).unwrap();
        assert_eq!(none.cost_since(&none).minor_faults, Some(0));
        assert_eq!(none.io_since(&none), Some(Io::default()));
        assert!(members(&[]).is_empty());
    }

    /// A shell that works through children of its own: they end, and what they spent stays.
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
        let then = Family::now(&[shell.id()]).unwrap();
        let mut input = shell.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, b"\n").unwrap();
        let mut said = [0];
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut said).unwrap();
        let now = Family::now(&[shell.id()]).unwrap();
        let members = members(&[shell.id()]);
        drop(input);
        shell.wait().unwrap();
        assert_eq!(members, [shell.id()]);
        let cost = now.cost_since(&then);
        // Three loops of 40,000 steps take longer than three ticks anywhere.
        assert!(cost.user_ns + cost.system_ns > 20_000_000, "{cost:?}");
        assert!(cost.minor_faults.is_some_and(|faults| faults > 0), "{cost:?}");
        assert!(cost.voluntary_switches.is_some_and(|switches| switches > 0), "{cost:?}");
    }
}
