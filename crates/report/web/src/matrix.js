// A matrix: a row of cells for each series, dark for much, a frame around cells with a note.

import { small } from "./axis.js";
import { inkOn, rampAt } from "./colours.js";
import { scaleOf } from "./scale.js";
import { text } from "./shapes.js";
import { figureLine } from "./tooltip.js";
import { show } from "./units.js";

const CELL = 40;
// Narrower cells have shorter figures, and none at all below the second width.
const NARROW = 56;
const NONE = 30;
const ABOUT = 70;

export function matrix(chart, look) {
  const cells = chart.series.flatMap(({ points }, row) => points.map((point) => ({ ...point, row })));
  return {
    height: chart.series.length * CELL + ABOUT,
    grid: {
      left: 8, right: 8, top: 28, bottom: 46,
      outerBoundsMode: "same", outerBoundsContain: "axisLabel",
    },
    xAxis: {
      ...axis(chart.along.label, chart.along.names.map(nameOf(chart)), look),
      nameLocation: "middle", nameGap: 30,
    },
    yAxis: {
      ...axis(chart.rows, chart.series.map(({ name }) => nameOf(chart)(name)), look),
      inverse: true, nameLocation: "start", nameGap: 12,
      nameTextStyle: { ...small(look), align: "left" },
    },
    tooltip: { trigger: "item" },
    series: [drawn(cells, chart, look)],
  };
}

function axis(name, data, look) {
  return {
    type: "category", data, name,
    axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false },
    axisLabel: { ...small(look), hideOverlap: true },
    nameTextStyle: small(look),
  };
}

function drawn(cells, chart, look) {
  const share = shareOf(cells.map(({ value }) => value), chart.value);
  return {
    id: "cells", name: chart.value.label, type: "custom", counted: true, clip: false,
    data: cells.map((cell) => ({ value: [cell.at, cell.row, cell.value], tip: tip(cell, chart) })),
    renderItem(params, api) {
      const { at, row, value, note } = cells[params.dataIndex];
      const [width, height] = api.size([1, 1]).map((side) => side - 3);
      const [x, y] = api.coord([at, row]);
      const fill = rampAt(share(value), look.theme);
      return {
        type: "group",
        children: [
          {
            type: "rect",
            shape: { x: x - width / 2, y: y - height / 2, width, height, r: 2 },
            style: { fill, stroke: look.ink, lineWidth: note ? 2.5 : 0 },
          },
          ...label(value, chart.value.unit, [x, y], width, inkOn(fill), note),
        ],
      };
    },
  };
}

/** Returns how far a value is from the least to the greatest, 0 to 1. */
function shareOf(values, axis) {
  const { to } = scaleOf(axis, values);
  const [least, most] = [Math.min(...values), Math.max(...values)].map(to);
  return (value) => (most > least ? (to(value) - least) / (most - least) : 0.5);
}

function label(value, unit, [x, y], width, fill, strong) {
  if (width < NONE) return [];
  const narrow = width < NARROW;
  const content = narrow ? show(value, unit, 2).replace("×", "") : show(value, unit, 3);
  return [text(content, x, y, {
    fill, align: "center", verticalAlign: "middle", fontWeight: strong ? 700 : 400,
    fontSize: narrow ? 10 : 12,
  })];
}

function tip(cell, chart) {
  const { series, rows, along, value } = chart;
  const [row, column] = [series[cell.row].name, along.names[cell.at]].map(nameOf(chart));
  return {
    head: `${rows} ${row}, ${along.label} ${column}`,
    line: figureLine(cell, value.label, value.unit),
  };
}

/** Rows and columns are called by numbers in the same unit. */
const nameOf = ({ along }) => (name) => show(Number(name), along.unit);
