import assert from "node:assert/strict";
import { test } from "node:test";
import { scaleOf } from "../src/scale.js";

const log = { unit: "ratio", log: true };
const even = { unit: "nanoseconds", log: false };
const nines = { unit: "percentile", log: true };

test("every value has its place on its axis", () => {
  for (const [axis, values] of [
    [log, [0.0001, 1, 7e9]], [log, [1, 1]], [log, [0, 5]], [even, [5, 5]], [even, [0, 0]],
    [even, [-3, 8]], [nines, [0, 50, 99.999, 100]], [nines, [100]], [nines, [50]],
  ]) {
    const { to, min, max } = scaleOf(axis, values);
    assert.ok(min < max, JSON.stringify(values));
    for (const value of values) {
      assert.ok(to(value) >= min - 1e-9 && to(value) <= max + 1e-9, `${value} of ${values}`);
    }
  }
});

test("ticks are on the axis, few, and at least two", () => {
  for (const [low, high] of [[0.95, 1.05], [0.3, 2.5], [1, 1000], [1e-6, 1e9], [4, 30], [0.011, 0.9]]) {
    for (const most of [3, 5, 8, 12]) {
      for (const axis of [log, even]) {
        const { to, min, max, ticks } = scaleOf(axis, [low, high]);
        const found = ticks(most);
        assert.ok(found.length >= 2 || most === 3, `${low} to ${high}, ${most}: ${found}`);
        assert.ok(found.length <= most + 1, `${low} to ${high}, ${most}: ${found}`);
        for (const tick of found) {
          assert.ok(to(tick) >= min - 0.01 && to(tick) <= max + Math.abs(max) * 0.01, `${tick}`);
        }
      }
    }
  }
});

test("a ratio of times has ticks at the same multiples to both sides of 1", () => {
  const { ticks } = scaleOf({ unit: "time-ratio", log: true }, [0.2, 1, 6]);
  const found = ticks(9);
  assert.ok(found.includes(1) && found.length >= 3, found.join(" "));
  const above = found.filter((value) => value > 1);
  for (const value of found.filter((value) => value < 1)) {
    assert.ok(above.length === 0 || Math.max(...above) < 1 / value - 1e-9
      || above.some((other) => Math.abs(other * value - 1) < 1e-9), found.join(" "));
  }
});

test("a ratio's axis has a tick at 1 when 1 is on it", () => {
  for (const [low, high] of [[0.3, 2.5], [0.01, 40], [0.9, 1.2], [0.0001, 10000]]) {
    for (const most of [4, 8, 12]) {
      assert.ok(scaleOf(log, [low, high]).ticks(most).includes(1), `${low} to ${high}, ${most}`);
    }
  }
});

test("few measured places are the ticks, many are not", () => {
  const places = [1024, 4096, 16384];
  assert.deepEqual(scaleOf({ unit: "bytes", log: true }, places, { places }).ticks(5), places);
  const many = Array.from({ length: 50 }, (_, i) => i * 7);
  assert.deepEqual(scaleOf(even, many, { places: many }).ticks(5), [0, 100, 200, 300]);
});

test("nines are evenly apart, and the greatest value beyond them", () => {
  const { to, ticks } = scaleOf(nines, [50, 90, 99, 99.9, 100]);
  assert.ok(Math.abs(to(99) - to(90) - (to(99.9) - to(99))) < 1e-9);
  assert.ok(to(100) > to(99.9));
  assert.deepEqual(ticks(9), [50, 90, 99, 99.9, 100]);
});

test("an interval that may be anywhere leaves the values their room", () => {
  const { min, max } = scaleOf(log, [0.5, 2], { ends: [1e-8, 1.9, 1e9] });
  assert.ok(min > Math.log10(0.5 / 5) && max < Math.log10(2 * 5), `${10 ** min} to ${10 ** max}`);
  assert.ok(scaleOf(log, [0.5, 2], { ends: [0.4] }).min < Math.log10(0.4), "one that is near is whole");
});

test("a scale with zero starts at zero", () => {
  assert.equal(scaleOf(even, [5, 9], { zero: true }).min, 0);
});
