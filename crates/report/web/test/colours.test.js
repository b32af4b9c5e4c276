import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SERIES, channels, colourOf, contrast, dashOf, inkOn, linear, rampAt, symbolOf,
} from "../src/colours.js";

const PAPER = { light: "#ffffff", dark: "#16181b" };

// How dichromats see: Machado, Oliveira and Fernandes 2009, severity 1, on linear sRGB.
const VISION = {
  "full colour": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, m, i) => sum + m * vector[i], 0));

/** OKLab (https://bottosson.github.io/posts/oklab/), in which distances are about as they are seen. */
function oklab(rgb) {
  const cone = times([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ], rgb).map(Math.cbrt);
  return times([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ], cone);
}

function seen(colour, matrix) {
  const rgb = channels(colour).map((c) => linear(c / 255));
  return oklab(times(matrix, rgb).map((c) => Math.min(1, Math.max(0, c))));
}

const apart = (one, other) => Math.hypot(...one.map((c, i) => c - other[i]));

for (const theme of ["light", "dark"]) {
  test(`${theme}: every colour of a series has contrast to the paper`, () => {
    for (const colour of SERIES[theme]) {
      assert.ok(contrast(colour, PAPER[theme]) >= 3, `${colour} on ${PAPER[theme]}`);
    }
  });

  // Okabe's and Ito's own palette has pairs 0.076 apart.
  for (const [vision, matrix] of Object.entries(VISION)) {
    test(`${theme}: no two colours look the same with ${vision}`, () => {
      const all = SERIES[theme].map((colour) => seen(colour, matrix));
      all.forEach((one, i) => all.slice(0, i).forEach((other, j) => {
        assert.ok(apart(one, other) >= 0.09, `${SERIES[theme][i]} and ${SERIES[theme][j]}`);
      }));
    });
  }

  test(`${theme}: a figure on any colour of the matrix can be read`, () => {
    for (let share = 0; share <= 1; share += 0.01) {
      const fill = rampAt(share, theme);
      assert.ok(contrast(inkOn(fill), fill) >= 4.5, fill);
    }
  });
}

test("fifty-six targets differ by colour or symbol", () => {
  const all = Array.from({ length: 56 }, (_, i) => `${colourOf(i, "light")} ${symbolOf(i)}`);
  assert.equal(new Set(all).size, 56);
});

test("lines of one target differ by their dashes", () => {
  assert.equal(new Set([0, 1, 2, 3].map((n) => String(dashOf(n)))).size, 4);
});
