// Pages that the binary writes for real runs.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { after, before, describe, test } from "node:test";
import { browse, emulate, open, readyAfter, shoot } from "./support/browser.mjs";
import { contrasts, dataOf, labels, marks, overflow, tables } from "./support/checks.mjs";
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
      await page.close();
    });
  });
}

test("names that look like markup are shown", async () => {
  const { page, troubles } = await open(browser, `${folder}/hostile.html`);
  const { targets } = await dataOf(page);
  assert.ok(targets.some((name) => name.includes("<img src=x onerror=alert(2)>")), JSON.stringify(targets));
  assert.ok((await page.locator("body").innerText()).includes("<img src=x onerror=alert(2)>"));
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(troubles, []);
  await page.close();
});
