//! Times as file systems keep them: seconds since 1970 and nanoseconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970, below zero before it, and the nanoseconds after these.
pub fn unix_time(time: SystemTime) -> (i64, u32) {
    let seconds = |since: Duration| i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    let before = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => return (seconds(since), since.subsec_nanos()),
        Err(error) => error.duration(),
    };
    match before.subsec_nanos() {
        0 => (-seconds(before), 0),
        nanoseconds => (-seconds(before) - 1, 1_000_000_000 - nanoseconds),
    }
}

/// Returns the time that is so many seconds after 1970, or before it, and so many nanoseconds after
/// these; `None` if the system has no such time.
pub fn system_time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    let apart = Duration::from_secs(seconds.unsigned_abs());
    let second =
        if seconds < 0 { UNIX_EPOCH.checked_sub(apart) } else { UNIX_EPOCH.checked_add(apart) };
    second?.checked_add(Duration::new(0, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_1970_has_seconds_below_zero() {
        let after = |seconds, nanoseconds| UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        let before = |seconds, nanoseconds| UNIX_EPOCH - Duration::new(seconds, nanoseconds);
        for (time, parts) in [
            (after(0, 0), (0, 0)),
            (after(4_000_000_000, 1), (4_000_000_000, 1)),
            (before(86_400, 0), (-86_400, 0)),
            (before(1, 500_000_000), (-2, 500_000_000)),
        ] {
            assert_eq!(unix_time(time), parts);
            assert_eq!(system_time(parts.0, parts.1), Some(time));
        }
    }
}
