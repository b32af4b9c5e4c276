// How a page behaves: with a pointer, by keyboard, in both themes, on paper, and with unknown data.
// The page is handmade and has every kind of chart.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { SERIES } from "../src/colours.js";
import { show } from "../src/units.js";
import { browse, emulate, open, shoot } from "./support/browser.mjs";
import { asked, contrasts, labels, marks, overflow, rows } from "./support/checks.mjs";
import { everyKind, handmade } from "./support/handmade.mjs";

let browser;
let folder;
before(async () => {
  folder = await mkdtemp(`${tmpdir()}/storemark-handmade-`);
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

async function opened(data, options) {
  const file = `${folder}/page.html`;
  await writeFile(file, handmade(data));
  return open(browser, file, options);
}

/** Runs `body` on a page with every kind of chart, which must do nothing that it must not. */
const withPage = (body, options) => async () => {
  const { page, troubles } = await opened(everyKind(), options);
  await body(page);
  assert.deepEqual(troubles, []);
  await page.close();
};

const plot = (page, id) => page.locator(`.plot[data-chart="${id}"]`);
const chart = (id) => everyKind().charts.find((one) => one.id === id);
const drawn = async (page, id) => Number(await plot(page, id).getAttribute("data-drawn"));

/** The middle of the nth shape of a colour. */
async function middle(page, id, colour, nth) {
  await plot(page, id).scrollIntoViewIfNeeded();
  return plot(page, id).locator(`svg [fill="${colour}"]:not([fill-opacity])`).nth(nth).evaluate((shape) => {
    const { left, right, top, bottom } = shape.getBoundingClientRect();
    return [(left + right) / 2, (top + bottom) / 2];
  });
}

for (const width of [360, 768, 1440]) {
  for (const scheme of ["light", "dark"]) {
    test(`every kind is whole at ${width} pixels, ${scheme}`, withPage(async (page) => {
      assert.deepEqual(await overflow(page), []);
      assert.deepEqual(await labels(page), []);
      assert.deepEqual(await marks(page, scheme), []);
      assert.deepEqual(await rows(page), []);
      assert.deepEqual(await contrasts(page), []);
      await shoot(page, `handmade-${width}-${scheme}`);
    }, { width, scheme }));
  }
}

describe("the tooltip", () => {
  test("shows the exact figure of a dot", withPage(async (page) => {
    const [point] = chart("ratio").series[1].points;
    await page.mouse.move(...await middle(page, "ratio", SERIES.light[1], 0));
    const tip = plot(page, "ratio").locator(".tip");
    await tip.waitFor();
    const said = await tip.innerText();
    for (const part of ["random read, warm", "sqlite?api=blob&mmap=1GiB", show(point.value, "ratio"), show(point.low, "ratio")]) {
      assert.ok(said.includes(part), `${part} in ${said}`);
    }
    assert.deepEqual(await contrasts(page), []);
  }));

  test("compares all lines at one place", withPage(async (page) => {
    await page.mouse.move(...await middle(page, "latency", SERIES.light[0], 3));
    const tip = plot(page, "latency").locator(".tip");
    await tip.waitFor();
    const said = await tip.innerText();
    assert.ok(said.includes("p99"), said);
    for (const { name, points } of chart("latency").series) {
      assert.ok(said.includes(name) && said.includes(show(points[3].value, "nanoseconds")), `${name} in ${said}`);
    }
  }));

  test("shows a bar's and a cell's figure", withPage(async (page) => {
    await page.mouse.move(...await middle(page, "written", SERIES.light[0], 1));
    await plot(page, "written").locator(".tip").waitFor();
    assert.ok((await plot(page, "written").locator(".tip").innerText()).includes(show(2, "ratio")));
    await plot(page, "pages").scrollIntoViewIfNeeded();
    await plot(page, "pages").locator("svg text", { hasText: "0.400×" }).first().hover({ force: true });
    await plot(page, "pages").locator(".tip").waitFor();
    assert.ok((await plot(page, "pages").locator(".tip").innerText()).includes("the best"));
  }, { scheme: "light" }));
});

/** Waits until what `look` finds is as it should be: the page draws between frames. */
async function becomes(look, isRight) {
  const end = Date.now() + 10_000;
  let found = await look();
  while (!isRight(found) && Date.now() < end) found = await look();
  assert.ok(isRight(found), `found ${found}`);
}

describe("the legend", () => {
  test("hides and shows a series", withPage(async (page) => {
    const button = page.locator("#chart-latency .legend button", { hasText: "lmdb" });
    const colour = SERIES.light[3];
    const shapes = plot(page, "latency").locator(`svg path[fill="${colour}"]`);
    const points = chart("latency").series[3].points.length;
    assert.equal(await shapes.count(), points);
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "false");
    await becomes(() => shapes.count(), (count) => count === 0);
    assert.equal(await drawn(page, "latency"), asked(chart("latency")) - points);
    await emulate(page, { colorScheme: "dark" });
    assert.equal(await drawn(page, "latency"), asked(chart("latency")) - points, "also in the other theme");
    await emulate(page, { colorScheme: "light" });
    // The chart is drawn again in the other colours before the series comes back.
    await button.click();
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    await becomes(() => shapes.count(), (count) => count === points);
    await becomes(() => drawn(page, "latency"), (count) => count === asked(chart("latency")));
  }));

  test("hides a line with its band", withPage(async (page) => {
    const button = page.locator("#chart-break-even .legend button", { hasText: "lmdb" });
    const bands = plot(page, "break-even").locator(`svg [fill="${SERIES.light[3]}"][fill-opacity]`);
    assert.equal(await bands.count(), 1);
    await button.click();
    await becomes(() => bands.count(), (count) => count === 0);
  }));

  test("is not there for a single series, nor where rows have names", withPage(async (page) => {
    for (const id of ["pages", "ratio", "space"]) {
      assert.equal(await page.locator(`#chart-${id} .legend`).isVisible(), false);
    }
  }));
});

describe("a long line", () => {
  const sliders = (page) => page.locator("#chart-time .zoom input");

  test("shows a part of it, and all again", withPage(async (page) => {
    const all = asked(chart("time"));
    assert.equal(await drawn(page, "time"), all);
    await sliders(page).first().fill("100");
    await becomes(() => drawn(page, "time"), (count) => count === all / 2);
    assert.deepEqual(await labels(page), []);
    await sliders(page).first().focus();
    await page.keyboard.press("Home");
    await becomes(() => drawn(page, "time"), (count) => count === all);
  }));

  test("keeps a part to be seen", withPage(async (page) => {
    await sliders(page).last().fill("0");
    await becomes(() => drawn(page, "time"), (count) => count > 0 && count < 40);
    assert.ok((await sliders(page).last().getAttribute("aria-valuetext")).length > 0);
  }));

  test("alone has sliders", withPage(async (page) => {
    assert.equal(await page.locator(".zoom").count(), 1);
  }));
});

describe("a table", () => {
  test("is sorted by the column whose head is clicked, what is unknown last", withPage(async (page) => {
    const head = page.locator("#chart-ratio th", { hasText: "figure" });
    const order = () => page.locator("#chart-ratio tbody tr td:first-child").allTextContents();
    await head.getByRole("button").click();
    assert.deepEqual(await order(), ["sqlite", "redb", "pack", "files", "lmdb"]);
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    await page.keyboard.press("Enter");
    assert.deepEqual(await order(), ["files", "pack", "redb", "sqlite", "lmdb"]);
    await page.locator("#chart-ratio th", { hasText: "target" }).getByRole("button").click();
    assert.deepEqual(await order(), ["files", "lmdb", "pack", "redb", "sqlite"]);
    assert.equal(await head.getAttribute("aria-sort"), null);
  }));
});

describe("the theme", () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const ink = (page) => plot(page, "ratio").locator("svg text").first().getAttribute("fill");

  test("follows the system", withPage(async (page) => {
    const [light, lightInk] = [await paper(page), await ink(page)];
    await emulate(page, { colorScheme: "dark" });
    assert.notEqual(await paper(page), light);
    assert.notEqual(await ink(page), lightInk);
    assert.deepEqual(await marks(page, "dark"), []);
    await emulate(page, { colorScheme: "light" });
    assert.equal(await paper(page), light);
    assert.equal(await ink(page), lightInk);
  }));

  test("is turned by the button, whatever the system has", withPage(async (page) => {
    const light = await paper(page);
    await page.getByRole("button", { name: "Use dark colours" }).click();
    assert.notEqual(await paper(page), light);
    assert.deepEqual(await marks(page, "dark"), []);
    await emulate(page, { colorScheme: "dark" });
    await page.getByRole("button", { name: "Use light colours" }).click();
    assert.equal(await paper(page), light);
    assert.deepEqual(await marks(page, "light"), []);
  }));
});

describe("the keyboard", () => {
  test("reaches the theme, the toggles, the charts and the tables", withPage(async (page) => {
    const reached = new Set();
    for (let n = 0; n < 100; n += 1) {
      await page.keyboard.press("Tab");
      reached.add(await page.evaluate(() => {
        const at = document.activeElement;
        const figure = at.closest("figure")?.id ?? "";
        return `${figure} ${at.className || at.parentElement?.className || at.tagName}`.trim();
      }));
    }
    for (const part of ["chart-ratio plot", "chart-latency legend", "chart-latency plot", "chart-space plot", "theme"]) {
      assert.ok(reached.has(part), part);
    }
    const summaries = await page.locator("summary").evaluateAll((all) => all.map(({ tabIndex }) => tabIndex));
    assert.ok(summaries.every((index) => index >= 0));
  }));

  test("closes and opens a table", withPage(async (page) => {
    assert.ok(await page.locator("#chart-ratio table").isVisible());
    await page.locator("#chart-ratio summary").focus();
    await page.keyboard.press("Enter");
    assert.ok(!(await page.locator("#chart-ratio table").isVisible()));
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("#chart-ratio table").isVisible());
  }));

  test("goes from mark to mark, shows and reads out each", withPage(async (page) => {
    await plot(page, "break-even").focus();
    const spoken = page.locator("#chart-break-even .spoken");
    const [first, second] = chart("break-even").series;
    await page.keyboard.press("ArrowRight");
    const said = (await spoken.textContent()).replaceAll("\u00a0", " ");
    assert.match(said, new RegExp(`1 KiB, sqlite.*: ${show(first.points[0].value, "ratio")}`));
    await page.keyboard.press("ArrowRight");
    assert.ok((await spoken.textContent()).includes(show(first.points[1].value, "ratio")));
    assert.ok(await plot(page, "break-even").locator(".tip").isVisible());
    await page.keyboard.press("ArrowDown");
    assert.ok((await spoken.textContent()).includes(show(second.points[1].value, "ratio")));
    await page.keyboard.press("Escape");
    assert.equal(await spoken.textContent(), "");
  }));

  test("shows where it is", withPage(async (page) => {
    await page.keyboard.press("Tab");
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid");
  }));
});

describe("on paper", () => {
  test("a dark page is light, its tables open, its drawings as wide as the sheet", withPage(async (page) => {
    const before = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.locator("#chart-ratio summary").click();
    await emulate(page, { media: "print", colorScheme: "dark" });
    await page.locator("#chart-ratio table").waitFor();
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), before);
    assert.deepEqual(await marks(page, "light"), []);
    assert.deepEqual(await contrasts(page), []);
    await page.setViewportSize({ width: 700, height: 900 });
    const [sheet, drawing] = await page.evaluate(() => [
      document.body.clientWidth, document.querySelector(".plot svg").getBoundingClientRect().width]);
    assert.ok(Math.abs(sheet - drawing) < 2, `${drawing} of ${sheet}`);
    await shoot(page, "handmade-print");
    await emulate(page, { media: "screen", colorScheme: "dark" });
    await page.locator("#chart-ratio table").waitFor({ state: "hidden" });
    assert.deepEqual(await marks(page, "dark"), []);
  }, { scheme: "dark" }));
});

test("charts follow the window's width", withPage(async (page) => {
  await page.setViewportSize({ width: 500, height: 900 });
  await page.waitForFunction(() => document.querySelector(".plot svg").clientWidth < 500);
  assert.deepEqual(await overflow(page), []);
  assert.deepEqual(await labels(page), []);
  assert.deepEqual(await marks(page, "light"), []);
}));

describe("unknown data", () => {
  const said = async (data) => {
    const { page, troubles } = await opened(data);
    assert.deepEqual(troubles, []);
    const sentences = await page.locator(".undrawn").allTextContents();
    assert.equal(await page.locator("figure table").count(), data.charts.length, "tables stay");
    await page.close();
    return sentences;
  };

  test("a kind of chart: the page reports it and draws the others", async () => {
    const data = everyKind();
    data.charts[1].kind = "pie";
    const sentences = await said(data);
    assert.equal(sentences.length, 1);
    assert.match(sentences[0], /cannot draw a chart of the kind "pie"/);
  });

  test("a version of the data", async () => {
    const sentences = await said({ ...everyKind(), version: 4 });
    assert.equal(sentences.length, everyKind().charts.length);
    assert.match(sentences[0], /version 4, and this page draws 3/);
  });
});
