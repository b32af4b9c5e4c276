// A handmade page with every kind of chart, for what no small run has: many targets, hostile names,
// unknown kinds and versions.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const bundle = (file) => readFileSync(new URL(`../../dist/${file}`, import.meta.url), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

export function handmade(data) {
  const [style, script] = [bundle("report.css"), bundle("report.js")];
  const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}`;
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy)}">
<title>Made by hand</title><style>${style}</style></head><body>
<header><h1>SQLite reads faster than files here: 0.56 of their time</h1>
<p>Warm, a blob of 10 kB takes SQLite 2.1 µs and files 3.8 µs. One finding weakens this.</p></header>
<main><section><h2>Charts</h2>${data.charts.map(figure).join("")}</section></main>
<script type="application/json" id="storemark-data">${json}</script>
<script>${script}</script></body></html>`;
}

const figure = ({ id, title, how = "" }) => `<figure class="chart" id="chart-${id}">
<figcaption><h3>${escaped(title)}</h3>${how}</figcaption>
<div class="plot" data-chart="${id}" role="img" aria-label="${escaped(title)}"></div>
<details open><summary>Table</summary><table><thead><tr><th>target</th><th class="number">figure</th></tr></thead>
<tbody>${ROWS.map(row).join("")}</tbody></table></details></figure>`;

// In an order that no sort makes; a unit of its own hides how large a figure is.
const ROWS = [["files", "1,200"], ["lmdb", "–"], ["sqlite", "*0.40 (0.39–0.41)"], ["redb", "900 ns", 0.9], ["pack", "30"]];
const row = ([target, text, value]) =>
  `<tr><td>${target}</td><td class="number"${value ? ` data-value="${value}"` : ""}>${text}</td></tr>`;

const NAMES = [
  "files", "sqlite?api=blob&mmap=1GiB", "<img src=x onerror=alert(1)>", "lmdb", "redb", "fjall",
  "pack:/srv/data/a-rather-long-folder-name/thumbnails.pack", "rocksdb", "sqlite:old?lib=a.so", "null",
];
export const targets = NAMES;

const around = (value, share) => ({ value, low: value * (1 - share), high: value * (1 + share) });

/** A series for each target of `some`; `pointOf(target, at)` is its point at each of `places`. */
const seriesOf = (some, places, pointOf) => some.map((target) => ({
  target: NAMES[target], name: NAMES[target],
  points: places.map((at, i) => ({ at, ...pointOf(target, i) })),
}));
const all = NAMES.map((_, target) => target);

function ratios() {
  const names = ["random read, warm", "random read, cold", "update, warm", "update, cold"];
  const pointOf = (target, group) => {
    if (target === 0) return { value: 1 };
    const value = 0.4 + ((target * 37 + group * 53) % 100) / 45;
    const rounds = [0.9, 0.97, 1.02, 1.11].map((factor) => value * factor);
    const point = { ...around(value, 0.04 + target / 100), rounds };
    return target === 4 ? { ...point, note: "inconclusive" } : point;
  };
  const series = seriesOf(all, names.map((_, group) => group), pointOf);
  // A range of published figures, of which only the two ends are known.
  series[3].points[3] = { at: 3, low: 0.6, high: 0.9 };
  return {
    id: "ratio", title: "Time against files", how: "Left of the line is faster.", kind: "dots",
    along: { label: "", names }, reference: 1, series,
    value: { label: "time against files", unit: "ratio", log: true },
  };
}

function latencies() {
  return {
    id: "latency", title: "Latency percentiles", kind: "lines",
    series: seriesOf(all, [50, 75, 90, 99, 99.9, 99.99, 100],
      (target, i) => ({ value: 1500 * (1 + target / 3) * 1.9 ** i })),
    along: { label: "percentile", unit: "percentile", log: true },
    value: { label: "latency", unit: "nanoseconds", log: true },
  };
}

function breakEven() {
  return {
    id: "break-even", title: "Break-even over size", kind: "lines",
    series: seriesOf([1, 2, 3], [1024, 4096, 16384, 65536, 262144, 1048576],
      (target, i) => around(0.5 * (1.25 + target / 20) ** i, 0.06)),
    marks: [
      { target: NAMES[1], label: "sqlite: break-even at 20 KiB", at: 20480, low: 15000, high: 31000 },
      { target: NAMES[3], label: "lmdb: break-even at 700 kB", at: 700000, low: 400000 },
    ],
    along: { label: "blob size", unit: "bytes", log: true },
    value: { label: "time against files", unit: "ratio", log: true },
  };
}

function overTime() {
  const times = Array.from({ length: 120 }, (_, i) => i * 5e8);
  return {
    id: "time", title: "Throughput over time", kind: "lines",
    series: seriesOf([0, 1], times,
      (target, i) => ({ value: 250000 + 90000 * target + 30000 * Math.sin(i / 7 + target) })),
    along: { label: "time", unit: "nanoseconds", log: false },
    value: { label: "operations", unit: "per-second", log: false },
  };
}

function cuts() {
  const places = Array.from({ length: 60 }, (_, i) => 2 * i);
  return {
    id: "cuts", title: "Lost over the moment", kind: "points",
    series: seriesOf([0, 1, 3], places, (target, i) => ({ value: (i * (target + 2)) % 17 })),
    along: { label: "commits acknowledged before the cut", unit: "count", log: false },
    value: { label: "commits lost", unit: "count", log: false },
  };
}

function space() {
  const series = seriesOf(all.slice(0, 8), [0, 1], (target, i) => ({ value: 1.02e9 + (target + i) * 4.3e7 }));
  // What was not measured has no bar.
  series[3].points.pop();
  return {
    id: "space", title: "Space", kind: "bars", series,
    along: { label: "", names: ["length", "on disk"] },
    value: { label: "bytes on the device", unit: "bytes", log: false },
  };
}

function written() {
  return {
    id: "written", title: "Bytes written", kind: "bars",
    series: seriesOf([0, 1, 2], [0, 1], (target, i) => around(i === 0 ? 1.1 + target : 2 + target * 2, 0.1)),
    along: { label: "", names: ["insert", "update"] },
    value: { label: "bytes written", unit: "ratio", log: false },
  };
}

function parts() {
  const some = [[0, 3, 1, 2], [1, 1, 0.5, 0], [6, 0.2, 1.6, 0.4]];
  const series = some.flatMap(([target, ...parts]) =>
    seriesOf([target], [0], () => ({ value: 1e3 * (parts[0] + parts[1] + parts[2]), parts: parts.map((part) => part * 1e3) })));
  return {
    id: "parts", title: "Where does the time go?", kind: "bars", series,
    parts: ["user mode", "kernel", "off the processor"],
    along: { label: "", names: [""] },
    value: { label: "time", unit: "nanoseconds", log: false },
  };
}

function pages() {
  const names = [1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6].map(String);
  const pointOf = (y, x) => ({
    at: x, value: 0.4 + Math.abs(x - y) / 3, low: 0.3 + Math.abs(x - y) / 3, high: 0.5 + Math.abs(x - y) / 3,
    ...(x === y && { note: "the best" }),
  });
  const series = [1024, 4096, 8192, 16384, 65536].map(String)
    .map((name, y) => ({ name, points: names.map((_, x) => pointOf(y, x)) }));
  return {
    id: "pages", title: "Page size by blob size", kind: "matrix", series, rows: "page size",
    along: { label: "blob size", unit: "bytes", names },
    value: { label: "time against files", unit: "ratio", log: true },
  };
}

export const everyKind = () => ({
  version: 3,
  targets,
  limits: [NAMES[6]],
  charts: [ratios(), latencies(), breakEven(), overTime(), cuts(), space(), written(), parts(), pages()]
    .map((chart) => ({ marks: [], ...chart })),
});
