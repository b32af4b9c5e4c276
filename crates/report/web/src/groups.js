// Dots or bars with whiskers, a row for each series of each group. Behind a dot is what each round
// showed; a bar may be made of parts.

import { frame, background, layOut, words } from "./rows.js";
import { scaleOf } from "./scale.js";
import { FILLS, mark, whisker } from "./shapes.js";
import { figureLine } from "./tooltip.js";
import { show } from "./units.js";

// Half the thickness of a bar, and half the width of a round's dot, in pixels.
const HALF = 7;
const ROUND = 2.2;

export const dots = (chart, look) => grouped(chart, look, { markOf: dot, zero: false });

export const bars = (chart, look) => grouped(chart, look, { markOf: bar, zero: true });

function grouped(chart, look, kind) {
  const layout = layOut(chart, look);
  const points = chart.series.flatMap((series) => series.points);
  const values = points.flatMap(({ value, low, high, parts }) =>
    [value ?? [low, high], parts ? parts.reduce((sum, part) => sum + part, 0) : []].flat());
  const ends = points.flatMap(({ low, high, rounds = [] }) => [low, high, ...rounds]);
  const scale = scaleOf(chart.value, [...values, chart.reference], { zero: kind.zero, ends });
  const reference = chart.reference == null ? null : scale.to(chart.reference);
  return {
    ...frame(chart.value, scale, layout, look),
    series: [
      background(layout, look, reference),
      ...chart.series.map((series, s) => drawn(series, s, chart, layout, scale, look, kind)),
    ],
  };
}

function drawn({ target, name, points }, s, chart, layout, scale, look, kind) {
  const { colour, symbol } = look.target(target);
  const { unit } = chart.value;
  return {
    id: `series ${s}`, name, type: "custom", clip: false, counted: true,
    itemStyle: { color: colour },
    data: points.map((point) => ({
      value: [scale.to(point.value ?? point.low), layout.row(point.at, s).at],
      tip: { head: chart.along.names[point.at], line: lineOf(point, name, chart) },
    })),
    renderItem(params, api) {
      const { at: group, value, low, high, rounds = [], parts } = points[params.dataIndex];
      const within = (x) => Math.min(scale.max, Math.max(scale.min, scale.to(x)));
      const at = (x) => api.coord([within(x), api.value(1)]);
      // An end beyond the axis has no cap.
      const known = [low, high].map((end) => end != null && within(end) === scale.to(end));
      const whiskers = low != null || high != null
        ? whisker(at(low ?? value), at(high ?? value), kind.zero ? look.ink : colour, known) : [];
      // Of a range only the two ends are known: there is no figure between them to show.
      const marks = (value == null ? [low, high] : [value]).flatMap((end) =>
        kind.markOf(at, end, colour, symbol, parts));
      const each = rounds.map((round) => ofRound(at(round), colour));
      const behind = kind.zero ? [...marks, ...whiskers] : [...each, ...whiskers, ...marks];
      const row = layout.row(group, s);
      const figure = value == null ? [low, high].map((end) => show(end, unit, 2)).join("–") : show(value, unit, 3);
      const said = words(layout, row.name, figure, params.coordSys, at(value ?? low)[1], look);
      return { type: "group", children: [...behind, ...said] };
    },
  };
}

/** A point's line in its tooltip, with its parts. */
function lineOf(point, name, { value: { unit }, parts: names }) {
  const parts = (point.parts ?? []).map((part, i) => `${names[i]} ${show(part, unit, 3)}`).join(", ");
  return figureLine(parts ? { ...point, note: parts } : point, name, unit);
}

const ofRound = ([cx, cy], colour) =>
  ({ type: "circle", silent: true, shape: { cx, cy, r: ROUND }, style: { fill: colour, opacity: 0.35 } });

const dot = (at, value, colour, symbol) => [mark(symbol, at(value), colour)];

function bar(at, value, colour, symbol, parts = [value]) {
  let end = 0;
  return parts.map((part, i) => {
    const [from] = at(end);
    const [to, y] = at(end += part);
    const shape = { x: from, y: y - HALF, width: Math.max(1, to - from), height: 2 * HALF };
    const style = parts.length === 1 ? { fill: colour }
      : { fill: colour, fillOpacity: FILLS[i], stroke: colour, lineWidth: 1.5 };
    return { type: "rect", shape, style };
  });
}
