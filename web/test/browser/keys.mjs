// SPDX-License-Identifier: Apache-2.0
// Everything by keyboard alone.
import assert from "node:assert/strict";
import { show, text, VIEWS, watched } from "./pages.mjs";

const hash = (page) => page.evaluate(() => location.hash);
const focused = (page) =>
  page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText);

/** Tab until the element with this name has the focus. */
async function tabTo(page, name) {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if ((await focused(page))?.startsWith(name)) return;
  }
  assert.fail(`Tab does not reach “${name}”`);
}

function currentRow(page) {
  return page.evaluate(() => {
    const id = document.activeElement.getAttribute("aria-activedescendant");
    const row = id && document.getElementById(id);
    return row
      ? {
          text: row.innerText.replace(/\s+/g, " "),
          open: row.getAttribute("aria-expanded"),
          selected: row.getAttribute("aria-selected"),
        }
      : null;
  });
}

async function views(browser, pages) {
  const page = await watched(browser, pages.made);
  for (const [i, view] of VIEWS.entries()) {
    await page.keyboard.press(`${i + 1}`);
    assert.equal(await hash(page), `#/${view}`);
  }
  await page.keyboard.press("1");
  await page.goBack();
  assert.equal(await hash(page), "#/how");
  await page.done();
}

async function search(browser, pages) {
  const page = await watched(browser, pages.made);
  await page.keyboard.press("/");
  await page.keyboard.type("fib");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/source?file=/app/main.py&line=21"));
  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  await page.keyboard.press("3");
  assert.equal(await hash(page), "#/flame");
  await page.done();
}

/** Before the browser draws a frame: what is typed right after the search is for the page. */
async function afterSearch(browser, pages) {
  const page = await watched(browser, pages.made);
  await page.keyboard.press("/");
  await page.keyboard.type("fib");
  const typedInto = await page.evaluate(async () => {
    const key = { key: "Enter", bubbles: true, cancelable: true };
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
    for (let i = 0; i < 20; i++) await Promise.resolve();
    return document.activeElement.tagName;
  });
  assert.equal(typedInto, "BODY");
  await page.done();
}

async function help(browser, pages) {
  const page = await watched(browser, pages.made);
  await page.keyboard.press("?");
  assert.match(await text(page, "dialog[open]"), /search files, functions and lines/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.keyboard.press("t");
  assert.notEqual(await theme(), before);
  await page.done();
}

async function tree(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/flame" });
  await tabTo(page, "CPU time by call path");
  await page.keyboard.press("Home");
  assert.match((await currentRow(page)).text, /^<module> main\.py 10\.000 100\.0 %/);
  await page.keyboard.press("ArrowLeft");
  assert.equal((await currentRow(page)).open, "false");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match((await currentRow(page)).text, /^work 5\.500 55\.0 %/);
  await page.keyboard.press("Enter");
  await page.waitForSelector("text=Show all");
  await page.done();
}

async function table(browser, pages) {
  const page = await watched(browser, pages.made);
  await tabTo(page, "Costliest lines of your code");
  await page.keyboard.press("ArrowDown");
  const first = await currentRow(page);
  assert.match(first.text, /^5\.500 55\.0 %/);
  assert.equal(first.selected, "true");
  await page.keyboard.press("End");
  assert.match((await currentRow(page)).text, /^0\.250/);
  await page.keyboard.press("Home");
  await page.keyboard.press("s");
  await page.keyboard.press("S");
  await page.keyboard.press("Home");
  assert.match((await currentRow(page)).text, /^0\.250/, "sorted the other way round");
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.startsWith("#/source?file=/app/main.py&line=12"));
  await page.done();
}

async function period(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/time" });
  await tabTo(page, "Slices of time");
  for (const key of ["Home", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"])
    await page.keyboard.press(key);
  await page.waitForFunction(() => location.hash.includes("t=4-5"));
  await page.keyboard.press("3");
  await page.waitForSelector(".chip");
  assert.match(await text(page, ".status"), /^3\.00 s/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".chip"));
  assert.match(await text(page, ".status"), /^10\.00 s/);
  await page.done();
}

/** Each tab stop is seen: it has an outline. */
async function outlines(browser, pages) {
  const page = await watched(browser, pages.made);
  for (const view of VIEWS) {
    await show(page, view);
    await page.evaluate(() => document.activeElement.blur());
    for (let i = 0; i < 16; i++) {
      await page.keyboard.press("Tab");
      const seen = await page.evaluate(() => {
        const element = document.activeElement;
        const shown = element.type === "radio" ? element.nextElementSibling : element;
        return element === document.body || getComputedStyle(shown).outlineStyle !== "none"
          ? null
          : element.outerHTML.slice(0, 120);
      });
      assert.equal(seen, null, `no outline in ${view}`);
    }
  }
  await page.done();
}

export const tests = {
  "1 to 9 are the views": views,
  "/ searches": search,
  "the search gives the keys back at once": afterSearch,
  "? helps, t turns the theme": help,
  "a tree folds and unfolds": tree,
  "a table moves, sorts and opens": table,
  "a slice becomes the period of every view": period,
  "the focus is seen": outlines,
};
