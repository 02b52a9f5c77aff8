// SPDX-License-Identifier: Apache-2.0
// usage: node test/browser.mjs [PAGE.html]...
// The page in a real browser, on a profile whose figures are known, and each PAGE as far as figures do not matter.
// Prints TAP. Exits with 77 and the reason where there is no browser or no package of npm.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { launch } from "./browser/launch.mjs";

const browser = await launch();
const { openPages } = await import("./browser/pages.mjs");
const { Tap } = await import("./browser/tap.mjs");

const folder = mkdtempSync(join(tmpdir(), "page-browser-"));
const tap = new Tap();
try {
  const pages = await openPages(folder);
  for (const name of ["every-view", "keys", "figures", "safety", "paper"]) {
    const { tests } = await import(`./browser/${name}.mjs`);
    await tap.run(name, tests, browser, pages);
  }
  const { everyView, SOME } = await import("./browser/every-view.mjs");
  await tap.run("every-view", everyView(pages.made), browser, pages);
  for (const path of process.argv.slice(2))
    await tap.run(path, everyView(resolve(path), SOME), browser, pages);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
process.exitCode = tap.finish() ? 0 : 1;
