// The layout of dots and bars: groups below each other, in each group a row for each series that
// has a point in it. On a wide page rows have their names on the left and their figures on the
// right; on a narrow one only the legend names them.

import { horizontal } from "./axis.js";
import { text } from "./shapes.js";

const ROW = 22;
const BELOW = 52;
const WIDE = 620;
const FIGURES = 78;
const NAMES = 210;
// About as many characters of 12 pixels fit there.
const FITS = 30;

/**
 * Returns where each row and each head of a group is; `at(group, series)` is the middle of a row,
 * in rows.
 */
export function layOut(chart, look) {
  const wide = look.width >= WIDE;
  const groups = chart.along.names.map((name, g) => ({ name, rows: rowsOf(chart, g) }));
  // A group of one row needs no head: the row itself has the group's name.
  const flat = wide && groups.every(({ rows }) => rows.length <= 1);
  const heads = [];
  const names = [];
  const places = new Map();
  let next = 0;
  groups.forEach((group, g) => {
    if (!flat) heads.push({ name: group.name, at: (next += 1) - 0.5 });
    for (const row of group.rows) {
      places.set(`${g} ${row.series}`, next + 0.5);
      names.push({ name: flat ? group.name : row.name, at: next + 0.5 });
      next += 1;
    }
    if (!flat) next += 0.35;
  });
  const at = (group, series) => places.get(`${group} ${series}`);
  return { wide, heads, names: wide ? names : [], at, count: next, height: next * ROW + BELOW };
}

const rowsOf = ({ series }, group) => series.flatMap(({ name, points }, s) =>
  (points.some(({ at }) => at === group) ? [{ name, series: s }] : []));

/** The options that dots and bars share. */
export function frame(axis, scale, layout, look) {
  const room = look.width - (layout.wide ? NAMES + FIGURES : 0);
  return {
    height: layout.height,
    grid: {
      left: 8, right: layout.wide ? FIGURES : 14, top: 4, bottom: BELOW - 4,
      outerBoundsMode: "same", outerBoundsContain: "axisLabel",
    },
    xAxis: { ...horizontal(axis, scale, look, room), axisLine: { show: false } },
    yAxis: rowNames(layout, look),
    tooltip: { trigger: "item" },
  };
}

function rowNames({ names, count }, look) {
  const places = names.map(({ at }) => at);
  const nameAt = (place) => names.find(({ at }) => Math.abs(at - place) < 0.01)?.name ?? "";
  const formatter = (place) => shortened(nameAt(place));
  return {
    type: "value", inverse: true, min: 0, max: count,
    axisTick: { show: false, customValues: places },
    axisLine: { show: false },
    splitLine: { show: false },
    axisLabel: {
      show: names.length > 0, customValues: places, formatter, color: look.ink,
      fontSize: 12, width: NAMES, overflow: "truncate", hideOverlap: false,
    },
  };
}

/** Names often differ at their ends, so the middle is left out. */
const shortened = (name) =>
  (name.length <= FITS ? name : `${name.slice(0, 10)}…${name.slice(11 - FITS)}`);

/** The heads of the groups and the line of reference, as one series without tooltips. */
export function background(layout, look, reference) {
  const drawings = layout.heads.map((head) => ({ value: [0, head.at], head: head.name }));
  if (reference != null) drawings.push({ value: [reference, 0], reference: true });
  return {
    id: "background", type: "custom", silent: true, clip: false, data: drawings, z: 1,
    tooltip: { show: false },
    renderItem(params, api) {
      const { x, y, width, height } = params.coordSys;
      const [px, py] = api.coord([api.value(0), api.value(1)]);
      const { head } = drawings[params.dataIndex];
      if (head == null) {
        const style = { stroke: look.ink, lineWidth: 1 };
        return { type: "line", shape: { x1: px, y1: y, x2: px, y2: y + height }, style };
      }
      const style = {
        fill: look.ink, fontWeight: 600, verticalAlign: "middle", width, overflow: "truncate",
        stroke: look.paper, lineWidth: 4,
      };
      return text(head, layout.wide ? 8 : x, py, style);
    },
  };
}

/** A row's figure, on the right of the grid. */
export function figure(content, coordSys, y, look) {
  return text(content, coordSys.x + coordSys.width + 10, y, {
    fill: look.ink, verticalAlign: "middle",
  });
}
