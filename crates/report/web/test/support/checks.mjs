// Checks of any page, at every width, in both themes. Each returns its complaints.

import { colourOf } from "../../src/colours.js";
import { show } from "../../src/units.js";

/** A drawing with more points than this marks none of them (`src/lines.js`). */
const FEW = 40;

export const dataOf = (page) =>
  page.$eval("#storemark-data", (element) => JSON.parse(element.textContent));

/** Nothing is wider than the window. */
export async function overflow(page) {
  const { scroll, client } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth,
  }));
  return scroll <= client ? [] : [`the page is ${scroll} wide, the window ${client}`];
}

/** Every text of a chart is within it and covers no other text. */
export const labels = (page) => page.evaluate(() => {
  const complaints = [];
  for (const plot of document.querySelectorAll(".plot")) {
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll("text")].filter((text) => text.textContent.trim() !== "");
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([text, box], i) => {
      const id = plot.dataset.chart;
      if (box.left < frame.left - 2 || box.right > frame.right + 2
        || box.top < frame.top - 2 || box.bottom > frame.bottom + 2) {
        complaints.push(`${id}: "${text}" is clipped`);
      }
      for (const [other, against] of boxes.slice(0, i)) {
        const across = Math.min(box.right, against.right) - Math.max(box.left, against.left);
        const down = Math.min(box.bottom, against.bottom) - Math.max(box.top, against.top);
        if (across > 1 && down > 4) complaints.push(`${id}: "${text}" covers "${other}"`);
      }
    });
  }
  return complaints;
});

/** WCAG 2.2 AA (1.4.3): 4.5, or 3 for large text, of every text against what is behind it. */
export const contrasts = (page) => page.evaluate(() => {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const rgb = (colour) => {
    if (!colour.startsWith("#")) return channels(colour);
    const hex = colour.length === 4 ? colour.replace(/[^#]/g, "$&$&") : colour;
    return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  };
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) =>
    rgb(colour).slice(0, 3).reduce((sum, c, i) => sum + [0.2126, 0.7152, 0.0722][i] * linear(c / 255), 0);
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const [, , , alpha = 1] = channels(colour);
      if (alpha > 0) return colour;
    }
    return "#ffffff";
  };
  // Figures in a matrix are on its cells: `colours.test.js` checks them.
  const cell = (element) => element.tagName === "text"
    && ["#000000", "#ffffff"].includes(element.getAttribute("fill"));
  const complaints = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!own || element.matches("script, style") || cell(element)) continue;
    if (element.getClientRects().length === 0) continue;
    const style = getComputedStyle(element);
    const colour = element.tagName === "text" ? element.getAttribute("fill") : style.color;
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const found = contrast(colour, behind(element));
    if (found < (large ? 3 : 4.5)) {
      complaints.add(`${found.toFixed(2)}: ${colour} on ${behind(element)}: ${element.textContent.slice(0, 40)}`);
    }
  }
  return [...complaints];
});

/** How many marks a chart's data asks for. */
export const asked = ({ series, marks }) =>
  series.reduce((sum, { points }) => sum + points.length, marks.length);

/** The marks in ECharts' model and those in the drawing, against the data. */
export async function marks(page, theme) {
  const { charts, targets } = await dataOf(page);
  const complaints = [];
  for (const chart of charts) {
    const plot = page.locator(`.plot[data-chart="${chart.id}"]`);
    const drawn = Number(await plot.getAttribute("data-drawn"));
    if (drawn !== asked(chart)) complaints.push(`${chart.id}: ${drawn} of ${asked(chart)} marks in the model`);
    const found = await plot.locator("svg").evaluate(fills);
    for (const [colour, count] of Object.entries(coloursOf(chart, targets, theme))) {
      if (found[colour] !== count) {
        complaints.push(`${chart.id}: ${found[colour] ?? 0} of ${count} marks of ${colour} in the drawing`);
      }
    }
    const shapes = Object.entries(found).reduce((sum, [, count]) => sum + count, 0);
    if (["bars", "matrix"].includes(chart.kind) && shapes !== asked(chart)) {
      complaints.push(`${chart.id}: ${shapes} of ${asked(chart)} marks in the drawing`);
    }
  }
  return complaints;
}

/** On every row of dots and bars its name, or its beginning, and its figure. */
export async function rows(page) {
  const { charts } = await dataOf(page);
  const complaints = [];
  for (const { id, kind, along, value: axis, series } of charts) {
    if (!["dots", "bars"].includes(kind)) continue;
    const texts = (await page.locator(`.plot[data-chart="${id}"] svg text`).allTextContents())
      .map((text) => text.replaceAll("\u00a0", " "));
    const names = new Set(texts.map((text) => text.split("…")[0].replace(/ \(limit\)$/, "")));
    for (const { name, points } of series) {
      if (![...names].some((text) => text !== "" && name.startsWith(text))) complaints.push(`${id}: no row of ${name}`);
      const missing = points.filter(({ value }) => value != null)
        .map(({ value }) => show(value, axis.unit, 3).replaceAll("\u00a0", " "))
        .filter((figure) => !texts.includes(figure));
      if (missing.length > 0) complaints.push(`${id}: ${name} lacks ${missing}`);
    }
    const heads = along.names.filter((name) => !texts.some((text) => text !== "" && name.startsWith(text.split("…")[0])));
    if (heads.some((name) => name !== "")) complaints.push(`${id}: no head ${heads}`);
  }
  return complaints;
}

/** No chart shows what another one does. */
export async function twice(page) {
  const { charts } = await dataOf(page);
  const shown = charts.map(({ along, value, series }) => JSON.stringify([along, value, series]));
  return charts.filter((_, i) => shown.indexOf(shown[i]) < i).map(({ id }) => id);
}

/**
 * How many shapes there are of each colour; `#000` is what a line without a fill has. Rounds, bands and
 * further parts of bars are paler.
 */
function fills(svg) {
  const found = {};
  for (const shape of svg.querySelectorAll("path, circle, polygon")) {
    const fill = shape.getAttribute("fill");
    const pale = shape.hasAttribute("fill-opacity");
    if (fill && fill !== "none" && fill !== "#000" && !pale && !shape.closest("defs")) {
      found[fill] = (found[fill] ?? 0) + 1;
    }
  }
  return found;
}

/** How many marks there must be of each target's colour; a range has one at each end. */
function coloursOf({ kind, series, marks }, targets, theme) {
  const counts = {};
  const add = (target, count) => {
    if (target == null || count === 0) return;
    const colour = colourOf(targets.indexOf(target), theme);
    counts[colour] = (counts[colour] ?? 0) + count;
  };
  for (const { target } of marks) add(target, 1);
  for (const { target, points } of series) {
    const ends = points.filter(({ value }) => value == null).length;
    if (kind !== "lines" || points.length <= FEW) add(target, points.length + ends);
  }
  return counts;
}

// What a table's figures may be in, for a value in the chart's unit: µs, ms or s for ns; MB for
// bytes; percent for a share.
const FACTORS = [1, 1e-3, 1e-6, 1e-9, 100];

/** The figures of a chart against its table: each is in a row of its target. */
export async function tables(page) {
  const { charts } = await dataOf(page);
  const complaints = [];
  for (const chart of charts) {
    const rows = await page.locator(`#chart-${escape(chart.id)} tbody tr`).evaluateAll((found) =>
      found.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
    if (rows.length === 0) complaints.push(`${chart.id}: its table is empty`);
    const missing = valuesOf(chart).filter(({ target, value }) => !contains(rows, target, value));
    complaints.push(...missing.map(({ target, value }) => `${chart.id}: ${target} ${value} is not in the table`));
  }
  return complaints;
}

/** The figures that a chart's table must have: of percentiles only the greatest, it lists but a few. */
const valuesOf = ({ series, along }) => series.flatMap(({ target, points }) => points
  .filter(({ at, value }) => value != null && (along.unit !== "percentile" || at >= 100))
  .flatMap(({ value, parts = [] }) => [value, ...parts].map((value) => ({ target, value }))));

/** Whether a row of `target` has a figure that `value` is rounded to; it may have a star. */
function contains(rows, target, value) {
  const own = rows.filter(([head]) => target == null || head.startsWith(target) || target.startsWith(head));
  const figures = own.flat().map((cell) => cell.replace(/^\*|,/g, "").match(/^(\d+)(?:\.(\d+))?(?:e(\d+))?/))
    .filter(Boolean);
  return figures.some(([text, , decimals = "", power = 0]) => FACTORS.some((factor) =>
    Math.abs(Number(text) - value * factor) <= 0.501 * 10 ** (power - decimals.length)));
}

const escape = (id) => id.replace(/[^\w-]/g, "\\$&").replace(/^\d/, "\\3$& ");
