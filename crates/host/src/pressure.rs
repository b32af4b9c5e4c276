//! Time that tasks of the whole machine waited: pressure stall information (Linux, see
//! `Documentation/accounting/psi.rst` in the kernel's source).

use std::{fs, time::Duration};

use model::Load;

use super::meter::grown;

/// Shortest pass whose pressure is told: the readings around it, some 0.1 ms, are then at most
/// 1 % of what the counters span.
const MIN_WALL: Duration = Duration::from_millis(10);

/// Microseconds so far in which some task waited; absent where the kernel does not count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pressure {
    cpu: Option<u64>,
    io: Option<u64>,
    memory: Option<u64>,
}

impl Pressure {
    pub(super) fn now() -> Self {
        let waited = |resource| {
            let text = fs::read_to_string(format!("/proc/pressure/{resource}"));
            text.ok().as_deref().and_then(parse)
        };
        Self { cpu: waited("cpu"), io: waited("io"), memory: waited("memory") }
    }

    pub(super) fn since(&self, then: &Self) -> Self {
        Self {
            cpu: grown(then.cpu, self.cpu),
            io: grown(then.io, self.io),
            memory: grown(then.memory, self.memory),
        }
    }

    /// Puts the shares of a pass of `wall` into `load`.
    pub(super) fn tell(&self, wall: Duration, load: &mut Load) {
        if wall < MIN_WALL {
            return;
        }
        let share = |waited: u64| (waited as f64 / 1e6 / wall.as_secs_f64()).min(1.0);
        load.cpu_pressure = self.cpu.map(share);
        load.io_pressure = self.io.map(share);
        load.memory_pressure = self.memory.map(share);
    }
}

/// The line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`.
fn parse(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "\
some avg10=0.36 avg60=0.40 avg300=0.32 total=4271137
full avg10=0.36 avg60=0.38 avg300=0.29 total=3833235
";

    #[test]
    fn the_total_is_that_of_some_not_of_full() {
        assert_eq!(parse(IO), Some(4_271_137));
        assert_eq!(parse("full avg10=0.36 total=7\n"), None);
    }

    #[test]
    fn a_share_is_of_the_pass() {
        let mut load = Load::default();
        let waited = Pressure { cpu: Some(50_000), io: None, memory: Some(9_000_000) };
        waited.tell(Duration::from_millis(9), &mut load);
        assert_eq!(load, Load::default());
        waited.tell(Duration::from_millis(200), &mut load);
        assert!((load.cpu_pressure.unwrap() - 0.25).abs() < 1e-9);
        assert_eq!((load.io_pressure, load.memory_pressure), (None, Some(1.0)));
    }

    #[test]
    fn text_of_another_form_is_not_read() {
        for text in ["", "some", "some total=", "some total=-1", "some total=99999999999999999999"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        for text in crate::mutilations(IO.as_bytes()) {
            let _ = parse(&String::from_utf8_lossy(&text));
        }
    }
}
