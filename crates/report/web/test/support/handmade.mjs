// A page made by hand, with every kind of chart, for what no small run brings about: many targets,
// hostile names, kinds and versions that are not known.

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
<details><summary>Table</summary><table><thead><tr><th>target</th><th class="number">figure</th></tr></thead>
<tbody><tr><td>files</td><td class="number">1.00×</td></tr></tbody></table></details></figure>`;

const NAMES = [
  "files", "sqlite?api=blob&mmap=1GiB", "<img src=x onerror=alert(1)>", "lmdb", "redb", "fjall",
  "pack:/srv/data/a-rather-long-folder-name/thumbnails.pack", "rocksdb", "sqlite:old?lib=a.so", "null",
];
export const targets = NAMES.map((name, colour) => ({ name, colour }));

const all = targets.map((_, index) => index);
const around = (value, share) => [value * (1 - share), value * (1 + share)];

function ratios() {
  const groups = ["random read, warm", "random read, cold", "update, warm", "update, cold"];
  const points = groups.flatMap((_, group) => all.map((target) => {
    const value = target === 0 ? 1 : 0.4 + ((target * 37 + group * 53) % 100) / 45;
    const [low, high] = target === 0 ? [null, null] : around(value, 0.04 + target / 100);
    return { target, group, value, low, high, note: target === 4 ? "no difference shown" : null };
  }));
  return {
    id: "ratio", title: "Time against files", how: "Left of the line is faster.", kind: "intervals",
    value: { label: "time against files", unit: "ratio", scale: "log" }, reference: 1, groups, points,
  };
}

function latencies() {
  const x = [50, 75, 90, 99, 99.9, 99.99, 100];
  const series = all.map((target) => ({
    target, name: NAMES[target],
    points: x.map((p, i) => [p, 1500 * (1 + target / 3) * 1.9 ** i, null, null]),
  }));
  return {
    id: "latency", title: "Latency percentiles", kind: "lines", series, marks: [],
    x: { label: "percentile", unit: "percentile", scale: "log" },
    y: { label: "latency", unit: "ns", scale: "log" },
  };
}

function breakEven() {
  const sizes = [1024, 4096, 16384, 65536, 262144, 1048576];
  const series = [1, 2, 3].map((target) => ({
    target, name: NAMES[target],
    points: sizes.map((size, i) => [size, 0.5 * (1.25 + target / 20) ** i, ...around(0.5 * (1.25 + target / 20) ** i, 0.06)]),
  }));
  return {
    id: "break-even", title: "Break-even over size", kind: "lines", series,
    marks: [
      { target: 1, label: "sqlite: break-even at 20 KiB", x: 20480, low: 15000, high: 31000 },
      { target: 3, label: "lmdb: break-even at 700 kB", x: 700000, low: 400000, high: null },
    ],
    x: { label: "blob size", unit: "bytes", scale: "log" },
    y: { label: "time against files", unit: "ratio", scale: "log" },
  };
}

function overTime() {
  const series = [0, 1].map((target) => ({
    target, name: NAMES[target],
    points: Array.from({ length: 120 }, (_, i) => [i * 5e8, 250000 + 90000 * target + 30000 * Math.sin(i / 7 + target), null, null]),
  }));
  return {
    id: "time", title: "Throughput over time", kind: "lines", series,
    x: { label: "time", unit: "ns", scale: "linear" }, y: { label: "operations", unit: "/s", scale: "linear" },
  };
}

function space() {
  const groups = NAMES.slice(0, 8);
  return {
    id: "space", title: "Space", kind: "bars", groups,
    value: { label: "bytes on the device", unit: "bytes", scale: "linear" },
    series: [
      { target: null, name: "values", stack: "space", values: groups.map(() => 1.02e9) },
      { target: null, name: "overhead", stack: "space", values: groups.map((_, i) => (i === 3 ? null : i * 4.3e7)) },
    ],
  };
}

function written() {
  return {
    id: "written", title: "Bytes written", kind: "bars", groups: ["insert", "update"],
    value: { label: "bytes written", unit: "ratio", scale: "linear" },
    series: [0, 1, 2].map((target) => ({
      target, name: NAMES[target], stack: null, values: [1.1 + target, 2 + target * 2],
      low: [1 + target, 1.8 + target * 2], high: [1.2 + target, 2.3 + target * 2],
    })),
  };
}

function pages() {
  const [xs, ys] = [[1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6], [1024, 4096, 8192, 16384, 65536]];
  const cells = ys.flatMap((_, y) => xs.map((_, x) => [x, y, 0.4 + Math.abs(x - y) / 3, 0.3 + Math.abs(x - y) / 3, 0.5 + Math.abs(x - y) / 3]));
  return {
    id: "pages", title: "Page size by blob size", kind: "matrix", cells, best: [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]],
    x: { label: "blob size", unit: "bytes", values: xs }, y: { label: "page size", unit: "bytes", values: ys },
    value: { label: "time against files", unit: "ratio", scale: "log" },
  };
}

export const everyKind = () => ({
  version: 1, targets, charts: [ratios(), latencies(), breakEven(), overTime(), space(), written(), pages()],
});
