//! A ratio and its interval as a bar on a logarithmic scale around 1, for terminals that show more
//! than ASCII.

use stats::Estimate;

#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// The ratio at its right end; the left end is its inverse.
    most: f64,
    /// The labels of its ends and its middle.
    pub(super) head: &'static str,
}

/// The scales, the narrowest first.
const SCALES: [Scale; 4] = [
    Scale { most: 1.25, head: "0.8   1  1.25" },
    Scale { most: 4.0, head: "¼     1     4" },
    Scale { most: 16.0, head: "1/16  1    16" },
    Scale { most: 100.0, head: "0.01  1   100" },
];

/// The number of columns on either side of 1.
const HALF: i32 = 6;

impl Scale {
    /// Returns the narrowest scale that shows all of `ratios`, or the widest one.
    pub(super) fn for_ratios<'a>(ratios: impl IntoIterator<Item = &'a Estimate>) -> Self {
        let far = |ratio: &Estimate| ratio.point.ln().abs();
        let farthest = ratios.into_iter().map(far).fold(0.0, f64::max);
        let [.., widest] = SCALES;
        SCALES.into_iter().find(|scale| farthest <= scale.most.ln()).unwrap_or(widest)
    }

    /// Draws a bar, `░░█░  │      `: the interval in a light shade, the ratio dark, the line at 1.
    /// A value beyond an end is shown as `<` or `>`.
    pub(super) fn bar(self, ratio: &Estimate) -> String {
        let [low, point, high] = [ratio.low, ratio.point, ratio.high].map(|ratio| self.step(ratio));
        let (low, high) = if ratio.n < 2 { (point, point) } else { (low, high) };
        (-HALF..=HALF).map(|step| mark(step, low, point, high)).collect()
    }

    /// Returns the steps from 1, at most one more than there is room for.
    #[expect(clippy::cast_possible_truncation, reason = "it was clamped to a few columns")]
    fn step(self, ratio: f64) -> i32 {
        let beyond = f64::from(HALF + 1);
        let steps = ratio.ln() / self.most.ln() * f64::from(HALF);
        steps.round().clamp(-beyond, beyond) as i32
    }
}

fn mark(step: i32, low: i32, point: i32, high: i32) -> char {
    match step {
        _ if step == point => '█',
        _ if step == -HALF && point < step => '<',
        _ if step == HALF && point > step => '>',
        0 => '│',
        _ if (low..=high).contains(&step) => '░',
        _ => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(point: f64, low: f64, high: f64) -> String {
        SCALES[1].bar(&Estimate { point, low, high, n: 9 })
    }

    #[test]
    fn a_bar_shows_the_interval() {
        assert_eq!(bar(1.0, 1.0, 1.0), "      █      ");
        assert_eq!(bar(0.5, 0.4, 0.63), "  ░█░ │      ");
        assert_eq!(bar(1.26, 0.79, 2.0), "     ░│█░░   ");
        assert_eq!(bar(4.0, 3.9, 4.1), "      │     █");
    }

    #[test]
    fn what_is_beyond_the_ends_is_marked() {
        assert_eq!(bar(0.01, 0.009, 0.011), "<     │      ");
        assert_eq!(bar(31.0, 3.0, 40.0), "      │    ░>");
        assert_eq!(bar(1.0, 0.0, f64::INFINITY), "░░░░░░█░░░░░░");
        assert_eq!(
            SCALES[1].bar(&Estimate { point: 2.0, low: 0.0, high: f64::INFINITY, n: 1 }).trim(),
            "│  █"
        );
    }

    #[test]
    fn the_scale_is_that_of_the_farthest_ratio() {
        let of = |points: &[f64]| {
            let all: Vec<_> = points
                .iter()
                .map(|point| Estimate { point: *point, low: 0.0, high: 1.0, n: 5 })
                .collect();
            Scale::for_ratios(&all).head
        };
        assert_eq!(
            [of(&[]), of(&[1.1, 0.9]), of(&[1.1, 0.3])],
            [SCALES[0], SCALES[0], SCALES[1]].map(|s| s.head)
        );
        assert_eq!(
            [of(&[0.1]), of(&[20.0]), of(&[1e6])],
            [SCALES[2], SCALES[3], SCALES[3]].map(|s| s.head)
        );
    }

    #[test]
    fn heads_are_as_wide_as_bars() {
        for scale in SCALES {
            assert_eq!(crate::text::width(scale.head), 13, "{}", scale.head);
            assert_eq!(
                scale.bar(&Estimate { point: 1.1, low: 1.0, high: 1.2, n: 5 }).chars().count(),
                13
            );
        }
    }
}
