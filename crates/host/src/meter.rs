//! What a pass cost, what it asked of the system, and what else went on in the machine meanwhile.

use std::time::Instant;

use model::{Cost, Io, Load};

use crate::{
    load::{Pressure, Ticks, grown},
    memory::swapped_bytes,
    processes::Processes,
    processor,
    usage::{IoReading, combine_costs, combine_io, spent},
};

/// Measures from [`Meter::start`] to [`Meter::stop`]. Each takes some 0.2 ms, a little more on
/// machines with many processors, and some milliseconds where other processes count as well;
/// call both outside the timed region.
#[derive(Debug)]
pub struct Meter {
    roots: Vec<u32>,
    processes: Option<Processes>,
    throttled: Option<u64>,
    swapped: Option<u64>,
    pressure: Pressure,
    ticks: Option<Ticks>,
    io: Option<IoReading>,
    spent: Cost,
    start: Instant,
}

/// What a [`Meter`] measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// What this process and the others that count spent.
    pub cost: Cost,
    /// What they asked of the system, if it reports that.
    pub io: Option<Io>,
    /// What others did.
    pub load: Load,
}

impl Meter {
    /// Starts to measure this process, `processes`, and all descendants of these.
    pub fn start(processes: &[u32]) -> Self {
        // The process's own readings are innermost: they are finer than the machine's, and
        // reading what others did costs this process something itself.
        Self {
            roots: processes.to_vec(),
            processes: Processes::now(processes),
            throttled: processor::throttled(),
            swapped: swapped_bytes(),
            pressure: Pressure::now(),
            ticks: Ticks::now(),
            io: IoReading::now(),
            spent: spent(),
            start: Instant::now(),
        }
    }

    /// Ends the measurement.
    pub fn stop(self) -> Measured {
        let wall = self.start.elapsed();
        let own = combine_costs(spent(), self.spent, u64::saturating_sub);
        let own_io = self.io.zip(IoReading::now()).map(|(then, now)| now.since(&then));
        let others = self.processes.zip(Processes::now(&self.roots));
        // Without the others' part, this process's would pass for the whole.
        let cost = others.map_or_else(Cost::default, |(then, now)| {
            combine_costs(own, now.cost_since(&then), u64::saturating_add)
        });
        let io = others.and_then(|(then, now)| {
            Some(combine_io(own_io?, now.io_since(&then)?, u64::saturating_add))
        });
        let ticks = self.ticks.zip(Ticks::now()).map(|(then, now)| now.since(&then));
        let [cpu_pressure, io_pressure, memory_pressure] =
            Pressure::now().shares_since(&self.pressure, wall);
        let load = Load {
            cpu_pressure,
            io_pressure,
            memory_pressure,
            swapped_bytes: grown(self.swapped, swapped_bytes()),
            throttled: grown(self.throttled, processor::throttled()),
            mhz: processor::mhz(),
            ..ticks.map_or_else(Load::default, |ticks| ticks.load(wall, cost))
        };
        Measured { cost, io, load }
    }
}

/// Whether this system reports what else runs on it; if not, every [`Load`] is empty.
pub fn reports_load() -> bool {
    Ticks::now().is_some()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_meter_sees_its_own_work_as_its_own() {
        let meter = Meter::start(&[]);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(250) {}
        let Measured { cost, load, .. } = meter.stop();
        assert!(cost.user_ns + cost.system_ns > 20_000_000, "{cost:?}");
        assert!(load.other_cpus.is_some(), "{load:?}");
        assert!(reports_load());
    }

    /// A shell works: its time is part of the cost, and not of what others did.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_meter_sees_the_work_of_processes_that_count() {
        let script = "while :; do :; done";
        let mut shell = std::process::Command::new("sh").args(["-c", script]).spawn().unwrap();
        let (with, without) = (Meter::start(&[shell.id()]), Meter::start(&[]));
        std::thread::sleep(Duration::from_millis(300));
        let (without, with) = (without.stop(), with.stop());
        shell.kill().unwrap();
        shell.wait().unwrap();
        let spent = |measured: &Measured| measured.cost.user_ns + measured.cost.system_ns;
        // Other tests of this process work meanwhile, and may take the processors from it.
        assert!(spent(&with) > spent(&without) + 20_000_000, "{with:?} {without:?}");
        assert!(with.load.other_cpus < without.load.other_cpus, "{with:?} {without:?}");
        assert!(with.io.is_some() == without.io.is_some());
    }
}
