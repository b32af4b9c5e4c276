// The names of a chart's series as buttons that hide and show them. Buttons wrap on any width and
// are reached by the keyboard, which ECharts' own legend is not.

import { drawing, element } from "./element.js";
import { outline } from "./shapes.js";

/**
 * @param toggle is called with the name of a series and whether it is shown from now on.
 * @returns the list, and what gives each series its button, in the colours of the theme.
 */
export function legend(toggle) {
  const list = element("div", { class: "legend", role: "group", "aria-label": "Series shown" });
  const paint = (entries) => {
    list.hidden = entries.length < 2;
    entries.forEach(({ name, colour, swatch }, i) => {
      const made = list.children[i] ?? list.appendChild(button(name, toggle));
      made.firstElementChild.replaceChildren(sample(colour, swatch));
    });
  };
  return { list, paint };
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
