// The tooltip of a mark. It is built of elements, never of markup: names of targets are text, and
// the page's policy allows no style attribute.

import { element } from "./element.js";
import { range, show } from "./units.js";

/** The tooltip's line for a point; where only the ends of a range are known, they are its value. */
export function figureLine({ value, low, high, note }, name, unit) {
  const interval = range(low, high, unit);
  return value == null ? { name, value: interval, range: "", note }
    : { name, value: show(value, unit), range: interval, note };
}

/** The tooltip options that all charts share. */
export function tooltip(look) {
  return {
    confine: true,
    transitionDuration: 0,
    className: "tip",
    backgroundColor: look.paper,
    borderColor: look.rule,
    borderWidth: 1,
    padding: [8, 10],
    textStyle: { color: look.ink, fontSize: 13 },
    formatter: (pointed) => content([pointed].flat()),
  };
}

function content(pointed) {
  const known = pointed.filter(({ data }) => data?.tip);
  if (known.length === 0) return "";
  const rows = known.map(({ color, data }) => row(color, data.tip.line));
  return element("div", {}, [
    element("div", { class: "tip-head" }, [known[0].data.tip.head]),
    element("div", { class: "tip-rows" }, rows.flat()),
  ]);
}

function row(colour, { name, value, range, note }) {
  const dot = element("span", { class: "tip-dot" });
  if (typeof colour === "string") dot.style.background = colour;
  const details = [range, note].filter(Boolean).join(", ");
  return [
    element("span", { class: "tip-name" }, [dot, name]),
    element("span", { class: "tip-value" }, [value]),
    element("span", { class: "tip-range" }, [details]),
  ];
}

/** The same as a sentence, for screen readers. */
export function sentence({ head, line: { name, value, range, note } }) {
  const interval = range && `, ${range}`;
  return `${head}, ${name}: ${value}${interval}${note ? `, ${note}` : ""}`;
}
