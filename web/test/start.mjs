// SPDX-License-Identifier: Apache-2.0
// usage: node test/start.mjs [--pictures FOLDER] PAGE.html...
// Prints what somebody reads who sees nothing but the first screen of Start, at 1280 x 800: a JSON array with an object
// for each page, {"cards": [{"what", "where", "try"}, …], "text"}. A card that is not whole on the screen is not there.
// With --pictures it saves how each page looks. Exits with 77 and the reason as browser.mjs does.
import { basename, join, resolve } from "node:path";
import { launch } from "./browser/launch.mjs";

const words = process.argv.slice(2);
const folder = words[0] === "--pictures" ? words.splice(0, 2)[1] : null;
const SIZES = [
  ["light", 1280, 800],
  ["dark", 1280, 800],
  ["narrow", 360, 740],
];

function seen(page) {
  return page.evaluate(() => {
    const isSeen = (one) => {
      const box = one.getBoundingClientRect();
      return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
    };
    const text = (one, selector) =>
      one.querySelector(selector)?.innerText.replaceAll("\u00a0", " ").replace(/\s+/g, " ").trim() ?? null;
    const cards = [...document.querySelectorAll(".card")].filter(isSeen).map((one) => ({
      what: text(one, ".what"),
      where: text(one, ".place"),
      try: text(one, ".try span"),
    }));
    return { cards, text: document.querySelector("main").innerText.replaceAll("\u00a0", " ") };
  });
}

const browser = await launch();
const { watched } = await import("./browser/pages.mjs");
try {
  const told = [];
  for (const path of words) {
    const page = await watched(browser, resolve(path));
    told.push(await seen(page));
    for (const [name, width, height] of folder ? SIZES : []) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: name === "dark" ? "dark" : "light" });
      await page.waitForTimeout(200);
      await page.screenshot({
        path: join(folder, `${basename(path, ".html")}-${name}.png`),
        fullPage: name === "narrow",
      });
    }
    await page.done();
  }
  console.log(JSON.stringify(told));
} finally {
  await browser.close();
}
