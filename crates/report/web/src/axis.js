// An axis of ECharts that shows a scale: our ticks, our labels, our theme.

import { tick, title } from "./units.js";

// Room for one label, in pixels.
const ACROSS = 72;
const DOWN = 44;

export function horizontal(axis, scale, look, room = look.width) {
  return {
    ...common(axis, scale, look, Math.max(3, Math.floor(room / ACROSS))),
    name: title(axis),
    nameLocation: "middle",
    nameGap: 30,
  };
}

export function vertical(axis, scale, look, height) {
  return {
    ...common(axis, scale, look, Math.max(3, Math.floor(height / DOWN))),
    name: title(axis),
    nameLocation: "end",
    nameGap: 14,
    nameTextStyle: { color: look.soft, fontSize: 12, align: "left" },
  };
}

function common(axis, scale, look, most) {
  const ticks = scale.ticks(most);
  const places = ticks.map(scale.to);
  const label = (place) => tick(ticks[nearest(places, place)], axis.unit);
  return {
    type: "value",
    min: scale.min,
    max: scale.max,
    axisTick: { show: false, customValues: places },
    axisLabel: {
      customValues: places, formatter: label, color: look.soft, fontSize: 12, hideOverlap: true,
    },
    axisLine: { show: true, onZero: false, lineStyle: { color: look.rule } },
    splitLine: { lineStyle: { color: look.rule, opacity: 0.6 } },
    nameTextStyle: { color: look.soft, fontSize: 12 },
  };
}

/** ECharts hands back the place as it computed it, not always to the last bit. */
function nearest(places, place) {
  return places.reduce(
    (best, other, i) => (Math.abs(other - place) < Math.abs(places[best] - place) ? i : best),
    0,
  );
}
