// Bars, a row for each series or stack of each group.

import { greyOf } from "./colours.js";
import { figure, frame, furniture, layOut } from "./rows.js";
import { scaleOf } from "./scale.js";
import { whisker } from "./shapes.js";
import { range, show } from "./units.js";

const HALF = 7;

export function bars(chart, look) {
  const pieces = chart.series.map((series, s) => piecesOf(series, s, chart));
  const groups = chart.groups.map((name, g) => ({ name, rows: rowsOf(pieces, g) }));
  const layout = layOut(groups, look);
  const ends = pieces.flat().flatMap(({ end, high }) => [end, high ?? end]);
  const scale = scaleOf(chart.value, ends, { zero: true });
  return {
    ...frame(chart.value, scale, layout, look),
    series: [
      furniture(layout, look),
      ...chart.series.map((series, s) => drawn(series, pieces[s], chart, layout, scale, look)),
    ],
  };
}

/** Each value of a series with where it begins and ends: stacked on those before it. */
function piecesOf(series, s, chart) {
  const key = series.stack ?? `series ${s}`;
  return series.values.flatMap((value, group) => {
    if (value == null) return [];
    const before = chart.series.slice(0, s).filter((other) => series.stack && other.stack === key);
    const start = before.reduce((sum, other) => sum + (other.values[group] ?? 0), 0);
    const low = series.low?.[group];
    const high = series.high?.[group];
    const last = !chart.series.slice(s + 1).some((other) =>
      series.stack && other.stack === key && other.values[group] != null);
    return [{
      key, group, value, start, end: start + value, last, low, high,
      name: series.stack ?? series.name,
    }];
  });
}

function rowsOf(pieces, group) {
  const rows = new Map();
  for (const piece of pieces.flat()) {
    if (piece.group === group) rows.set(piece.key, { key: piece.key, name: piece.name });
  }
  return [...rows.values()];
}

function drawn(series, pieces, chart, layout, scale, look) {
  const colour = colourFor(series, chart, look);
  const { unit } = chart.value;
  return {
    id: `series ${chart.series.indexOf(series)}`, name: series.name, type: "custom", clip: false,
    counted: true, itemStyle: { color: colour }, swatch: { symbol: "square" },
    data: pieces.map((piece) => ({
      value: [scale.to(piece.end), layout.at(piece.group, piece.key)],
      tip: {
        head: chart.groups[piece.group],
        line: {
          name: series.name, value: show(piece.value, unit),
          range: range(piece.low, piece.high, unit),
        },
      },
    })),
    renderItem(params, api) {
      const piece = pieces[params.dataIndex];
      const at = (value) => api.coord([Math.max(scale.min, scale.to(value)), api.value(1)]);
      const [from, y] = at(piece.start);
      const [to] = at(piece.end);
      const shape = { x: from, y: y - HALF, width: Math.max(1, to - from), height: 2 * HALF };
      // The paper's colour parts the pieces of a stack.
      const style = { fill: colour, stroke: look.paper, lineWidth: series.stack ? 1 : 0 };
      const children = [{ type: "rect", shape, style }];
      if (piece.low != null && piece.high != null) {
        children.push(...whisker(at(piece.start + piece.low), at(piece.start + piece.high), look.ink));
      }
      if (layout.wide && piece.last) {
        children.push(figure(show(piece.end, unit, 3), params.coordSys, y, look));
      }
      return { type: "group", children };
    },
  };
}

function colourFor(series, chart, look) {
  if (series.target != null) return look.target(series.target).colour;
  const grey = chart.series.filter(({ target }) => target == null);
  return greyOf(grey.indexOf(series), grey.length, look);
}
