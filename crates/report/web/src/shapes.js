// Marks and whiskers for ECharts' custom series.

// Half the width of a mark, and of a whisker's end, in pixels.
const HALF = 5;
const CAP = 3.5;

// How full each part of a bar is: the last, in which nothing works, is hollow.
export const FILLS = [1, 0.45, 0];

const OUTLINES = {
  diamond: [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
  triangle: [[0, -1.15], [1.15, 0.95], [-1.15, 0.95]],
  down: [[0, 1.15], [1.15, -0.95], [-1.15, -0.95]],
  square: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  plus: [[-0.4, -1.2], [0.4, -1.2], [0.4, -0.4], [1.2, -0.4], [1.2, 0.4], [0.4, 0.4],
    [0.4, 1.2], [-0.4, 1.2], [-0.4, 0.4], [-1.2, 0.4], [-1.2, -0.4], [-0.4, -0.4]],
};
OUTLINES.cross = OUTLINES.plus.map(([x, y]) => [(x - y) * 0.75, (x + y) * 0.75]);

/** The mark `symbol` at a point. */
export function mark(symbol, [cx, cy], colour, half = HALF) {
  if (symbol === "circle") {
    return { type: "circle", shape: { cx, cy, r: half }, style: { fill: colour } };
  }
  const points = outline(symbol, [cx, cy], half);
  return { type: "polygon", shape: { points }, style: { fill: colour } };
}

/** The corners of a mark that is not a circle. */
export const outline = (symbol, [cx, cy], half) =>
  OUTLINES[symbol].map(([x, y]) => [cx + x * half, cy + y * half]);

/** The same as a path, as ECharts' lines need it for their points. */
export function symbolPath(symbol) {
  if (symbol === "circle") return "circle";
  return `path://M${OUTLINES[symbol].map(([x, y]) => `${x * 10} ${y * 10}`).join("L")}Z`;
}

/** A whisker from one point to another, with caps at the ends that are known. */
export function whisker([x1, y1], [x2, y2], colour, capped = [true, true]) {
  const style = { stroke: colour, lineWidth: 1.5 };
  const line = (a, b, c, d) => ({ type: "line", shape: { x1: a, y1: b, x2: c, y2: d }, style });
  const [dx, dy] = y1 === y2 ? [0, CAP] : [CAP, 0];
  const cap = ([x, y]) => line(x - dx, y - dy, x + dx, y + dy);
  const ends = [[x1, y1], [x2, y2]].filter((_, i) => capped[i]);
  return [line(x1, y1, x2, y2), ...ends.map(cap)];
}

export function text(content, x, y, style) {
  return { type: "text", silent: true, style: { text: content, x, y, fontSize: 12, ...style } };
}
