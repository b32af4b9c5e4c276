// On paper: light colours, and every chart's table open.

const root = document.documentElement;
const paper = matchMedia("print");

/** Browsers report printing by an event and its preview by the medium; either may be first. */
export function watchPrint(redraw) {
  let before = null;
  const change = (printing) => {
    if (printing === (before !== null)) return;
    if (printing) before = prepare();
    else before = restore(before);
    redraw();
  };
  paper.addEventListener("change", ({ matches }) => change(matches));
  addEventListener("beforeprint", () => change(true));
  addEventListener("afterprint", () => change(false));
}

function prepare() {
  const before = { theme: root.dataset.theme, opened: [] };
  root.dataset.theme = "light";
  for (const table of document.querySelectorAll(".chart details:not([open]), .findings details:not([open])")) {
    table.open = true;
    before.opened.push(table);
  }
  return before;
}

function restore({ theme, opened }) {
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  for (const table of opened) table.open = false;
  return null;
}
