//! Processor time of this process.

use model::Cost;

/// What the process, all its threads together, spent so far.
///
/// On Linux the sum of both modes comes from the scheduler and is exact to the microsecond; how
/// it splits into user and kernel mode is sampled at each timer tick (1 to 10 ms) unless the
/// kernel accounts precisely (`VIRT_CPU_ACCOUNTING`), so the split means little for short passes.
#[cfg(unix)]
pub(super) fn spent() -> Cost {
    use nix::sys::resource::{UsageWho, getrusage};

    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Cost::default() };
    Cost { user_ns: nanoseconds(usage.user_time()), system_ns: nanoseconds(usage.system_time()) }
}

/// Not told here.
#[cfg(not(unix))]
pub(super) fn spent() -> Cost {
    Cost::default()
}

/// What was spent from `then` to `now`.
pub(super) fn between(then: Cost, now: Cost) -> Cost {
    Cost {
        user_ns: now.user_ns.saturating_sub(then.user_ns),
        system_ns: now.system_ns.saturating_sub(then.system_ns),
    }
}

#[cfg(unix)]
fn nanoseconds(time: nix::sys::time::TimeVal) -> u64 {
    let unsigned = |part: i64| u64::try_from(part).unwrap_or(0);
    #[allow(clippy::useless_conversion, reason = "both parts are narrower on some systems")]
    let (seconds, microseconds) = (i64::from(time.tv_sec()), i64::from(time.tv_usec()));
    unsigned(seconds) * 1_000_000_000 + unsigned(microseconds) * 1_000
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn work_costs_processor_time() {
        let before = spent();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(50) {}
        let cost = between(before, spent());
        assert!(cost.user_ns + cost.system_ns > 5_000_000, "{cost:?}");
    }

    #[test]
    fn time_never_runs_backwards() {
        let later = Cost { user_ns: 5, system_ns: 1 };
        let cost = between(later, Cost { user_ns: 3, system_ns: 4 });
        assert_eq!(cost, Cost { user_ns: 0, system_ns: 3 });
    }
}
