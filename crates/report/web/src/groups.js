// Dots or bars with whiskers, a row for each series of each group.

import { figure, frame, background, layOut } from "./rows.js";
import { scaleOf } from "./scale.js";
import { mark, whisker } from "./shapes.js";
import { figureLine } from "./tooltip.js";
import { show } from "./units.js";

// Half the thickness of a bar, in pixels.
const HALF = 7;

export const dots = (chart, look) => grouped(chart, look, { markOf: dot, zero: false });

export const bars = (chart, look) =>
  grouped(chart, look, { markOf: bar, swatch: "square", zero: true });

function grouped(chart, look, kind) {
  const layout = layOut(chart, look);
  const values = chart.series.flatMap(({ points }) =>
    points.flatMap(({ value, low, high }) => [value, low, high]));
  const scale = scaleOf(chart.value, [...values, chart.reference], { zero: kind.zero });
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
    itemStyle: { color: colour }, swatch: { symbol: kind.swatch ?? symbol },
    data: points.map((point) => ({
      value: [scale.to(point.value ?? point.low), layout.at(point.at, s)],
      tip: { head: chart.along.names[point.at], line: figureLine(point, name, unit) },
    })),
    renderItem(params, api) {
      const { value, low, high } = points[params.dataIndex];
      const at = (x) => api.coord([Math.max(scale.min, scale.to(x)), api.value(1)]);
      const known = [low != null, high != null];
      const whiskers = known.some(Boolean)
        ? whisker(at(low ?? value), at(high ?? value), kind.zero ? look.ink : colour, known) : [];
      // Of a range only the two ends are known: there is no figure between them to show.
      const marks = (value == null ? [low, high] : [value]).map((end) =>
        kind.markOf(at, end, colour, symbol));
      const shown = layout.wide && value != null
        ? [figure(show(value, unit, 3), params.coordSys, at(value)[1], look)] : [];
      const behind = kind.zero ? [...marks, ...whiskers] : [...whiskers, ...marks];
      return { type: "group", children: [...behind, ...shown] };
    },
  };
}

const dot = (at, value, colour, symbol) => mark(symbol, at(value), colour);

function bar(at, value, fill) {
  const [from] = at(0);
  const [to, y] = at(value);
  const shape = { x: from, y: y - HALF, width: Math.max(1, to - from), height: 2 * HALF };
  return { type: "rect", shape, style: { fill } };
}
