// From values to places on an axis. ECharts draws a plain axis from `min` to `max`; this module makes
// it logarithmic and places its ticks.

/**
 * @typedef {{ to: (value: number) => number, min: number, max: number,
 *             ticks: (most: number) => number[] }} Scale
 * `to` returns the place of a value, `ticks` at most `most` values to label.
 */

// A few measured places are better ticks than round numbers between them.
const FEW = 12;

// How much further than all values the ends of their intervals may stretch a logarithmic scale: one
// interval that may be anywhere would leave the others no room.
const STRETCH = 4;

/**
 * @returns {Scale} of all `values` and of the `ends` of their intervals, as far as they are near; with
 * `zero`, a linear scale starts at 0. If there are few `places`, such as the sizes of a sweep, each is
 * a tick.
 */
export function scaleOf(axis, values, { zero = false, places = [], ends = [] } = {}) {
  const known = values.filter(Number.isFinite);
  known.push(...near(axis, known, ends.filter(Number.isFinite)));
  const scale = plainScale(axis, known, zero);
  const own = [...new Set(places)].sort((a, b) => a - b);
  if (axis.unit === "percentile" || own.length < 2 || own.length > FEW) return scale;
  return { ...scale, ticks: (most) => thinned(own, most, scale) };
}

function plainScale(axis, values, zero) {
  if (axis.unit === "percentile") return percentiles(values);
  const positive = values.every((value) => value > 0);
  return axis.log && positive ? logarithmic(values, axis.unit) : linear(values, zero);
}

function near(axis, values, ends) {
  if (!axis.log || values.length === 0) return ends;
  const [low, high] = extent(values);
  return ends.map((end) => Math.min(high * STRETCH, Math.max(low / STRETCH, end)));
}

function linear(values, zero) {
  let [low, high] = extent(values);
  if (zero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, low + Math.abs(low) / 2];
  const margin = (high - low) * 0.04;
  const min = zero && low === 0 ? 0 : low - margin;
  const max = high + margin;
  return { to: (value) => value, min, max, ticks: (most) => even(min, max, most) };
}

function logarithmic(values, unit) {
  const [low, high] = extent(values);
  const margin = Math.max(0.01, Math.log10(high / low) * 0.04);
  const [min, max] = [Math.log10(low) - margin, Math.log10(high) + margin];
  const places = unit === "time-ratio" ? aroundOne : decades;
  return { to: Math.log10, min, max, ticks: (most) => places(10 ** min, 10 ** max, most) };
}

/** Ticks at 1, and at the same multiples to both sides: 3 times faster, 3 times slower. */
function aroundOne(low, high, most) {
  if (low > 1 || high < 1) return decades(low, high, most);
  const multiples = decades(1, Math.max(1 / low, high), Math.ceil(most / 2) + 1).filter((value) => value > 1.0001);
  const all = [...multiples.map((value) => 1 / value).reverse(), 1, ...multiples];
  return all.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

const PERCENTILES = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 100];

/**
 * Each further nine takes the same room: 90, 99, 99.9. The greatest value, the 100th percentile,
 * has no place on such an axis; it is drawn half a nine beyond the last one.
 */
function percentiles(values) {
  const nines = (value) => -Math.log10(1 - value / 100);
  const last = Math.max(1, ...values.filter((value) => value < 100).map(nines));
  const to = (value) => (value < 100 ? nines(value) : last + 0.5);
  const [low, high] = extent(values.map(to));
  const scale = { to, min: low - 0.05, max: high + 0.1 };
  const shown = PERCENTILES.filter((value) => to(value) >= low && (value < 100 ? to(value) <= last : high > last));
  return { ...scale, ticks: (most) => thinned(shown, most, scale) };
}

/** Returns the greatest value and all that are far enough from those already taken. */
function thinned(values, most, { to, min, max }) {
  const gap = (max - min) / (most + 1);
  const taken = [];
  for (const value of values.slice().reverse()) {
    if (taken.every((other) => Math.abs(to(other) - to(value)) >= gap)) taken.push(value);
  }
  return taken.reverse();
}

/** Evenly spaced ticks at 1, 2 or 5 times a power of ten. */
function even(min, max, most) {
  const raw = (max - min) / Math.max(1, most - 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= raw * 0.999);
  const ticks = [];
  for (let n = Math.ceil(min / step - 1e-9); n * step <= max + step * 1e-9; n += 1) {
    // Without the noise of n × step, so that labels stay short.
    ticks.push(Number((n * step).toPrecision(12)));
  }
  return ticks;
}

/** Several ticks in a wide decade; of narrow decades only every second, third or sixth. */
function decades(low, high, most) {
  if (high / low < 4) return even(low, high, most).filter((value) => value > 0);
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const every = (step, factors) => {
    const ticks = [];
    for (let power = Math.ceil(from / step) * step; power <= to; power += step) {
      ticks.push(...factors.map((factor) => Number(`${factor}e${power}`)));
    }
    return ticks.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  };
  const choices = [every(1, [1, 1.5, 2, 3, 5, 7]), every(1, [1, 2, 5]), every(1, [1, 3]),
    ...[1, 2, 3, 6].map((step) => every(step, [1]))];
  return choices.find((ticks) => ticks.length <= most) ?? choices.at(-1);
}

const extent = (values) => values.reduce(
  ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
  [Infinity, -Infinity],
);
