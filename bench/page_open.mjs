// SPDX-License-Identifier: Apache-2.0
// usage: node bench/page_open.mjs PAGE [HASH] [TURNS]
// Opens a page of report --html in Chromium; prints the median of what its main thread takes until the view stands, and
// the functions that take most of it. CPU time counts, so that other work does not matter.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(new URL("../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [path, hash = "", turns = "5"] = process.argv.slice(2);
const NAMES = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];

async function opened(browser) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await devtools.send("Profiler.enable");
  await devtools.send("Profiler.start");
  const begun = Date.now();
  await page.goto(`${pathToFileURL(path).href}${hash}`);
  await page.waitForSelector("main");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
  const wall = Date.now() - begun;
  const { profile } = await devtools.send("Profiler.stop");
  const { metrics } = await devtools.send("Performance.getMetrics");
  await context.close();
  return { wall, profile, metrics: Object.fromEntries(metrics.map(({ name, value }) => [name, value])) };
}

/** Milliseconds of each function itself. */
function functions({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, `${callFrame.functionName || "(script)"}`]));
  const sums = new Map();
  samples.forEach((id, i) => {
    const name = names.get(id);
    sums.set(name, (sums.get(name) ?? 0) + timeDeltas[i] / 1000);
  });
  return sums;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const runs = [];
for (let i = 0; i < Number(turns); i++) runs.push(await opened(browser));
await browser.close();
for (const name of NAMES)
  console.log(`${name}: ${(1000 * median(runs.map((run) => run.metrics[name]))).toFixed(0)} ms`);
console.log(`wall: ${median(runs.map((run) => run.wall))} ms`);
const each = runs.map((run) => functions(run.profile));
const all = [...new Set(each.flatMap((sums) => [...sums.keys()]))]
  .map((name) => [name, median(each.map((sums) => sums.get(name) ?? 0))])
  .sort((a, b) => b[1] - a[1]);
for (const [name, ms] of all.slice(0, 14)) console.log(`  ${name}: ${ms.toFixed(0)} ms`);
