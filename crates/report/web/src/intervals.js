// Dots with whiskers, a row for each target of each group.

import { range, show } from "./units.js";
import { scaleOf } from "./scale.js";
import { figure, frame, furniture, layOut } from "./rows.js";
import { mark, whisker } from "./shapes.js";

export function intervals(chart, look) {
  const { points, groups, reference } = chart;
  const layout = layOut(groups.map((name, g) => group(name, g, points, look)), look);
  const values = points.flatMap(({ value, low, high }) => [value, low, high]);
  const scale = scaleOf(chart.value, [...values, reference].filter((v) => v != null));
  const targets = [...new Set(points.map(({ target }) => target))];
  return {
    ...frame(chart.value, scale, layout, look),
    series: [
      furniture(layout, look, reference == null ? null : scale.to(reference)),
      ...targets.map((target) => series(target, chart, layout, scale, look)),
    ],
  };
}

function group(name, index, points, look) {
  const rows = points
    .filter((point) => point.group === index)
    .map(({ target }) => ({ key: target, name: look.targets[target].name }));
  return { name, rows };
}

function series(target, chart, layout, scale, look) {
  const { colour, symbol, name } = look.target(target);
  const points = chart.points.filter((point) => point.target === target);
  return {
    id: `target ${target}`, name, type: "custom", clip: false, counted: true,
    itemStyle: { color: colour }, swatch: { symbol },
    data: points.map((point) => ({
      value: [scale.to(point.value), layout.at(point.group, target)],
      tip: tip(point, chart, name),
    })),
    renderItem(params, api) {
      const point = points[params.dataIndex];
      const at = (value) => api.coord([scale.to(value), api.value(1)]);
      const [x, y] = at(point.value);
      const { low, high, ends } = point;
      const line = low == null && high == null ? []
        : whisker(at(low ?? point.value), at(high ?? point.value), colour, [low != null, high != null]);
      // Of a range nobody gave a figure in it.
      const shown = layout.wide && !ends
        ? [figure(show(point.value, chart.value.unit, 3), params.coordSys, y, look)] : [];
      const marks = (ends ? [at(low), at(high)] : [[x, y]]).map((place) => mark(symbol, place, colour));
      return { type: "group", children: [...line, ...marks, ...shown] };
    },
  };
}

function tip({ group, value, low, high, note, ends }, chart, name) {
  const { unit } = chart.value;
  const line = ends ? { name, value: range(low, high, unit), range: "", note }
    : { name, value: show(value, unit), range: range(low, high, unit), note };
  return { head: chart.groups[group], line };
}
