// SPDX-License-Identifier: Apache-2.0
// On paper, and for who wants no motion.
import assert from "node:assert/strict";
import { show, VIEWS, watched } from "./pages.mjs";

async function print(browser, pages) {
  const page = await watched(browser, pages.made, { colorScheme: "dark" });
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  for (const view of VIEWS) {
    await show(page, view);
    const seen = await page.evaluate(() => ({
      nav: getComputedStyle(document.querySelector("nav")).display,
      theme: document.documentElement.dataset.theme,
      wide: [...document.querySelectorAll("main canvas")].filter(
        (one) => one.getBoundingClientRect().right > innerWidth,
      ).length,
      paper: getComputedStyle(document.body).backgroundColor,
      cut: [...document.querySelectorAll(".grid .rows")].filter(
        (one) => one.scrollHeight > one.clientHeight + 1,
      ).length,
    }));
    assert.deepEqual(seen, { nav: "none", theme: "light", wide: 0, paper: "rgb(255, 255, 255)", cut: 0 }, view);
  }
  await show(page, "time");
  assert.equal(await page.locator("[aria-label='Slices of time'] .sizer .row").count(), 10);
  assert.ok((await page.pdf({ format: "A4" })).length > 5000);
  await page.done();
}

async function motion(browser, pages) {
  for (const [reducedMotion, moves] of [
    ["reduce", false],
    ["no-preference", true],
  ]) {
    const page = await watched(browser, pages.made, { reducedMotion });
    const longest = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll("*")].map((one) =>
          Math.max(...getComputedStyle(one).transitionDuration.split(",").map(parseFloat)),
        ),
      ),
    );
    assert.equal(longest > 0, moves, reducedMotion);
    await page.done();
  }
}

export const tests = { "each view in print": print, "no motion where none is wanted": motion };
