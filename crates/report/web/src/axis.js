// An ECharts axis that shows a scale with this page's ticks, labels and colours.

import { tick } from "./units.js";

// Room for one label, in pixels.
const ACROSS = 72;
const DOWN = 44;

export function horizontal(axis, scale, look, room = look.width) {
  return {
    ...common(axis, scale, look, Math.max(3, Math.floor(room / ACROSS))),
    nameLocation: "middle",
    nameGap: 30,
  };
}

export function vertical(axis, scale, look, height) {
  return {
    ...common(axis, scale, look, Math.max(3, Math.floor(height / DOWN))),
    nameLocation: "end",
    nameGap: 14,
    nameTextStyle: { ...small(look), align: "left" },
  };
}

/** The text style of labels and names of axes. */
export const small = (look) => ({ color: look.soft, fontSize: 12 });

function common(axis, scale, look, most) {
  const ticks = scale.ticks(most);
  const places = ticks.map(scale.to);
  const label = (place) => tick(ticks[nearest(places, place)], axis.unit);
  return {
    type: "value",
    name: axis.label,
    min: scale.min,
    max: scale.max,
    axisTick: { show: false, customValues: places },
    axisLabel: { ...small(look), customValues: places, formatter: label, hideOverlap: true },
    axisLine: { show: true, onZero: false, lineStyle: { color: look.rule } },
    splitLine: { lineStyle: { color: look.rule, opacity: 0.6 } },
    nameTextStyle: small(look),
  };
}

/** ECharts passes the place as it computed it, not always exact to the last bit. */
function nearest(places, place) {
  return places.reduce(
    (best, other, i) => (Math.abs(other - place) < Math.abs(places[best] - place) ? i : best),
    0,
  );
}
