//! Processor time of the whole machine, whoever used it (Linux: `/proc/stat`).

use std::time::Duration;

use model::{Cost, Load};

/// Unit of `/proc/stat`: `USER_HZ` is 100 on every architecture that Rust's std supports.
const TICK: Duration = Duration::from_millis(10);

/// Shortest pass whose `other_cpus` is told. Each column of `/proc/stat` is cut to whole ticks,
/// so a difference is off by up to a tick a column: ±0.1 processors here.
const MIN_WALL: Duration = Duration::from_millis(200);

/// Least processor time, all processors together, whose share of steal is told: one tick is then
/// at most 1 %.
const MIN_TICKS: u64 = 100;

/// Processor time of the whole machine, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    busy: u64,
    steal: u64,
    total: u64,
}

impl Ticks {
    /// Told on Linux only; elsewhere there is no such file.
    pub(super) fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq,
    /// steal. Guests' time follows, but is in `user` already. See proc(5).
    fn parse(stat: &str) -> Option<Self> {
        let columns: Option<Vec<u64>> = stat
            .lines()
            .next()?
            .strip_prefix("cpu ")?
            .split_whitespace()
            .take(8)
            // A counter past 2^53 ticks is no counter; without it no sum below can overflow.
            .map(|column| column.parse().ok().filter(|ticks| *ticks < 1 << 53))
            .collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = columns?.try_into().ok()?;
        let busy = user + nice + system + irq + softirq;
        Some(Self { busy, steal, total: busy + idle + iowait + steal })
    }

    pub(super) fn since(&self, then: &Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(then.busy),
            steal: self.steal.saturating_sub(then.steal),
            total: self.total.saturating_sub(then.total),
        }
    }

    /// What others did in a pass of `wall` during which this process spent `own`. `other_cpus` is
    /// absent below 200 ms of wall time, `steal` below 1 s of time of all processors together:
    /// the system counts in steps of 10 ms.
    pub(super) fn load(&self, wall: Duration, own: Cost) -> Load {
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

#[cfg(test)]
mod tests {
    use super::*;

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
    }

    #[test]
    fn others_are_the_machine_less_this_process() {
        let load = after(Duration::from_secs(1), [150, 2, 200], 1_000_000_000);
        assert!((load.other_cpus.unwrap() - 0.5).abs() < 1e-9);
        assert!((load.steal.unwrap() - 0.01).abs() < 1e-9);
    }

    #[test]
    fn others_never_do_less_than_nothing() {
        let load = after(Duration::from_secs(1), [99, 0, 200], 1_000_000_000);
        assert_eq!(load.other_cpus, Some(0.0));
    }

    #[test]
    fn a_short_pass_tells_nothing() {
        assert_eq!(after(Duration::from_millis(199), [20, 1, 40], 0), Load::default());
        assert_eq!(after(Duration::ZERO, [0, 0, 0], 0), Load::default());
    }

    #[test]
    fn text_of_another_form_is_not_read() {
        for text in ["", "cpu", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu  a b c d e f g h"] {
            assert_eq!(Ticks::parse(text), None, "{text}");
        }
        for text in crate::mutilations(STAT.as_bytes()) {
            let _ = Ticks::parse(&String::from_utf8_lossy(&text));
        }
        assert_eq!(Ticks::parse(&format!("cpu  {} 1 1 1 1 1 1 1", u64::MAX)), None);
    }
}
