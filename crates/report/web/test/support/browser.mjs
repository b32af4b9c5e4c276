// A browser that records what a page must not do.

import { mkdirSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { screenshots } from "./places.mjs";

export const browse = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** Opens `file` and waits until it is drawn. `troubles` lists requests, errors and violations. */
export async function open(browser, file, { width = 1440, scheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  const address = pathToFileURL(file).href;
  const troubles = [];
  page.on("request", (request) => {
    if (request.url() !== address) troubles.push(`request: ${request.url()}`);
  });
  page.on("console", (message) => troubles.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
      console.error(`policy: ${violatedDirective} ${blockedURI}`));
  });
  await page.goto(address);
  await page.waitForSelector("html[data-ready='true']", { state: "attached" });
  return { page, troubles };
}

/** Sets the medium or the scheme, and waits two frames, after which the page has been notified. */
export async function emulate(page, media) {
  await page.emulateMedia(media);
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(done));
  }));
}

/** Milliseconds from the start of loading until the page was drawn. */
export const readyAfter = (page) =>
  page.evaluate(() => Math.round(performance.getEntriesByName("ready")[0].startTime));

export async function shoot(page, name) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}
