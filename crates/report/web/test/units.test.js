import assert from "node:assert/strict";
import { test } from "node:test";
import { range, show, tick } from "../src/units.js";

const shown = (...given) => show(...given).replaceAll("\u00a0", " ");

test("figures have the unit that makes them short", () => {
  for (const [value, unit, expected] of [
    [0.5, "nanoseconds", "0.5000 ns"], [999.94, "nanoseconds", "999.9 ns"], [999.96, "nanoseconds", "1.000 µs"],
    [1634, "nanoseconds", "1.634 µs"], [2.5e6, "nanoseconds", "2.500 ms"], [61e9, "nanoseconds", "61.00 s"],
    [4e6, "nanoseconds", "4.000 ms"], [2e9, "nanoseconds", "2.000 s"],
    [0, "bytes", "0 B"], [512, "bytes", "512 B"], [4096, "bytes", "4 KiB"], [10000, "bytes", "10 kB"],
    [256000, "bytes", "256 kB"], [1048576, "bytes", "1 MiB"], [1.0234e9, "bytes", "1.023 GB"],
    [276e6, "bytes-per-second", "276.0 MB/s"], [250000, "per-second", "250,000/s"], [12.5, "per-second", "12.50/s"],
    [0.5649, "ratio", "0.5649×"], [0.25, "time-ratio", "4.000× faster"], [1.5, "time-ratio", "1.500× slower"], [0.00001, "ratio", "1.000e-5×"],
    [99.9, "percentile", "p99.9"], [100, "percentile", "max"],
    [1.5, "count", "1.5"],
  ]) assert.equal(shown(value, unit), expected);
});

test("ticks are as short as possible", () => {
  for (const [value, unit, expected] of [
    [0, "nanoseconds", "0"], [1e6, "nanoseconds", "1 ms"], [1500, "nanoseconds", "1.5 µs"], [100, "ratio", "100×"],
    [0.05, "ratio", "0.05×"], [0.25, "time-ratio", "4×"], [2, "time-ratio", "2×"], [1, "time-ratio", "1×"], [300000, "per-second", "300,000/s"], [1e6, "bytes-per-second", "1 MB/s"],
  ]) assert.equal(tick(value, unit).replaceAll("\u00a0", " "), expected);
});

test("an interval shows the ends that are known", () => {
  assert.equal(range(1, 2, "ratio"), "1.000× to 2.000×");
  assert.equal(range(0.25, 0.5, "time-ratio"), "2.000 to 4.000× faster");
  assert.equal(range(0.5, 2, "time-ratio"), "2.000× faster to 2.000× slower");
  assert.equal(range(null, 2, "ratio"), "? to 2.000×");
  assert.equal(range(null, undefined, "ratio"), "");
});
