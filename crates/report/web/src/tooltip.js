// What stands beside a mark that is pointed at. Built of elements, never of markup: names of targets
// are text, and the page's policy allows no style attribute.

import { element } from "./element.js";

/** The part of an option that all charts share. */
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
  const beside = [range, note].filter(Boolean).join(", ");
  return [
    element("span", { class: "tip-name" }, [dot, name]),
    element("span", { class: "tip-value" }, [value]),
    element("span", { class: "tip-range" }, [beside]),
  ];
}

/** The same in a sentence, for those who hear the page. */
export function sentence({ head, line: { name, value, range, note } }) {
  const interval = range && `, ${range}`;
  return `${head}, ${name}: ${value}${interval}${note ? `, ${note}` : ""}`;
}
