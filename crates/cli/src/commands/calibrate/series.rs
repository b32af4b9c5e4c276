//! Which comparisons are made, in which order.

use std::time::Duration;

use model::{Error, Result};

use super::CalibrateOptions;
use super::comparison::Kind;
use crate::plan::fresh_seed;

/// All comparisons of a calibration, each with its seed.
pub(super) struct Series {
    pub(super) seed: u64,
    pub(super) comparisons: Vec<(Kind, u64)>,
    same_time: Duration,
    slowed_time: Duration,
}

impl Series {
    pub(super) fn of(options: &CalibrateOptions) -> Result<Self> {
        if options.same + options.slowed == 0 {
            return Err(Error::usage("--same 0 --slowed 0: there is nothing to compare"));
        }
        let seed = options.seed.unwrap_or_else(fresh_seed);
        let kinds = [(Kind::Same, options.same), (Kind::Slowed, options.slowed)];
        let kinds = kinds.into_iter().flat_map(|(kind, count)| (0..count).map(move |_| kind));
        let seeds = (0..).map(|index| lab::nth_seed(seed, index));
        let mut comparisons: Vec<_> = kinds.zip(seeds).collect();
        // Their seeds are random, and so is the order of these: what the machine does for a while
        // happens to both kinds.
        comparisons.sort_by_key(|(_, seed)| *seed);
        let CalibrateOptions { same_time, slowed_time, .. } = *options;
        Ok(Self { seed, comparisons, same_time, slowed_time })
    }

    /// Comparisons of a kind.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.comparisons.iter().filter(|(one, _)| *one == kind).count()
    }

    /// Time for one comparison.
    pub(super) fn time(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Same => self.same_time,
            Kind::Slowed => self.slowed_time,
        }
    }

    /// Time for those after the first `count`.
    pub(super) fn time_after(&self, count: usize) -> Duration {
        let times = self.comparisons.iter().skip(count).map(|(kind, _)| self.time(*kind));
        times.fold(Duration::ZERO, Duration::saturating_add)
    }
}
