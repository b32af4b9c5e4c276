// Bundles the report's script and style: `node build.mjs FOLDER` (dist, without a folder).

import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = process.argv[2] ?? "dist";
const here = (path) => new URL(path, import.meta.url);
const text = (path) => readFileSync(here(`node_modules/${path}`), "utf8")
  // Browsers read CR LF as LF, and the page's policy has the hash of what they read.
  .replaceAll("\r\n", "\n").trim();

// Every page has a copy of these libraries, whose licences require their notices.
const notices = [
  text("echarts/NOTICE"), text("echarts/LICENSE"), text("echarts/licenses/LICENSE-d3"),
  text("zrender/LICENSE"), text("tslib/LICENSE.txt"),
].join("\n\n---\n\n");

// Only cargo knows that a bundle is built from these sources: see ../build.rs.
rmSync(here(`${folder}/stamp`), { force: true });

const { metafile } = await build({
  absWorkingDir: fileURLToPath(here(".")),
  entryPoints: { report: "src/main.js" },
  outdir: folder,
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  banner: { js: `/*!\n${notices.replaceAll("*/", "* /")}\n*/` },
  define: { "process.env.NODE_ENV": '"production"' },
  metafile: true,
});
await build({
  absWorkingDir: fileURLToPath(here(".")),
  entryPoints: { report: "src/report.css" },
  outdir: folder,
  minify: true,
  // Has every function that the style uses, so that none is rewritten.
  target: "chrome123",
});

for (const [file, { bytes }] of Object.entries(metafile.outputs)) console.log(`${file}: ${bytes} bytes`);
