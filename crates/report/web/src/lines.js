// Lines over a numeric axis with their intervals as bands, and marks below the axis, such as the
// place where a line crosses 1. Or points alone.

import { horizontal, vertical } from "./axis.js";
import { dashOf } from "./colours.js";
import { scaleOf } from "./scale.js";
import { mark, symbolPath, text, whisker } from "./shapes.js";
import { figureLine } from "./tooltip.js";
import { show } from "./units.js";

const HEIGHT = 380;
const MARK = 20;
// A line of more points than this is a curve without a symbol for each.
export const FEW = 40;
const BAND = 0.16;

export function lines(chart, look) {
  const { marks } = chart;
  const scales = { x: xScale(chart), y: yScale(chart) };
  const foot = marks.length * MARK;
  return {
    height: HEIGHT + foot,
    grid: {
      left: 8, right: 26, top: 30, bottom: 48 + foot,
      outerBoundsMode: "same", outerBoundsContain: "axisLabel",
    },
    xAxis: { ...horizontal(chart.along, scales.x, look), nameGap: 30 + foot },
    yAxis: vertical(chart.value, scales.y, look, HEIGHT - 80),
    tooltip: isPoints(chart) ? { trigger: "item" }
      : { trigger: "axis", axisPointer: { type: "line", snap: true, label: { show: false } } },
    series: [
      ...chart.series.flatMap((series, s) => drawn(series, s, chart, scales, look)),
      ...(chart.reference == null ? [] : [reference(chart.reference, scales, look)]),
      ...(marks.length > 0 ? [marked(marks, chart.along.unit, scales, look)] : []),
    ],
  };
}

const isPoints = ({ kind }) => kind === "points";

function xScale(chart) {
  const places = chart.series.flatMap(({ points }) => points.map(({ at }) => at));
  const ends = chart.marks.flatMap(({ at, low, high }) => [at, low, high]);
  return scaleOf(chart.along, [...places, ...ends, ...(chart.along.window ?? [])], { places });
}

function yScale(chart) {
  const all = chart.series.flatMap(({ points }) => points);
  const ends = all.flatMap(({ low, high }) => [low, high]);
  return scaleOf(chart.value, [...all.map(({ value }) => value), chart.reference], { zero: true, ends });
}

/** What the lines are compared with, as a horizontal line. */
function reference(value, scales, look) {
  return {
    id: "reference", type: "custom", silent: true, z: 1, tooltip: { trigger: "none" },
    data: [[scales.x.min, scales.y.to(value)]],
    renderItem({ coordSys: { x, width } }, api) {
      const [, y] = api.coord([api.value(0), api.value(1)]);
      return {
        type: "line", shape: { x1: x, y1: y, x2: x + width, y2: y },
        style: { stroke: look.ink, lineWidth: 1 },
      };
    },
  };
}

function drawn(series, index, chart, scales, look) {
  const { nth, colour, symbol } = look.target(series.target);
  const earlier = chart.series.slice(0, index).filter(({ target }) => target === series.target);
  const dash = dashOf(earlier.length + Math.floor(nth / 8));
  const alone = isPoints(chart);
  const line = {
    id: `line ${index}`, name: series.name, type: "line", counted: true, z: 3,
    itemStyle: { color: colour }, swatch: { symbol, dash: alone ? null : dash },
    lineStyle: { color: colour, width: alone ? 0 : 2, type: dash },
    symbol: symbolPath(symbol), symbolSize: alone ? 7 : 9, clip: false,
    showSymbol: alone || series.points.length <= FEW,
    emphasis: { disabled: true },
    data: series.points.map((point) => ({
      value: [scales.x.to(point.at), scales.y.to(point.value)],
      tip: {
        head: `${chart.along.label}: ${show(point.at, chart.along.unit)}`,
        line: figureLine(point, series.name, chart.value.unit),
      },
    })),
  };
  return [line, band(series, index, scales, colour)];
}

/** From the low ends to the high ones; an interval by itself is a whisker. */
function band(series, index, { x, y }, colour) {
  const known = series.points.filter(({ low, high }) => low != null && high != null);
  const within = (value) => Math.min(y.max, Math.max(y.min, y.to(value)));
  return {
    id: `band ${index}`, name: series.name, type: "custom", silent: true, z: 2,
    itemStyle: { color: colour }, tooltip: { trigger: "none" },
    data: known.length > 0 ? [[x.to(known[0].at), within(known[0].low)]] : [],
    renderItem(params, api) {
      const place = (at, value) => api.coord([x.to(at), within(value)]);
      const low = known.map((point) => place(point.at, point.low));
      const high = known.map((point) => place(point.at, point.high));
      if (known.length === 1) return { type: "group", children: whisker(low[0], high[0], colour) };
      const style = { fill: colour, fillOpacity: BAND };
      return { type: "polygon", shape: { points: [...low, ...high.reverse()] }, style };
    },
  };
}

/** Each mark is in a row of its own below the axis, so that none covers a line or another mark. */
function marked(marks, unit, scales, look) {
  return {
    id: "marks", type: "custom", counted: true, clip: false, z: 4,
    tooltip: { trigger: "item" },
    data: marks.map(({ target, label, at, low, high }) => ({
      value: [scales.x.to(at), scales.y.min],
      tip: { head: label, line: figureLine({ value: at, low, high }, target, unit) },
    })),
    renderItem(params, api) {
      const one = marks[params.dataIndex];
      const { colour, symbol } = look.target(one.target);
      const grid = params.coordSys;
      const y = grid.y + grid.height + 32 + params.dataIndex * MARK;
      const at = (value) => [api.coord([scales.x.to(value), 0])[0], y];
      const [x] = at(one.at);
      const from = at(one.low ?? one.at);
      const to = at(one.high ?? one.at);
      const thread = {
        type: "line", shape: { x1: x, y1: grid.y, x2: x, y2: grid.y + grid.height },
        style: { stroke: colour, lineWidth: 1, lineDash: [2, 3] },
      };
      const known = [one.low != null, one.high != null];
      return {
        type: "group",
        children: [
          thread,
          ...(from[0] === to[0] ? [] : whisker(from, to, colour, known)),
          mark(symbol, [x, y], colour),
          label(one.label, from[0], to[0], y, grid, look),
        ],
      };
    },
  };
}

/** A mark's label, on the side with more room. */
function label(content, from, to, y, grid, look) {
  const left = from - grid.x;
  const right = grid.x + grid.width - to;
  const width = Math.max(left, right) - 10;
  const style = { fill: look.ink, verticalAlign: "middle", width, overflow: "truncate" };
  return right >= left
    ? text(content, to + 10, y, style)
    : text(content, from - 10, y, { ...style, align: "right" });
}
