// One chart: its plot, its legend, its sliders and its keys.

import { echarts } from "./echarts.js";
import { element } from "./element.js";
import { bars, dots } from "./groups.js";
import { steer } from "./keyboard.js";
import { keyOf, legend } from "./legend.js";
import { FEW, lines } from "./lines.js";
import { matrix } from "./matrix.js";
import { lookOf } from "./theme.js";
import { tooltip } from "./tooltip.js";
import { isLong, zoom } from "./zoom.js";

const KINDS = new Map(Object.entries({ dots, lines, points: lines, bars, matrix }));

const KEYS = "Arrow keys go from mark to mark.";

/** Draws `chart` into `plot`. Returns a function that draws it again when the page has changed. */
export function drawChart(plot, chart, page) {
  const kind = KINDS.get(chart.kind);
  if (!kind) throw new Error(`this page cannot draw a chart of the kind "${chart.kind}"`);
  const instance = echarts.init(plot, null, { renderer: "svg", width: 1, height: 1 });
  const label = plot.getAttribute("aria-label");
  const selected = {};
  const names = legend((name, shown) => {
    selected[name] = shown;
    instance.dispatchAction({ type: shown ? "legendSelect" : "legendUnSelect", name });
    count(plot, instance);
  });
  const spoken = element("p", { class: "spoken", "aria-live": "polite" });
  const sliders = isLong(chart, FEW) ? zoom(chart, () => draw()) : null;
  plot.before(names.list);
  if (chart.parts?.length > 0) plot.before(keyOf(chart.parts));
  plot.after(...(sliders ? [sliders.list] : []), spoken);
  steer(plot, instance, (said) => { spoken.textContent = said; });

  const draw = () => {
    const look = lookOf(plot.clientWidth, page);
    const { height, ...option } = kind(sliders ? sliders.part(chart) : chart, look);
    instance.resize({ width: look.width, height, silent: true });
    instance.setOption(complete(option, plot, label, selected, look), true);
    // On paper the drawing is scaled as a whole.
    plot.querySelector("svg").setAttribute("viewBox", `0 0 ${look.width} ${height}`);
    names.paint(entriesOf(option));
    count(plot, instance);
  };
  draw();
  return draw;
}

/** Adds the options that all charts share. */
function complete(option, plot, label, selected, look) {
  return {
    animation: false,
    aria: { enabled: true, label: { description: label && `${label} ${KEYS}` } },
    textStyle: { fontFamily: getComputedStyle(plot).fontFamily },
    legend: { show: false, selected, data: entriesOf(option).map(({ name }) => name) },
    ...option,
    tooltip: { ...tooltip(look), ...option.tooltip },
  };
}

const entriesOf = ({ series }) => series.filter(({ swatch }) => swatch)
  .map(({ name, itemStyle, swatch }) => ({ name, colour: itemStyle.color, swatch }));

/** Notes for tests how many marks ECharts has drawn, without whiskers and heads of groups. */
function count(plot, instance) {
  let drawn = 0;
  instance.getModel().eachSeries((series) => {
    if (series.get("counted")) drawn += series.getData().count();
  });
  plot.dataset.drawn = drawn;
}
