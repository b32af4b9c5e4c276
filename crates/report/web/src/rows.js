// The layout of dots and bars: groups below each other, in each group a row for each series that
// has a point in it, the least value first, limits of the machine below the stores. Each row has its name and its figure: on a wide page on
// its left and right, on a narrow one above it.

import { horizontal } from "./axis.js";
import { text } from "./shapes.js";

// Heights of a row in pixels, of a narrow page's with the line above it, and of a head.
const ROW = 22;
const TWO_LINES = 38;
const HEAD = 24;
const GAP = 8;
const APART = 10;
const BELOW = 52;
const WIDE = 620;
const FIGURES = 92;
const NAMES = 210;
// About as many characters of 12 pixels fit there.
const FITS = 30;
const CHARACTER = 7;

/**
 * Returns where each row and each head of a group is; `at(group, series)` is the middle of a row's
 * mark, in pixels from the top.
 */
export function layOut(chart, look) {
  const wide = look.width >= WIDE;
  const groups = chart.along.names.map((name, g) => ({ name, rows: rowsOf(chart, g, look) }));
  // Of a single series the rows have the groups' names, below that of the series.
  const flat = groups.length > 1 && chart.series.length === 1;
  const heads = flat ? [{ name: chart.series[0].name, at: HEAD / 2 }] : [];
  const rows = new Map();
  let next = flat ? HEAD : 0;
  groups.forEach((group, g) => {
    if (!flat && group.name !== "") {
      heads.push({ name: group.name, at: next + HEAD / 2 });
      next += HEAD;
    }
    for (const [nth, { name, series, isLimit }] of group.rows.entries()) {
      // Limits of the machine are apart from the stores.
      if (isLimit && nth > 0 && !group.rows[nth - 1].isLimit) next += APART;
      const height = wide ? ROW : TWO_LINES;
      rows.set(`${g} ${series}`, { name: flat ? group.name : name, at: next + height - ROW / 2 });
      next += height;
    }
    if (!flat) next += GAP;
  });
  const row = (group, series) => rows.get(`${group} ${series}`);
  return { wide, heads, rows: [...rows.values()], row, count: next, height: next + BELOW };
}

const rowsOf = ({ series }, group, look) => series
  .flatMap(({ target, name, points }, s) => {
    const point = points.find(({ at }) => at === group);
    const { isLimit } = look.target(target);
    const called = isLimit ? `${name} (reference)` : name;
    return point ? [{ name: called, series: s, isLimit, value: point.value ?? point.low ?? 0 }] : [];
  })
  .sort((one, other) => one.isLimit - other.isLimit || one.value - other.value);

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

function rowNames({ wide, rows, count }, look) {
  const places = rows.map(({ at }) => at);
  const nameAt = (place) => rows.find(({ at }) => Math.abs(at - place) < 1)?.name ?? "";
  return {
    type: "value", inverse: true, min: 0, max: count,
    axisTick: { show: false, customValues: places },
    axisLine: { show: false },
    splitLine: { show: false },
    axisLabel: {
      show: wide, customValues: places, formatter: (place) => shortened(nameAt(place), FITS),
      color: look.ink, fontSize: 12, width: NAMES, overflow: "truncate", hideOverlap: false,
    },
  };
}

/** Names often differ at their ends, so the middle is left out. */
const shortened = (name, fits) =>
  (name.length <= fits ? name : `${name.slice(0, Math.floor(fits / 3))}…${name.slice(1 + Math.floor(fits / 3) - fits)}`);

/** The heads of the groups and the line of reference, as one series without tooltips. */
export function background(layout, look, reference) {
  const drawings = layout.heads.map((head) => ({ value: [0, head.at], head: head.name }));
  // On a narrow page names are between the marks: the line leaves them out.
  const pieces = layout.wide ? [[0, layout.count]] : layout.rows.map(({ at }) => [at - ROW / 2, at + ROW / 2]);
  if (reference != null) drawings.push(...pieces.map(([from, to]) => ({ value: [reference, from], to })));
  return {
    id: "background", type: "custom", silent: true, clip: false, data: drawings, z: 1,
    tooltip: { show: false },
    renderItem(params, api) {
      const { x, width } = params.coordSys;
      const [px, py] = api.coord([api.value(0), api.value(1)]);
      const { head, to } = drawings[params.dataIndex];
      if (head == null) {
        const style = { stroke: look.ink, lineWidth: 1 };
        const [, end] = api.coord([api.value(0), to]);
        return { type: "line", shape: { x1: px, y1: py, x2: px, y2: end }, style };
      }
      const style = {
        fill: look.ink, fontWeight: 600, verticalAlign: "middle", width, overflow: "truncate",
        stroke: look.paper, lineWidth: 4,
      };
      return text(head, layout.wide ? 8 : x, py, style);
    },
  };
}

/** A row's figure, and on a narrow page its name. */
export function words(layout, name, figure, { x, width }, y, look) {
  const style = { fill: look.ink, verticalAlign: "middle", stroke: look.paper, lineWidth: 3 };
  if (layout.wide) return [text(figure, x + width + 10, y, style)];
  const above = y - TWO_LINES + ROW;
  const fits = Math.floor(width / CHARACTER) - figure.length - 2;
  return [
    text(shortened(name, fits), x, above, style),
    text(figure, x + width, above, { ...style, align: "right" }),
  ];
}
