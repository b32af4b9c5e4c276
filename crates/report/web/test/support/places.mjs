// Where the binary under test is, and where pictures go.

import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

export const storemark = process.env.STOREMARK ?? `${target}/debug/storemark`;
export const screenshots = process.env.SCREENSHOTS ?? `${target}/screenshots`;
