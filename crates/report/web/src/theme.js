// Light or dark: as the system has it, until the button says otherwise; on paper always light.
// The colours themselves stand in `report.css`; here they are read back for ECharts.

import { colourOf, luminance, symbolOf } from "./colours.js";
import { element } from "./element.js";

const root = document.documentElement;

/** What a drawing needs to know of the page: colours, targets and the width at hand. */
export function lookOf(width, targets) {
  const style = getComputedStyle(root);
  const [paper, ink, soft, rule] = ["--paper", "--ink", "--soft", "--rule"]
    .map((name) => style.getPropertyValue(name));
  const theme = luminance(paper) < 0.5 ? "dark" : "light";
  const target = (index) => {
    const { name, colour } = targets[index];
    return { name, colour: colourOf(colour, theme), symbol: symbolOf(colour) };
  };
  return { paper, ink, soft, rule, theme, width, targets, target };
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
