//! Up to how many clients one more still adds.

use crate::{Estimate, SAME};

/// The last number of clients up to which each step to more of them adds throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Knee {
    /// By the figures themselves.
    pub at: u32,
    /// The largest number up to which all steps add throughput, whatever the truth in their
    /// intervals.
    pub low: u32,
    /// The largest number up to which some step may still add throughput.
    pub high: u32,
}

/// Returns up to which number of clients each step adds throughput. `clients` ascend; `steps` are
/// the throughputs of each divided by those of the one before. A step adds if it is above the range
/// called the same. Returns `None` if there are fewer than two numbers.
pub fn knee(clients: &[u32], steps: &[Estimate]) -> Option<Knee> {
    let up_to = |adds: fn(&Estimate) -> f64| {
        let adding = steps.iter().take_while(|step| adds(step) > 1.0 + SAME).count();
        clients.get(adding).copied()
    };
    if steps.is_empty() {
        return None;
    }
    Some(Knee { at: up_to(|s| s.point)?, low: up_to(|s| s.low)?, high: up_to(|s| s.high)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(low: f64, point: f64, high: f64) -> Estimate {
        Estimate { point, low, high, n: 5 }
    }

    #[test]
    fn the_knee_is_where_more_clients_add_no_more() {
        let steps = [step(1.8, 1.9, 2.0), step(0.9, 1.2, 1.4), step(0.8, 0.9, 1.02)];
        assert_eq!(knee(&[1, 2, 4, 8], &steps), Some(Knee { at: 4, low: 2, high: 4 }));
        let open = [step(1.8, 1.9, 2.0), step(0.9, 1.01, 1.2), step(0.0, 1.5, f64::INFINITY)];
        assert_eq!(knee(&[1, 2, 4, 8], &open), Some(Knee { at: 2, low: 2, high: 8 }));
        assert_eq!(knee(&[1], &[]), None);
    }
}
