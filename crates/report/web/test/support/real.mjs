// Small real runs and their pages.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
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
  {
    name: "life", charts: 4,
    args: ["life", "files:", "sqlite:", "--keys", "60", "--days", "2", "--rounds", "2", "--seed", "1"],
  },
  { name: "rows", charts: 1, args: ["rows", "csv:", "sqlite:", "--rows", "500", "--rounds", "2"] },
  {
    name: "queue", charts: 2,
    args: ["queue", "files:", "sqlite:", "--workers", "2", "--tasks", "3", "--rewrites", "2", "--rounds", "2"],
  },
  {
    name: "power", charts: 1,
    args: ["crash", "sqlite:", "--durability", "none", "--stores", "established", "--states", "30", "--seed", "1"],
  },
  {
    name: "machines", charts: 4, of: "plain", machines: ["attic", "cellar"],
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
export async function make({ name, args, before = [], of, machines }, folder) {
  const file = `${folder}/${name}.html`;
  if (machines) {
    for (const machine of machines) await rename(`${folder}/${of}.json`, machine, folder);
    await call(["report", ...machines.map((machine) => `${machine}.json`), "--html", file], folder);
    return file;
  }
  for (const command of before) await call(command, folder);
  await call([...args, "--quiet", "--json", `${name}.json`, "--html", file], folder);
  return file;
}

/** Writes a record as if another machine had made it. */
async function rename(record, machine, folder) {
  const [header, ...lines] = (await readFile(record, "utf8")).split("\n");
  const of = JSON.parse(header);
  of.environment.machine = machine;
  await writeFile(`${folder}/${machine}.json`, [JSON.stringify(of), ...lines].join("\n"));
}

async function call(command, folder) {
  try {
    await promisify(execFile)(storemark, command, { cwd: folder, maxBuffer: 1 << 26 });
  } catch (error) {
    throw new Error(`storemark ${command.join(" ")}: ${error.stderr || error.message}`);
  }
}
