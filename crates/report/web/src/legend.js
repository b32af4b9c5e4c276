// The names of a chart's series as buttons that hide and show them. Buttons wrap at any width and
// can be reached by keyboard; ECharts' own legend cannot. Of bars with parts, what each part is.

import { drawing, element } from "./element.js";
import { FILLS, outline } from "./shapes.js";

/**
 * Calls `toggle` with the name of a series and whether it is now shown. Returns the list, and
 * `paint`, which gives each series its button in the colours of the theme.
 */
export function legend(toggle) {
  const list = element("div", { class: "legend", role: "group", "aria-label": "Series shown" });
  const paint = (entries) => {
    list.hidden = entries.length < 2;
    entries.forEach(({ name, colour, swatch }, i) => {
      const item = list.children[i] ?? list.appendChild(button(name, toggle));
      item.firstElementChild.replaceChildren(sample(colour, swatch));
    });
  };
  return { list, paint };
}

/** What the parts of bars are. */
export function keyOf(parts) {
  const items = parts.map((name, i) => element("span", {}, [part(FILLS[i]), name]));
  return element("p", { class: "key" }, items);
}

const part = (fill) => drawing("svg", { width: 20, height: 12, "aria-hidden": "true" }, [
  drawing("rect", {
    x: 1, y: 1, width: 18, height: 10, fill: "currentColor", "fill-opacity": fill, stroke: "currentColor",
  }),
]);

function button(name, toggle) {
  const item = element("button", { type: "button", "aria-pressed": "true" }, [
    element("span", { class: "swatch" }),
    element("span", {}, [name]),
  ]);
  item.addEventListener("click", () => {
    const shown = item.getAttribute("aria-pressed") !== "true";
    item.setAttribute("aria-pressed", String(shown));
    toggle(name, shown);
  });
  return item;
}

function sample(colour, { symbol, dash }) {
  const parts = [shape(symbol, colour)];
  if (dash) {
    const pattern = dash === "solid" ? "none" : dash.join(" ");
    parts.unshift(drawing("line", {
      x1: 0, x2: 26, y1: 7, y2: 7, stroke: colour, "stroke-width": 2, "stroke-dasharray": pattern,
    }));
  }
  return drawing("svg", { width: 26, height: 14, "aria-hidden": "true" }, parts);
}

function shape(symbol, fill) {
  if (symbol === "circle") return drawing("circle", { cx: 13, cy: 7, r: 4.5, fill });
  return drawing("polygon", { points: outline(symbol, [13, 7], 4.5).join(" "), fill });
}
