// Light or dark: as the system is set, until the button changes it; on paper always light.
// The colours are defined in `report.css`; here they are read back for ECharts.

import { colourOf, luminance, symbolOf } from "./colours.js";
import { element } from "./element.js";

const root = document.documentElement;

/** What a drawing needs of the page: colours, the look of each target and the width. */
export function lookOf(width, { targets, limits }) {
  const style = getComputedStyle(root);
  const [paper, ink, soft, rule] = ["--paper", "--ink", "--soft", "--rule"]
    .map((name) => style.getPropertyValue(name));
  const theme = luminance(paper) < 0.5 ? "dark" : "light";
  const target = (name) => {
    const nth = targets.indexOf(name);
    return { nth, colour: colourOf(nth, theme), symbol: symbolOf(nth), isLimit: limits.includes(name) };
  };
  return { paper, ink, soft, rule, theme, width, target };
}

const system = matchMedia("(prefers-color-scheme: dark)");

/** Calls `redraw` whenever the page's colours have changed. */
export function watchTheme(redraw) {
  const button = element("button", { type: "button", class: "theme" });
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`);
  };
  const changed = () => {
    name();
    redraw();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    changed();
  });
  system.addEventListener("change", changed);
  document.body.prepend(button);
  name();
}
