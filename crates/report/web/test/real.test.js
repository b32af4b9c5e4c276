// Pages that the binary writes for real runs.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { browse, emulate, open, readyAfter, shoot } from "./support/browser.mjs";
import { contrasts, dataOf, labels, marks, overflow, rows, tables, twice } from "./support/checks.mjs";
import { RUNS, make } from "./support/real.mjs";

let browser;
let folder;
before(async () => {
  folder = await mkdtemp(`${tmpdir()}/storemark-pages-`);
  browser = await browse();
});
after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

for (const run of RUNS) {
  describe(run.name, () => {
    let file;
    before(async () => {
      file = await make(run, folder);
    });

    for (const width of [360, 768, 1440]) {
      test(`is whole at ${width} pixels, light and dark`, async (t) => {
        const { page, troubles } = await open(browser, file, { width });
        for (const scheme of ["light", "dark"]) {
          await emulate(page, { colorScheme: scheme });
          assert.deepEqual(await overflow(page), []);
          assert.deepEqual(await labels(page), []);
          assert.deepEqual(await marks(page, scheme), []);
          assert.deepEqual(await rows(page), []);
          assert.deepEqual(await contrasts(page), []);
          await shoot(page, `${run.name}-${width}-${scheme}`);
        }
        assert.deepEqual(troubles, []);
        t.diagnostic(`ready after ${await readyAfter(page)} ms`);
        await page.close();
      });
    }

    test("has its charts, with the figures of their tables", async () => {
      const { page } = await open(browser, file);
      const { charts } = await dataOf(page);
      assert.ok(charts.length >= run.charts, `${charts.length} charts`);
      assert.equal(await page.locator(".plot[data-drawn]").count(), charts.length);
      assert.equal(await page.locator("figure.chart").count(), charts.length);
      assert.deepEqual(await tables(page), []);
      assert.deepEqual(await twice(page), []);
      await page.close();
    });
  });
}

test("without script the tables are there, and nothing is wider than a phone", async () => {
  const page = await browser.newPage({ viewport: { width: 360, height: 900 }, javaScriptEnabled: false });
  await page.goto(pathToFileURL(`${folder}/plain.html`).href);
  assert.ok(await page.locator("figure table").first().isVisible());
  assert.equal(await page.locator("figure details:not([open])").count(), 0);
  const { width } = await page.locator("main").boundingBox();
  assert.ok(width <= 360, `${width}`);
  await shoot(page, "plain-without-script");
  await page.close();
});

test("machines are next to each other", async () => {
  const { page } = await open(browser, `${folder}/machines.html`);
  const { charts } = await dataOf(page);
  const names = charts.find(({ id }) => id === "ratio-1").along.names;
  assert.deepEqual(names.slice(0, 2).map((name) => name.split(" · ")[1]), ["attic", "cellar"]);
  await page.close();
});

test("names that look like markup are shown", async () => {
  const { page, troubles } = await open(browser, `${folder}/hostile.html`);
  const { targets } = await dataOf(page);
  assert.ok(targets.some((name) => name.includes("<img src=x onerror=alert(2)>")), JSON.stringify(targets));
  assert.ok((await page.locator("body").innerText()).includes("<img src=x onerror=alert(2)>"));
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(troubles, []);
  await page.close();
});
