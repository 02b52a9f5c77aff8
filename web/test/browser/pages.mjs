// SPDX-License-Identifier: Apache-2.0
// The pages that the tests open, and a browser's page that complains about whatever should not happen.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { filled, page } from "../../build.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
export const VIEWS = ["start", "source", "flame", "pairs", "time", "memory", "processes", "loops", "how"];
/** As many contexts as make a page of about 3 MB. */
const MANY = 36_000;

export async function openPages(folder) {
  const script = join(folder, "made.mjs");
  await build({
    entryPoints: [join(HERE, "../made.ts")],
    bundle: true,
    format: "esm",
    outfile: script,
    logLevel: "error",
  });
  const { bare, made, HOSTILE } = await import(pathToFileURL(script).href);
  const html = await page();
  const write = (name, data) => {
    const path = join(folder, `${name}.html`);
    writeFileSync(path, filled(html, JSON.stringify(data)));
    return path;
  };
  const broken = join(folder, "broken.html");
  writeFileSync(broken, html);
  return {
    made: write("made", made()),
    bare: write("bare", bare()),
    many: write("many", made(MANY)),
    broken,
    HOSTILE,
  };
}

/** A page of the browser; `close()` fails if it logged, asked for anything, or threw. */
export async function watched(browser, path, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(8000);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(`${pathToFileURL(path).href}${hash}`);
  await page.waitForSelector("main");
  page.complaints = complaints;
  page.done = async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  };
  return page;
}

/** Goes to a view by its address, as a link does. */
export async function show(page, view) {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${view}`);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 30))));
}

export function text(page, selector = "main") {
  return page.evaluate(
    (of) => document.querySelector(of)?.innerText.replaceAll("\u00a0", " ") ?? "",
    selector,
  );
}
