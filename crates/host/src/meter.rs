//! What a pass cost, what it asked of the system, and what else went on in the machine meanwhile.

use std::time::Instant;

use model::{Cost, Io, Load};

use super::{
    cost, family::Family, frequency, io, pressure::Pressure, swap, throttle, ticks::Ticks,
};

/// Measures from [`Meter::start`] to [`Meter::stop`]. Each takes some 0.2 ms, a little more on
/// machines with many processors, and some milliseconds where other processes count as well;
/// call both outside the timed region.
#[derive(Debug)]
pub struct Meter {
    processes: Vec<u32>,
    family: Option<Family>,
    throttled: Option<u64>,
    swapped: Option<u64>,
    pressure: Pressure,
    ticks: Option<Ticks>,
    io: Option<io::Reading>,
    spent: Cost,
    begun: Instant,
}

/// What a [`Meter`] measured.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// What this process and the others that count spent.
    pub cost: Cost,
    /// What they asked of the system, where that tells.
    pub io: Option<Io>,
    /// What others did.
    pub load: Load,
}

impl Meter {
    /// Begins to measure this process, `processes`, and all that descend from these.
    pub fn start(processes: &[u32]) -> Self {
        // The process's own readings stand innermost: they are finer than the machine's, and
        // reading what others did costs this process something itself.
        Self {
            processes: processes.to_vec(),
            family: Family::now(processes),
            throttled: throttle::times(),
            swapped: swap::bytes(),
            pressure: Pressure::now(),
            ticks: Ticks::now(),
            io: io::Reading::now(),
            spent: cost::spent(),
            begun: Instant::now(),
        }
    }

    /// Ends the measurement.
    pub fn stop(self) -> Measured {
        let wall = self.begun.elapsed();
        let own = cost::between(self.spent, cost::spent());
        let own_io = self.io.zip(io::Reading::now()).map(|(then, now)| now.since(&then));
        let family = self.family.zip(Family::now(&self.processes));
        // Without the others' part, one's own would pass for the whole.
        let cost = family.map(|(then, now)| cost::sum(own, now.cost_since(&then)));
        let cost = cost.unwrap_or_default();
        let io = family.and_then(|(then, now)| Some(io::sum(own_io?, now.io_since(&then)?)));
        let ticks = self.ticks.zip(Ticks::now()).map(|(then, now)| now.since(&then));
        let mut load = ticks.map_or_else(Load::default, |ticks| ticks.load(wall, cost));
        Pressure::now().since(&self.pressure).tell(wall, &mut load);
        load.swapped_bytes = grown(self.swapped, swap::bytes());
        load.throttled = grown(self.throttled, throttle::times());
        load.mhz = frequency::mhz();
        Measured { cost, io, load }
    }
}

/// Whether this system tells what else runs on it; if not, every [`Load`] is empty.
pub fn tells_load() -> bool {
    Ticks::now().is_some()
}

/// By how much a counter grew; one that was set back meanwhile did not.
pub(super) fn grown(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    then.zip(now).map(|(then, now)| now.saturating_sub(then))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_meter_sees_its_own_work_as_its_own() {
        let meter = Meter::start(&[]);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(250) {}
        let Measured { cost, load, .. } = meter.stop();
        assert!(cost.user_ns + cost.system_ns > 20_000_000, "{cost:?}");
        assert!(load.other_cpus.is_some(), "{load:?}");
        assert!(tells_load());
    }

    /// A shell that works: its time is part of the cost, and not what others did.
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

    #[test]
    fn a_counter_that_was_set_back_did_not_grow() {
        assert_eq!(grown(Some(3), Some(5)), Some(2));
        assert_eq!(grown(Some(5), Some(3)), Some(0));
        assert_eq!(grown(None, Some(3)), None);
        assert_eq!(grown(Some(3), None), None);
    }
}
