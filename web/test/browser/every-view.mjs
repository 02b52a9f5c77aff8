// SPDX-License-Identifier: Apache-2.0
// Every view, at every width, in both themes: it shows something, nothing sticks out, and axe has nothing to say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { show, text, VIEWS, watched } from "./pages.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const HEIGHTS = { 360: 740, 1280: 800, 3840: 2160 };
const ALL = ["360 light", "360 dark", "1280 light", "1280 dark", "3840 light", "3840 dark"];
/** Enough for a page whose figures are not known here. */
export const SOME = ["360 light", "1280 dark"];
/** axe takes most of the time: each width and each theme is enough. */
const AXE_AT = ["360 light", "1280 light", "1280 dark", "3840 dark"];

async function violations(page) {
  const found = await page.evaluate(() =>
    window.axe.run(document, {
      resultTypes: ["violations"],
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }),
  );
  return found.violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3)}`,
  );
}

/** Each canvas is hidden from who does not see it, and there is a table beside it, named and with rows. */
function canvases(page) {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("main canvas")];
    const hidden = all.filter((canvas) => canvas.closest("[aria-hidden=true]"));
    const small = new OffscreenCanvas(64, 64).getContext("2d", { willReadFrequently: true });
    const empty = all.filter((canvas) => {
      if (canvas.width < 2 || canvas.height < 2 || canvas.classList.contains("track")) return false;
      small.clearRect(0, 0, 64, 64);
      small.drawImage(canvas, 0, 0, 64, 64);
      return small.getImageData(0, 0, 64, 64).data.every((value) => value === 0);
    });
    const tables = document.querySelectorAll(
      "main [role=treegrid][aria-label], main [role=grid][aria-label]",
    );
    return { all: all.length, hidden: hidden.length, empty: empty.length, tables: tables.length };
  });
}

async function check(page, view, width, withAxe = true) {
  await show(page, view);
  assert.ok((await text(page)).length > 20, `${view} shows nothing`);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${view} is ${overflow} pixels too wide at ${width}`);
  const seen = await canvases(page);
  assert.deepEqual([seen.hidden, seen.empty], [seen.all, 0], `canvases of ${view}`);
  assert.ok(seen.all === 0 || seen.tables > 0 || view === "start", `${view} has canvases without a table`);
  if (withAxe) assert.deepEqual(await violations(page), [], `axe on ${view} at ${width}`);
}

export function everyView(path, sizes = ALL) {
  const tests = {};
  for (const size of sizes) {
    const [width, colorScheme] = size.split(" ");
    tests[`${VIEWS.length} views, ${width} px, ${colorScheme}`] = async (browser) => {
      const viewport = { width: Number(width), height: HEIGHTS[width] };
      const page = await watched(browser, path, { viewport, colorScheme, bypassCSP: true });
      await page.evaluate(AXE);
      for (const view of VIEWS) await check(page, view, width, AXE_AT.includes(size));
      await page.done();
    };
  }
  return tests;
}

async function forms(browser, pages) {
  const page = await watched(browser, pages.made, { bypassCSP: true });
  await page.evaluate(AXE);
  const tables = ["leaks", "growth", "allocated", "copies", "needless", "libraries"].map(
    (table) => `memory?table=${table}`,
  );
  const more = [
    "flame?mode=flame",
    "flame?mode=sandwich",
    "flame?by=wasted&q=fib",
    "source?t=4-5",
    "memory?figures=1",
    "pairs?finding=0",
    ...tables,
  ];
  for (const view of more) await check(page, view, 1280);
  await page.done();
}

/** Where nothing was measured each view says so, in one sentence. */
async function bare(browser, pages) {
  const page = await watched(browser, pages.bare, { bypassCSP: true });
  await page.evaluate(AXE);
  for (const view of VIEWS) {
    await show(page, view);
    const said = await page.evaluate(() =>
      [...document.querySelectorAll(".nothing, .empty")].map((one) => one.innerText.trim()),
    );
    assert.ok(
      said.some((sentence) => /^[A-Z].*[.:].*$/s.test(sentence)),
      `${view} says nothing`,
    );
    assert.deepEqual(await violations(page), [], view);
  }
  await page.done();
}

async function start(browser, pages) {
  const page = await watched(browser, pages.made);
  const fits = await page.evaluate(() => {
    const main = document.querySelector("main");
    const low = [...document.querySelectorAll(".card, .curve, section")].map(
      (one) => one.getBoundingClientRect().bottom,
    );
    return { scrolls: main.scrollHeight - main.clientHeight, low: Math.max(...low) };
  });
  assert.ok(fits.scrolls <= 0 && fits.low <= 800, `Start does not fit 1280 x 800: ${JSON.stringify(fits)}`);
  await page.done();
}

async function many(browser, pages) {
  const { size } = await import("node:fs").then((fs) => fs.statSync(pages.many));
  const begun = Date.now();
  const page = await watched(browser, pages.many, { hash: "#/flame" });
  await page.waitForSelector(".flame canvas");
  const opened = Date.now() - begun;
  for (const view of ["flame?inverted=1", "flame?mode=sandwich", "source", "time"]) await show(page, view);
  console.log(`# a page of ${(size / 1e6).toFixed(1)} MB shows its flame graph after ${opened} ms`);
  await page.done();
}

/** Of the page that was made up. */
export const tests = {
  "other forms of views": forms,
  "a profile without anything": bare,
  "Start fits a screen of 1280 x 800": start,
  "a page of 3 MB": many,
};
