//! The break-even of a curve of ratios: the size at which it crosses 1, and one way overtakes
//! another.
//!
//! Between two sizes that were measured the logarithm of the ratio is taken to be a straight line
//! over the logarithm of the size. The interval of the crossing is the inverse of the test: all sizes
//! at which a ratio of 1 is not refuted (E. C. Fieller, "Some problems in interval estimation",
//! Journal of the Royal Statistical Society B 16, 1954, pages 175 to 185). On a line between two
//! sizes the variances of both add up by their weights.

use std::collections::BTreeMap;

use crate::{
    copies::Values,
    estimate::{LEVEL, Mean},
    student::two_sided_t,
};

/// The ratios at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sized {
    /// The size, positive.
    pub size: f64,
    /// Ratios at this size, one a round, positive.
    pub ratios: Values,
}

/// A size at which the ratio crosses 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The size.
    pub size: f64,
    /// Lower end of its 95 % interval; `None` if that is below the measured sizes.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; `None` if that is above the measured sizes.
    pub high: Option<f64>,
    /// Whether ratios grow past 1 there; otherwise they fall below it.
    pub upwards: bool,
}

/// The position of a curve of ratios relative to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// The crossings, by size. A stretch in which 1 is not refuted holds at most one: changing
    /// sides within it cannot be distinguished from chance.
    pub crossings: Vec<Crossing>,
    /// Whether the curve starts below 1.
    pub begins_below: bool,
    /// Whether 1 is refuted at every size, so that it does not cross.
    pub refuted: bool,
}

/// The number of steps between two sizes at which the test is made: with sizes four times apart,
/// one is 0.5 % of the size.
const STEPS: usize = 256;

/// Finds where the ratios of `curve` cross 1. Returns `None` for fewer than two sizes, sizes that
/// do not grow, fewer than two rounds of a size, or a value that is not positive and finite.
pub fn break_even(curve: &[Sized]) -> Option<BreakEven> {
    let points: Vec<(f64, Mean)> = curve.iter().map(point).collect::<Option<_>>()?;
    if points.len() < 2 || !points.windows(2).all(|two| two[0].0 < two[1].0) {
        return None;
    }
    let places = places(&points);
    let settled: Vec<usize> = (0..places.len()).filter(|place| !places[*place].open).collect();
    let size = |place: &usize| places[*place].x.exp();
    // Before the first and after the last that is settled, the curve itself says what is likely.
    let ends = [0, places.len() - 1];
    let bounds: Vec<(usize, Option<f64>)> = std::iter::once((ends[0], None))
        .chain(settled.iter().map(|place| (*place, Some(size(place)))))
        .chain([(ends[1], None)])
        .collect();
    let crossing = |two: &[(usize, Option<f64>)]| {
        let [(from, low), (to, high)] = [two[0], two[1]];
        let size = middle_change(&places[from..=to])?.exp();
        Some(Crossing { size, low, high, upwards: places[from].is_below() })
    };
    Some(BreakEven {
        crossings: bounds.windows(2).filter_map(crossing).collect(),
        begins_below: places[0].is_below(),
        refuted: settled.len() == places.len(),
    })
}

/// Returns where the curve changes sides between `places`, the middle one of several; `None` if it
/// ends on the side on which it starts.
fn middle_change(places: &[CurvePoint]) -> Option<f64> {
    let changes = places.windows(2).filter(|two| two[0].is_below() != two[1].is_below());
    let changes: Vec<f64> = changes.map(|two| two[0].zero(&two[1])).collect();
    (changes.len() % 2 == 1).then(|| changes[changes.len() / 2])
}

struct CurvePoint {
    x: f64,
    mean: f64,
    /// Whether a ratio of 1 is not refuted here.
    open: bool,
}

impl CurvePoint {
    fn is_below(&self) -> bool {
        self.mean < 0.0
    }

    /// Returns where a line from here to `next`, on the other side, is 0.
    fn zero(&self, next: &Self) -> f64 {
        self.x + (next.x - self.x) * self.mean / (self.mean - next.mean)
    }
}

/// Returns the logarithm of a size, and the mean of the logarithms of its ratios; `None` for fewer
/// than two ratios, or a value without a finite logarithm.
fn point(sized: &Sized) -> Option<(f64, Mean)> {
    let ratios = Some(&sized.ratios).filter(|ratios| ratios.values.len() > 1)?;
    let x = sized.size.ln();
    Some((x, Mean::of_values(ratios)?)).filter(|_| x.is_finite())
}

/// Returns all steps between each size and the next, and the last size.
fn places(points: &[(f64, Mean)]) -> Vec<CurvePoint> {
    let mut known = BTreeMap::new();
    let mut t =
        |freedom: usize| *known.entry(freedom).or_insert_with(|| two_sided_t(LEVEL, freedom));
    let last = points.len() - 1;
    let steps = (0..last).flat_map(|from| (0..STEPS).map(move |step| (from, step)));
    let place = |(from, step): (usize, usize)| {
        let ((x, mean), (next_x, next)) = (&points[from], &points[from + 1]);
        let share = step as f64 / STEPS as f64;
        let mean = mean.plus(1.0 - share, next, share);
        let open = mean.value.abs() <= mean.margin(&mut t);
        CurvePoint { x: (1.0 - share) * x + share * next_x, mean: mean.value, open }
    };
    steps.chain([(last - 1, STEPS)]).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five rounds that spread by `spread` around the ratios.
    fn curve(points: &[(f64, f64)], spread: f64) -> Vec<Sized> {
        let round = |ratio: f64, step: i32| ratio * (spread * f64::from(step)).exp();
        let sized = |&(size, ratio): &(f64, f64)| Sized {
            size,
            ratios: (-2..=2).map(|step| round(ratio, step)).collect::<Vec<_>>().into(),
        };
        points.iter().map(sized).collect()
    }

    fn of(points: &[(f64, f64)], spread: f64) -> BreakEven {
        break_even(&curve(points, spread)).expect("there are sizes")
    }

    #[test]
    fn a_line_crosses_where_it_must() {
        // From 1/2 to 2 over sizes 1,000 to 16,000: 1 is half-way on both logarithms.
        let found = of(&[(1e3, 0.5), (16e3, 2.0)], 0.01);
        let [crossing] = found.crossings[..] else { panic!("{found:?}") };
        assert!((crossing.size / 4e3 - 1.0).abs() < 1e-9, "{crossing:?}");
        assert!(crossing.upwards && found.begins_below && !found.refuted);
        let (low, high) = (crossing.low.unwrap(), crossing.high.unwrap());
        assert!(low < 4e3 && 4e3 < high);
        // Symmetric, as the spreads of both ends are the same.
        assert!((low * high / 16e6).ln().abs() < 0.02, "{low} {high}");
    }

    /// With the same variance v at both ends, half-way it is v / 2 and has twice the degrees of
    /// freedom, so that near there the interval is where |2 f - 1| ln 2 is within t sqrt(v / 2).
    #[test]
    fn the_interval_is_that_of_the_inverse_test() {
        let spread: f64 = 0.01;
        let found = of(&[(1e3, 0.5), (16e3, 2.0)], spread);
        let variance = spread.powi(2) * 2.5 / 5.0;
        let margin = two_sided_t(LEVEL, 8) * (variance / 2.0).sqrt();
        let share = margin / (2.0 * 2.0_f64.ln());
        let expected = 4e3 * 16.0_f64.powf(share);
        let high = found.crossings[0].high.unwrap();
        assert!(
            (high / expected).ln().abs() < 16.0_f64.ln() / STEPS as f64 * 1.5,
            "{high} {expected}"
        );
    }

    #[test]
    fn both_directions_and_several_crossings_are_found() {
        let found = of(&[(1.0, 0.5), (2.0, 2.0), (4.0, 0.5), (8.0, 0.4)], 0.001);
        let upwards: Vec<_> = found.crossings.iter().map(|c| c.upwards).collect();
        assert_eq!(upwards, [true, false]);
    }

    #[test]
    fn what_does_not_cross_has_no_crossing() {
        let found = of(&[(1.0, 0.5), (2.0, 0.7), (4.0, 0.8)], 0.01);
        assert_eq!((found.crossings.len(), found.begins_below, found.refuted), (0, true, true));
        let found = of(&[(1.0, 0.5), (2.0, 0.7), (4.0, 0.99)], 0.05);
        assert_eq!((found.crossings.len(), found.begins_below, found.refuted), (0, true, false));
    }

    #[test]
    fn an_interval_may_be_open() {
        let found = of(&[(1.0, 0.5), (2.0, 0.7), (4.0, 1.01)], 0.05);
        let [crossing] = found.crossings[..] else { panic!("{found:?}") };
        assert!(crossing.low.is_some() && crossing.high.is_none(), "{crossing:?}");
        let found = of(&[(1.0, 0.99), (2.0, 1.01)], 0.1);
        assert_eq!((found.crossings[0].low, found.crossings[0].high), (None, None));
    }

    #[test]
    fn to_and_fro_within_chance_is_one_crossing_or_none() {
        let found = of(&[(1.0, 0.5), (2.0, 1.01), (4.0, 0.99), (8.0, 2.0)], 0.05);
        assert_eq!(found.crossings.len(), 1, "{found:?}");
        let found = of(&[(1.0, 0.5), (2.0, 1.01), (4.0, 0.5)], 0.05);
        assert_eq!(found.crossings.len(), 0, "{found:?}");
    }

    #[test]
    fn without_spread_the_crossing_is_between_two_steps() {
        let found = of(&[(1.0, 0.5), (3.0, 3.0)], 0.0);
        let crossing = found.crossings[0];
        assert!(crossing.low.unwrap() <= crossing.size && crossing.size <= crossing.high.unwrap());
    }

    #[test]
    fn what_is_no_curve_has_none() {
        let whole = curve(&[(1.0, 0.5), (2.0, 2.0)], 0.1);
        assert_eq!(break_even(&whole[..1]), None);
        assert_eq!(break_even(&[whole[1].clone(), whole[0].clone()]), None);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut broken = whole.clone();
            broken[0].ratios.values[1] = wrong;
            assert_eq!(break_even(&broken), None, "{wrong}");
        }
        let mut few = whole;
        few[0].ratios.values.truncate(1);
        assert_eq!(break_even(&few), None);
    }
}
