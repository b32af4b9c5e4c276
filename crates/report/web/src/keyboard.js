// A chart by keyboard: arrow keys go from mark to mark, Escape leaves. The mark that is reached shows
// its tooltip, and a live region reads it out.

import { sentence } from "./tooltip.js";

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** Handles a plot's keys; `say` takes the sentence for the mark that was reached. */
export function steer(plot, instance, say) {
  let place = null;
  plot.tabIndex = 0;
  const leave = () => {
    place = null;
    instance.dispatchAction({ type: "hideTip" });
    say("");
  };
  plot.addEventListener("blur", leave);
  plot.addEventListener("keydown", (event) => {
    if (event.key === "Escape") leave();
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    place = next(marksOf(instance), place, step);
    if (place) point(instance, place, say);
  });
}

/** The series that are shown, with the number of their marks. */
function marksOf(instance) {
  const series = [];
  instance.getModel().eachSeries((model) => {
    if (model.get("counted") && model.getData().count() > 0) series.push(model);
  });
  return series;
}

/** Past a series' end the next one follows; from series to series the place in them is kept. */
function next(series, place, [down, right]) {
  if (series.length === 0) return null;
  const s = series.findIndex(({ seriesIndex }) => seriesIndex === place?.seriesIndex);
  if (s < 0) return { seriesIndex: series[0].seriesIndex, dataIndex: 0 };
  const count = series[s].getData().count();
  const past = place.dataIndex + right;
  const leap = past < 0 ? -1 : past >= count ? 1 : 0;
  const to = series[(s + down + leap + series.length) % series.length];
  const end = to.getData().count() - 1;
  const dataIndex = leap > 0 ? 0 : leap < 0 ? end : Math.min(past, end);
  return { seriesIndex: to.seriesIndex, dataIndex };
}

function point(instance, place, say) {
  instance.dispatchAction({ type: "showTip", ...place });
  const model = instance.getModel().getSeriesByIndex(place.seriesIndex);
  say(sentence(model.getData().getRawDataItem(place.dataIndex).tip));
}
