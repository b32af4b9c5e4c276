// Takes the pictures of docs: `node pictures.mjs PAGE.html docs/NAME.png [WIDTH HEIGHT light|dark]`.

import { resolve } from "node:path";
import { browse, open } from "./test/support/browser.mjs";

const [page, picture, width = "1000", height = "1240", scheme = "light"] = process.argv.slice(2);
const browser = await browse();
const opened = await open(browser, resolve(page), { width: Number(width), scheme });
const clip = { x: 0, y: 0, width: Number(width), height: Number(height) };
await opened.page.screenshot({ path: picture, fullPage: true, clip });
await browser.close();
