//! Processor time, page faults and context switches of this process.

use model::Cost;

use super::meter::grown;

/// What the process, all its threads together, spent so far.
///
/// On Linux the sum of both modes comes from the scheduler and is exact to the microsecond; how
/// it splits into user and kernel mode is sampled at each timer tick (1 to 10 ms) unless the
/// kernel accounts precisely (`VIRT_CPU_ACCOUNTING`), so the split means little for short passes.
#[cfg(unix)]
pub(super) fn spent() -> Cost {
    use nix::sys::resource::{UsageWho, getrusage};

    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Cost::default() };
    Cost {
        user_ns: nanoseconds(usage.user_time()),
        system_ns: nanoseconds(usage.system_time()),
        minor_faults: count(usage.minor_page_faults()),
        major_faults: count(usage.major_page_faults()),
        voluntary_switches: count(usage.voluntary_context_switches()),
        involuntary_switches: count(usage.involuntary_context_switches()),
    }
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
        minor_faults: grown(then.minor_faults, now.minor_faults),
        major_faults: grown(then.major_faults, now.major_faults),
        voluntary_switches: grown(then.voluntary_switches, now.voluntary_switches),
        involuntary_switches: grown(then.involuntary_switches, now.involuntary_switches),
    }
}

/// Of several processes together.
pub(super) fn sum(one: Cost, other: Cost) -> Cost {
    let both = |one: Option<u64>, other: Option<u64>| Some(one?.saturating_add(other?));
    Cost {
        user_ns: one.user_ns.saturating_add(other.user_ns),
        system_ns: one.system_ns.saturating_add(other.system_ns),
        minor_faults: both(one.minor_faults, other.minor_faults),
        major_faults: both(one.major_faults, other.major_faults),
        voluntary_switches: both(one.voluntary_switches, other.voluntary_switches),
        involuntary_switches: both(one.involuntary_switches, other.involuntary_switches),
    }
}

#[cfg(unix)]
fn count(count: std::ffi::c_long) -> Option<u64> {
    u64::try_from(count).ok()
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
    fn touching_new_memory_faults_and_sleeping_switches() {
        let before = spent();
        // More than allocators keep back for the next time.
        std::hint::black_box(vec![1_u8; 64 << 20]);
        std::thread::sleep(Duration::from_millis(1));
        let cost = between(before, spent());
        assert!(cost.minor_faults.is_some_and(|faults| faults > 0), "{cost:?}");
        assert!(cost.voluntary_switches.is_some_and(|switches| switches > 0), "{cost:?}");
        assert!(cost.major_faults.is_some() && cost.involuntary_switches.is_some(), "{cost:?}");
    }

    #[test]
    fn time_never_runs_backwards() {
        let later = Cost { user_ns: 5, system_ns: 1, ..Cost::default() };
        let cost = between(later, Cost { user_ns: 3, system_ns: 4, ..Cost::default() });
        assert_eq!(cost, Cost { user_ns: 0, system_ns: 3, ..Cost::default() });
    }
}
