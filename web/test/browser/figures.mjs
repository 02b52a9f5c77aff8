// SPDX-License-Identifier: Apache-2.0
// Figures of the profile that was made up: each view has the same ones, of the whole run and of a part.
import assert from "node:assert/strict";
import { show, text, watched } from "./pages.mjs";

function has(said, ...parts) {
  for (const part of parts)
    assert.ok(said.includes(part), `“${part}” is not in: ${said.replace(/\s+/g, " ").slice(0, 1500)}`);
}

async function start(browser, pages) {
  const page = await watched(browser, pages.made);
  has(
    await text(page),
    "6.00 s",
    "4.00 s",
    "of 14.00 s of 3 threads",
    "Slice underutilization",
    "40 % of the run, 1.50 s looked up again",
  );
  has(
    await text(page),
    "Work on whole arrays",
    "3.00 to 5.00 s at 95 %; 79 ± 9 % redundant in 87 comparisons",
    "260 kB",
    "at 5.00 s",
    "killed",
  );
  has(await text(page), "all 3 threads", "for a lock", "3.00 s", "75 %", "for a socket", "25 %");
  has(
    await text(page, ".card:nth-child(2)"),
    "Waits for a lock",
    "main.py:12 in work",
    "total = fastlib.add(total, n)",
    "the main thread waited 4.00 of 10.00 s",
    "held at main.py:21 meanwhile",
  );
  has(await text(page, ".lines"), "native threads worked 3.00 s for them", "worked s", "3.000");
  has(await text(page, "header"), "10.00 s in all", "10.00 s CPU", "2 processes", "3 threads");
  await page.done();
}

async function source(browser, pages) {
  const page = await watched(browser, pages.made, {
    hash: "#/source?file=/app/main.py&line=12",
    viewport: { width: 1440, height: 800 },
  });
  const row = await text(page, ".source-view .current");
  has(
    row.replace(/\s+/g, " "),
    "5.500",
    "55.0 %",
    "4.000 lock 75 %",
    "3.000",
    "800 kB",
    "250 kB",
    "12",
    "[Fast-Lib 4.50 s]",
  );
  has(
    await text(page, ".panel"),
    "Waited 3.00 s for a lock, 1.00 s for a socket; held at main.py:21 meanwhile",
  );
  has(await text(page, ".panel"), "Callers of line 12", "main.py:30", "work on whole arrays");
  const colours = await page.evaluate(() =>
    [...document.querySelectorAll(".hl-keyword")].map((one) => one.innerText),
  );
  has(colours.join(" "), "while", "def");
  await page.done();
}

async function parts(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/flame?of=2" });
  has(await text(page, ".status"), "3.00 s");
  await show(page, "flame?by=wait&t=2-3");
  has(await text(page, ".status"), "4.00 s");
  await show(page, "flame?by=peak&t=2-3");
  has(await text(page), "known of the whole run only");
  await show(page, "source?t=2-3&file=/app/main.py&line=12");
  const said = await text(page, ".source-view");
  has(said, "4.000");
  assert.ok(
    !said.includes("waits for") && !said.includes("Waited"),
    "causes are known of the whole run only",
  );
  await show(page, "source?of=2&file=/app/main.py");
  has((await text(page, ".source-view .grid")).replace(/\s+/g, " "), "3.000 100.0 % 200 kB 21");
  await page.done();
}

async function measures(browser, pages) {
  const page = await watched(browser, pages.made);
  const expected = {
    cpu: "10.00 s",
    all: "14.00 s",
    python: "6.00 s",
    native: "4.00 s",
    wait: "4.00 s",
    allocated: "1.00 MB",
    peak: "250 kB",
    wasted: "4.00 s",
  };
  for (const [by, figure] of Object.entries(expected)) {
    await show(page, `flame?by=${by}`);
    has(await text(page, ".status"), figure);
  }
  await show(page, "flame?by=copied");
  has(await text(page), "The profile has no figures of “Copied”");
  await page.done();
}

async function brush(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/time" });
  const box = await page.locator(".overview .track").boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.42, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.48, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("t=4-5"));
  await page.keyboard.press("3");
  await page.waitForSelector(".status");
  has(await text(page, ".status"), "3.00 s");
  await page.done();
}

async function flame(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/flame" });
  const box = await page.locator(".flame canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.2, box.y + 19 * 2.5);
  has(await text(page, ".tip"), "work", "5.50 s, 55.0 %; itself 1.00 s");
  await page.mouse.click(box.x + box.width * 0.2, box.y + 19 * 2.5);
  has((await text(page, ".flame-view .current")).replace(/\s+/g, " "), "work 5.500 55.0 %");
  await page.click("text=Callers and callees");
  has(await text(page, ".sandwich"), "5.50 s, 55.0 %; itself 1.00 s");
  await show(page, "flame?q=fib");
  has(await text(page, ".status"), "matching: 30.0 %");
  await page.done();
}

async function rest(browser, pages) {
  const page = await watched(browser, pages.made, { hash: "#/pairs" });
  has(
    await text(page),
    "79 ± 9 % of 87 comparisons",
    "7.00 us",
    "2 frames of both, outermost first",
    "fast_add",
  );
  await show(page, "memory?table=leaks");
  has(await text(page), "5.00 kB/s", "50.0 kB", "0.98", "0 of 60");
  await show(page, "loops");
  has(await text(page), "fastlib.add", "90 ± 5 %", "110 us", "at 95 % after 180 iterations");
  await show(page, "processes");
  has(await text(page), "killed", "260 kB");
  await show(page, "time");
  has(await text(page), "most for", "lock 75 %");
  has(await text(page, ".causes-over-time"), "What threads waited for", "locks", "3.00 s", "I/O", "1.00 s");
  has(await text(page), "waited for", "what happened then", "peak of memory: 260 kB");
  await show(page, "how");
  has(
    await text(page),
    "4.0 % of the program's CPU time (0.40 s)",
    "ring full",
    "CPU time, then waiting",
    "23",
  );
  await page.done();
}

export const tests = {
  Start: start,
  Source: source,
  "a process, a period": parts,
  "measures of the flame graph": measures,
  "a period by the mouse": brush,
  "the flame graph by the mouse": flame,
  "Pairs, Memory, Traced loops, Processes, How measured": rest,
};
