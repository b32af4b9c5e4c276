//! Zipf's law: rank r, counted from 1, with a chance in proportion to r^-θ.
//!
//! Gray et al. ("Quickly Generating Billion-Record Synthetic Databases", 1994) brought it to
//! benchmarks, and YCSB took their generator, which is exact for the first two ranks and needs the
//! sum of all chances. Drawn here is the same law by rejection-inversion (Hörmann and Derflinger,
//! "Rejection-inversion to generate variates from monotone discrete distributions", 1996): exact
//! for every rank and exponent, and ready at once for any number of ranks.

use rand_core::Rng;

/// The law over so many ranks.
#[derive(Clone, Copy)]
pub(super) struct Zipf {
    ranks: f64,
    theta: f64,
    /// The integral of the density up to half a rank beyond the last, and up to where the first
    /// rank begins.
    end: f64,
    begin: f64,
    /// Within so much below its rank a draw is taken without a further look.
    sure: f64,
}

impl Zipf {
    /// Over `ranks` of them, at least one.
    pub(super) fn new(ranks: u32, theta: f64) -> Self {
        let ranks = f64::from(ranks.max(1));
        let mut law = Self { ranks, theta, end: 0.0, begin: 0.0, sure: 0.0 };
        law.end = law.integral(ranks + 0.5);
        law.begin = law.integral(1.5) - 1.0;
        law.sure = 2.0 - law.inverse(law.integral(2.5) - law.density(2.0));
        law
    }

    /// A rank, counted from 0.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 1 to the number of ranks, which has 32 bits"
    )]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u32 {
        loop {
            let u = self.end + unit(random) * (self.begin - self.end);
            let x = self.inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.sure || u >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u32 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Of the density, from 1 to `x`: (x^(1-θ) - 1) / (1-θ), also where θ is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let exponent = (1.0 - self.theta) * log;
        if exponent.abs() > SMALL { exponent.exp_m1() / exponent * log } else { log }
    }

    /// Where the integral is `y`.
    fn inverse(&self, y: f64) -> f64 {
        let exponent = (y * (1.0 - self.theta)).max(-1.0);
        if exponent.abs() > SMALL { (exponent.ln_1p() / exponent * y).exp() } else { y.exp() }
    }
}

/// Below it both quotients are 1 within the precision of a float.
const SMALL: f64 = 1e-12;

/// A number from 0 up to but without 1.
pub(super) fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::workload::op_stream::tests::chi_square;

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        const DRAWS: u32 = 400_000;
        for (seed, theta) in (1..).zip([0.5, 0.8, 0.99, 1.0, 1.5, 3.0]) {
            for ranks in [1_u32, 2, 10, 200] {
                let law = Zipf::new(ranks, theta);
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut seen = vec![0_u64; ranks as usize];
                (0..DRAWS).for_each(|_| seen[law.draw(&mut random) as usize] += 1);
                let weights: Vec<_> =
                    (1..=ranks).map(|rank| f64::from(rank).powf(-theta)).collect();
                chi_square(&seen, &weights, &format!("{ranks} ranks, exponent {theta}"));
            }
        }
    }
}
