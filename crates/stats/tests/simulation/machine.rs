//! A machine that disturbs what runs on it.

use super::Random;

/// What disturbs the times.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) noise: Noise,
    pub(crate) drift: Drift,
    pub(crate) stalls: Stalls,
}

/// Spread of each time on its own.
#[derive(Clone, Copy)]
pub(crate) enum Noise {
    /// By the standard deviation of its logarithm.
    LogNormal(f64),
    /// By its coefficient of variation.
    Normal(f64),
}

/// What changes in the course of a run.
#[derive(Clone, Copy)]
pub(crate) enum Drift {
    None,
    /// Times grow by this share over all rounds, evenly, and not within a round.
    Linear(f64),
    /// The same, but also from trial to trial within the shuffled round.
    LinearWithin(f64),
    /// A random walk by this much (on the logarithm) from round to round.
    Walk(f64),
}

/// Rare long times.
#[derive(Clone, Copy)]
pub(crate) enum Stalls {
    None,
    /// With this chance a whole round takes this many times as long.
    Shared(f64, f64),
    /// Each trial on its own.
    Unshared(f64, f64),
    /// Only the targets stall, never the baseline.
    OneSided(f64, f64),
}

impl Machine {
    /// Log-normal noise, by the standard deviation of a ratio's logarithm.
    pub(crate) fn steady(sigma: f64) -> Self {
        let noise = Noise::LogNormal(sigma / 2.0_f64.sqrt());
        Self { noise, drift: Drift::None, stalls: Stalls::None }
    }

    /// What stalls do in the long run to the geometric mean of a target's ratio.
    pub(crate) fn long_run(self) -> f64 {
        match self.stalls {
            Stalls::OneSided(chance, factor) => factor.powf(chance),
            Stalls::None | Stalls::Shared(..) | Stalls::Unshared(..) => 1.0,
        }
    }

    pub(crate) fn start(self, rounds: usize) -> Weather {
        Weather { machine: self, rounds, round: 0, walk: 0.0 }
    }
}

/// A machine in the course of a run.
pub(crate) struct Weather {
    machine: Machine,
    rounds: usize,
    round: usize,
    walk: f64,
}

impl Weather {
    /// Adds a round: the baseline first, then targets that take `truth` times as long.
    pub(crate) fn round(&mut self, random: &mut Random, truth: f64, times: &mut [Vec<f64>]) {
        let shared = self.shared_factor(random);
        let mut order: Vec<usize> = (0..times.len()).collect();
        random.shuffle(&mut order);
        for (position, target) in order.into_iter().enumerate() {
            let of_target = if target == 0 { 1.0 } else { truth };
            let own = self.noise(random) * self.stall(random, target);
            let drift = self.drift(position as f64 / times.len() as f64);
            times[target].push(of_target * own * drift * shared);
        }
        self.round += 1;
    }

    fn shared_factor(&mut self, random: &mut Random) -> f64 {
        if let Drift::Walk(step) = self.machine.drift {
            self.walk += step * random.normal();
        }
        match self.machine.stalls {
            Stalls::Shared(chance, factor) if random.happens(chance) => factor * self.walk.exp(),
            _ => self.walk.exp(),
        }
    }

    fn drift(&self, within: f64) -> f64 {
        let share = match self.machine.drift {
            Drift::None | Drift::Walk(_) => 0.0,
            Drift::Linear(share) => share * self.round as f64,
            Drift::LinearWithin(share) => share * (self.round as f64 + within),
        };
        1.0 + share / self.rounds as f64
    }

    fn noise(&self, random: &mut Random) -> f64 {
        match self.machine.noise {
            Noise::LogNormal(sigma) => (sigma * random.normal()).exp(),
            Noise::Normal(variation) => 1.0 + variation * random.normal(),
        }
    }

    fn stall(&self, random: &mut Random, target: usize) -> f64 {
        match self.machine.stalls {
            Stalls::Unshared(chance, factor) if random.happens(chance) => factor,
            Stalls::OneSided(chance, factor) if target > 0 && random.happens(chance) => factor,
            _ => 1.0,
        }
    }
}
