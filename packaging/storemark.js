#!/usr/bin/env node
// Starts the program of this system, which npm installed as a package of its own.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const system = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "storemark.exe" : "storemark";

// npm installs one of both, by the C library of the system.
function find() {
  for (const library of ["", "-musl"]) {
    try {
      return require.resolve(`@storemark/${system}${library}/${name}`);
    } catch {
      continue;
    }
  }
  console.error(
    `storemark: no program for ${system}: its package @storemark/${system} is not installed; ` +
      "install without --omit=optional, or build storemark with cargo",
  );
  process.exit(1);
}

function run(program, options) {
  // Newer Node.js on Unix becomes the program, and no process is between it and its signals.
  if (process.execve && process.platform !== "win32") {
    process.execve(program, [program, ...options], process.env);
  }
  const child = spawn(program, options, { stdio: "inherit" });
  // A terminal sends these to the program, too; a second one would end it before it cleans up.
  for (const signal of ["SIGINT", "SIGHUP", "SIGBREAK"]) {
    process.on(signal, () => {});
  }
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("error", (error) => {
    console.error(`storemark: ${program} does not start: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

run(find(), process.argv.slice(2));
