//! What the whole machine did: processor time of everyone, and time that tasks waited (Linux).

use std::{fs, time::Duration};

use model::{Cost, Load};

use crate::text::number;

/// Unit of `/proc/stat`: `USER_HZ` is 100 on every architecture that Rust's std supports.
const TICK: Duration = Duration::from_millis(10);

/// Shortest pass with a figure for `other_cpus`. Each column of `/proc/stat` is cut to whole
/// ticks, so a difference is off by up to a tick a column: ±0.1 processors here.
const MIN_WALL: Duration = Duration::from_millis(200);

/// Least processor time, all processors together, with a figure for steal: one tick is then at
/// most 1 %.
const MIN_TICKS: u64 = 100;

/// Processor time of the whole machine, whoever used it, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    busy: u64,
    steal: u64,
    total: u64,
}

impl Ticks {
    /// Reported on Linux only; elsewhere there is no such file.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq,
    /// steal. Guests' time follows, but is in `user` already. See proc(5).
    fn parse(stat: &str) -> Option<Self> {
        let columns = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let columns: Option<Vec<u64>> = columns.take(8).map(number).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = columns?.try_into().ok()?;
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, steal, total: busy + idle + iowait + steal })
    }

    pub(crate) fn since(&self, then: &Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(then.busy),
            steal: self.steal.saturating_sub(then.steal),
            total: self.total.saturating_sub(then.total),
        }
    }

    /// What others did in a pass of `wall` during which this process spent `own`. `other_cpus` is
    /// absent below 200 ms of wall time, `steal` below 1 s of time of all processors together:
    /// the system counts in steps of 10 ms.
    pub(crate) fn load(&self, wall: Duration, own: Cost) -> Load {
        let busy = self.busy as f64 * TICK.as_secs_f64();
        let own = (own.user_ns + own.system_ns) as f64 / 1e9;
        let other = ((busy - own) / wall.as_secs_f64()).max(0.0);
        let steal = self.steal as f64 / self.total as f64;
        Load {
            other_cpus: (wall >= MIN_WALL).then_some(other),
            steal: (self.total >= MIN_TICKS).then_some(steal),
            ..Load::default()
        }
    }
}

/// Shortest pass with figures for pressure: the readings around it, some 0.1 ms, are then at most
/// 1 % of what the counters span.
const MIN_PRESSURE_WALL: Duration = Duration::from_millis(10);

/// Microseconds so far in which some task waited for a processor, input or output, or memory;
/// absent if the kernel does not count them. See `Documentation/accounting/psi.rst` in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pressure([Option<u64>; 3]);

impl Pressure {
    pub(crate) fn now() -> Self {
        Self(["cpu", "io", "memory"].map(|resource| {
            parse_pressure(&fs::read_to_string(format!("/proc/pressure/{resource}")).ok()?)
        }))
    }

    /// Shares of a pass of `wall` in which tasks waited.
    pub(crate) fn shares_since(&self, then: &Self, wall: Duration) -> [Option<f64>; 3] {
        if wall < MIN_PRESSURE_WALL {
            return [None; 3];
        }
        [0, 1, 2].map(|resource| {
            let waited = grown(then.0[resource], self.0[resource])?;
            Some((waited as f64 / 1e6 / wall.as_secs_f64()).min(1.0))
        })
    }
}

/// The line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`.
fn parse_pressure(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    number(some.split(' ').find_map(|field| field.strip_prefix("total="))?)
}

/// By how much a counter grew; one that was set back meanwhile did not.
pub(crate) fn grown(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    then.zip(now).map(|(then, now)| now.saturating_sub(then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::survives;

    const STAT: &str = "\
cpu  1000 20 300 9000 50 6 7 40 500 0
cpu0 500 10 150 4500 25 3 3 20 250 0
intr 185253 0 0
";

    fn after(wall: Duration, ticks: [u64; 3], own_ns: u64) -> Load {
        let [busy, steal, total] = ticks;
        Ticks { busy, steal, total }.load(wall, Cost { user_ns: own_ns, ..Cost::default() })
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
        assert_eq!(load.other_cpus, Some(0.0), "never less than nothing");
    }

    #[test]
    fn a_short_pass_has_no_figures() {
        assert_eq!(after(Duration::from_millis(199), [20, 1, 40], 0), Load::default());
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
