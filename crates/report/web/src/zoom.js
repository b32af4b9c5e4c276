// A part of a long line: two sliders choose from where to where, with a pointer or by keyboard.

import { element } from "./element.js";
import { tick } from "./units.js";

const STEPS = 200;

/** Whether a line has more points than one can tell apart; `few` are not long. */
export const isLong = ({ kind, series }, few) =>
  kind === "lines" && series.some(({ points }) => points.length > few);

/** Calls `changed` when another part is chosen. Returns the sliders, and `part` of a chart. */
export function zoom(chart, changed) {
  const places = chart.series.flatMap(({ points }) => points.map(({ at }) => at));
  const [least, most] = [Math.min(...places), Math.max(...places)];
  const placeOf = (slider) => least + (slider.value / STEPS) * (most - least);
  const sliders = [["From", 0], ["to", STEPS]].map(([name, value]) => {
    const slider = element("input", { type: "range", min: 0, max: STEPS, value });
    const said = element("output");
    const speak = () => {
      said.textContent = tick(placeOf(slider), chart.along.unit);
      slider.setAttribute("aria-valuetext", said.textContent);
    };
    slider.addEventListener("input", () => {
      keepApart(sliders, slider);
      sliders.forEach((one) => one.speak());
      changed();
    });
    speak();
    return { slider, speak, label: element("label", {}, [name, slider, said]) };
  });
  const part = (whole) => {
    const [from, to] = sliders.map(({ slider }) => placeOf(slider));
    const within = ({ at }) => at >= from && at <= to;
    return {
      ...whole, along: { ...whole.along, window: [from, to] }, marks: whole.marks.filter(within),
      series: whole.series.map((one) => ({ ...one, points: one.points.filter(within) })),
    };
  };
  return { list: element("div", { class: "zoom" }, sliders.map(({ label }) => label)), part };
}

/** Moves the other end along, a tenth of the whole away at least. */
function keepApart([from, to], moved) {
  const apart = STEPS / 10;
  if (moved === from.slider) {
    from.slider.value = Math.min(from.slider.value, STEPS - apart);
    to.slider.value = Math.max(to.slider.value, Number(from.slider.value) + apart);
  } else {
    to.slider.value = Math.max(to.slider.value, apart);
    from.slider.value = Math.min(from.slider.value, to.slider.value - apart);
  }
}
