// A matrix of cells, dark for much, the best ones framed.

import { inkOn, rampAt } from "./colours.js";
import { text } from "./shapes.js";
import { scaleOf } from "./scale.js";
import { range, show, title } from "./units.js";

const CELL = 40;
// Cells narrower than this have shorter figures, and none at all below the second.
const NARROW = 56;
const NONE = 30;
const ABOUT = 70;

export function matrix(chart, look) {
  const values = chart.cells.map(([, , value]) => value);
  const scale = scaleOf(chart.value, values);
  const [least, most] = [Math.min(...values), Math.max(...values)].map(scale.to);
  const share = (value) => (most > least ? (scale.to(value) - least) / (most - least) : 0.5);
  return {
    height: chart.y.values.length * CELL + ABOUT,
    grid: {
      left: 8, right: 8, top: 28, bottom: 46,
      outerBoundsMode: "same", outerBoundsContain: "axisLabel",
    },
    xAxis: { ...axis(chart.x, look), nameLocation: "middle", nameGap: 30 },
    yAxis: {
      ...axis(chart.y, look), inverse: true, nameLocation: "start", nameGap: 12,
      nameTextStyle: { color: look.soft, fontSize: 12, align: "left" },
    },
    tooltip: { trigger: "item" },
    series: [cells(chart, share, look)],
  };
}

function axis(of, look) {
  return {
    type: "category", data: of.values.map((value) => show(value, of.unit)), name: title(of),
    axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false },
    axisLabel: { color: look.soft, fontSize: 12, hideOverlap: true },
    nameTextStyle: { color: look.soft, fontSize: 12 },
  };
}

function cells(chart, share, look) {
  const best = new Set((chart.best ?? []).map(([x, y]) => `${x} ${y}`));
  return {
    id: "cells", name: title(chart.value), type: "custom", counted: true, clip: false,
    data: chart.cells.map((cell) => ({ value: cell.slice(0, 3), tip: tip(cell, chart, best) })),
    renderItem(params, api) {
      const [x, y, value] = chart.cells[params.dataIndex];
      const [width, height] = api.size([1, 1]).map((side) => side - 3);
      const [cx, cy] = api.coord([x, y]);
      const isBest = best.has(`${x} ${y}`);
      const fill = rampAt(share(value), look.theme);
      return {
        type: "group",
        children: [
          {
            type: "rect",
            shape: { x: cx - width / 2, y: cy - height / 2, width, height, r: 2 },
            style: { fill, stroke: look.ink, lineWidth: isBest ? 2.5 : 0 },
          },
          ...label(value, chart.value.unit, [cx, cy], width, inkOn(fill), isBest),
        ],
      };
    },
  };
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

function tip([x, y, value, low, high], chart, best) {
  const { unit } = chart.value;
  const head = `${chart.y.label} ${show(chart.y.values[y], chart.y.unit)}, `
    + `${chart.x.label} ${show(chart.x.values[x], chart.x.unit)}`;
  const note = best.has(`${x} ${y}`) ? "the best" : null;
  return {
    head,
    line: { name: title(chart.value), value: show(value, unit), range: range(low, high, unit), note },
  };
}
