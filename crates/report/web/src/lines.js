// Lines over a numeric axis, their intervals as whiskers, and marks on the axis such as a crossing.

import { horizontal, vertical } from "./axis.js";
import { dashOf } from "./colours.js";
import { scaleOf } from "./scale.js";
import { mark, symbolPath, text, whisker } from "./shapes.js";
import { range, show } from "./units.js";

const HEIGHT = 380;
const MARK = 20;
// More points than this are a curve: none of them is marked.
const FEW = 40;

export function lines(chart, look) {
  const marks = chart.marks ?? [];
  const scales = { x: xScale(chart, marks), y: yScale(chart) };
  const foot = marks.length * MARK;
  const height = HEIGHT + foot;
  return {
    height,
    grid: {
      left: 8, right: 26, top: 30, bottom: 48 + foot,
      outerBoundsMode: "same", outerBoundsContain: "axisLabel",
    },
    xAxis: { ...horizontal(chart.x, scales.x, look), nameGap: 30 + foot },
    yAxis: vertical(chart.y, scales.y, look, HEIGHT - 80),
    tooltip: { trigger: "axis", axisPointer: { type: "line", snap: true, label: { show: false } } },
    series: chart.series.flatMap((series, s) => drawn(series, s, chart, scales, look))
      .concat(reference(chart, scales, look), marks.length > 0 ? marked(chart, marks, scales, look) : []),
  };
}

function xScale(chart, marks) {
  const points = chart.series.flatMap(({ points }) => points.map(([x]) => x));
  const ends = marks.flatMap(({ x, low, high }) => [x, low, high]);
  const all = [...points, ...ends].filter((value) => value != null);
  return scaleOf(chart.x, all, { places: points });
}

function yScale(chart) {
  const all = chart.series.flatMap(({ points }) => points.flatMap(([, ...ys]) => ys));
  return scaleOf(chart.y, [...all, chart.reference].filter((value) => value != null), { zero: true });
}

/** What the lines are compared with, as a line across. */
function reference(chart, scales, look) {
  if (chart.reference == null) return [];
  return [{
    id: "reference", type: "custom", silent: true, z: 1, tooltip: { trigger: "none" },
    data: [[scales.x.min, scales.y.to(chart.reference)]],
    renderItem({ coordSys: { x, width } }, api) {
      const [, y] = api.coord([api.value(0), api.value(1)]);
      return {
        type: "line", shape: { x1: x, y1: y, x2: x + width, y2: y },
        style: { stroke: look.ink, lineWidth: 1 },
      };
    },
  }];
}

function drawn(series, index, chart, scales, look) {
  const { colour, symbol } = look.target(series.target);
  const nth = chart.series.slice(0, index).filter(({ target }) => target === series.target).length;
  const few = series.points.length <= FEW;
  const dash = dashOf(nth + Math.floor(look.targets[series.target].colour / 8));
  const line = {
    id: `line ${index}`, name: series.name, type: "line", counted: true, z: 3,
    itemStyle: { color: colour }, swatch: { symbol, dash },
    lineStyle: { color: colour, width: 2, type: dash },
    symbol: symbolPath(symbol), symbolSize: 9, showSymbol: few, clip: false,
    emphasis: { disabled: true },
    data: series.points.map((point) => ({
      value: [scales.x.to(point[0]), scales.y.to(point[1])],
      tip: tip(point, chart, series.name),
    })),
  };
  return [line, whiskers(series, index, scales, colour)];
}

function whiskers(series, index, scales, colour) {
  const known = series.points.filter(([, , low, high]) => low != null && high != null);
  return {
    id: `whiskers ${index}`, name: series.name, type: "custom", silent: true, z: 2,
    itemStyle: { color: colour }, tooltip: { trigger: "none" },
    data: known.map(([x, y]) => [scales.x.to(x), scales.y.to(y)]),
    renderItem(params, api) {
      const [, , low, high] = known[params.dataIndex];
      const at = (value) => api.coord([api.value(0), scales.y.to(value)]);
      return { type: "group", children: whisker(at(low), at(high), colour) };
    },
  };
}

function tip([x, y, low, high], chart, name) {
  const { unit } = chart.y;
  return {
    head: `${chart.x.label}: ${show(x, chart.x.unit)}`,
    line: { name, value: show(y, unit), range: range(low, high, unit) },
  };
}

/** Marks hang below the axis, each in a row of its own, so that none covers a line or another. */
function marked(chart, marks, scales, look) {
  return {
    id: "marks", type: "custom", counted: true, clip: false, z: 4,
    tooltip: { trigger: "item" },
    data: marks.map((one) => ({
      value: [scales.x.to(one.x), scales.y.min],
      tip: {
        head: one.label,
        line: {
          name: look.targets[one.target].name, value: show(one.x, chart.x.unit),
          range: range(one.low, one.high, chart.x.unit),
        },
      },
    })),
    renderItem(params, api) {
      const one = marks[params.dataIndex];
      const { colour, symbol } = look.target(one.target);
      const grid = params.coordSys;
      const y = grid.y + grid.height + 32 + params.dataIndex * MARK;
      const at = (value) => [api.coord([scales.x.to(value), 0])[0], y];
      const [x] = at(one.x);
      const from = at(one.low ?? one.x);
      const to = at(one.high ?? one.x);
      const thread = {
        type: "line", shape: { x1: x, y1: grid.y, x2: x, y2: grid.y + grid.height },
        style: { stroke: colour, lineWidth: 1, lineDash: [2, 3] },
      };
      return {
        type: "group",
        children: [
          thread,
          ...(from[0] === to[0] ? [] : whisker(from, to, colour, [one.low != null, one.high != null])),
          mark(symbol, [x, y], colour),
          beside(one.label, from[0], to[0], y, grid, look),
        ],
      };
    },
  };
}

/** The label on the side with more room. */
function beside(label, from, to, y, grid, look) {
  const left = from - grid.x;
  const right = grid.x + grid.width - to;
  const width = Math.max(left, right) - 10;
  const style = { fill: look.ink, verticalAlign: "middle", width, overflow: "truncate" };
  return right >= left
    ? text(label, to + 10, y, style)
    : text(label, from - 10, y, { ...style, align: "right" });
}
