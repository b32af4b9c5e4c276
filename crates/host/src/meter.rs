//! Measures what a pass cost, what it asked of the system, and what else ran on the machine
//! meanwhile.

use std::time::{Duration, Instant};

use model::{Cost, Load};

use crate::{
    memory::swapped_bytes,
    processes::Processes,
    processor,
    text::{self, number},
    usage::{Usage, reported_usage},
    usage_meter::UsageMeter,
};

/// A meter that measures from [`Meter::start`] to [`Meter::stop`]. Each takes some 0.2 ms, a little
/// more on machines with many processors, and some milliseconds if other processes count as well;
/// call both outside the timed region.
#[derive(Debug)]
pub struct Meter {
    roots: Vec<u32>,
    workers: Vec<u32>,
    processes: Option<(Processes, Processes)>,
    reported: Usage,
    throttled: Option<u64>,
    swapped: Option<u64>,
    pressure: Pressure,
    ticks: Option<Ticks>,
    own: UsageMeter,
    start: Instant,
}

/// The figures of a [`Meter`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// The work of this process.
    pub own: Usage,
    /// The work of the others that count: the workers' as they report it ([`add_usage`](crate::add_usage)),
    /// without what it takes to ask them, and everything that their descendants do. `None` if the system does
    /// not report it; where it reports no other process, workers' reports are all of their work.
    pub others: Option<Usage>,
    /// The work of other processes on the machine.
    pub load: Load,
}

impl Measured {
    /// Returns the work of the others that count, and with it `own`, as much of this process's as was for
    /// the same.
    pub fn with(&self, own: Usage) -> Usage {
        // If the others' part is missing, this process's must not pass for the whole.
        self.others.map_or_else(Usage::default, |others| others.plus(own))
    }
}

impl Meter {
    /// Starts to measure this process, `processes` and `workers`, each with all its descendants. Workers
    /// report what passes cost them.
    pub fn start(processes: &[u32], workers: &[u32]) -> Self {
        let roots = [processes, workers].concat();
        // The process's own readings are innermost: they are finer than the machine's, and
        // reading what others did costs this process something itself.
        Self {
            processes: Processes::now(&roots, workers),
            reported: reported_usage(),
            roots,
            workers: workers.to_vec(),
            throttled: processor::throttled(),
            swapped: swapped_bytes(),
            pressure: Pressure::now(),
            ticks: Ticks::now(),
            own: UsageMeter::start(),
            start: Instant::now(),
        }
    }

    /// Returns the figures since the start.
    pub fn stop(self) -> Measured {
        let wall = self.start.elapsed();
        let own = self.own.stop();
        let others = self.processes.zip(Processes::now(&self.roots, &self.workers));
        let others = others.map(|((then, apart), (now, now_apart))| {
            (now.usage_since(&then), now_apart.usage_since(&apart))
        });
        let all = others.map_or_else(Cost::default, |(all, _)| all.plus(own).cost);
        let only_workers = self.roots == self.workers;
        let apart = others.map(|(_, apart)| apart).or(only_workers.then_some(Usage::NONE));
        let reported = reported_usage().combine(self.reported, u64::saturating_sub);
        let ticks = self.ticks.zip(Ticks::now());
        let [cpu_pressure, io_pressure, memory_pressure] =
            Pressure::now().shares_since(&self.pressure, wall);
        let load = Load {
            cpu_pressure,
            io_pressure,
            memory_pressure,
            swapped_bytes: grown(self.swapped, swapped_bytes()),
            throttled: grown(self.throttled, processor::throttled()),
            mhz: processor::mhz(),
            ..ticks.map_or_else(Load::default, |(then, now)| now.load_since(&then, wall, all))
        };
        Measured { own, others: apart.map(|apart| apart.plus(reported)), load }
    }
}

/// Returns by how much a counter grew; 0 if it was set back meanwhile.
fn grown(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    then.zip(now).map(|(then, now)| now.saturating_sub(then))
}

/// The unit of `/proc/stat`: `USER_HZ` is 100 on every architecture that Rust's std supports.
const TICK: Duration = Duration::from_millis(10);

/// The shortest pass with figures for pressure and other load: the readings around it, some 0.1 ms,
/// are then at most 1 % of what the counters span.
const MIN_WALL: Duration = Duration::from_millis(10);

/// The least processor time, all processors together, with a figure for steal: one tick is then at
/// most 1 %.
const MIN_TICKS: u64 = 100;

/// The processor time of the whole machine, used by any process, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    steal: u64,
    total: u64,
}

impl Ticks {
    /// Reads the counters; `None` on systems other than Linux, which have no such file.
    fn now() -> Option<Self> {
        Self::parse(&text::read("/proc/stat")?)
    }

    /// Parses the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq,
    /// steal. Guests' time follows, but is in `user` already. See proc(5).
    fn parse(stat: &str) -> Option<Self> {
        let columns = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let columns: Option<Vec<u64>> = columns.take(8).map(number).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = columns?.try_into().ok()?;
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, steal, total: busy + idle + iowait + steal })
    }

    /// Returns what other processes did in a pass of `wall` during which this process spent `own`.
    fn load_since(&self, then: &Self, wall: Duration, own: Cost) -> Load {
        let busy = self.busy.saturating_sub(then.busy) as f64 * TICK.as_secs_f64();
        let own = (own.user_ns + own.system_ns) as f64 / 1e9;
        let other = (busy - own) / wall.as_secs_f64();
        let total = self.total.saturating_sub(then.total);
        let steal = self.steal.saturating_sub(then.steal) as f64 / total as f64;
        Load {
            other_cpus: (wall >= MIN_WALL).then_some(other),
            steal: (total >= MIN_TICKS).then_some(steal),
            ..Load::default()
        }
    }
}

/// The microseconds so far in which some task waited for a processor, input or output, or memory;
/// `None` if the kernel does not count them. See `Documentation/accounting/psi.rst` in its source.
#[derive(Clone, Copy, Debug)]
struct Pressure([Option<u64>; 3]);

impl Pressure {
    fn now() -> Self {
        Self(
            ["cpu", "io", "memory"]
                .map(|resource| parse_pressure(&text::read(format!("/proc/pressure/{resource}"))?)),
        )
    }

    /// Returns the shares of a pass of `wall` in which tasks waited.
    fn shares_since(&self, then: &Self, wall: Duration) -> [Option<f64>; 3] {
        [0, 1, 2].map(|resource| {
            let waited = grown(then.0[resource], self.0[resource])?;
            let share = waited as f64 / 1e6 / wall.as_secs_f64();
            (wall >= MIN_WALL).then_some(share.min(1.0))
        })
    }
}

/// Parses the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`.
fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    number(some.split(' ').find_map(|field| field.strip_prefix("total="))?)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::add_usage;

    /// Other systems than Linux report no other process.
    #[test]
    fn what_workers_report_is_kept_where_the_system_reports_no_process() {
        let unseen = |servers, workers| {
            let meter = Meter { processes: None, ..Meter::start(servers, workers) };
            add_usage(Usage { cost: Cost { user_ns: 70, ..Usage::NONE.cost }, ..Usage::NONE });
            meter.stop()
        };
        let workers = unseen(&[], &[1]);
        assert_eq!(workers.with(Usage::NONE).cost.user_ns, 70);
        // A server reports nothing, so that what workers report is not all.
        assert_eq!(unseen(&[1], &[2]).others, None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_meter_sees_its_own_work_as_its_own() {
        let meter = Meter::start(&[], &[]);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(250) {}
        let Measured { own: Usage { cost, .. }, load, .. } = meter.stop();
        assert!(cost.user_ns + cost.system_ns > 20_000_000, "{cost:?}");
        assert!(load.other_cpus.is_some(), "{load:?}");
    }

    /// A shell works: its time is part of the cost, and not of what others did.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_meter_sees_the_work_of_processes_that_count() {
        let script = "while :; do :; done";
        let mut shell = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
        let (with, without) = (Meter::start(&[shell.id()], &[]), Meter::start(&[], &[]));
        std::thread::sleep(Duration::from_millis(300));
        let (without, with) = (without.stop(), with.stop());
        shell.kill().unwrap();
        shell.wait().unwrap();
        let work = |measured: &Measured| measured.with(measured.own);
        let spent = |measured: &Measured| {
            let Usage { cost, .. } = work(measured);
            cost.user_ns + cost.system_ns
        };
        // Other tests of this process work meanwhile, and may take the processors from it.
        assert!(spent(&with) > spent(&without) + 20_000_000, "{with:?} {without:?}");
        assert!(with.load.other_cpus < without.load.other_cpus, "{with:?} {without:?}");
        assert!(work(&with).io.is_some() == work(&without).io.is_some());
    }
}

#[cfg(test)]
mod load_tests {
    use super::*;
    use crate::text::survives;

    const STAT: &str = "\
cpu  1000 20 300 9000 50 6 7 40 500 0
cpu0 500 10 150 4500 25 3 3 20 250 0
intr 185253 0 0
";

    fn after(wall: Duration, ticks: [u64; 3], own_ns: u64) -> Load {
        let [busy, steal, total] = ticks;
        let own = Cost { user_ns: own_ns, ..Cost::default() };
        Ticks { busy, steal, total }.load_since(&Ticks::default(), wall, own)
    }

    #[test]
    fn guests_are_not_counted_twice() {
        let ticks = Ticks::parse(STAT).unwrap();
        assert_eq!(ticks, Ticks { busy: 1333, steal: 40, total: 10_423 });
        for text in ["", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu  a b c d e f g h"] {
            assert_eq!(Ticks::parse(text), None, "{text}");
        }
        survives(STAT, Ticks::parse);
    }

    #[test]
    fn others_are_the_machine_less_this_process() {
        let load = after(Duration::from_secs(1), [150, 2, 200], 1_000_000_000);
        assert!((load.other_cpus.unwrap() - 0.5).abs() < 1e-9);
        assert!((load.steal.unwrap() - 0.01).abs() < 1e-9);
        let load = after(Duration::from_secs(1), [99, 0, 200], 1_000_000_000);
        assert!((load.other_cpus.unwrap() + 0.01).abs() < 1e-9, "or sums would be too large");
    }

    #[test]
    fn a_short_pass_has_no_figures() {
        assert_eq!(after(Duration::from_micros(9_999), [20, 1, 40], 0), Load::default());
        assert_eq!(after(Duration::ZERO, [0, 0, 0], 0), Load::default());
    }

    #[test]
    fn the_total_of_some_counts_and_not_of_full() {
        const IO: &str = "\
some avg10=0.36 avg60=0.40 avg300=0.32 total=4271137
full avg10=0.36 avg60=0.38 avg300=0.29 total=3833235
";
        assert_eq!(parse_pressure(IO), Some(4_271_137));
        for text in ["", "some", "some total=", "some total=-1", "full avg10=0.36 total=7\n"] {
            assert_eq!(parse_pressure(text), None, "{text}");
        }
        survives(IO, parse_pressure);
    }

    #[test]
    fn a_share_is_of_the_pass() {
        let then = Pressure([Some(1000), None, Some(0)]);
        let now = Pressure([Some(51_000), None, Some(9_000_000)]);
        assert_eq!(now.shares_since(&then, Duration::from_millis(9)), [None; 3]);
        let [cpu, io, memory] = now.shares_since(&then, Duration::from_millis(200));
        assert!((cpu.unwrap() - 0.25).abs() < 1e-9);
        assert_eq!((io, memory), (None, Some(1.0)));
    }

    #[test]
    fn a_counter_that_was_set_back_did_not_grow() {
        assert_eq!(grown(Some(3), Some(5)), Some(2));
        assert_eq!(grown(Some(5), Some(3)), Some(0));
        assert_eq!(grown(None, Some(3)), None);
        assert_eq!(grown(Some(3), None), None);
    }
}
