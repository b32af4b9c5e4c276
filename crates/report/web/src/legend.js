// The names of a chart's series as buttons that hide and show them. Buttons wrap on any width and
// are reached by the keyboard, which ECharts' own legend is not.

import { drawing, element } from "./element.js";
import { outline } from "./shapes.js";

/** @param toggle is called with the name of a series and whether it is shown from now on. */
export function legend(names, toggle) {
  const buttons = names.map((name) => button(name, toggle));
  const list = element("div", { class: "legend", role: "group", "aria-label": "Series shown" }, buttons);
  list.hidden = names.length < 2;
  return list;
}

function button(name, toggle) {
  const made = element("button", { type: "button", "aria-pressed": "true" }, [
    element("span", { class: "swatch" }),
    element("span", {}, [name]),
  ]);
  made.addEventListener("click", () => {
    const shown = made.getAttribute("aria-pressed") !== "true";
    made.setAttribute("aria-pressed", String(shown));
    toggle(name, shown);
  });
  return made;
}

/** Gives each button the colour, dash and mark of its series. */
export function paint(list, entries) {
  entries.forEach(({ colour, swatch }, i) => {
    list.children[i].firstElementChild.replaceChildren(sample(colour, swatch));
  });
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
