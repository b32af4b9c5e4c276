// Small real runs and their pages.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { storemark } from "./places.mjs";

const few = ["--keys", "60", "--rounds", "2", "--seed", "1"];

/** What is run, and how many charts its page has at least. */
export const RUNS = [
  { name: "plain", charts: 4, args: ["run", "files:", "sqlite:", ...few] },
  {
    // Without root the cold states are findings, and have no figures.
    name: "cold", charts: 3,
    args: ["run", "files:", "sqlite:", "--read", "--update", "--cache", "warm", "--cache", "cold", ...few],
  },
  { name: "sizes", charts: 2, args: ["run", "files:", "sqlite:", "--size", "1k,32k", "--variance", "0", ...few] },
  { name: "rates", charts: 4, args: ["run", "files:", "sqlite:", "--rate", "1k,5k", "--count", "60", ...few] },
  {
    name: "ages", charts: 3,
    args: ["age", "files:", "sqlite:", "--objects", "20", "--size", "16k", "--ages", "0,1", "--rounds", "2"],
  },
  { name: "rows", charts: 2, args: ["rows", "csv:", "sqlite:", "--rows", "500", "--rounds", "2"] },
  {
    name: "queue", charts: 2,
    args: ["queue", "files:", "sqlite:", "--workers", "2", "--tasks", "3", "--rewrites", "2", "--rounds", "2"],
  },
  {
    name: "hostile", charts: 4,
    before: [
      ["init", "<script>alert(1).db", "--count", "60", "--quiet"],
      ["export", "<script>alert(1).db", "<img src=x onerror=alert(2)>"],
    ],
    args: ["run", "<img src=x onerror=alert(2)>", "<script>alert(1).db", "--rounds", "2"],
  },
];

/** Writes the page of a run into `folder` and returns its file. */
export async function make({ name, args, before = [] }, folder) {
  const file = `${folder}/${name}.html`;
  for (const command of before) await call(command, folder);
  await call([...args, "--quiet", "--json", `${name}.json`, "--html", file], folder);
  return file;
}

async function call(command, folder) {
  try {
    await promisify(execFile)(storemark, command, { cwd: folder, maxBuffer: 1 << 26 });
  } catch (error) {
    throw new Error(`storemark ${command.join(" ")}: ${error.stderr || error.message}`);
  }
}
