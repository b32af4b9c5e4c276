// Reads the page's data, draws each chart into its place, and lets tables be sorted. Where a chart cannot be drawn, the page
// shows why; its table is there in any case.

import { drawChart } from "./chart.js";
import { copyButtons } from "./copy.js";
import { element } from "./element.js";
import { watchPrint } from "./print.js";
import { sortTables } from "./sort.js";
import { watchTheme } from "./theme.js";

const VERSION = 3;

function main() {
  const source = document.getElementById("storemark-data");
  const data = source ? JSON.parse(source.textContent) : { version: VERSION, targets: [], limits: [], charts: [] };
  const drawn = [...document.querySelectorAll(".plot[data-chart]")]
    .map((plot) => attempt(plot, data))
    .filter(Boolean);
  sortTables();
  copyButtons();
  const redraw = () => drawn.forEach((again) => again());
  watchTheme(redraw);
  watchPrint(redraw);
  watchWidth(redraw);
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
}

function attempt(plot, data) {
  try {
    if (data.version !== VERSION) {
      throw new Error(`its data has version ${data.version}, and this page draws ${VERSION}`);
    }
    const chart = data.charts.find(({ id }) => id === plot.dataset.chart);
    if (!chart) throw new Error("the page has no data for it");
    return drawChart(plot, chart, data);
  } catch (error) {
    const reason = `This chart is not drawn: ${error.message}. Its table has the figures.`;
    plot.replaceWith(element("p", { class: "undrawn" }, [reason]));
    return null;
  }
}

/** Redraws at most once a frame, and only if the width has changed. */
function watchWidth(redraw) {
  let width = document.body.clientWidth;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    requestAnimationFrame(redraw);
  }).observe(document.body);
}

main();
